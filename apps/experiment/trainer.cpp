// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "apps/experiment/evaluator.h"
#include "apps/experiment/machine.h"
#include "core/log.h"
#include "core/parallel.h"
#include "kernels/reduce.h"

namespace lssm {

namespace {

SpentTime clocks() {
  using Clock = std::chrono::steady_clock;
  return {std::chrono::duration<double>(Clock::now().time_since_epoch()).count(),
          double(std::clock()) / CLOCKS_PER_SEC};
}

Json valid_summary(const Score& score) {
  return {{"final", score.accuracy.final_accuracy()},
          {"prefix", score.accuracy.prefix_accuracy()},
          {"loss", score.loss},
          {"drift", drift_json(score.drift)}};
}

}  // namespace

Trainer::Trainer(Experiment& experiment, RunFolder& folder)
    : experiment_(experiment),
      folder_(folder),
      optimizer_(experiment.config.train.optimizer->build(experiment.model.parameters())),
      curriculum_(experiment.config.train.curriculum),
      start_(clocks()) {}

void Trainer::resume() {
  folder_.remove_temporary_files();
  std::error_code error;
  if (!std::filesystem::exists(folder_.checkpoint(), error)) {
    spdlog::info("{}: no checkpoint yet, starting from step 0", folder_.path().string());
    folder_.rewind_metrics(-1, false);
    return;
  }
  state_ = load_checkpoint(read_safetensors(folder_.checkpoint()), folder_.checkpoint(),
                           experiment_, optimizer_.get());
  before_ = folder_.rewind_metrics(state_.step, state_.step >= experiment_.config.train.steps);
  spdlog::info("resumed at step {}", state_.step);
}

bool Trainer::run(const TrainOptions& options) {
  const TrainConfig& train = experiment_.config.train;
  const int64_t log_every =
      train.log_every > 0 ? train.log_every : std::max<int64_t>(1, train.steps / 60);
  const int64_t end = options.until >= 0 ? std::min(options.until, train.steps) : train.steps;
  while (state_.step < end && !stop_requested) {
    const StepResult result = train_step();
    const bool last = state_.step == train.steps;
    report(result, state_.step % log_every == 0 || last, options);
    if (train.validate_every > 0 && state_.step % train.validate_every == 0 && !last) validate();
    if (train.checkpoint_every > 0 && state_.step % train.checkpoint_every == 0 && !last) save();
  }
  if (options.progress) std::fputc('\n', stderr);
  const bool done = state_.step >= train.steps;
  if (done) validate();
  save();
  return done;
}

double Trainer::accumulate_gradients(bool check_finite) {
  const TrainConfig& train = experiment_.config.train;
  ParameterStore& parameters = experiment_.model.parameters();
  parameters.zero_grad();
  tape_.set_check_finite(check_finite);
  const CurriculumStage* stage = curriculum_.stage(state_.curriculum);
  const int64_t length = stage ? stage->length : 0;
  const int64_t sequences = stage && stage->batch > 0 ? stage->batch : train.batch;
  double loss = 0;
  for (int64_t part = 0; part < train.accumulate; ++part) {
    const int64_t draw = state_.step * train.accumulate + part;
    const Batch batch = experiment_.task->batch(Split::train, train.seed, draw, sequences, length);
    Context context = experiment_.context(tape_);
    context.training = true;
    context.draw = uint32_t(draw);
    const Var mean = experiment_.model.loss(context, batch.tokens, batch.targets, batch.trained);
    loss += mean.value().item() / double(train.accumulate);
    tape_.backward(mean);
    tape_.reset();
    positions_ += double(batch.tokens.numel());
  }
  return loss;
}

Trainer::StepResult Trainer::train_step() {
  const TrainConfig& train = experiment_.config.train;
  ParameterStore& parameters = experiment_.model.parameters();
  const double loss = accumulate_gradients(false);
  const double mean = 1 / double(train.accumulate);
  const double norm = mean * grad_norm(parameters);
  if (!std::isfinite(loss) || !std::isfinite(norm)) explain_not_finite();
  const double clip = train.clip_norm > 0 && norm > train.clip_norm ? train.clip_norm / norm : 1;
  const double lr = train.optimizer->lr() * train.schedule->factor(state_.step, train.steps);
  optimizer_->step(parameters, state_.step + 1, lr, clip * mean);
  ++state_.step;
  state_.curriculum = curriculum_.after_step(state_.curriculum, loss);
  return {loss, norm, lr};
}

// The step is a pure function of the parameters and its number, so it can be run again with every
// value and gradient checked as it appears.
void Trainer::explain_not_finite() {
  const std::string step = "step " + std::to_string(state_.step + 1);
  save();
  try {
    accumulate_gradients(true);
  } catch (const Error& error) {
    tape_.reset();
    fail_numeric(step, ": ", error.what(),
                 "; the checkpoint holds the parameters before this step");
  }
  fail_numeric(step, ": the norm of the gradient is not finite, though each gradient is");
}

void Trainer::validate() {
  const Score score =
      evaluate(experiment_, Split::valid, experiment_.config.train.valid_sequences, 0);
  if (!std::isfinite(score.loss)) {
    save();
    fail_numeric("step ", state_.step, ": not a finite number: the loss of the validation");
  }
  valid_ = valid_summary(score);
  const SpentTime time = spent();
  folder_.append_metrics(
      {{"step", state_.step}, {"valid", valid_}, {"wall_s", time.wall}, {"cpu_s", time.cpu}});
  const double accuracy = score.accuracy.prefix_accuracy();
  const bool better = accuracy > state_.best_accuracy ||
                      (accuracy == state_.best_accuracy && score.loss < state_.best_loss);
  if (!better) return;
  state_.best_accuracy = accuracy;
  state_.best_loss = score.loss;
  write_checkpoint(folder_.best(), experiment_, *optimizer_, state_);
}

// Never replaces a good checkpoint by one with numbers that are not finite.
void Trainer::save() {
  for (const Parameter& p : experiment_.model.parameters().all()) {
    const int64_t bad = kernels::first_not_finite(p.value);
    if (bad < 0) continue;
    fail_numeric("step ", state_.step, ": not a finite number: the parameter \"", p.name,
                 "\" (shape ", p.value.shape(), ") at position ", bad,
                 " after the optimizer's update; no checkpoint of it is written");
  }
  write_checkpoint(folder_.checkpoint(), experiment_, *optimizer_, state_);
}

SpentTime Trainer::spent() const {
  const SpentTime now = clocks();
  return {before_.wall + now.wall - start_.wall, before_.cpu + now.cpu - start_.cpu};
}

void Trainer::report(const StepResult& r, bool log_line, const TrainOptions& options) {
  if (!log_line && !(options.progress && state_.step % 16 == 0)) return;
  const TrainConfig& train = experiment_.config.train;
  const double seconds = clocks().wall - start_.wall;
  const double per_second = positions_ / seconds;
  const double left = double(train.steps - state_.step) * double(train.batch * train.accumulate) *
                      double(experiment_.task->train_length()) / per_second;
  if (options.progress) {
    char valid[48] = "";
    if (!valid_.is_null()) {
      std::snprintf(valid, sizeof valid, "valid %.2f %%  ", 100 * valid_["prefix"].get<double>());
    }
    std::fprintf(stderr, "\rstep %lld/%lld  loss %.4f  %s%.0f tokens/s  %.0f s left \033[K",
                 static_cast<long long>(state_.step), static_cast<long long>(train.steps), r.loss,
                 valid, per_second, left);
  }
  if (!log_line) return;
  folder_.append_metrics({{"step", state_.step},
                          {"loss", r.loss},
                          {"grad_norm", r.grad_norm},
                          {"lr", r.lr},
                          {"tokens_per_s", per_second},
                          {"wall_s", spent().wall},
                          {"cpu_s", spent().cpu}});
  // A curve wants more points than a terminal wants lines.
  const int64_t lines_every = std::max<int64_t>(1, train.steps / 12);
  if (train.log_every == 0 && state_.step % lines_every != 0 && state_.step != train.steps) return;
  spdlog::info("step {:>6}/{}  loss {:.4f}  {:.0f} tokens/s  {:.1f} s left", state_.step,
               train.steps, r.loss, per_second, left);
}

Json Trainer::finish() {
  if (experiment_.config.eval.checkpoint == "best") {
    load_checkpoint(read_safetensors(folder_.best()), folder_.best(), experiment_, nullptr);
  }
  const ExperimentConfig& config = experiment_.config;
  const double train_wall = spent().wall;
  Json summary = test_summary(experiment_);
  summary["name"] = config.name;
  summary["config_hash"] = experiment_.hash();
  summary["seed"] = config.train.seed;
  summary["device"] = device_name(experiment_.device);
  summary["precision"] = config.precision;
  summary["threads"] = thread_count();
  summary["version"] = LSSM_VERSION;
  summary["commit"] = build_commit();
  summary["machine"] = processor_name();
  summary["train_length"] = experiment_.task->train_length();
  summary["steps"] = state_.step;
  summary["parameters"] = experiment_.model.parameters().count();
  summary["state_size"] = experiment_.model.state_size();
  summary["train_wall_s"] = train_wall;
  summary["wall_s"] = spent().wall;
  summary["cpu_s"] = spent().cpu;
  summary["peak_bytes"] = Pool::of(experiment_.device).peak_bytes();
  summary["valid"] = valid_;
  folder_.write_summary(summary);
  return summary;
}

}  // namespace lssm
