// SPDX-License-Identifier: Apache-2.0
// How a report is written down, and the command that writes it.
#include <cctype>

#include "apps/report/csv.h"
#include "apps/report/json.h"
#include "apps/report/latex.h"
#include "apps/report/markdown.h"
#include "test/apps/report_fixture.h"

namespace lssm {
namespace {

using Cells = std::vector<std::string>;

Cells lines_of(const std::string& text) {
  Cells lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Cells between separators that no backslash escapes, without the spaces around them.
Cells split(const std::string& line, char separator) {
  Cells cells = {""};
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) cells.back() += line[i++];
    if (line[i] == separator && (i == 0 || line[i - 1] != '\\')) {
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  for (std::string& cell : cells) {
    cell.erase(0, cell.find_first_not_of(' '));
    cell.erase(cell.find_last_not_of(' ') + 1);
  }
  return cells;
}

std::vector<Cells> parse_csv(const std::string& text) {
  std::vector<Cells> rows = {{""}};
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && text[i + 1] == '"') {
      rows.back().back() += text[i++];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      rows.back().emplace_back();
    } else if (!quoted && c == '\n') {
      rows.push_back({""});
    } else {
      rows.back().back() += c;
    }
  }
  rows.pop_back();
  return rows;
}

// Whether one of the words is what C++ prints where there is no number.
bool has_not_a_number(const std::string& text) {
  std::string word;
  for (const char c : text + " ") {
    if (std::isalpha(uint8_t(c))) {
      word += char(std::tolower(uint8_t(c)));
      continue;
    }
    if (word == "nan" || word == "inf" || word == "infinity") return true;
    word.clear();
  }
  return false;
}

// As in degenerate_report().
const std::string kOddName = "a,\"b\"_|c&%$#{}~^\\<i>*";

TEST_CASE("Markdown has a whole table for every metric", "[report]") {
  const TemporaryFolder folder;
  const std::string page = markdown(degenerate_report(folder.path()));
  CHECK(!has_not_a_number(page));
  size_t rows = 0, columns = 0;
  for (const std::string& line : lines_of(page)) {
    if (!line.starts_with("|")) {
      columns = 0;
      continue;
    }
    INFO(line);
    const Cells cells = split(line, '|');
    if (columns == 0) columns = cells.size();
    CHECK(cells.size() == columns);
    CHECK((cells.front().empty() && cells.back().empty()));
    CHECK(std::count(cells.begin() + 1, cells.end() - 1, "") == 0);
    ++rows;
  }
  // Details: 2 + 7 lines, tests: 2 + 6, costs: 2 + 7.
  CHECK(rows == 26);
  CHECK(has(page,
            "| 32 | shifted | the same difference, +2.00 points, on every seed: no test | 3 "
            "| +2.00 points | none | none | none | none | 0 (0.25) |"));
  CHECK(has(page, "| 32 | no_pair | no seed in common: no test | 0 | none |"));
  CHECK(has(page,
            "| 32 | no_pair | 1 | 25.00 (one seed) | one seed | 25.00 | 25.00 | 25.00 | 0 of "
            "1 |"));
  CHECK(has(page, "a,\"b\"\\_\\|c&%$\\#{}\\~^\\\\\\<i>\\*"));
  CHECK(has(page, "What differs from base: nothing but names and seeds."));
  CHECK(has(page, "\nIntervals are Student's: where values lie near 0 or 100 %, an interval may"));
  CHECK(has(page,
            "adjusted for all tests of one metric, over its lengths and variants (final step: 2); "
            "leaving out lengths or variants changes it. Significant: Holm p below 0.05."));
  CHECK(has(page, "TOST: two one-sided tests of equivalence, p not adjusted."));
  // 0.90, 0.91, 0.95: mean 92, std sqrt(7), and 4.3026527 sqrt(7 / 3) = 6.5724 around the mean.
  CHECK(has(page,
            "| 32 | base (baseline) | 3 | 92.00 ± 2.65 | 85.43 to 98.57 | 91.00 | 90.00 | "
            "95.00 | 0 of 3 |"));
}

TEST_CASE("Markdown puts lengths in rows, and many variants below each other", "[report]") {
  const TemporaryFolder folder;
  const auto add = [&](const std::string& name) {
    const Json ceilings = {{"ceilings", {{"8", {{"parikh", {{"final", 0.0264}}}}}}}};
    make_run(folder.path(),
             {name, 1, {{"8", {{"final", 0.5}}}, {"4096", {{"final", 0.25}}}}, ceilings});
  };
  for (const char* name : {"a", "b"}) add(name);
  const std::string few = markdown(report_on(folder.path(), {.baseline = "b"}));
  CHECK(has(few,
            "| length | a | b (baseline) | best commutative model |\n|---:|---:|---:|---:|\n"
            "| 8 | 50.00 (one seed) | 50.00 (one seed) | 2.64 |\n"
            "| 4096 | 25.00 (one seed) | 25.00 (one seed) | unknown |\n"));
  for (const char* name : {"c", "d", "e", "f", "g"}) add(name);
  const std::string many = markdown(report_on(folder.path()));
  CHECK(has(many,
            "| mean ± std at length | 8 | 4096 |\n|---|---:|---:|\n"
            "| a | 50.00 (one seed) | 25.00 (one seed) |\n"));
  CHECK(has(many, "| *best commutative model* | 2.64 | unknown |\n"));
  CHECK(has(many, "No baseline was named"));
}

TEST_CASE("CSV reads back to the same numbers", "[report]") {
  const TemporaryFolder folder;
  const Report report = degenerate_report(folder.path());
  for (const std::string& text : {csv(report), csv_seeds(report)}) {
    CHECK(!has_not_a_number(text));
    const std::vector<Cells> rows = parse_csv(text);
    for (const Cells& row : rows) {
      CHECK(row.size() == rows.front().size());
      CHECK(std::count(row.begin(), row.end(), "") == 0);
    }
  }
  const std::vector<Cells> rows = parse_csv(csv(report));
  REQUIRE(rows.size() == 8);
  const auto cell = [&](const std::string& variant, const std::string& column) {
    const Cells& head = rows.front();
    const size_t at = size_t(std::find(head.begin(), head.end(), column) - head.begin());
    REQUIRE(at < head.size());
    for (const Cells& row : rows)
      if (row[3] == variant) return row[at];
    return std::string("no such variant");
  };
  for (const char* name : {"usual", kOddName.c_str()}) {
    const ReportRow& row = row_of(report, name);
    const PairedTest& test = row.comparison->t_test;
    CHECK(std::stod(cell(name, "mean")) == row.figures.mean);
    CHECK(std::stod(cell(name, "ci95_low")) == row.figures.mean - row.figures.ci95);
    CHECK(std::stod(cell(name, "t")) == test.t);
    CHECK(std::stod(cell(name, "p")) == test.p);
    CHECK(std::stod(cell(name, "p_holm")) == row.comparison->p_holm);
    CHECK(std::stod(cell(name, "cohens_dz")) == test.cohens_dz);
    CHECK(std::stod(cell(name, "wilcoxon_p")) == row.comparison->wilcoxon.p);
    CHECK(cell(name, "words") == row.comparison->words);
  }
  CHECK(cell("usual", "baseline") == "base");
  CHECK(cell("usual", "seeds_left_out") == "none");
  CHECK(cell("one_pair", "seeds_left_out") == "1, 2, 4");
  CHECK(cell("one_pair", "t") == "NA");
  CHECK(cell("one_pair", "wilcoxon_p") == "NA");
  CHECK(cell("one_pair", "holm_tests") == "NA");
  CHECK(cell("usual", "holm_tests") == "2");
  CHECK(cell("no_pair", "std") == "NA");
  CHECK(cell("no_pair", "difference") == "NA");
  CHECK(cell("base", "words") == "the baseline");

  const std::vector<Cells> seeds = parse_csv(csv_seeds(report));
  REQUIRE(seeds.size() == 1 + 3 * 5 + 2 + 1);
  CHECK(seeds[0] == Cells{"metric", "unit", "length", "variant", "seed", "value"});
  CHECK(seeds[1] == Cells{"final", "%", "32", kOddName, "1", "93"});
}

TEST_CASE("JSON holds every number, or null and the reason", "[report]") {
  const TemporaryFolder folder;
  const Report report = degenerate_report(folder.path());
  const std::string text = json(report);
  CHECK(!has_not_a_number(text));
  const Json page = Json::parse(text);
  CHECK(page["baseline"] == "base");
  CHECK(page["tables"][0]["holm_tests"] == 2);
  CHECK(page["notes"].size() == 2);
  REQUIRE(page["tables"].size() == 1);
  const Json& rows = page["tables"][0]["rows"];
  REQUIRE(rows.size() == 7);
  std::map<std::string, std::string> cases;
  for (const Json& row : rows) {
    const Json& c = row["comparison"];
    const std::string name = row["variant"];
    if (name == "base") {
      CHECK(c.is_null());
      continue;
    }
    cases[name] = c["case"];
    for (const char* key : {"t", "df", "p", "p_holm", "cohens_dz", "difference_ci95"})
      CHECK(c[key].is_null() == (c["case"] != "usual"));
    if (name == "usual") {
      CHECK(c["p"] == row_of(report, name).comparison->t_test.p);
      CHECK(row["values"] == Json(row_of(report, name).values));
      CHECK(c["equivalence"]["margin"] == 1);
    }
  }
  CHECK(cases == std::map<std::string, std::string>{{"same", "identical"},
                                                    {"shifted", "zero_variance"},
                                                    {"one_pair", "too_few"},
                                                    {"no_pair", "too_few"},
                                                    {"usual", "usual"},
                                                    {kOddName, "usual"}});
}

TEST_CASE("LaTeX has whole tables and escapes what is special", "[report]") {
  const TemporaryFolder folder;
  const std::string page = latex(degenerate_report(folder.path()));
  CHECK(!has_not_a_number(page));
  size_t columns = 0, tables = 0, rows = 0;
  int64_t depth = 0;
  for (const std::string& line : lines_of(page)) {
    INFO(line);
    if (line.starts_with("%")) continue;
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '\\') {
        ++i;
      } else {
        depth += (line[i] == '{') - (line[i] == '}');
      }
    }
    CHECK(depth == 0);
    const std::string begin = "\\begin{tabular}{";
    if (line.starts_with(begin)) {
      columns = line.size() - begin.size() - 1;
      ++tables;
    } else if (line.ends_with(" \\\\")) {
      const Cells cells = split(line.substr(0, line.size() - 3), '&');
      CHECK(cells.size() == columns);
      CHECK(std::count(cells.begin(), cells.end(), "") == 0);
      ++rows;
    }
  }
  CHECK(tables == 2);
  CHECK(rows == 1 + 7 + 1 + 6);
  CHECK(has(page,
            "a,\"b\"\\_$|$c\\&\\%\\$\\#\\{\\}\\textasciitilde{}\\textasciicircum{}"
            "\\textbackslash{}$<$i$>$*"));
  CHECK(has(page, "base (baseline) & $92.00$ $\\pm$ $2.65$ \\\\\n"));
  CHECK(has(page, "no\\_pair at length 32: no seed in common: no test."));
  CHECK(has(page, "$p$ also adjusted by Holm for 2 tests of this metric"));
}

TEST_CASE("a report of one seed claims nothing of tests", "[report]") {
  const TemporaryFolder folder;
  for (const char* name : {"base", "other"}) make_runs(folder.path(), name, {{1, 0.5}});
  const Report report = report_on(folder.path(), {.baseline = "base"});
  CHECK(!has(latex(report), "adjusted by Holm"));
  const std::string page = markdown(report);
  CHECK(has(page,
            "| one seed in common, difference 0.00 points: no test | 1 | 0.00 points | none "
            "| none | none | none | none |"));
  CHECK(!has(page, "Holm p: adjusted"));
  CHECK(!has(page, "Student's"));
}

TEST_CASE("small p values keep their digits in every format", "[report]") {
  const TemporaryFolder folder;
  // Differences of 40 points and 1e-9 of spread: t = 40 sqrt(3) / 1e-9, p = 1 / t^2 = 2.1e-22.
  make_runs(folder.path(), "base", {{1, 0.5}, {2, 0.5}, {3, 0.5}});
  make_runs(folder.path(), "far", {{1, 0.9}, {2, 0.9 + 1e-11}, {3, 0.9 - 1e-11}});
  const Report report = report_on(folder.path(), {.baseline = "base"});
  CHECK(row_of(report, "far").comparison->t_test.p == Approx(1e-18 / 4800).epsilon(1e-3));
  CHECK(has(markdown(report), "(p = 2.1e-22)"));
  CHECK(has(latex(report), "$2.1\\times10^{-22}$"));
  CHECK(Json::parse(json(report))["tables"][0]["rows"][1]["comparison"]["p"] > 0);
}

TEST_CASE("lssm report prints, writes and refuses", "[report]") {
  const Workplace place;
  degenerate_report(place.path("runs"));
  const std::string page = place.good({"report", "runs", "--baseline", "base"});
  CHECK(has(page, "# runs\n\nBaseline: base.\n"));
  CHECK(Json::parse(place.good({"report", "runs", "--format", "json"}))["baseline"].is_null());
  CHECK(files_below(place.path("runs")).size() == 7 + 4 * 18);

  const std::string listed =
      place.good({"report", "runs/base", "runs/usual", "--baseline", "base", "--out", "new/out",
                  "--title", "Two", "--origin", "command: x", "--origin", "commit: y"});
  CHECK(files_below(place.path("new/out")) ==
        std::set<std::string>{"report.csv", "report.html", "report.json", "report.md", "report.tex",
                              "report_seeds.csv"});
  CHECK(has(listed, "new/out/report.html\n"));
  const Json written = read_json(place.path("new/out/report.json"));
  CHECK(written["title"] == "Two");
  CHECK(written["origin"][0] == "command: x");
  CHECK(written["origin"][1] == "commit: y");
  CHECK(written["tables"][0]["rows"].size() == 2);
  place.good({"report", "runs", "--out", "some", "--format", "csv,latex"});
  CHECK(files_below(place.path("some")) ==
        std::set<std::string>{"report.csv", "report.tex", "report_seeds.csv"});

  const auto refused = [&](std::vector<std::string> more, int code, const std::string& words) {
    more.insert(more.begin(), "report");
    const ProcessResult result = place.lssm(more);
    INFO(result.err);
    CHECK(result.code == code);
    CHECK(result.out == "");
    CHECK(lines_of(result.err).size() == 1);
    CHECK(has(result.err, words));
  };
  refused({}, 2, "RUNS");
  refused({"none"}, 3, "none: there is no such folder");
  refused({"runs", "--baseline", "bas"}, 2, "did you mean \"base\"?");
  refused({"runs", "--select", "test.final"}, 2, "selected on valid alone");
  refused({"runs", "--format", "csv,json"}, 2, "one --format goes to the standard output");
  refused({"runs", "--format", "pdf"}, 2, "pdf");
  refused({"runs", "--margin", "0"}, 2, "--margin");
  refused({"runs", "--length", "x"}, 2, "--length");
  refused({"runs", "--out", "runs/base/seed-1/config.json"}, 3, "config.json");
}

}  // namespace
}  // namespace lssm
