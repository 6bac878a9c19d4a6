// SPDX-License-Identifier: Apache-2.0
// Which sequences an evaluation reads.
#include "apps/experiment/evaluator.h"

#include <set>

#include "test/test.h"

namespace lssm {
namespace {

// Hands on the batches of another task, and keeps every row of tokens that it gave.
class RecordingTask final : public Task {
 public:
  explicit RecordingTask(std::unique_ptr<Task> task) : task_(std::move(task)) {}

  int64_t vocabulary() const override { return task_->vocabulary(); }
  int64_t classes() const override { return task_->classes(); }
  int64_t train_length() const override { return task_->train_length(); }
  std::vector<Ceiling> ceilings(int64_t length) const override { return task_->ceilings(length); }
  Batch batch(Split split, uint64_t seed, int64_t step, int64_t sequences,
              int64_t length) const override {
    const Batch batch = task_->batch(split, seed, step, sequences, length);
    const int64_t width = batch.tokens.dim(1);
    for (int64_t row = 0; row < sequences; ++row) {
      const int32_t* tokens = batch.tokens.data<int32_t>() + row * width;
      rows.emplace_back(tokens, tokens + width);
    }
    return batch;
  }

  mutable std::vector<std::vector<int32_t>> rows;

 private:
  std::unique_ptr<Task> task_;
};

TEST_CASE("a validation reads each sequence of a fixed set once", "[evaluator]") {
  Experiment experiment(Json::parse(R"({
    "task": {"type": "group_word", "compat": "illusion", "group": "S3", "samples": 20000},
    "model": {"width": 4, "layers": [{"type": "embedding"}, {"type": "linear"}]}})"),
                        "test");
  auto recorder = std::make_unique<RecordingTask>(std::move(experiment.task));
  const RecordingTask& task = *recorder;
  experiment.task = std::move(recorder);

  constexpr int64_t kSequences = 1000;  // no multiple of the chunks that are evaluated at once
  const Score score = evaluate(experiment, Split::valid, kSequences, 0);
  CHECK(score.accuracy.summary()["sequences"] == kSequences);
  REQUIRE(task.rows.size() >= size_t(kSequences));
  const std::set<std::vector<int32_t>> read(task.rows.begin(), task.rows.begin() + kSequences);
  CHECK(read.size() == size_t(kSequences));
}

}  // namespace
}  // namespace lssm
