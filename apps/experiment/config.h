// SPDX-License-Identifier: Apache-2.0
// The JSON file of an experiment: a task, a model, how it is trained and how it is evaluated.
#pragma once

#include <string>
#include <vector>

#include "apps/experiment/curriculum.h"
#include "autodiff/optimizer.h"
#include "autodiff/schedule.h"
#include "layers/model.h"
#include "tasks/task.h"

namespace lssm {

struct TrainConfig final : Configurable {
  void fields(Fields& f) override;

  int64_t steps = 1000, batch = 64, accumulate = 1;
  std::unique_ptr<OptimizerConfig> optimizer;
  std::unique_ptr<Schedule> schedule;
  double clip_norm = 0;
  std::vector<CurriculumStage> curriculum;
  uint64_t seed = 42;
  int64_t checkpoint_every = 0, validate_every = 0, valid_sequences = 256, log_every = 0;
};

struct EvalConfig final : Configurable {
  void fields(Fields& f) override;

  std::vector<int64_t> lengths;  // empty: the training length
  int64_t sequences = 1000;
  std::string checkpoint = "last";
};

struct ExperimentConfig final : Configurable {
  void fields(Fields& f) override;

  // Reads a config; `source` names it in errors. `json` becomes the resolved config: every key
  // there.
  static ExperimentConfig read(Json& json, const std::string& source);

  DType dtype() const { return precision == "f64" ? DType::f64 : DType::f32; }

  std::string name = "run", precision = "f32", device = "cpu";
  int64_t threads = 1;
  std::unique_ptr<TaskConfig> task;
  ModelConfig model;
  TrainConfig train;
  EvalConfig eval;
};

// A config with its task and model built: what every command works on.
struct Experiment {
  // Throws before anything is written if the config is wrong in any way.
  Experiment(Json json, const std::string& source);

  // Of all keys that say what is computed: two runs that differ in seed or threads alone share it.
  std::string hash() const;
  std::vector<int64_t> eval_lengths() const;
  Context context(Tape& tape) const {
    return {.tape = tape,
            .seed = config.train.seed,
            .replacement = replacement.empty() ? nullptr : &replacement};
  }

  Json resolved;
  ExperimentConfig config;
  Device device;
  std::unique_ptr<Task> task;
  Model model;
  Replacement replacement;  // transitions that the model uses instead of its own; normally none
};

}  // namespace lssm
