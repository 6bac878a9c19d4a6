// SPDX-License-Identifier: Apache-2.0
// What a sweep file means: its configs, names and seeds, and what is wrong with it.
#include <sched.h>

#include "apps/experiment/config.h"
#include "apps/experiment/local_runner.h"
#include "test/apps/program.h"

namespace lssm {
namespace {

Json two_variants() {
  return {{"name", "groups"},
          {"config", "tiny.json"},
          {"variants",
           {{{"name", "so3"}}, {{"name", "so2"}, {"set", {{"model.layers.1.group", "so2"}}}}}},
          {"seeds", {1, 2}}};
}

// Plans the sweep file `sweep` of the tiny config.
SweepPlan plan_of(const Json& sweep, const SweepOptions& options = {}) {
  const Workplace place;
  place.write("tiny.json", tiny_config());
  place.write("sweep.json", sweep);
  return plan_sweep(place.path("sweep.json").string(), options);
}

std::vector<std::string> names_of(const SweepPlan& plan) {
  std::vector<std::string> names;
  for (const SweepVariant& v : plan.variants) names.push_back(v.name);
  return names;
}

std::vector<std::string> run_names(const SweepPlan& plan) {
  std::vector<std::string> names;
  for (const SweepRun& run : plan.runs) names.push_back(plan.name_of(run));
  return names;
}

using Names = std::vector<std::string>;

TEST_CASE("a sweep is variants times grid times list times seeds", "[sweep]") {
  Json sweep = two_variants();
  sweep["set"] = {{"train.steps", 5}, {"train.batch", 3}};
  sweep["grid"] = {{"train.optimizer.lr", {0.5, 0.25}}, {"model.width", {8, 16}}};
  sweep["list"] = {{{"train.batch", 4}, {"train.steps", 7}}, {{"train.batch", 2}}};
  const SweepPlan plan = plan_of(sweep);
  REQUIRE(plan.variants.size() == 2 * 4 * 2);
  CHECK(plan.runs.size() == 2 * 4 * 2 * 2);
  // Keys in the order of their names; the last varies fastest.
  CHECK(plan.variants[0].name == "so3_width=8_lr=0.5_batch=4_steps=7");
  CHECK(plan.variants[1].name == "so3_width=8_lr=0.5_batch=2");
  CHECK(plan.variants[2].name == "so3_width=8_lr=0.25_batch=4_steps=7");
  CHECK(plan.variants[4].name == "so3_width=16_lr=0.5_batch=4_steps=7");
  CHECK(plan.variants[15].name == "so2_width=16_lr=0.25_batch=2");

  const Json& first = plan.variants[0].resolved;
  CHECK(first["train"]["steps"] == 7);  // the list comes after "set"
  CHECK(plan.variants[0].steps == 7);
  CHECK(plan.variants[1].resolved["train"]["steps"] == 5);
  CHECK(first["model"]["width"] == 8);
  CHECK(
      first["train"]["optimizer"] ==
      Json::parse(
          R"({"type": "adam", "lr": 0.5, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "groups": []})"));
  CHECK(first["model"]["layers"][1]["group"] == "so3");
  CHECK(plan.variants[15].resolved["model"]["layers"][1]["group"] == "so2");
  CHECK(plan.runs[1].folder ==
        std::filesystem::path("runs/groups") / plan.variants[0].name / "seed-2");
  CHECK(plan.config_of(plan.variants[1]) ==
        std::filesystem::path("runs/groups/configs/so3_width=8_lr=0.5_batch=2-" +
                              plan.variants[1].hash + ".json"));
}

TEST_CASE("names of variants", "[sweep]") {
  SECTION("without variants: that of the config") {
    Json sweep = two_variants();
    sweep.erase("variants");
    CHECK(names_of(plan_of(sweep)) == Names{"tiny"});
    sweep["config"] = tiny_config();
    sweep["config"].erase("name");
    CHECK(names_of(plan_of(sweep)) == Names{"groups"});
  }
  SECTION("the whole key where its last part is not enough") {
    Json sweep = two_variants();
    sweep.erase("variants");
    sweep["grid"] = {{"train.batch", {4}},
                     {"model.layers.0.type", {"embedding"}},
                     {"model.layers.2.type", {"linear"}}};
    CHECK(names_of(plan_of(sweep)) ==
          Names{"tiny_model.layers.0.type=embedding_model.layers.2.type=linear_batch=4"});
  }
  SECTION("no characters that a folder should not have") {
    Json sweep = two_variants();
    sweep.erase("variants");
    sweep["grid"] = {{"eval.lengths", {{8, 12}}},
                     {"train.optimizer", {{{"type", "sgd"}, {"lr", 0.5}}}}};
    CHECK(names_of(plan_of(sweep)) ==
          Names{"tiny_lengths=-8,12-_optimizer=--lr--0.5,-type---sgd--"});
  }
}

TEST_CASE("an entry of a list may have a name", "[sweep]") {
  Json sweep = two_variants();
  sweep.erase("variants");
  sweep["list"] = {{{"name", "slow"}, {"train.steps", 80}, {"train.optimizer.lr", 0.01}},
                   {{"train.steps", 20}}};
  const SweepPlan plan = plan_of(sweep);
  CHECK(names_of(plan) == Names{"tiny_slow", "tiny_steps=20"});
  CHECK(plan.variants[0].resolved["name"] == "tiny_slow");
  CHECK(plan.variants[0].resolved["train"]["steps"] == 80);
}

TEST_CASE("a variant may have a config of its own, a file or an object", "[sweep]") {
  const Workplace place;
  std::filesystem::create_directories(place.path("deep"));
  place.write("tiny.json", tiny_config());
  place.write("deep/other.json", Json{{"extends", "../tiny.json"}, {"train", {{"steps", 9}}}});
  Json sweep = two_variants();
  sweep["config"] = "../tiny.json";
  sweep["variants"] = {
      {{"name", "a"}},
      {{"name", "b"}, {"config", "other.json"}},
      {{"name", "c"}, {"config", tiny_config_with({{"train", {{"steps", 3}}}})}},
      {{"name", "d"}, {"config", {{"extends", "other.json"}, {"set", {{"train.batch", 2}}}}}}};
  place.write("deep/sweep.json", "// as people write them\n" + sweep.dump());
  const SweepPlan plan = plan_sweep(place.path("deep/sweep.json").string(), {});
  REQUIRE(plan.variants.size() == 4);
  CHECK(plan.variants[3].steps == 9);
  CHECK(plan.variants[3].resolved["train"]["batch"] == 2);
  CHECK(plan.variants[0].steps == 40);
  CHECK(plan.variants[1].steps == 9);
  CHECK(plan.variants[2].steps == 3);
}

TEST_CASE("seeds and variants can be chosen", "[sweep]") {
  SweepOptions options;
  options.seeds = {9, 8};
  CHECK(run_names(plan_of(two_variants(), options)) ==
        Names{"so3, seed 9", "so3, seed 8", "so2, seed 9", "so2, seed 8"});
  options.only = {"so2"};
  CHECK(run_names(plan_of(two_variants(), options)) == Names{"so2, seed 9", "so2, seed 8"});

  Json sweep = two_variants();
  sweep["grid"] = {{"train.batch", {4, 8}}};
  options = {};
  options.only = {"so2", "so3_batch=8"};
  CHECK(run_names(plan_of(sweep, options)) == Names{"so3_batch=8, seed 1", "so3_batch=8, seed 2",
                                                    "so2_batch=4, seed 1", "so2_batch=4, seed 2",
                                                    "so2_batch=8, seed 1", "so2_batch=8, seed 2"});

  sweep = two_variants();
  sweep.erase("seeds");
  CHECK(run_names(plan_of(sweep)) == Names{"so3, seed 42", "so2, seed 42"});
}

// The batches of the first steps of all splits.
std::vector<std::vector<double>> data_of(const Json& resolved, uint64_t seed) {
  Json json = resolved;
  json["train"]["seed"] = seed;
  const Experiment experiment(json, "test");
  std::vector<std::vector<double>> all;
  for (const Split split : {Split::train, Split::valid, Split::test}) {
    for (int64_t step = 0; step < 3; ++step) {
      const Batch batch = experiment.task->batch(split, experiment.config.train.seed, step,
                                                 experiment.config.train.batch, 0);
      all.push_back(batch.tokens.to_host());
      all.push_back(batch.targets.to_host());
    }
  }
  return all;
}

TEST_CASE("at one seed every variant sees the same data", "[sweep]") {
  Json sweep = two_variants();
  sweep["variants"].push_back(
      {{"name", "wide"},
       {"set",
        {{"model.width", 16}, {"train.optimizer.lr", 0.5}, {"precision", "f64"}, {"threads", 2}}}});
  const SweepPlan plan = plan_of(sweep);
  CHECK(plan.notes.empty());
  const auto first = data_of(plan.variants[0].resolved, 1);
  CHECK(first[0].size() == 8 * 8);
  CHECK(data_of(plan.variants[1].resolved, 1) == first);
  CHECK(data_of(plan.variants[2].resolved, 1) == first);
  CHECK(data_of(plan.variants[0].resolved, 2) != first);
}

TEST_CASE("a note says when variants do not see the same data", "[sweep]") {
  Json sweep = two_variants();
  sweep["variants"][1]["set"] = {{"task.length", 9}, {"train.batch", 4}};
  const SweepPlan plan = plan_of(sweep);
  REQUIRE(plan.notes.size() == 1);
  CHECK(plan.notes[0].find("they differ in task.length, train.batch") != std::string::npos);
}

TEST_CASE("cores are divided", "[sweep]") {
  cpu_set_t set;
  REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
  const int64_t cores = CPU_COUNT(&set);
  Json sweep = two_variants();
  sweep["seeds"] = Json::array();
  for (int seed = 0; seed < 64; ++seed) sweep["seeds"].push_back(seed);
  for (const int64_t threads : {int64_t(1), int64_t(2), cores, cores + 1, 3 * cores}) {
    sweep["set"] = {{"threads", threads}};
    const SweepPlan plan = plan_of(sweep);
    const CoreShare share = share_cores(plan, 0);
    CHECK(share.jobs == std::clamp<int64_t>(128, 1, std::max<int64_t>(1, cores / threads)));
    CHECK(share.threads == std::min(threads, cores));
    CHECK(share.note.empty() == (threads <= cores));

    const CoreShare full = share_cores(plan, std::min<int64_t>(cores, 128));
    CHECK(full.jobs == std::min<int64_t>(cores, 128));
    if (cores <= 128) CHECK(full.threads == 1);
    const std::string command = shell_command(
        run_arguments(plan, plan.runs[0], RunState::absent, threads_of(plan.variants[0], full)));
    CHECK((command.find("--set threads=1 ") != std::string::npos ||
           command.ends_with("--set threads=1")) == (threads > 1));
    CHECK(share_cores(plan, 1000).jobs == 128);  // as many as asked for, but no more than runs
  }
}

TEST_CASE("commands are what a shell takes", "[sweep]") {
  CHECK(shell_command({"train", "a b.json", "--set", "x=[1,2]", "it's", ""}) ==
        "lssm train 'a b.json' --set 'x=[1,2]' 'it'\\''s' ''");
}

TEST_CASE("what is wrong with a sweep", "[sweep]") {
  struct Case {
    const char* patch;
    std::vector<std::string> expected;
  };
  const std::vector<Case> cases = {
      {R"({"seeds": []})", {"/seeds: an empty list"}},
      {R"({"seeds": [3, 4, 3]})", {"/seeds: the seed 3 stands there twice"}},
      {R"({"seeds": [-1]})", {"/seeds", "at least 0"}},
      {R"({"name": "a/b"})", {"/name: expected a folder name", "\"a/b\""}},
      {R"({"name": null})", {"/name: "}},
      {R"({"config": null})", {"/config: this key is missing"}},
      {R"({"config": "no.json"})", {"no.json: No such file"}},
      {R"({"config": 3})", {"config: expected a path or an object, got 3"}},
      {R"({"variants": []})", {"/variants: expected a list"}},
      {R"({"variants": [{"set": {}}]})", {"/variants/0/name: this key is missing"}},
      {R"({"variants": [{"name": "a"}, {"name": "a"}]})",
       {"/variants/1/name: there are two variants a"}},
      {R"({"variants": [{"name": "configs"}]})", {"/variants/0/name: the sweep's folder"}},
      {R"({"variants": [{"name": "a", "sett": {}}]})",
       {"/variants/0/sett: unknown key", "\"set\""}},
      {R"({"grid": {}})", {"/grid: expected an object"}},
      {R"({"grid": {"train.batch": []}})", {"/grid: train.batch: expected a list of values"}},
      {R"({"grid": {"train.batch": 4}})", {"/grid: train.batch: expected a list of values"}},
      {R"({"grid": {"train.seed": [4]}})", {"/grid: \"train.seed\" belongs to the sweep"}},
      {R"({"set": {"name": "x"}})", {"/set: \"name\" belongs to the sweep"}},
      {R"({"list": [{"train.batch": 4}], "grid": {"train.batch": [4]}})",
       {"/list: the key \"train.batch\" stands in the grid too"}},
      {R"({"list": [3]})", {"/list: expected an object of dotted keys, got 3"}},
      {R"({"grid": {"train.batch": [4, 4]}})",
       {"/grid: train.batch: the value 4 stands there twice"}},
      {R"({"list": [{"name": "x", "train.batch": 4}, {"name": "x", "train.batch": 5}]})",
       {"so3_x, so2_x: two configs of the sweep have this name"}},
      {R"({"baseline": "so4"})", {"/baseline: there is no variant \"so4\"", "so3, so2"}},
      {R"({"sedes": [1]})", {"/sedes: unknown key; did you mean \"seeds\"?"}},
      {R"({"set": {"train.stepz": 3}})",
       {"variants so3, so2: /train/stepz: unknown key; did you mean \"steps\"?"}},
      {R"({"set": {"model.layers.7.group": "so2"}})", {"model.layers.7.group: \"7\" is no index"}},
      // All errors at once, each with its variant.
      {R"({"variants": [{"name": "a", "set": {"train.steps": -1}}, {"name": "b"},
                        {"name": "c", "set": {"model.layers.1.group": "so9"}}]})",
       {"variant a: /train/steps", "variant c: /model/layers/1/group"}}};
  for (const Case& c : cases) {
    Json sweep = two_variants();
    sweep.merge_patch(Json::parse(c.patch));
    std::string message = "no error";
    try {
      plan_of(sweep);
    } catch (const Error& error) {
      message = error.what();
    }
    INFO(c.patch << "\n" << message);
    CHECK(message.find("sweep.json: ") != std::string::npos);
    for (const std::string& part : c.expected) CHECK(message.find(part) != std::string::npos);
    CHECK(message.find("variant b:") == std::string::npos);
  }
  SweepOptions options;
  options.only = {"so4"};
  CHECK_THROWS_WITH(plan_of(two_variants(), options),
                    Catch::Matchers::Contains("--only: there is no variant \"so4\""));
}

}  // namespace
}  // namespace lssm
