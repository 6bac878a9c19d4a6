// SPDX-License-Identifier: Apache-2.0
// The HTML page of a report: whole in itself, well formed, and nothing in it but text where text is
// meant.
#include "apps/report/html.h"

#include <algorithm>
#include <set>

#include "apps/report/html_text.h"
#include "test/apps/html_checks.h"

namespace lssm {
namespace {

// Two variants of three seeds. The final accuracies at length 8 are 0.90, 0.92, 0.94 and 0.50,
// 0.52, 0.57.
Results sample() {
  Results results;
  results.variants.push_back(sample_variant("twin", {0.50, 0.52, 0.57}));
  results.variants.push_back(sample_variant("ours", {0.90, 0.92, 0.94}));
  return results;
}

std::string page_of(const Results& results, const std::string& baseline = "twin") {
  ReportOptions options;
  options.baseline = baseline;
  return html(analyse(results, options), results);
}

void check_whole(const std::string& page) {
  CHECK(first_unbalanced_tag(page) == "");
  CHECK(repeated_ids(page).empty());
  CHECK(dangling_references(page).empty());
  for (const char* loads : {"http:", "https:", "src=", "<link", "<script", "@import", "url(",
                            "<iframe", "<object", "<img"}) {
    INFO(loads);
    CHECK(page.find(loads) == std::string::npos);
  }
  for (const std::string& word : words_of(visible_text(page))) {
    INFO(word);
    CHECK((word != "nan" && word != "inf" && word != "null"));
  }
}

const std::vector<std::string> kSections = {"summary", "plots",     "results", "costs",
                                            "configs", "selection", "origin"};

TEST_CASE("The HTML page is whole in itself, and every section is there") {
  const std::string page = page_of(sample());
  check_whole(page);
  CHECK(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
  for (const std::string& id : kSections) {
    INFO(id);
    CHECK(page.find("<section id=\"" + id + "\">") != std::string::npos);
    CHECK(page.find("href=\"#" + id + "\"") != std::string::npos);
  }
  CHECK(page.find("prefers-color-scheme: dark") != std::string::npos);
  CHECK(page.find("@media print") != std::string::npos);
  CHECK(count_of(page, "<table") == count_of(page, "<caption"));
}

TEST_CASE("The HTML page has the figures and the tests") {
  const std::string words = visible_text(page_of(sample()));
  // ours: mean 92, std 2; t(0.975; 2) = 4.30265, so the interval is 92 ± 4.30265 * 2 / sqrt(3).
  CHECK(words.find("92.00 ± 2.00") != std::string::npos);
  CHECK(words.find("87.03 to 96.97") != std::string::npos);
  CHECK(words.find("90.00 – 94.00") != std::string::npos);
  // Differences 40, 40, 37: mean 39, std sqrt(3), so t = 39, d_z = 39 / sqrt(3) = 22.52, and for
  // two degrees of freedom p = 1 - t / sqrt(t^2 + 2) = 6.6e-4.
  CHECK(words.find("+39.00 points") != std::string::npos);
  CHECK(words.find("39.00 (2)") != std::string::npos);
  CHECK(words.find("22.52") != std::string::npos);
  CHECK(words.find("6.6e−04") != std::string::npos);
  CHECK(words.find("2 variants over 3 seeds (1, 2 and 3), tested at lengths 8 and 64.") !=
        std::string::npos);
}

TEST_CASE("The HTML page says what is better, worse and open") {
  Results results;
  results.variants.push_back(sample_variant("twin", {0.50, 0.52, 0.57}));
  results.variants.push_back(sample_variant("good", {0.90, 0.92, 0.94}));
  results.variants.push_back(sample_variant("bad", {0.10, 0.12, 0.17}));  // 40 less on each seed
  results.variants.push_back(sample_variant("same", {0.50, 0.52, 0.57}));
  const std::string words = visible_text(page_of(results));
  CHECK(words.find("good – final step: better at every length") != std::string::npos);
  CHECK(words.find("bad – final step: worse by the same on every seed (no test) at every length") !=
        std::string::npos);
  CHECK(words.find("Identical to twin on every seed: same.") != std::string::npos);
  CHECK(words.find("2 of 2 tests against twin are significant (paired t-test at 5 %, "
                   "Holm-Bonferroni over the tests of each metric)") != std::string::npos);
}

TEST_CASE("Names are text in the HTML page, whatever they are") {
  const std::string evil = "<b>\"x\" & 'y'</b>\n`id` @z^_{}$(a)\\";
  Results results = sample();
  results.variants[1] = sample_variant(evil, {0.90, 0.92, 0.94});
  results.variants[1].runs[0].config["task"][evil] = evil;
  results.notes = {"a note on " + evil};
  ReportOptions options;
  options.baseline = "twin";
  options.title = "title </title> " + evil;
  const std::string page = html(analyse(results, options), results);
  check_whole(page);
  CHECK(page.find("<b>") == std::string::npos);
  CHECK(page.find("title &lt;/title&gt; &lt;b&gt;&quot;x&quot; &amp; &#39;y&#39;&lt;/b&gt; `id` "
                  "@z^_{}$(a)\\</h1>") != std::string::npos);
  CHECK(escaped("a\x01\tb") == "a  b");
}

TEST_CASE("The HTML page claims nothing where nothing could be tested") {
  const auto words_of_page = [](const std::vector<double>& ours) {
    Results results;
    results.variants.push_back(sample_variant("twin", {0.50, 0.50}));
    results.variants.push_back(sample_variant("ours", ours));
    results.variants[0].runs.resize(ours.size());
    return visible_text(page_of(results));
  };
  const std::string one = words_of_page({0.75});
  CHECK(one.find("No test was possible: one seed.") != std::string::npos);
  CHECK(one.find("significant") == std::string::npos);
  const std::string shifted = words_of_page({0.75, 0.75});
  CHECK(shifted.find("No test was possible: no difference varies over the seeds.") !=
        std::string::npos);
  CHECK(shifted.find("ours – final step: better by the same on every seed") != std::string::npos);
  CHECK(shifted.find("△ ▽ better or worse by the same on every seed") != std::string::npos);
  CHECK(words_of_page({0.5, 0.5}).find("Identical to twin on every seed: ours.") !=
        std::string::npos);
}

TEST_CASE("Small reports make good pages") {
  Results one;
  one.variants.push_back(sample_variant("only", {0.90}));
  SECTION("one variant, one seed") {
    const std::string page = page_of(one, "");
    check_whole(page);
    CHECK(page.find("One variant over 1 seed (1)") != std::string::npos);
    CHECK(page.find("id=\"configs\"") == std::string::npos);
  }
  SECTION("one length, nothing logged, no curves, no drift") {
    for (RunResult& run : one.variants[0].runs) {
      run.metrics.clear();
      run.summary["test"].erase("64");
      run.summary["test"]["8"] = {{"final", 0.9}};
      run.summary["drift"] = nullptr;
      run.summary["ceilings"] = Json::object();
    }
    const std::string page = page_of(one, "");
    check_whole(page);
    CHECK(page.find("There is nothing to plot.") != std::string::npos);
  }
  SECTION("figures that are no numbers") {
    for (RunResult& run : one.variants[0].runs) {
      run.metrics.push_back(Json::parse(R"({"step": 9, "valid": null, "loss": null})"));
      run.metrics.push_back(Json::parse(R"({"step": "x", "valid": [1], "loss": {}})"));
      run.summary["test"]["8"]["by_depth"] = Json::parse(R"([null, 3, {"depth": null}, {}])");
    }
    check_whole(page_of(one, ""));
  }
}

TEST_CASE("Without gnuplot the HTML page says so once and has everything else") {
  const PathSetting nowhere("/nonexistent");
  const std::string page = page_of(sample());
  check_whole(page);
  CHECK(count_of(page, "gnuplot was not found") == 1);
  CHECK(page.find("class=\"plot\"") == std::string::npos);
  for (const std::string& id : kSections)
    CHECK(page.find("<section id=\"" + id + "\">") != std::string::npos);
  CHECK(visible_text(page).find("92.00 ± 2.00") != std::string::npos);
}

TEST_CASE("A gnuplot that does not work is named in place of the plot") {
  const TemporaryFolder folder;
  make_program(folder / "gnuplot",
               "#!/bin/sh\necho 'line 0: no such terminal <svg>' >&2\nexit 1\n");
  const PathSetting only_this(folder.path().string() + ":/bin:/usr/bin");
  const std::string page = page_of(sample());
  check_whole(page);
  CHECK(page.find("gnuplot could not draw this: line 0: no such terminal &lt;svg&gt;") !=
        std::string::npos);
}

}  // namespace
}  // namespace lssm
