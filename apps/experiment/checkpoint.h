// SPDX-License-Identifier: Apache-2.0
// A checkpoint is one safetensors file: parameters, optimizer moments, and in its metadata the
// resolved config and the step. It is all that evaluation and resuming need.
#pragma once

#include <string>

#include "apps/experiment/config.h"
#include "apps/experiment/curriculum.h"
#include "core/safetensors.h"

namespace lssm {

struct TrainState {
  int64_t step = 0;           // optimizer steps that are done
  double best_accuracy = -1;  // of all validations so far
  double best_loss = 0;       // of the validation with that accuracy
  CurriculumState curriculum = {};
};

void write_checkpoint(const std::string& path, Experiment& experiment, Optimizer& optimizer,
                      const TrainState& state);

// The resolved config that a checkpoint holds.
Json checkpoint_config(const SafetensorsFile& file, const std::string& path);

// Reads parameters, and the optimizer's state if it is not null, into an experiment that was built
// from the same config. Throws with a list of all differences in names, shapes and dtypes.
TrainState load_checkpoint(const SafetensorsFile& file, const std::string& path,
                           Experiment& experiment, Optimizer* optimizer);

}  // namespace lssm
