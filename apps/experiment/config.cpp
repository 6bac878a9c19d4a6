// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/config.h"

#include <algorithm>

#include "core/parallel.h"

namespace lssm {

void TrainConfig::fields(Fields& f) {
  f.add("steps", steps, "optimizer steps", at_least(0));
  f.add("batch", batch, "sequences in a batch", between(1, 1 << 24));
  f.add("accumulate", accumulate, "batches whose gradients are averaged for one step", at_least(1));
  f.add_variant("optimizer", optimizer, optimizer_registry(),
                "how parameters follow their gradients", "adam");
  f.add_variant("schedule", schedule, schedule_registry(), "learning rate over the steps",
                "constant");
  f.add("clip_norm", clip_norm, "largest norm of all gradients together; 0: no limit", at_least(0));
  f.add_objects("curriculum", curriculum,
                "stages of training at other lengths than the task's, before it");
  f.add("seed", seed, "of the data, the first parameters and dropout", at_least(0));
  f.add("checkpoint_every", checkpoint_every, "steps between checkpoints; 0: only at the end",
        at_least(0));
  f.add("validate_every", validate_every, "steps between validations; 0: only at the end",
        at_least(0));
  f.add("valid_sequences", valid_sequences, "sequences in a validation", at_least(1));
  f.add("log_every", log_every, "steps between lines of metrics.jsonl; 0: a sixtieth of all steps",
        at_least(0));
}

void EvalConfig::fields(Fields& f) {
  f.add("lengths", lengths, "sequence lengths that are tested; none: the training length",
        at_least(1));
  f.add("sequences", sequences, "test sequences of each length", at_least(1));
  f.add("checkpoint", checkpoint,
        "which parameters are tested: the last, or the best on validation",
        one_of({"last", "best"}));
}

void ExperimentConfig::fields(Fields& f) {
  f.add("name", name, "name of the run's folder");
  const auto is_plain = [](unsigned char c) { return c > ' ' && c != '/' && c != 127; };
  f.check(!name.empty() && name[0] != '.' && std::all_of(name.begin(), name.end(), is_plain),
          "name",
          "expected a folder name without spaces, got " +
              Json(name).dump(-1, ' ', true, Json::error_handler_t::replace));
  f.add("precision", precision, "numbers of parameters and states", one_of({"f32", "f64"}));
  f.add("device", device, "where kernels run; auto: CUDA if there is one",
        one_of({"cpu", "cuda", "auto"}));
  f.add("threads", threads, "CPU threads; results do not depend on it", between(1, 1024));
  f.add_variant("task", task, task_registry(), "what is learned");
  f.add_object("model", model, "what learns");
  f.add_object("train", train, "how it learns");
  f.add_object("eval", eval, "how it is tested");
}

ExperimentConfig ExperimentConfig::read(Json& json, const std::string& source) {
  ExperimentConfig config;
  try {
    Fields::read(json, "", config);
  } catch (const Error& error) {
    fail(source, ": ", error.what());
  }
  return config;
}

namespace {

// Errors of building name the config file too.
template <class F>
auto build(const std::string& source, F f) {
  try {
    return f();
  } catch (const Error& error) {
    fail(source, ": ", error.what());
  }
}

}  // namespace

Experiment::Experiment(Json json, const std::string& source)
    : resolved(std::move(json)),
      config(ExperimentConfig::read(resolved, source)),
      device(build(source, [this] { return parse_device(config.device); })),
      task(build(source, [this] { return config.task->build(); })),
      model(build(source, [this] {
        const ModelInterface interface = {task->vocabulary(), task->classes(),
                                          task->class_factors()};
        return Model(config.model, interface, config.train.seed, config.dtype(), device);
      })) {
  build(source, [this] { return config.train.optimizer->lr_factors(model.parameters()); });
  set_thread_count(int(config.threads));
}

std::string Experiment::hash() const {
  Json hashed = resolved;
  hashed.erase("threads");
  hashed["train"].erase("seed");
  return config_hash(hashed);
}

std::vector<int64_t> Experiment::eval_lengths() const {
  std::vector<int64_t> lengths = config.eval.lengths;
  if (lengths.empty()) lengths = {task->train_length()};
  std::sort(lengths.begin(), lengths.end());
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  return lengths;
}

}  // namespace lssm
