// SPDX-License-Identifier: Apache-2.0
#include "apps/report/format.h"

#include <algorithm>
#include <cstdio>

#include "apps/report/comparison.h"

namespace lssm {
namespace {

std::string print(const char* format, double value) {
  char digits[400];
  std::snprintf(digits, sizeof digits, format, value);
  return digits;
}

}  // namespace

std::string decimals_text(double value, int decimals) {
  char digits[400];
  std::snprintf(digits, sizeof digits, "%.*f", decimals, value);
  const std::string words = digits;
  const bool zero = words.find_first_not_of("-0.") == std::string::npos;
  return zero && words[0] == '-' ? words.substr(1) : words;
}

std::string value_text(const MetricInfo& metric, double value) {
  return metric.unit == "%" ? decimals_text(value, 2) : print("%.4g", value);
}

std::string difference_text(const MetricInfo& metric, double difference) {
  const std::string value = value_text(metric, difference);
  const std::string unit = metric.unit == "%"    ? " points"
                           : metric.unit.empty() ? ""
                                                 : " " + metric.unit;
  return (difference > 0 ? "+" : "") + value + unit;
}

std::string p_text(double p) { return print(p < 0.001 ? "%.1e" : "%#.2g", p); }

std::string seeds_text(const std::vector<uint64_t>& seeds) {
  std::vector<std::string> words;
  for (const uint64_t seed : seeds) words.push_back(std::to_string(seed));
  return comma_list(words);
}

std::string mean_text(const MetricInfo& metric, const Description& figures,
                      const std::string& plus_minus) {
  const std::string mean = value_text(metric, figures.mean);
  if (figures.n < 2) return mean + " (one seed)";
  return mean + " " + plus_minus + " " + value_text(metric, figures.std);
}

std::string published_text(const PaperRow& row, const std::string& plus_minus) {
  if (!row.printed) return "-";
  const std::string mean = value_text(row.metric, row.published.mean);
  if (!row.spread_known) return mean;
  return text(mean, " ", plus_minus, " ", value_text(row.metric, row.published.std), " (",
              row.published.n, " seeds)");
}

std::string interval_text(const MetricInfo& metric, const Description& figures) {
  if (figures.n < 2) return "one seed";
  return value_text(metric, figures.mean - figures.ci95) + " to " +
         value_text(metric, figures.mean + figures.ci95);
}

std::string metric_title(const MetricInfo& metric) {
  return metric.unit.empty() ? metric.label : metric.label + " (" + metric.unit + ")";
}

ComparisonText comparison_text(const MetricInfo& metric, const Comparison& comparison) {
  const PairedTest& test = comparison.t_test;
  const WilcoxonTest& wilcoxon = comparison.wilcoxon;
  ComparisonText words = {std::to_string(test.n), "none", "none", "none", "none", "none", "none"};
  if (test.n > 0) words.difference = difference_text(metric, test.difference);
  if (test.kind == TestCase::usual) {
    words.difference += " [" + value_text(metric, test.difference - test.ci95) + ", " +
                        value_text(metric, test.difference + test.ci95) + "]";
    words.t = decimals_text(test.t, 2) + " (" + print("%.4g", test.df) + ")";
    words.p = p_text(test.p);
    words.p_holm = p_text(comparison.p_holm);
    words.dz = decimals_text(test.cohens_dz, 2);
  }
  if (wilcoxon.kind == TestCase::usual) {
    words.wilcoxon = print("%.4g", wilcoxon.w) + " (" + p_text(wilcoxon.p) + ")";
  }
  return words;
}

std::string ceiling_title(const std::string& name) {
  const std::string parikh = "parikh";
  return name.starts_with(parikh) ? "best commutative model" + name.substr(parikh.size()) : name;
}

std::string drift_text(double drift) { return drift < 0 ? "none" : print("%.1e", drift); }

std::vector<std::string> introduction(const Report& report) {
  std::vector<std::string> sentences;
  if (report.baseline.empty()) {
    sentences.push_back("No baseline was named: nothing is tested against another.");
  } else {
    sentences.push_back("Baseline: " + report.baseline + ".");
  }
  if (!report.train_lengths.empty()) {
    std::vector<std::string> lengths;
    for (const int64_t length : report.train_lengths) lengths.push_back(std::to_string(length));
    sentences.push_back("Trained at length " + comma_list(lengths) + ".");
  }
  sentences.push_back(report.selection_rule);
  return sentences;
}

int64_t count_tests(const Report& report) {
  int64_t tests = 0;
  for (const auto& tables : tables_by_metric(report)) tests += tables.front()->family;
  return tests;
}

std::string figures_legend(const Report& report) {
  for (const ReportTable& table : report.tables) {
    for (const ReportRow& row : table.rows) {
      if (row.figures.n < 2) continue;
      return "Intervals are Student's: where values lie near 0 or 100 %, an interval may reach "
             "beyond.";
    }
  }
  return "";
}

std::string tests_legend(const Report& report) {
  std::vector<std::string> families;
  for (const auto& tables : tables_by_metric(report)) {
    if (tables.front()->family > 0)
      families.push_back(text(tables.front()->metric.label, ": ", tables.front()->family));
  }
  if (families.empty()) return "";
  return text(
      "Differences are variant minus baseline, seed by seed. p: paired t-test, two-sided. Holm p: "
      "adjusted for all tests of one metric, over its lengths and variants (",
      comma_list(families),
      "); leaving out lengths or variants changes it. Significant: Holm p below ", kSignificant,
      ". d_z: mean / standard deviation of the differences. Wilcoxon: signed-rank test, whose p is "
      "at least 2^(1-n) for n pairs that differ (0.062 for 5), not adjusted. TOST: two one-sided "
      "tests of equivalence, p not adjusted.");
}

std::string difference_reference(const Report& report) {
  return report.baseline.empty() ? report.costs.front().variant : report.baseline;
}

std::vector<std::vector<const ReportTable*>> tables_by_metric(const Report& report) {
  std::vector<std::vector<const ReportTable*>> groups;
  for (const ReportTable& table : report.tables) {
    if (groups.empty() || groups.back().front()->metric.key != table.metric.key)
      groups.emplace_back();
    groups.back().push_back(&table);
  }
  return groups;
}

std::vector<std::string> ceiling_names(const std::vector<const ReportTable*>& tables) {
  std::vector<std::string> names;
  for (const ReportTable* table : tables) {
    for (const CeilingLine& line : table->ceilings)
      if (std::find(names.begin(), names.end(), line.name) == names.end())
        names.push_back(line.name);
  }
  return names;
}

}  // namespace lssm
