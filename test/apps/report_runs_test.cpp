// SPDX-License-Identifier: Apache-2.0
// Which runs a report takes: those of a sweep as it is now, through links, selected on valid.
#include "apps/report/selection.h"
#include "test/apps/report_fixture.h"

namespace lssm {
namespace {

namespace fs = std::filesystem;

using Lines = std::vector<std::string>;

Lines names_of(const Results& results) {
  Lines names;
  for (const Variant& variant : results.variants) names.push_back(variant.name);
  return names;
}

Json listed(const std::string& name, const std::string& variant) {
  return {{"name", name}, {"variant", variant}, {"config_hash", "hash of " + name}};
}

TEST_CASE("a sweep's folder knows its order and what has not begun", "[report]") {
  const TemporaryFolder folder;
  make_runs(folder.path(), "a", {{1, 0.5}, {2, 0.5}});
  make_runs(folder.path(), "z", {{1, 0.5}});
  fs::create_directories(folder / "configs");
  write_quickly(folder / "configs" / "config.json", "{}");
  const Json sweep = {{"baseline", "z"},
                      {"seeds", {1, 2, 3}},
                      {"variants",
                       {{{"name", "z"}, {"config_hash", "z1"}},
                        {{"name", "b"}, {"config_hash", "b1"}},
                        {{"name", "a"}, {"config_hash", "a1"}}}}};
  write_quickly(folder / "sweep.json", sweep.dump());
  const Results results = read_results({folder.path()});
  REQUIRE(results.variants.size() == 2);
  CHECK(results.variants[0].name == "z");
  CHECK(results.variants[1].name == "a");
  CHECK(results.notes == Lines{"z seeds 2, 3: not started", "b seeds 1, 2, 3: not started",
                               "a seed 3: not started"});
  CHECK(sweep_baseline({folder / "a", folder.path()}) == "z");
  CHECK(sweep_baseline({folder / "a"}) == "");
}

TEST_CASE("runs that their sweep does not list are left out, with a note", "[report]") {
  const TemporaryFolder folder;
  const Json test = {{"32", {{"final", 0.5}}}};
  const auto add = [&](const char* name, uint64_t seed, const std::string& hash) {
    return make_run(folder / "s", {name, seed, test, {{"config_hash", hash}}});
  };
  add("a", 1, "hash of a");
  add("a", 2, "hash of a");
  add("a", 3, "hash of an older a");
  add("a", 4, "hash of a");
  for (const uint64_t seed : {1u, 2u}) add("u", seed, "hash of u");
  fs::remove(add("u", 3, "hash of u") / "summary.json");
  fs::remove(add("a", 5, "hash of a") / "summary.json");
  Json sweep = {{"seeds", {1, 2, 3}}, {"variants", {listed("a", "a")}}};
  write_quickly(folder / "s" / "sweep.json", sweep.dump());
  const Results results = read_results({folder / "s"});
  REQUIRE(names_of(results) == Lines{"a"});
  CHECK(results.variants[0].runs.size() == 2);
  const Lines of_a = {"a seed 3: not of the sweep's config any more, left out",
                      "a seeds 4, 5: no seed of this sweep any more, left out"};
  const std::string of_u = "u seeds 1, 2, 3: not of this sweep any more, left out";
  CHECK(results.notes == Lines{of_a[0], of_a[1], of_u});
  // The same from inside the sweep.
  CHECK(read_results({folder / "s" / "a"}).notes == of_a);
  CHECK(error_of([&] { read_results({folder / "s" / "u" / "seed-1" / ""}); }) ==
        "there is no finished run; u seed 1: not of this sweep any more, left out");
  // A sweep file may have the same name; it is no record of what was run.
  sweep["variants"][0].erase("config_hash");
  write_quickly(folder / "s" / "sweep.json", sweep.dump());
  fs::remove_all(folder / "s" / "a" / "seed-3");
  CHECK(names_of(read_results({folder / "s"})) == Lines{"a", "u"});
}

TEST_CASE("runs are found through links, once", "[report]") {
  const TemporaryFolder folder;
  make_runs(folder / "disk", "a", {{1, 0.5}, {2, 0.5}});
  make_runs(folder / "runs", "b", {{1, 0.5}});
  fs::create_directory_symlink(folder / "disk" / "a", folder / "runs" / "a");
  fs::create_directory_symlink(folder / "disk", folder / "runs" / "again");
  // Two ways round: who follows both without end is never done.
  fs::create_directory_symlink("..", folder / "runs" / "b" / "round");
  fs::create_directory_symlink("..", folder / "runs" / "b" / "around");
  fs::create_directory_symlink("nowhere", folder / "runs" / "broken");
  fs::create_directory_symlink("seed-1", folder / "runs" / "b" / "best");
  const Results results = read_results({folder / "runs"});
  REQUIRE(names_of(results) == Lines{"b", "a"});
  CHECK(results.variants[0].runs.size() == 1);
  CHECK(results.variants[0].runs[0].folder == folder / "runs" / "b" / "seed-1");
  CHECK(results.variants[1].runs.size() == 2);
}

// Two variants at two points of a grid. Beside seeds 1 and 2, which all have, a_lr=2 has a seed 3.
void make_grid(const fs::path& root) {
  const auto add = [&](const std::string& name, uint64_t seed, double prefix, double loss) {
    // What is best on valid is worst in the test.
    make_run(root, {name,
                    seed,
                    {{"32", {{"final", 1 - prefix}}}},
                    {{"valid", {{"prefix", prefix}, {"loss", loss}, {"final", nullptr}}}}});
  };
  add("a_lr=1", 1, 0.6, 0.9);
  add("a_lr=1", 2, 0.7, 0.7);
  add("a_lr=2", 1, 0.8, 0.9);
  add("a_lr=2", 2, 0.6, 0.8);
  add("a_lr=2", 3, 0.0, 0.0);
  add("b_lr=1", 1, 0.9, 0.2);
  add("b_lr=1", 2, 0.9, 0.2);
  add("b_lr=2", 1, 0.1, 0.3);
  add("b_lr=2", 2, 0.1, 0.3);
  const Json sweep = {{"baseline", "a"},
                      {"seeds", {1, 2, 3}},
                      {"variants",
                       {listed("a_lr=1", "a"), listed("a_lr=2", "a"), listed("b_lr=1", "b"),
                        listed("b_lr=2", "b")}}};
  write_quickly(root / "sweep.json", sweep.dump());
}

TEST_CASE("the config of each variant is selected on valid alone", "[report]") {
  const TemporaryFolder folder;
  make_grid(folder.path());
  const auto select = [&](const std::string& figure, const std::string& baseline = "a") {
    Results results = read_results({folder.path()});
    Lines lines = {select_configs(results, baseline, figure)};
    for (const std::string& name : names_of(results)) lines.push_back(name);
    lines.push_back(results.notes.back());
    return lines;
  };
  const std::string over = " was chosen, over the seeds that all of them have: ";
  CHECK(select("valid.prefix") ==
        Lines{"Of each variant's configs the one with the best mean valid.prefix" + over +
                  "a: a_lr=2, the best of 2 (70.00 % on seeds 1, 2); b: b_lr=1, the best of 2 "
                  "(90.00 % on seeds 1, 2).",
              "a_lr=2", "b_lr=1",
              "left out by --select valid.prefix: a_lr=1 (65.00 %), b_lr=2 (10.00 %)"});
  CHECK(select("valid.loss") ==
        Lines{"Of each variant's configs the one with the best mean valid.loss" + over +
                  "a: a_lr=1, the best of 2 (0.8 on seeds 1, 2); b: b_lr=1, the best of 2 (0.2 on "
                  "seeds 1, 2).",
              "a_lr=1", "b_lr=1", "left out by --select valid.loss: a_lr=2 (0.85), b_lr=2 (0.3)"});
  // A config that was named as the baseline stays.
  const Lines named = select("valid.prefix", "a_lr=1");
  CHECK(has(named[0], "a: a_lr=1, named as the baseline, of 2; b: b_lr=1, the best of 2"));
  CHECK(named[1] == "a_lr=1");
  for (const char* figure : {"test.final", "final", "exact_prefix", "test.degrees"}) {
    CHECK(error_of([&] { select(figure); }) ==
          std::string("--select: got ") + figure +
              ", a figure of the test: models are selected on valid alone; allowed: valid.prefix, "
              "valid.final, valid.loss");
  }
  CHECK(has(error_of([&] { select("valid.prefx"); }), "did you mean \"valid.prefix\"?"));
  CHECK(error_of([&] { select("valid.final"); }) == "--select: a_lr=1 seed 1 has no valid.final");
  fs::remove_all(folder / "b_lr=1" / "seed-1");
  fs::remove_all(folder / "b_lr=2" / "seed-2");
  CHECK(error_of([&] { select("valid.prefix"); }) ==
        "--select: the 2 configs of b have no seed in common");
  // Without a sweep's record every name is a variant of its own.
  fs::remove(folder / "sweep.json");
  Results results = read_results({folder.path()});
  CHECK(select_configs(results, "a_lr=1", "valid.prefix") ==
        "Nothing was selected by valid.prefix: every variant has one config.");
  CHECK(results.variants.size() == 4);
  CHECK(results.notes.empty());
}

TEST_CASE("a baseline with several configs is compared when one is chosen", "[report]") {
  const Workplace place;
  make_grid(place.path("sweep"));
  const auto report = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"report", "sweep", "--format", "json"});
    return Json::parse(place.good(more));
  };
  const Json without = report({});
  CHECK(without["baseline"].is_null());
  CHECK(without["notes"].back() ==
        "the baseline a has 2 configs: name one by --baseline, or let --select choose: a_lr=1, "
        "a_lr=2; nothing is tested");
  check_error(place.lssm({"report", "sweep", "--baseline", "a"}), 2, {"a_lr=1, a_lr=2"});
  const Json selected = report({"--select", "valid.prefix"});
  CHECK(selected["baseline"] == "a_lr=2");
  REQUIRE(selected["costs"].size() == 2);
  CHECK(selected["costs"][1]["variant"] == "b_lr=1");
  CHECK(selected["tables"][0]["rows"][1]["comparison"]["pairs"] == 2);
  CHECK(has(selected["selection_rule"], "b: b_lr=1, the best of 2"));
  CHECK(report({"--baseline", "b_lr=2"})["baseline"] == "b_lr=2");

  // What a paper printed is put beside all runs, also those that were not selected.
  const Json row = {{"label", "Theirs"},
                    {"variant", "a_lr=1"},
                    {"metric", "final"},
                    {"length", 32},
                    {"mean", 35},
                    {"std", 5},
                    {"n", 3}};
  place.write("grid.json", Json{{"name", "sweep"},
                                {"config", "c.json"},
                                {"variants", {{{"name", "a"}}, {{"name", "b"}}}},
                                {"grid", {{"train.optimizer.lr", {1, 2}}}}});
  place.write("table.json",
              Json{{"title", "T"}, {"source", "S"}, {"sweep", "grid.json"}, {"rows", {row}}});
  const Json paper = report({"--select", "valid.prefix", "--paper", "table.json"})["paper"];
  CHECK(paper["rows"][0]["ours"]["mean"].get<double>() == Approx(35));
}

TEST_CASE("a sweep's baseline without a finished run is a note", "[report]") {
  const Workplace place;
  make_runs(place.path("sweep"), "a", {{1, 0.5}});
  place.write("sweep/sweep.json",
              Json{{"baseline", "d"}, {"seeds", {1}}, {"variants", {listed("a", "a")}}});
  const Json page = Json::parse(place.good({"report", "sweep", "--format", "json"}));
  CHECK(page["baseline"].is_null());
  CHECK(has(page["notes"][0], "no finished variant has the name of the sweep's baseline, d"));
}

TEST_CASE("a report of some seeds", "[report]") {
  const Workplace place;
  make_runs(place.path("runs"), "a", {{1, 0.1}, {2, 0.2}, {3, 0.6}});
  make_runs(place.path("runs"), "b", {{4, 0.5}});
  const Json page =
      Json::parse(place.good({"report", "runs", "--seeds", "2,3,9", "--format", "json"}));
  REQUIRE(page["tables"][0]["rows"].size() == 1);
  CHECK(page["tables"][0]["rows"][0]["seeds"] == Json({2, 3}));
  CHECK(page["tables"][0]["rows"][0]["figures"]["mean"].get<double>() == Approx(40));
  check_error(place.lssm({"report", "runs", "--seeds", "9"}), 2, {"--seeds", "no finished run"});
}

}  // namespace
}  // namespace lssm
