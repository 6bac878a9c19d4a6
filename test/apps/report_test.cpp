// SPDX-License-Identifier: Apache-2.0
// What a report says of runs: figures, tests, words, notes and errors.
#include "apps/report/selection.h"
#include "test/apps/report_fixture.h"

namespace lssm {
namespace {

namespace fs = std::filesystem;

using Lines = std::vector<std::string>;

TEST_CASE("the rows that papers print", "[report]") {
  const TemporaryFolder folder;
  // For five differences m + {0, 2, -2, 1, -1}: std = sqrt(2.5), so t = sqrt(2) m.
  const std::map<uint64_t, double> twin = {
      {42, 0.1}, {123, 0.2}, {456, 0.3}, {789, 0.4}, {1024, 0.5}};
  const std::map<uint64_t, double> spread = {
      {42, 0}, {123, 0.02}, {456, -0.02}, {789, 0.01}, {1024, -0.01}};
  const auto shifted = [&](double t) {
    std::map<uint64_t, double> values = twin;
    for (auto& [seed, value] : values) value += t / std::sqrt(2.0) / 100 + spread.at(seed);
    return values;
  };
  make_runs(folder.path(), "twin", twin);
  make_runs(folder.path(), "weak", shifted(9.2274));
  make_runs(folder.path(), "strong", shifted(60.35));
  const Report report = report_on(folder.path(), {.baseline = "twin"});

  const ReportRow& base = row_of(report, "twin");
  CHECK(!base.comparison);
  CHECK(base.seeds == std::vector<uint64_t>{42, 123, 456, 789, 1024});
  CHECK(base.figures.n == 5);
  CHECK(base.figures.mean == Approx(30));
  CHECK(base.figures.std == Approx(std::sqrt(250.0)));
  CHECK(base.figures.ci95 == Approx(2.7764451 * std::sqrt(50.0)));  // t quantile of 4 df
  CHECK(base.figures.median == Approx(30));
  CHECK(base.figures.min == Approx(10));
  CHECK(base.figures.max == Approx(50));

  const Comparison& weak = *row_of(report, "weak").comparison;
  CHECK(weak.t_test.n == 5);
  CHECK(weak.t_test.df == 4);
  CHECK(weak.t_test.t == Approx(9.2274).epsilon(1e-9));
  CHECK(weak.t_test.p == Approx(7.67e-4).margin(5e-7));
  CHECK(weak.t_test.cohens_dz == Approx(4.13).margin(5e-3));
  CHECK(weak.t_test.difference == Approx(9.2274 / std::sqrt(2.0)));
  CHECK(weak.t_test.ci95 == Approx(2.7764451 * std::sqrt(0.5)));
  CHECK(weak.wilcoxon.w == 0);
  CHECK(weak.wilcoxon.p == Approx(2.0 / 32));
  const Comparison& strong = *row_of(report, "strong").comparison;
  CHECK(strong.t_test.p == Approx(4.51e-7).margin(5e-10));
  CHECK(strong.t_test.cohens_dz == Approx(26.99).margin(5e-3));
  // Holm: the smaller p counts twice, the larger once.
  CHECK(report.tables[0].family == 2);
  CHECK(strong.p_holm == Approx(2 * strong.t_test.p));
  CHECK(weak.p_holm == weak.t_test.p);
  CHECK(strong.words == "significantly better, +42.67 points (p = 4.5e-07, Holm 9.0e-07)");
  CHECK(weak.words == "significantly better, +6.52 points (p = 7.7e-04, Holm 7.7e-04)");
}

TEST_CASE("a difference that is not significant may be small, or unknown", "[report]") {
  const TemporaryFolder folder;
  make_runs(folder.path(), "base", {{1, 0.5}, {2, 0.6}, {3, 0.7}});
  // Points 0.1, 0.2, 0.3: t = 2 sqrt(3), p = 1 - t / sqrt(t^2 + 2) = 0.0742; TOST: t = 8 sqrt(3).
  make_runs(folder.path(), "close", {{1, 0.501}, {2, 0.602}, {3, 0.703}});
  // Points -3, 1, 5: t = sqrt(3) / 4, p = 0.7072; the mean is on the margin: TOST p = 1/2.
  make_runs(folder.path(), "wide", {{1, 0.47}, {2, 0.61}, {3, 0.75}});
  const auto words = [&](const std::string& name, const ReportOptions& options) {
    return row_of(report_on(folder.path(), options), name).comparison->words;
  };
  CHECK(words("close", {.baseline = "base"}) ==
        "not significant (p = 0.074, Holm 0.15): differences beyond ±1 point are excluded (TOST "
        "p = 0.0026)");
  CHECK(words("wide", {.baseline = "base"}) ==
        "not significant (p = 0.71, Holm 0.71): differences beyond ±1 point cannot be excluded "
        "(TOST p = 0.50)");
  // Margin 0.2: on the mean of "close".
  CHECK(has(words("close", {.baseline = "base", .margin = 0.2}),
            "beyond ±0.2 points cannot be excluded (TOST p = 0.50)"));
}

TEST_CASE("one comparison needs no correction; many may take a difference away", "[report]") {
  const TemporaryFolder folder;
  make_runs(folder.path(), "base", {{1, 0.5}, {2, 0.6}, {3, 0.7}});
  // Points -4, -5, -6: t = -5 sqrt(3), p = 1 - t / sqrt(t^2 + 2) = 0.0131.
  make_runs(folder.path(), "worse", {{1, 0.46}, {2, 0.55}, {3, 0.64}});
  CHECK(row_of(report_on(folder.path(), {.baseline = "base"}), "worse").comparison->words ==
        "significantly worse, -5.00 points (p = 0.013)");
  for (const char* name : {"x1", "x2", "x3"})  // t = 2 sqrt(3)
    make_runs(folder.path(), name, {{1, 0.501}, {2, 0.602}, {3, 0.703}});
  CHECK(row_of(report_on(folder.path(), {.baseline = "base"}), "worse").comparison->words ==
        "significant alone, but not among the 4 tests of the metric (p = 0.013, Holm 0.052): "
        "differences beyond ±1 point cannot be excluded (TOST p = 0.99)");
}

TEST_CASE("each metric is a family of tests of its own", "[report]") {
  const TemporaryFolder folder;
  const auto add = [&](const char* name, uint64_t seed, double final, double prefix) {
    make_run(folder.path(), {name,
                             seed,
                             {{"32", {{"final", final}, {"prefix", prefix}}},
                              {"64", {{"final", final}, {"prefix", 0.5}}}}});
  };
  // final: points -4, -5, -6 at both lengths, p = 0.0131; prefix: the same at 32, identical at 64.
  for (const uint64_t seed : {1u, 2u, 3u}) {
    add("base", seed, 0.5, 0.5);
    add("other", seed, 0.47 - 0.01 * double(seed), 0.47 - 0.01 * double(seed));
  }
  const Report report = report_on(folder.path(), {.baseline = "base"});
  for (const ReportTable& table : report.tables) {
    const Comparison& c = *find_row(table, "other")->comparison;
    const bool is_final = table.metric.key == "final";
    CHECK(table.family == (is_final ? 2 : 1));
    if (c.t_test.kind == TestCase::usual)
      CHECK(c.p_holm == Approx((is_final ? 2 : 1) * c.t_test.p));
  }
  // Without one of the lengths there is less to correct for.
  const Report one = report_on(folder.path(), {.baseline = "base", .lengths = {32}});
  CHECK(one.tables[0].family == 1);
}

TEST_CASE("the direction of a metric decides what is better", "[report]") {
  const TemporaryFolder folder;
  for (const char* metric : {"loss", "degrees"}) {
    make_runs(folder / metric, "base", {{1, 1.5}, {2, 1.6}, {3, 1.7}}, metric);
    make_runs(folder / metric, "other", {{1, 1.1}, {2, 1.1}, {3, 1.1}}, metric);
  }
  // Differences -0.4, -0.5, -0.6: as above.
  CHECK(row_of(report_on(folder / "loss", {.baseline = "base"}), "other").comparison->words ==
        "significantly better, -0.5 (p = 0.013)");
  CHECK(row_of(report_on(folder / "degrees", {.baseline = "base"}), "other").comparison->words ==
        "significant, -0.5 (p = 0.013)");
}

TEST_CASE("pairs that cannot be tested are put in words", "[report]") {
  const TemporaryFolder folder;
  const Report report = degenerate_report(folder.path());
  const auto words = [&](const char* name) { return row_of(report, name).comparison->words; };
  CHECK(words("same") == "identical on all 3 seeds: nothing to test");
  CHECK(words("shifted") == "the same difference, +2.00 points, on every seed: no test");
  CHECK(words("one_pair") == "one seed in common, difference +1.00 points: no test");
  CHECK(words("no_pair") == "no seed in common: no test");
  CHECK(report.tables[0].family == 2);  // pairs without a test do not count
  CHECK(row_of(report, "one_pair").comparison->wilcoxon.kind == TestCase::too_few);
  CHECK(report.notes == Lines{"no_pair and base: seeds 1, 2, 3, 7 have no partner, left out of the "
                              "tests",
                              "one_pair and base: seeds 1, 2, 4 have no partner, left out of the "
                              "tests"});
}

TEST_CASE("seeds at 99 % are counted from 99 % on", "[report]") {
  const TemporaryFolder folder;
  make_runs(folder.path(), "a", {{1, 0.99}, {2, 0.9899}, {3, 1.0}, {4, 0.5}});
  CHECK(row_of(report_on(folder.path()), "a").seeds_at_99 == 2);
}

TEST_CASE("tables go by metric and length, with the ceilings", "[report]") {
  const TemporaryFolder folder;
  const Json test = {
      {"8", {{"final", 0.5}, {"prefix", 0.6}, {"loss", 1.5}, {"sequences", 100}, {"zeta", 3}}},
      {"32", {{"final", 0.4}, {"prefix", 0.5}, {"loss", 2.5}, {"drift", nullptr}, {"zeta", 4}}},
      {"128", {{"final", 0.3}, {"prefix", 0.4}, {"loss", 3.5}, {"curve", Json::array()}}}};
  const Json ceilings = {{"ceilings",
                          {{"8", {{"chance", {{"final", 0.25}}}, {"parikh", nullptr}}},
                           {"32", {{"chance", {{"final", 0.125}}}}}}}};
  make_run(folder.path(), {"a", 1, test, ceilings});
  make_run(folder.path(), {"b", 1, test, ceilings});
  const auto keys = [](const Report& report) {
    Lines lines;
    for (const ReportTable& t : report.tables)
      lines.push_back(t.metric.key + " " + std::to_string(t.length));
    return lines;
  };
  const Report report = report_on(folder.path());
  CHECK(keys(report) == Lines{"final 8", "final 32", "final 128", "prefix 8", "prefix 32",
                              "prefix 128", "zeta 8", "zeta 32"});
  REQUIRE(report.tables[0].ceilings.size() == 1);
  CHECK(report.tables[0].ceilings[0].name == "chance");
  CHECK(report.tables[0].ceilings[0].value == 25);
  CHECK(report.tables[2].ceilings.empty());
  CHECK(report.tables[3].ceilings.empty());
  CHECK(report.train_lengths == std::vector<int64_t>{32});
  CHECK(keys(report_on(folder.path(), {.metrics = {"loss", "final"}, .lengths = {128, 8}})) ==
        Lines{"loss 8", "loss 128", "final 8", "final 128"});
  // Another task has other ceilings.
  make_run(folder.path(), {"b", 1, test, {{"ceilings", {{"8", {{"chance", {{"final", 0.5}}}}}}}}});
  const Report two = report_on(folder.path(), {.lengths = {8}});
  REQUIRE(two.tables[0].ceilings.size() == 2);
  CHECK(two.tables[0].ceilings[0].name == "chance of a");
  CHECK(two.tables[0].ceilings[1].name == "chance of b");
}

TEST_CASE("costs, configs and the selection rule", "[report]") {
  const TemporaryFolder folder;
  const Json test = {{"32", {{"final", 0.5}, {"sequences", 100}}}};
  make_run(folder.path(), {"a", 1, test, {{"drift", 1e-5}, {"longest_99", 128}}});
  make_run(folder.path(), {"a", 2, test, {{"drift", 3e-5}, {"cpu_s", 3.5}}, {{"threads", 2}}});
  const Json changes = {{"eval", {{"checkpoint", "best"}}}, {"train", {{"batch", 8}}}};
  make_run(folder.path(), {"b", 1, test, {{"version", "0.0.9"}}, changes});
  const Report report = report_on(folder.path(), {.baseline = "a", .origin = {"by hand"}});
  const CostRow& a = report.costs[0];
  CHECK(a.parameters == 1000);
  CHECK(a.state_size == 48);
  CHECK(a.steps == 600);
  CHECK(a.cpu_s.mean == 3);
  CHECK(a.longest_99 == 32);
  CHECK(a.largest_drift == 3e-5);
  CHECK(report.costs[1].largest_drift == -1);
  REQUIRE(report.differences.size() == 2);
  CHECK(report.differences[0].key == "eval.checkpoint");
  CHECK(report.differences[0].baseline_value == "\"last\"");
  CHECK(report.differences[0].value == "\"best\"");
  CHECK(report.differences[1].key == "train.batch");
  CHECK(report.differences[1].baseline_value == "");
  CHECK(report.selection_rule ==
        "Tested are the parameters after the last step (a) and the checkpoint best on valid.prefix "
        "(b); nothing was selected on the test stream.");
  CHECK(report.origin == Lines{"by hand", "3 runs by lssm 0.0.9, " LSSM_VERSION, "Commit: unknown",
                               "Seeds: 1, 2", "Test sequences of each length: 100",
                               "Machine: Abacus 3000 (cpu, f32)",
                               "CPU time 8.5 s, wall time 4.5 s, all runs together"});
  const auto rule = [&](const char* variant) {
    return report_on(folder.path() / variant).selection_rule;
  };
  CHECK(rule("a") ==
        "Tested are the parameters after the last step; nothing was selected on the test stream.");
  CHECK(rule("b") ==
        "Tested is the checkpoint best on valid.prefix; nothing was selected on the "
        "test stream.");
}

TEST_CASE("what is left out is noted", "[report]") {
  const TemporaryFolder folder;
  const Json both = {{"32", {{"final", 0.5}}}, {"64", {{"final", 0.5}, {"prefix", 0.5}}}};
  make_run(folder.path(), {"so3", 42, both});
  make_run(folder.path(), {"so3", 123, both});
  make_run(folder.path(), {"so2", 42, {{"32", {{"final", 0.4}}}}});
  make_run(folder.path(), {"so2", 123, {{"32", {{"final", nullptr}, {"loss", 1}}}}});
  const fs::path stopped = make_run(folder.path(), {"so2", 456, both});
  fs::remove(stopped / "summary.json");
  write_quickly(stopped / "metrics.jsonl", "{\"step\": 60}\n{\"step\": 120}\n{\"step\": 1");
  const fs::path failed = make_run(folder.path(), {"so2", 789, both});
  fs::remove(failed / "summary.json");
  write_quickly(failed / "failure.json", "{\"error\": \"step 7:\\nNaN\", \"exit_code\": 4}");
  const fs::path fresh = make_run(folder.path(), {"so2", 1024, both});
  fs::remove(fresh / "summary.json");
  fs::remove(fresh / "metrics.jsonl");
  const Report report = report_on(folder.path(), {.baseline = "so3"});
  CHECK(report.notes == Lines{"so2 seed 456: not finished (step 120 of 600)",
                              "so2 seed 789: failed: step 7: NaN",
                              "so2 seed 1024: not finished (step 0 of 600)",
                              "so2 has no metric prefix: it is left out for all variants",
                              "so2 seed 123: no final at length 32",
                              "so2 and so3: seed 123 has no partner, left out of the tests",
                              "so2: not tested at length 64"});
  const Report asked = report_on(folder.path(), {.metrics = {"prefix"}});
  CHECK(asked.notes.back() == "so3: no prefix at length 32");
  CHECK(asked.notes[asked.notes.size() - 2] == "so2 has no metric prefix");
}

TEST_CASE("runs that cannot be reported are one clear line", "[report]") {
  const TemporaryFolder folder;
  const auto error = [&] { return error_of([&] { report_on(folder / "runs"); }); };
  const std::string runs = (folder / "runs").string();
  CHECK(error() == runs + ": there is no such folder");
  write_quickly(folder / "runs", "a file");
  CHECK(error() == runs + ": expected the folder of a run or of runs, got a file");
  fs::remove(folder / "runs");
  fs::create_directories(folder / "runs");
  CHECK(error() == runs + ": holds no run, nor does any folder below it");

  const Json test = {{"32", {{"final", 0.5}}}};
  const fs::path run = make_run(folder / "runs", {"a", 1, test});
  const std::string summary = (run / "summary.json").string();
  write_quickly(summary, "{\"name\": \"a\",");
  CHECK(has(error(), summary + ": not valid JSON"));
  write_quickly(summary, "[]");
  CHECK(error() == summary + ": is no summary of a run: no JSON object");
  const auto with = [&](const Json& changes) {
    make_run(folder / "runs", {"a", 1, test, changes});
    return error();
  };
  CHECK(with({{"seed", -1}}) ==
        summary + ": is no summary of a run: /seed: expected a whole number from 0, got -1");
  CHECK(has(with({{"name", nullptr}}), "/name: expected a string, got null"));
  CHECK(has(with({{"test", {{"long", 1}}}}), "/test: expected an object with a key for each"));
  CHECK(with({{"version", "0.10.0"}}) == summary +
                                             ": written by lssm 0.10.0, which is newer than "
                                             "this one, " LSSM_VERSION);
  CHECK(with({{"version", "0.0.99"}}) == "no error");
  CHECK(with(Json::object()) == "no error");

  fs::remove(summary);
  CHECK(error() == "there is no finished run; a seed 1: not finished (step 600 of 600)");
  make_run(folder / "runs", {"a", 1, test});
  fs::remove(run / "config.json");
  CHECK(has(error(), "cannot read " + (run / "config.json").string()));
}

TEST_CASE("runs that contradict each other are refused", "[report]") {
  const TemporaryFolder folder;
  const Json test = {{"32", {{"final", 0.5}}}};
  const fs::path one = make_run(folder / "x", {"a", 1, test});
  const fs::path other = make_run(folder / "y", {"a", 1, test});
  CHECK(error_of([&] { report_on(folder.path()); }) == "a seed 1: there are two runs of it, " +
                                                           one.string() + " and " + other.string() +
                                                           "; give one of them, or another name");
  // The same run by two paths is one run.
  CHECK(read_results({folder / "x", one, folder.path() / "x" / ".." / "x"}).variants.size() == 1);
  make_run(folder / "x", {"a", 2, test, Json::object(), {{"train", {{"batch", 8}}}}});
  CHECK(error_of([&] { report_on(folder / "x"); }) ==
        "a: seeds 1 and 2 differ in train.batch (absent and 8): give the two variants two names");
}

TEST_CASE("what was asked for must be there", "[report]") {
  const TemporaryFolder folder;
  make_run(folder.path(), {"so3", 1, {{"32", {{"final", 0.5}}}}});
  make_run(folder.path(), {"imu", 1, {{"50", {{"degrees", 1.5}}}}});
  const auto error = [&](const ReportOptions& options) {
    return error_of([&] { report_on(folder.path(), options); });
  };
  CHECK(error({}) ==
        "report: the variants have no metric in common: imu has degrees; so3 has final");
  CHECK(error({.metrics = {"final"}}) == "no error");
  CHECK(error({.metrics = {"finale"}}) ==
        "report: no run has the metric \"finale\"; did you mean "
        "\"final\"? allowed: final, degrees");
  CHECK(error({.baseline = "so2"}) ==
        "report: there is no variant \"so2\" to be the baseline; did "
        "you mean \"so3\"? allowed: imu, so3");
  CHECK(error({.metrics = {"final"}, .lengths = {64}}) ==
        "report: no run was tested at length 64; there are: 32, 50");
  CHECK(error({.metrics = {"final"}, .lengths = {50}}) ==
        "report: no run has final at the lengths asked for");
}

TEST_CASE("variants are found in natural order", "[report]") {
  const TemporaryFolder folder;
  for (const char* name : {"w16", "w8", "w128", "a"}) make_runs(folder.path(), name, {{1, 0.5}});
  Lines names;
  for (const Variant& v : read_results({folder.path()}).variants) names.push_back(v.name);
  CHECK(names == Lines{"a", "w8", "w16", "w128"});
}

}  // namespace
}  // namespace lssm
