// SPDX-License-Identifier: Apache-2.0
// Accuracies of a classification at each position.
#pragma once

#include <vector>

#include "core/config.h"
#include "tasks/task.h"

namespace lssm {

// Counts right answers. Positions that are not scored are never counted; a sequence's last scored
// position is its final one. A sequence without scored positions counts as seen and no more.
class AccuracyCount {
 public:
  explicit AccuracyCount(int64_t length)
      : right_(size_t(length)), all_(size_t(length)), exact_(size_t(length)) {}

  // predicted: i32 [batch * length] on the CPU.
  void add(const Batch& batch, const Tensor& predicted);

  // Fractions: "final", "prefix" (mean over scored positions), "exact_prefix" (sequences right at
  // every position), "sequences", and curves over positions: "curve" holds one entry
  // {"position", "accuracy", "exact_prefix"} for each power of two and the last position.
  Json summary() const;
  double final_accuracy() const;
  double prefix_accuracy() const;

 private:
  std::vector<int64_t> right_;  // [length] right answers at a position
  std::vector<int64_t> all_;    // [length] scored answers at a position
  std::vector<int64_t> exact_;  // [length] sequences right at every position up to this one
  int64_t sequences_ = 0;
  int64_t final_right_ = 0, final_all_ = 0;  // of the sequences with scored positions
};

}  // namespace lssm
