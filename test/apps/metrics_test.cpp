// SPDX-License-Identifier: Apache-2.0
// Accuracies against examples counted by hand.
#include "apps/experiment/metrics.h"

#include "test/test.h"

namespace lssm {
namespace {

Tensor integers(int64_t rows, int64_t length, const std::vector<double>& values) {
  return Tensor::from_host({rows, length}, values, DType::i32);
}

// Targets are all 1: an answer is right where it is 1.
Json score(int64_t rows, int64_t length, const std::vector<double>& answers,
           const std::vector<double>& scored = {}) {
  AccuracyCount count(length);
  Batch batch;
  batch.targets = integers(rows, length, std::vector<double>(answers.size(), 1));
  if (!scored.empty()) batch.scored = integers(rows, length, scored);
  count.add(batch, Tensor::from_host({rows * length}, answers, DType::i32));
  return count.summary();
}

TEST_CASE("all positions count where nothing is masked", "[metrics]") {
  const Json s = score(3, 4,
                       {1, 1, 1, 1,    //
                        1, 0, 1, 1,    //
                        1, 1, 1, 0});  //
  CHECK(s["final"] == Approx(2 / 3.0));
  CHECK(s["prefix"] == Approx(10 / 12.0));
  CHECK(s["exact_prefix"] == Approx(1 / 3.0));
  CHECK(s["sequences"] == 3);
  // Positions 1, 2 and 4.
  REQUIRE(s["curve"].size() == 3);
  CHECK(s["curve"][0] == Json{{"position", 1}, {"accuracy", 1.0}, {"exact_prefix", 1.0}});
  CHECK(s["curve"][1]["accuracy"] == Approx(2 / 3.0));
  CHECK(s["curve"][1]["exact_prefix"] == Approx(2 / 3.0));
  CHECK(s["curve"][2]["accuracy"] == Approx(2 / 3.0));
  CHECK(s["curve"][2]["exact_prefix"] == Approx(1 / 3.0));
}

TEST_CASE("masked positions are never counted", "[metrics]") {
  // Right and wrong answers under the mask must not matter.
  for (const double hidden : {0.0, 1.0}) {
    const Json s = score(2, 3, {hidden, 1, 0, 1, hidden, hidden}, {0, 1, 1, 1, 0, 0});
    CHECK(s["final"] == 0.5);  // the last scored position: 3 of the first, 1 of the second
    CHECK(s["prefix"] == Approx(2 / 3.0));
    CHECK(s["exact_prefix"] == 0.5);
    CHECK(s["curve"][0]["accuracy"] == 1.0);  // of one sequence
    CHECK(s["curve"][1]["accuracy"] == 1.0);
    CHECK(s["curve"][2]["accuracy"] == 0.0);
    CHECK(s["curve"][2]["position"] == 3);
  }
}

TEST_CASE("a position that nobody scores has no accuracy", "[metrics]") {
  const Json s = score(2, 4, {0, 0, 0, 1, 0, 0, 0, 0}, {0, 0, 0, 1, 0, 0, 0, 1});
  CHECK(s["final"] == 0.5);
  CHECK(s["prefix"] == 0.5);
  CHECK(s["exact_prefix"] == 0.5);
  CHECK_FALSE(s["curve"][0].contains("accuracy"));
  CHECK(s["curve"][2]["accuracy"] == 0.5);
}

TEST_CASE("a sequence without scored positions is neither right nor wrong", "[metrics]") {
  const Json s = score(3, 2, {1, 1, 1, 0, 1, 1}, {0, 0, 1, 1, 1, 1});
  CHECK(s["sequences"] == 3);
  CHECK(s["final"] == 0.5);
  CHECK(s["prefix"] == 0.75);
  CHECK(s["exact_prefix"] == 0.5);
  CHECK(s["curve"][0]["exact_prefix"] == 1.0);
  CHECK(s["curve"][1]["exact_prefix"] == 0.5);

  const Json nothing = score(1, 2, {1, 1}, {0, 0});
  CHECK(nothing["final"] == 0.0);
  CHECK(nothing["prefix"] == 0.0);
  CHECK(nothing["exact_prefix"] == 0.0);
}

TEST_CASE("batches add up", "[metrics]") {
  AccuracyCount count(2);
  for (const double last : {1.0, 0.0, 0.0}) {
    Batch batch;
    batch.targets = integers(1, 2, {5, 6});
    count.add(batch, Tensor::from_host({2}, {5, last == 1 ? 6.0 : 7.0}, DType::i32));
  }
  CHECK(count.final_accuracy() == Approx(1 / 3.0));
  CHECK(count.prefix_accuracy() == Approx(4 / 6.0));
  CHECK(count.summary()["sequences"] == 3);
}

TEST_CASE("the curve ends with the last position", "[metrics]") {
  for (const int64_t length : {1, 2, 3, 8, 9, 1000}) {
    const Json s = score(1, length, std::vector<double>(size_t(length), 1));
    std::vector<int64_t> positions;
    for (const Json& point : s["curve"]) positions.push_back(point["position"]);
    CHECK(positions.front() == 1);
    CHECK(positions.back() == length);
    for (size_t i = 0; i + 1 < positions.size(); ++i) {
      CHECK(positions[i] == int64_t(1) << i);
      CHECK(positions[i] < positions[i + 1]);
    }
  }
}

}  // namespace
}  // namespace lssm
