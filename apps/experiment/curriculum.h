// SPDX-License-Identifier: Apache-2.0
// A length curriculum: training begins with sequences of other lengths than the task's. JSON:
//   "curriculum": [{"length": 2, "steps": 300}, {"length": 8, "steps": 900, "loss_below": 0.1}]
// Each stage ends after its steps, or when the moving average of the loss falls below its bound,
// whichever comes first; after the last one the lengths are those of the task.
#pragma once

#include <vector>

#include "core/config.h"

namespace lssm {

struct CurriculumStage final : Configurable {
  void fields(Fields& f) override;

  int64_t length = 1, steps = 0, batch = 0;
  double loss_below = 0;
};

// Where a training is in its curriculum: a part of the checkpoint.
struct CurriculumState {
  int64_t stage = 0;        // stages that are over
  int64_t steps = 0;        // done in this one
  double average_loss = 0;  // of this one, the latest steps most
};

class Curriculum {
 public:
  explicit Curriculum(std::vector<CurriculumStage> stages) : stages_(std::move(stages)) {}

  // The stage that a step belongs to; null when all are over.
  const CurriculumStage* stage(const CurriculumState& state) const;
  // The state after a step with this loss.
  CurriculumState after_step(CurriculumState state, double loss) const;

 private:
  std::vector<CurriculumStage> stages_;
};

}  // namespace lssm
