// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/evaluator.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "apps/experiment/interrupt.h"
#include "kernels/rows.h"

namespace lssm {
namespace {

// Sequences that are evaluated at once: the more the shorter they are, but never more positions
// than this, so that memory does not grow with the number of sequences.
int64_t chunk_of(int64_t length) {
  constexpr int64_t kPositions = 1 << 13;  // states and logits stay in the second-level cache
  return std::max<int64_t>(kPositions / std::max<int64_t>(length, 1), 1);
}

int64_t trained_positions(const Batch& batch) {
  if (!batch.trained) return batch.targets.numel();
  const int32_t* trained = batch.trained.data<int32_t>();
  return batch.trained.numel() - std::count(trained, trained + batch.trained.numel(), 0);
}

// The first `count` rows of an i32 matrix on the host.
Tensor first_rows(const Tensor& x, int64_t count) {
  if (!x || x.dim(0) == count) return x;
  Tensor y({count, x.dim(1)}, x.dtype());
  std::memcpy(y.raw(), x.raw(), size_t(y.bytes()));
  return y;
}

}  // namespace

Score evaluate(const Experiment& experiment, Split split, int64_t sequences, int64_t length) {
  const Model& model = experiment.model;
  const int64_t chunk = chunk_of(length > 0 ? length : experiment.task->train_length());
  Score score = {AccuracyCount(0), 0, -1};
  double loss = 0, trained = 0;
  Tape tape(false);
  for (int64_t done = 0, step = 0; done < sequences; done += chunk, ++step) {
    if (split == Split::test && stop_requested) throw Interrupted();
    // Chunks are drawn whole, also the last: a task reads a fixed set by chunks of one size.
    const int64_t count = std::min(chunk, sequences - done);
    Batch batch = experiment.task->batch(split, experiment.config.train.seed, step, chunk, length);
    for (Tensor* part : {&batch.tokens, &batch.targets, &batch.trained, &batch.scored}) {
      *part = first_rows(*part, count);
    }
    if (done == 0) score.accuracy = AccuracyCount(batch.tokens.dim(1));
    Context context = experiment.context(tape);
    context.drift = &score.drift;
    const Tensor logits = model.forward(context, batch.tokens).value();
    Tensor predicted({logits.dim(0)}, DType::i32, experiment.device);
    kernels::argmax_rows(logits, predicted);
    score.accuracy.add(batch, predicted.to(Device::cpu));
    check_indices("targets", batch.targets, logits.dim(1));
    Tensor chunk_loss({1}, logits.dtype(), experiment.device), no_gradient;
    const Tensor mask = batch.trained ? batch.trained.to(experiment.device) : Tensor();
    kernels::cross_entropy(logits, batch.targets.to(experiment.device), mask, chunk_loss,
                           no_gradient);
    const double positions = double(trained_positions(batch));
    loss += chunk_loss.to_host()[0] * positions;
    trained += positions;
    tape.reset();
  }
  score.loss = trained > 0 ? loss / trained : 0;
  return score;
}

Json drift_json(double drift) { return drift < 0 ? Json() : Json(drift); }

Json test_summary(const Experiment& experiment) {
  Json test = Json::object(), ceilings = Json::object();
  double drift = -1;
  int64_t longest_90 = 0, longest_99 = 0;
  bool all_90 = true, all_99 = true;
  for (const int64_t length : experiment.eval_lengths()) {
    const Score score = evaluate(experiment, Split::test, experiment.config.eval.sequences, length);
    const std::string key = std::to_string(length);
    test[key] = score.accuracy.summary();
    test[key]["loss"] = score.loss;
    test[key]["drift"] = drift_json(score.drift);
    drift = std::max(drift, score.drift);
    all_90 = all_90 && score.accuracy.final_accuracy() >= 0.9;
    all_99 = all_99 && score.accuracy.final_accuracy() >= 0.99;
    if (all_90) longest_90 = length;
    if (all_99) longest_99 = length;
    for (const Ceiling& c : experiment.task->ceilings(length)) {
      ceilings[key][c.name] = c.known ? Json{{"final", c.final}, {"prefix", c.prefix}} : Json();
    }
  }
  return {{"test", test},
          {"longest_90", longest_90},
          {"longest_99", longest_99},
          {"drift", drift_json(drift)},
          {"ceilings", ceilings}};
}

std::string test_table(const Json& summary) {
  const auto percent = [](const Json& value, const char* key) -> std::string {
    if (value.is_null()) return "-";
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.2f", 100 * value.at(key).get<double>());
    return digits;
  };
  std::vector<std::pair<int64_t, std::string>> lengths;  // JSON orders keys as text
  for (const auto& [key, value] : summary["test"].items())
    lengths.emplace_back(std::stoll(key), key);
  std::sort(lengths.begin(), lengths.end());

  std::string table =
      "  length   final %  prefix %  exact prefix %    chance: final  prefix    commutative: final "
      " prefix\n";
  for (const auto& [length, key] : lengths) {
    const Json& row = summary["test"][key];
    const Json& ceiling = summary["ceilings"][key];
    char line[200];
    std::snprintf(
        line, sizeof line, "%8lld  %8s  %8s  %14s  %15s  %6s  %20s  %6s\n",
        static_cast<long long>(length), percent(row, "final").c_str(),
        percent(row, "prefix").c_str(), percent(row, "exact_prefix").c_str(),
        percent(ceiling["chance"], "final").c_str(), percent(ceiling["chance"], "prefix").c_str(),
        percent(ceiling["parikh"], "final").c_str(), percent(ceiling["parikh"], "prefix").c_str());
    table += line;
  }
  if (!summary["drift"].is_null()) {
    char line[80];
    std::snprintf(line, sizeof line, "drift of states from their spheres: %.1e\n",
                  summary["drift"].get<double>());
    table += line;
  }
  return table;
}

}  // namespace lssm
