// SPDX-License-Identifier: Apache-2.0
#include "apps/report/html.h"

#include <algorithm>
#include <map>
#include <set>

#include "apps/report/format.h"
#include "apps/report/html_figures.h"
#include "apps/report/html_plots.h"
#include "apps/report/html_style.h"
#include "apps/report/html_tables.h"
#include "apps/report/html_text.h"
#include "core/check.h"

namespace lssm {
namespace {

std::string counted(size_t n, const std::string& one, const std::string& many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}

// "5 variants over 5 seeds (1, 2, 3, 4 and 5), tested at lengths 32 and 128."
std::string what_was_compared(const Report& report, const Results& results) {
  std::set<uint64_t> seeds;
  for (const Variant& variant : results.variants)
    for (const RunResult& run : variant.runs) seeds.insert(run.seed);
  std::vector<std::string> seed_words, length_words;
  for (const uint64_t seed : seeds) seed_words.push_back(std::to_string(seed));
  std::set<int64_t> lengths;
  for (const ReportTable& table : report.tables) lengths.insert(table.length);
  for (const int64_t length : lengths) length_words.push_back(std::to_string(length));
  const std::string over = results.variants.size() == 1
                               ? "One variant"
                               : std::to_string(results.variants.size()) + " variants";
  return over + " over " + counted(seeds.size(), "seed", "seeds") + " (" + and_list(seed_words) +
         "), tested at " + (lengths.size() == 1 ? "length " : "lengths ") + and_list(length_words) +
         ".";
}

// What is worth saying of a comparison; "" if nothing is.
std::string finding(const MetricInfo& metric, const Comparison& comparison) {
  const std::string same = " by the same on every seed (no test)";
  switch (verdict(metric, comparison)) {
    case Verdict::better:
      return "better";
    case Verdict::worse:
      return "worse";
    case Verdict::always_better:
      return "better" + same;
    case Verdict::always_worse:
      return "worse" + same;
    case Verdict::open:
      break;
  }
  return "";
}

// "final step: better at 128 and worse at 32", for one variant and the tables of a metric.
std::string metric_findings(const std::string& variant,
                            const std::vector<const ReportTable*>& tables) {
  std::map<std::string, std::vector<std::string>> lengths;  // by what is said
  for (const ReportTable* table : tables) {
    for (const ReportRow& row : table->rows) {
      if (row.variant != variant || !row.comparison) continue;
      const std::string said = finding(table->metric, *row.comparison);
      if (!said.empty()) lengths[said].push_back(std::to_string(table->length));
    }
  }
  std::vector<std::string> parts;
  for (const auto& [said, where] : lengths) {
    const bool everywhere = where.size() == tables.size() && tables.size() > 1;
    parts.push_back(said + " at " + (everywhere ? "every length" : and_list(where)));
  }
  return parts.empty() ? "" : tables.front()->metric.label + ": " + and_list(parts);
}

// All comparisons of a variant.
std::vector<const Comparison*> comparisons_of(const Report& report, const std::string& variant) {
  std::vector<const Comparison*> all;
  for (const ReportTable& table : report.tables) {
    const ReportRow* row = find_row(table, variant);
    if (row && row->comparison) all.push_back(&*row->comparison);
  }
  return all;
}

// What is to be said of a variant without a finding; "" of the baseline.
std::string nothing_found(const Report& report, const std::string& variant) {
  const std::vector<const Comparison*> all = comparisons_of(report, variant);
  const auto is = [](TestCase kind) {
    return [kind](const Comparison* c) { return c->t_test.kind == kind; };
  };
  if (variant == report.baseline) return "";
  if (std::any_of(all.begin(), all.end(), is(TestCase::usual)))
    return "No significant difference in anything";
  const bool same = !all.empty() && std::all_of(all.begin(), all.end(), is(TestCase::identical));
  return same ? "Identical to " + report.baseline + " on every seed" : "Not tested";
}

std::string findings_list(const Report& report) {
  std::string html = "<ul>\n";
  std::map<std::string, std::vector<std::string>> others;  // by what is said of them
  for (const CostRow& variant : report.costs) {
    std::string all;
    for (const auto& tables : tables_by_metric(report)) {
      const std::string said = metric_findings(variant.variant, tables);
      if (!said.empty()) all += (all.empty() ? "" : "; ") + said;
    }
    if (all.empty()) others[nothing_found(report, variant.variant)].push_back(variant.variant);
    if (!all.empty())
      html += "<li>" + element("strong", variant.variant) + " – " + escaped(all) + ".</li>\n";
  }
  for (const auto& [said, variants] : others)
    if (!said.empty()) html += element("li", said + ": " + and_list(variants) + ".") + "\n";
  return html + "</ul>\n";
}

// Why none of the comparisons is a test.
std::string no_test(const std::vector<const Comparison*>& all) {
  int64_t pairs = 0;
  for (const Comparison* c : all) pairs = std::max(pairs, c->t_test.n);
  return std::string("No test was possible: ") +
         (pairs == 0   ? "no seed in common"
          : pairs == 1 ? "one seed"
                       : "no difference varies over the seeds") +
         ".";
}

std::string findings_html(const Report& report) {
  std::vector<const Comparison*> all;
  for (const CostRow& variant : report.costs) {
    const std::vector<const Comparison*> more = comparisons_of(report, variant.variant);
    all.insert(all.end(), more.begin(), more.end());
  }
  if (all.empty()) return "";
  const int64_t tests = count_tests(report);
  if (tests == 0) {
    const bool listed =
        std::any_of(all.begin(), all.end(), [](const Comparison* c) { return c->t_test.n > 1; });
    return element("p", no_test(all)) + (listed ? findings_list(report) : "\n");
  }
  const auto significant =
      std::count_if(all.begin(), all.end(), [](const Comparison* c) { return is_significant(*c); });
  return element("p", text(significant, " of ", counted(size_t(tests), "test", "tests"),
                           " against ", report.baseline, significant == 1 ? " is" : " are",
                           " significant (paired t-test at 5 %",
                           tests == 1 ? "" : ", Holm-Bonferroni over the tests of each metric",
                           "). What is not named here is not significant:")) +
         findings_list(report);
}

std::string lines_html(const std::vector<std::string>& lines, const std::string& css = "") {
  std::string html = css.empty() ? "<ul>\n" : "<ul class=\"" + css + "\">\n";
  for (const std::string& line : lines) html += element("li", line) + "\n";
  return html + "</ul>\n";
}

// Sections with a heading, and the links to them.
class Sections {
 public:
  void add(const std::string& id, const std::string& heading, const std::string& content) {
    if (content.empty()) return;
    links_ += element("a", heading, "href=\"#" + id + "\"") + "\n";
    body_ +=
        "<section id=\"" + id + "\">\n" + element("h2", heading) + "\n" + content + "</section>\n";
  }
  std::string nav() const { return "<nav aria-label=\"Sections\">\n" + links_ + "</nav>\n"; }
  const std::string& body() const { return body_; }

 private:
  std::string links_, body_;
};

std::string summary_html(const Report& report, const Results& results) {
  std::string html = element("p", what_was_compared(report, results), "class=\"lead\"") + "\n<p>";
  for (const std::string& sentence : introduction(report)) html += escaped(sentence) + " ";
  return html + "</p>\n" + overview_html(report) + findings_html(report);
}

std::string results_html(const Report& report) {
  std::string html;
  for (const auto& tables : tables_by_metric(report)) {
    html += element("h3", metric_title(tables.front()->metric)) + "\n" +
            figures_table_html(report, tables) + tests_table_html(report, tables);
  }
  for (const std::string& legend : {figures_legend(report), tests_legend(report)})
    if (!legend.empty()) html += element("p", legend, "class=\"small\"") + "\n";
  return html;
}

}  // namespace

std::string html(const Report& report, const Results& results) {
  Sections sections;
  sections.add("summary", "Summary", summary_html(report, results));
  if (report.paper) sections.add("paper", "Beside the paper", paper_html(*report.paper));
  if (!report.notes.empty()) sections.add("notes", "Notes", lines_html(report.notes));
  sections.add("plots", "Plots", figures_html(report_figures(report, results)));
  sections.add("results", "All figures", results_html(report));
  sections.add("costs", "Costs", costs_html(report));
  if (results.variants.size() > 1) sections.add("configs", "Configs", differences_html(report));
  sections.add("selection", "Selection rule", element("p", report.selection_rule) + "\n");
  sections.add("origin", "Origin", lines_html(report.origin, "origin"));
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
         element("title", report.title) + "\n<style>" + kHtmlStyle + "</style>\n</head>\n<body>\n" +
         "<header>\n" + element("h1", report.title) + "\n" + sections.nav() +
         "</header>\n<main>\n" + sections.body() + "</main>\n</body>\n</html>\n";
}

}  // namespace lssm
