// SPDX-License-Identifier: Apache-2.0
// The training loop.
#pragma once

#include "apps/experiment/checkpoint.h"
#include "apps/experiment/interrupt.h"
#include "apps/experiment/run_folder.h"

namespace lssm {

struct TrainOptions {
  int64_t until = -1;     // stop after this step as if interrupted; -1: go to the end
  bool progress = false;  // keep one line of the terminal up to date
};

class Trainer {
 public:
  Trainer(Experiment& experiment, RunFolder& folder);

  // Goes on from the checkpoint in the folder; without one, from the start.
  void resume();
  // Trains to the end (true) or until it is interrupted (false); both leave a checkpoint. Numbers
  // that are not finite end the run with an error that names step, operation and tensor; the
  // checkpoint then holds the parameters before that step.
  bool run(const TrainOptions& options);
  // Tests the trained model and writes summary.json. Returns the summary.
  Json finish();

 private:
  struct StepResult {
    double loss, grad_norm, lr;
  };
  StepResult train_step();
  // Forward and backward passes of the step; returns the loss. Gradients are in the parameters.
  double accumulate_gradients(bool check_finite);
  [[noreturn]] void explain_not_finite();
  void validate();
  void save();
  SpentTime spent() const;
  void report(const StepResult& result, bool log_line, const TrainOptions& options);

  Experiment& experiment_;
  RunFolder& folder_;
  std::unique_ptr<Optimizer> optimizer_;
  Curriculum curriculum_;
  Tape tape_;
  TrainState state_;
  Json valid_;
  SpentTime before_;      // in earlier sessions of this run
  SpentTime start_;       // clocks at the start of this one
  double positions_ = 0;  // trained in this session
};

}  // namespace lssm
