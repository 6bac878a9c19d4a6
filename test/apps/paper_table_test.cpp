// SPDX-License-Identifier: Apache-2.0
// Published figures beside ours.
#include "apps/report/paper_table.h"

#include "apps/report/markdown.h"
#include "test/apps/report_fixture.h"

namespace lssm {
namespace {

Json row(const std::string& variant, double mean, double std, int64_t n) {
  return {{"label", "Their " + variant},
          {"variant", variant},
          {"metric", "final"},
          {"length", 32},
          {"mean", mean},
          {"std", std},
          {"n", n}};
}

struct Paper {
  Paper() {
    Json variants = Json::array();
    for (const char* name : {"a", "b", "perfect", "nobody"}) variants.push_back({{"name", name}});
    place.write("sweep.json",
                Json{{"name", "letters"}, {"config", "c.json"}, {"variants", variants}});
    table = {{"title", "Letters"},
             {"source", "A paper, table 7"},
             {"sweep", "sweep.json"},
             {"rows", Json::array()},
             {"remarks", {"one & only"}}};
  }
  PaperFile read() {
    place.write("table.json", table);
    return read_paper_file(place.path("table.json").string());
  }
  std::string error() {
    return error_of([this] { read(); });
  }

  Workplace place;
  Json table;
};

TEST_CASE("figures of a paper are compared with ours", "[paper]") {
  Paper paper;
  const std::filesystem::path runs = paper.place.path("runs");
  // 90 +- 2 of 5 and of 3 seeds. SciPy's ttest_ind_from_stats(equal_var=False) against 85 +- 3:
  // of 3 seeds t = 2.56495, p = 0.080215; of 4 seeds (and 3 of ours) t = 2.64135, p = 0.046049.
  make_runs(runs, "a", {{1, .90}, {2, .92}, {3, .88}, {4, .92}, {5, .88}});
  make_runs(runs, "b", {{1, .90}, {2, .92}, {3, .88}});
  make_runs(runs, "perfect", {{1, 1}, {2, 1}});
  paper.table["rows"] = {
      row("a", 85, 3, 3),     row("b", 85, 3, 4),        row("b", 95, 3, 4),
      row("a", 85, -1, 0),    row("perfect", 100, 0, 3), row("perfect", 99, 0, 3),
      row("nobody", 1, 1, 3), row("a", 1, 1, 3),         row("a", 1, 1, 3)};
  paper.table["rows"][7]["length"] = 64;
  paper.table["rows"][8]["metric"] = "prefix";
  PaperFile file = paper.read();
  CHECK(file.sweep == "letters");
  CHECK(file.table.title == "Letters");
  compare_with_paper(file.table, read_results({runs}));
  const std::vector<PaperRow>& rows = file.table.rows;
  REQUIRE(rows.size() == 9);
  CHECK(rows[0].ours.n == 5);
  CHECK(rows[0].ours.mean == Approx(90));
  CHECK(rows[0].ours.std == Approx(2));
  CHECK(rows[0].test.t == Approx(2.5649458802));
  CHECK(rows[0].test.p == Approx(0.0802148911));
  CHECK(rows[0].words == "+5.00 points (Welch p = 0.080): no significant difference");
  CHECK(rows[1].test.t == Approx(2.6413527190));
  CHECK(rows[1].test.p == Approx(0.0460487886));
  CHECK(rows[1].words == "+5.00 points (Welch p = 0.046): significantly better");
  CHECK(rows[2].words == "-5.00 points (Welch p = 0.046): significantly worse");
  CHECK(rows[3].words == "+5.00 points; the paper gives no spread to test against");
  CHECK(rows[4].words == "the same on every seed, here and there");
  CHECK(rows[5].words == "+1.00 points; neither varies over its seeds: no test");
  CHECK(rows[6].words == "no run of ours");
  CHECK(rows[6].ours.n == 0);
  CHECK(rows[7].words == "not tested at this length");
  CHECK(rows[8].words == "our runs have no such figure");
}

TEST_CASE("rows without a published figure count the seeds that reach a bound", "[paper]") {
  Paper paper;
  make_runs(paper.place.path("runs/letters"), "a", {{1, .90}, {2, .92}, {3, .88}});
  Json reach = row("a", 85, 3, 4), alone = reach;
  reach["reach"] = 90;
  alone["reach"] = 88;
  for (const char* key : {"mean", "std", "n"}) alone.erase(key);
  paper.table["rows"] = {reach, alone};
  paper.read();
  paper.place.good({"report", "--paper", "table.json", "runs/letters", "--out", "out"});
  const std::string page = read_file(paper.place.path("out/report.md"));
  CHECK(
      has(page,
          "| 85.00 ± 3.00 (4 seeds) | 90.00 ± 2.00 | 3 | 2 of 3 seeds reach 90.00; +5.00 points"));
  CHECK(has(page, "| - | 90.00 ± 2.00 | 3 | 3 of 3 seeds reach 88.00 |"));
  const Json rows = read_json(paper.place.path("out/report.json"))["paper"]["rows"];
  CHECK(rows[1]["published"]["mean"].is_null());
  const std::string csv = read_file(paper.place.path("out/report_paper.csv"));
  CHECK(has(csv, "\nTheir a,a,final,%,32,NA,NA,NA,3,90,2"));
  paper.table["rows"] = {alone};
  paper.table["rows"][0]["std"] = 1;
  CHECK(has(paper.error(), "/rows/0/std: there is no spread without a mean"));
}

TEST_CASE("report --paper", "[paper]") {
  Paper paper;
  make_runs(paper.place.path("runs/letters"), "a", {{1, .90}, {2, .92}, {3, .88}});
  paper.table["rows"] = {row("a", 85, 3, 4), row("nobody", 1, 1, 3)};
  paper.read();
  // The runs are those of the table's sweep.
  const std::string page = paper.place.good({"report", "--paper", "table.json"});
  CHECK(page.starts_with("# Letters\n"));
  CHECK(has(page, "A paper, table 7."));
  CHECK(has(page, "one & only"));
  CHECK(has(page,
            "| Their a | a | final step (%) | 32 | 85.00 ± 3.00 (4 seeds) | 90.00 ± 2.00 | 3 |"
            " +5.00 points (Welch p = 0.046): significantly better |"));
  CHECK(has(page, "| none | 0 | no run of ours |"));
  const std::string test =
      "Welch's test of independent samples, two-sided, not adjusted for the number of rows";
  CHECK(has(page, test));

  paper.place.good({"report", "--paper", "table.json", "runs/letters", "--out", "out"});
  const Json json = read_json(paper.place.path("out/report.json"))["paper"];
  CHECK(json["test"] == test);
  CHECK(json["rows"][0]["p"].get<double>() == Approx(0.0460487886));
  CHECK(json["rows"][0]["published"]["mean"] == 85.0);
  CHECK(json["rows"][1]["ours"].is_null());
  const std::string csv = read_file(paper.place.path("out/report_paper.csv"));
  CHECK(has(csv, "\nTheir a,a,final,%,32,85,3,4,3,90,2"));
  CHECK(has(csv, ",\"" + test + "\",+5.00 points"));
  CHECK(has(csv, "\nTheir nobody,nobody,final,%,32,1,1,3,0,NA,NA,NA,NA,NA,NA,no run of ours\n"));
  CHECK(has(read_file(paper.place.path("out/report.tex")), "Their a & final step (\\%)"));
  CHECK(has(read_file(paper.place.path("out/report.tex")), test));
  const std::string html = read_file(paper.place.path("out/report.html"));
  CHECK(has(html, "A paper, table 7"));
  CHECK(has(html, "Their a"));
  CHECK(has(html, "Welch&#39;s test of independent samples, two-sided, not adjusted"));
  CHECK(has(html, "one &amp; only"));
}

TEST_CASE("wrong tables of papers", "[paper][bad]") {
  Paper paper;
  CHECK(has(paper.error(), "table.json: /rows: expected a list of figures"));
  paper.table["rows"] = {row("a", 85, 3, 4)};
  paper.table["rows"][0]["lenght"] = 3;
  CHECK(has(paper.error(), "/rows/0/lenght: unknown key; did you mean \"length\""));
  paper.table["rows"] = {row("a", 85, -2, 4)};
  CHECK(has(paper.error(), "/rows/0/std"));
  paper.table["rows"] = {row("perfekt", 85, 3, 4)};
  CHECK(has(paper.error(),
            "/rows/0/variant: the sweep has no variant \"perfekt\"; did you mean \"perfect\"?"));
  paper.table["rows"] = {row("a", 85, 3, 4)};
  paper.table["rows"][0]["metric"] = "finale";
  CHECK(
      has(paper.error(), "/rows/0/metric: there is no metric \"finale\"; did you mean \"final\""));
  paper.table["rows"] = {row("a_lr=1", 85, 3, 4)};  // the sweep has no grid
  CHECK(has(paper.error(), "no variant \"a_lr=1\""));
  paper.table["rows"] = {row("a", 85, 3, 4)};
  paper.table["sweep"] = "nowhere.json";
  CHECK(has(paper.error(), "nowhere.json"));
  check_error(paper.place.lssm({"report", "--paper", "nothing"}), 2,
              {"there is no paper table \"nothing\""});
  check_error(paper.place.lssm({"report"}), 2, {"--paper"});
}

TEST_CASE("the variants of a paper's table are those of its sweep", "[paper]") {
  Paper paper;
  const auto error = [&](const Json& sweep, const std::string& variant) {
    paper.place.write("sweep.json", sweep);
    paper.table["rows"] = {row(variant, 85, 3, 4)};
    return paper.error();
  };
  Json sweep = {{"name", "letters"}, {"config", "c.json"}};
  paper.place.write("c.json", Json{{"name", "alpha"}});
  CHECK(error(sweep, "alpha") == "no error");
  CHECK(has(error(sweep, "letters"), "no variant \"letters\""));
  sweep["config"] = Json::object();
  CHECK(error(sweep, "letters") == "no error");
  sweep["grid"] = {{"train.optimizer.lr", {1, 2}}};
  CHECK(error(sweep, "letters_lr=1") == "no error");
  CHECK(has(error(sweep, "lettersx"), "no variant \"lettersx\""));
  CHECK(has(error({{"name", 1}, {"variants", {1, {{"name", 2}}}}}, "a"), "no variant \"a\""));
  CHECK(has(error(Json::array(), "a"), "no variant \"a\""));
}

TEST_CASE("every table of a paper in the repository can be reproduced", "[paper]") {
  const Workplace place;
  size_t tables = 0;
  for (const auto& entry : std::filesystem::directory_iterator(LSSM_SOURCE "/configs/papers")) {
    INFO(entry.path());
    ++tables;
    const PaperFile file = read_paper_file(entry.path().string());
    // scripts/reproduce looks for the runs under the table's name.
    CHECK(file.sweep == entry.path().stem());
    const Json plan = Json::parse(
        place.good({"sweep", entry.path().string(), "--dry-run", "--json", "--runs", "runs"}));
    std::set<std::string> variants;
    for (const Json& run : plan["runs"]) variants.insert(run["variant"]);
    for (const PaperRow& row : file.table.rows) {
      INFO(row.variant);
      CHECK(variants.contains(row.variant));
      CHECK(row.metric.known);
    }
  }
  CHECK(tables > 0);
  CHECK(files_below(place.root()).empty());
}

}  // namespace
}  // namespace lssm
