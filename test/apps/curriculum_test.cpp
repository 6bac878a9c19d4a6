// SPDX-License-Identifier: Apache-2.0
// Length curricula: when their stages end, and what a run makes of them.
#include "apps/experiment/curriculum.h"

#include "test/apps/program.h"

namespace lssm {
namespace {

int64_t length_of(const Curriculum& curriculum, const CurriculumState& state) {
  const CurriculumStage* stage = curriculum.stage(state);
  return stage ? stage->length : 0;
}

CurriculumStage stage(int64_t length, int64_t steps, double loss_below) {
  CurriculumStage stage;
  stage.length = length;
  stage.steps = steps;
  stage.loss_below = loss_below;
  return stage;
}

TEST_CASE("stages end by their steps or by their loss", "[curriculum]") {
  const Curriculum curriculum({stage(2, 2, 0), stage(4, 0, 0.5), stage(8, 3, 0.1)});
  CurriculumState state;
  std::vector<int64_t> lengths;
  // Averages of the second stage: 1, 0.9 + 0.1 * 0 = 0.9, 0.81, ..., below 0.5 after 0.9^7 = 0.478.
  // The third begins anew, and its first loss is low enough.
  std::vector<double> losses = {9, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0.05, 7, 7};
  for (const double loss : losses) {
    lengths.push_back(length_of(curriculum, state));
    state = curriculum.after_step(state, loss);
  }
  CHECK(lengths == std::vector<int64_t>{2, 2, 4, 4, 4, 4, 4, 4, 4, 4, 8, 0, 0});
  CHECK(length_of(Curriculum({}), {}) == 0);
}

TEST_CASE("a run follows its curriculum", "[curriculum]") {
  const Workplace place;
  Json config = tiny_config_with({{"train", {{"steps", 6}, {"log_every", 1}, {"batch", 8}}}});
  config["train"]["curriculum"] = {{{"length", 1}, {"steps", 2}, {"batch", 16}},
                                   {{"length", 3}, {"steps", 3}}};
  place.write("tiny.json", config);
  place.good({"train", "tiny.json"});
  // Three steps at one length of another run see the same sequences: the first losses agree.
  Json first = tiny_config_with(
      {{"train", {{"steps", 2}, {"log_every", 1}, {"batch", 16}}}, {"task", {{"length", 1}}}});
  place.write("first.json", first);
  place.good({"train", "first.json", "--runs", "first"});
  const std::vector<Json> whole = timeless_metrics(place.tiny_run("runs"));
  const std::vector<Json> alone = timeless_metrics(place.tiny_run("first"));
  CHECK(whole[0]["loss"] == alone[0]["loss"]);
  CHECK(whole[1]["loss"] == alone[1]["loss"]);
  CHECK(read_json(place.tiny_run("runs") / "config.json")["train"]["curriculum"][0]["loss_below"] ==
        0.0);
}

TEST_CASE("wrong curricula", "[curriculum][bad]") {
  const Workplace place;
  const auto refused = [&](const Json& curriculum, const std::vector<std::string>& parts) {
    place.write("bad.json", tiny_config_with({{"train", {{"curriculum", curriculum}}}}));
    check_error(place.lssm({"config", "check", "bad.json"}), 2, parts);
  };
  refused(3, {"/train/curriculum: expected a list of objects, got 3"});
  refused({{{"steps", 3}}}, {"/train/curriculum/0/length: this key is missing"});
  refused({{{"length", 3}}}, {"/train/curriculum/0/steps: a stage needs steps or loss_below"});
  refused({{{"length", 0}, {"steps", 1}}},
          {"/train/curriculum/0/length: got 0, expected a number at least 1"});
  refused({{{"length", 1}, {"steps", 1}, {"step", 1}}},
          {"/train/curriculum/0/step: unknown key; did you mean \"steps\"?"});
}

}  // namespace
}  // namespace lssm
