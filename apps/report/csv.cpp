// SPDX-License-Identifier: Apache-2.0
#include "apps/report/csv.h"

#include <charconv>

#include "apps/report/format.h"

namespace lssm {
namespace {

// One line after another; each cell is quoted if it must be.
class Rows {
 public:
  Rows& cell(const std::string& words) {
    if (!first_) text_ += ',';
    first_ = false;
    if (words.find_first_of(",\"\r\n") == std::string::npos) {
      text_ += words;
      return *this;
    }
    text_ += '"';
    for (const char c : words) text_ += c == '"' ? "\"\"" : std::string(1, c);
    text_ += '"';
    return *this;
  }
  Rows& cell(double value) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    return cell(std::string(digits, end));
  }
  Rows& cell(bool known, double value) { return known ? cell(value) : cell("NA"); }
  Rows& count(int64_t value) { return cell(std::to_string(value)); }
  void end() {
    text_ += '\n';
    first_ = true;
  }
  const std::string& str() const { return text_; }

 private:
  std::string text_;
  bool first_ = true;
};

void head(Rows& rows, const std::vector<std::string>& names) {
  for (const std::string& name : names) rows.cell(name);
  rows.end();
}

std::string unit_of(const MetricInfo& metric) { return metric.unit.empty() ? "1" : metric.unit; }

void add_comparison(Rows& rows, const Report& report, const ReportRow& row, int64_t family) {
  if (!row.comparison) {
    const bool is_baseline = row.variant == report.baseline;
    for (int i = 0; i < 17; ++i) rows.cell("NA");
    rows.cell(is_baseline ? "the baseline" : "no baseline to compare with");
    return;
  }
  const Comparison& c = *row.comparison;
  const PairedTest& test = c.t_test;
  const WilcoxonTest& wilcoxon = c.wilcoxon;
  const bool usual = test.kind == TestCase::usual, pairs = test.n > 0;
  const bool ranked = wilcoxon.kind == TestCase::usual;
  rows.cell(report.baseline).count(test.n);
  rows.cell(pairs, test.difference);
  rows.cell(usual, test.difference - test.ci95).cell(usual, test.difference + test.ci95);
  rows.cell(usual, test.t).cell(usual, test.df).cell(usual, test.p).cell(usual, c.p_holm);
  rows.cell(usual, double(family));
  rows.cell(usual, test.cohens_dz);
  rows.count(wilcoxon.n).cell(ranked, wilcoxon.w).cell(ranked, wilcoxon.p);
  rows.cell(c.margin > 0, c.margin).cell(c.margin > 0, c.p_equivalence);
  rows.cell(c.left_out.empty() ? "none" : seeds_text(c.left_out));
  rows.cell(c.words);
}

}  // namespace

std::string csv(const Report& report) {
  Rows rows;
  head(rows, {"metric",
              "unit",
              "length",
              "variant",
              "n",
              "mean",
              "std",
              "ci95_low",
              "ci95_high",
              "median",
              "min",
              "max",
              "seeds_at_99",
              "baseline",
              "pairs",
              "difference",
              "diff_ci_low",
              "diff_ci_high",
              "t",
              "df",
              "p",
              "p_holm",
              "holm_tests",
              "cohens_dz",
              "wilcoxon_n",
              "wilcoxon_w",
              "wilcoxon_p",
              "equivalence_margin",
              "equivalence_p",
              "seeds_left_out",
              "words"});
  for (const ReportTable& table : report.tables) {
    for (const ReportRow& row : table.rows) {
      const Description& d = row.figures;
      const bool several = d.n > 1;
      rows.cell(table.metric.key).cell(unit_of(table.metric)).count(table.length);
      rows.cell(row.variant).count(d.n).cell(d.mean).cell(several, d.std);
      rows.cell(several, d.mean - d.ci95).cell(several, d.mean + d.ci95);
      rows.cell(d.median).cell(d.min).cell(d.max);
      rows.cell(table.metric.accuracy, double(row.seeds_at_99));
      add_comparison(rows, report, row, table.family);
      rows.end();
    }
  }
  return rows.str();
}

std::string csv_seeds(const Report& report) {
  Rows rows;
  head(rows, {"metric", "unit", "length", "variant", "seed", "value"});
  for (const ReportTable& table : report.tables) {
    for (const ReportRow& row : table.rows) {
      for (size_t i = 0; i < row.seeds.size(); ++i) {
        rows.cell(table.metric.key).cell(unit_of(table.metric)).count(table.length);
        rows.cell(row.variant).cell(std::to_string(row.seeds[i])).cell(row.values[i]);
        rows.end();
      }
    }
  }
  return rows.str();
}

std::string csv_paper(const PaperTable& table) {
  Rows rows;
  head(rows, {"label", "variant", "metric", "unit", "length", "paper_mean", "paper_std", "paper_n",
              "n", "mean", "std", "t", "df", "p", "test", "words"});
  for (const PaperRow& row : table.rows) {
    const bool ours = row.ours.n > 0, usual = row.spread_known && row.test.kind == TestCase::usual;
    rows.cell(row.label).cell(row.variant).cell(row.metric.key).cell(unit_of(row.metric));
    rows.count(row.length)
        .cell(row.printed, row.published.mean)
        .cell(row.spread_known, row.published.std);
    rows.cell(row.spread_known, double(row.published.n)).count(row.ours.n);
    rows.cell(ours, row.ours.mean).cell(row.ours.n > 1, row.ours.std);
    rows.cell(usual, row.test.t).cell(usual, row.test.df).cell(usual, row.test.p);
    rows.cell(usual ? kPaperTest : "NA").cell(row.words);
    rows.end();
  }
  return rows.str();
}

}  // namespace lssm
