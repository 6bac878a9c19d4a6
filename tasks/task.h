// SPDX-License-Identifier: Apache-2.0
// What a task is: a source of batches, built from its JSON config.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/config.h"
#include "core/tensor.h"

namespace lssm {

// Each split is a stream of its own. Models are selected on `valid` only.
enum class Split { train, valid, test };

// A batch on the CPU. All tensors are i32 [batch, length].
struct Batch {
  Tensor tokens;
  Tensor targets;
  Tensor trained;  // 0: the position is left out of the loss; empty: all positions count
  Tensor scored;   // 0: the position is left out of the metrics; empty: all positions count
};

// The best accuracies that are possible for some class of models, as fractions: at the last
// position and averaged over all positions that are scored.
struct Ceiling {
  std::string name =
      {};              // "chance": the best constant answer; "parikh": any model that counts tokens
  bool known = false;  // false where it is too costly to compute
  double final = 0;
  double prefix = 0;
};

class Task {
 public:
  virtual ~Task() = default;
  virtual int64_t vocabulary() const = 0;  // tokens are 0 … vocabulary - 1
  virtual int64_t classes() const = 0;     // targets are 0 … classes - 1
  // Classes as tuples of fewer parts, if they have such a structure: for each factor, the part of
  // each class. No two classes have all parts in common.
  virtual std::vector<std::vector<int>> class_factors() const { return {}; }
  // The length that training uses (the longest, if there are several).
  virtual int64_t train_length() const = 0;
  // Batch number `step` of a split: a pure function of its arguments. `length` 0: the training
  // length, or the training mixture of lengths.
  virtual Batch batch(Split split, uint64_t seed, int64_t step, int64_t sequences,
                      int64_t length) const = 0;
  virtual std::vector<Ceiling> ceilings(int64_t length) const = 0;
};

class TaskConfig : public Configurable {
 public:
  virtual std::unique_ptr<Task> build() const = 0;
};

const Registry<TaskConfig>& task_registry();

}  // namespace lssm
