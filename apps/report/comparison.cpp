// SPDX-License-Identifier: Apache-2.0
#include "apps/report/comparison.h"

#include <algorithm>
#include <cmath>

#include "apps/report/format.h"

namespace lssm {
namespace {

// A probability can be smaller than any double; it is still not 0.
double above_zero(double p) { return std::max(p, 1e-300); }

bool is_tested(const Comparison& c) { return c.t_test.kind == TestCase::usual; }

std::string equivalence_words(const MetricInfo& metric, const Comparison& c) {
  if (c.margin <= 0) return "";
  char margin[32];
  std::snprintf(margin, sizeof margin, "%g", c.margin);
  const char* unit = metric.unit != "%" ? "" : c.margin == 1 ? " point" : " points";
  const char* verdict = c.p_equivalence < kSignificant ? "are excluded" : "cannot be excluded";
  return text(": differences beyond ±", margin, unit, " ", verdict,
              " (TOST p = ", p_text(c.p_equivalence), ")");
}

std::string in_words(const MetricInfo& metric, const Comparison& c, int64_t family) {
  const PairedTest& test = c.t_test;
  const std::string difference = difference_text(metric, test.difference);
  switch (test.kind) {
    case TestCase::too_few:
      return test.n == 0 ? "no seed in common: no test"
                         : "one seed in common, difference " + difference + ": no test";
    case TestCase::identical:
      return text("identical on all ", test.n, " seeds: nothing to test");
    case TestCase::zero_variance:
      return text("the same difference, ", difference, ", on every seed: no test");
    case TestCase::usual:
      break;
  }
  const std::string holm = family > 1 ? ", Holm " + p_text(c.p_holm) : "";
  const std::string p = "(p = " + p_text(test.p) + holm + ")";
  if (c.p_holm < kSignificant) {
    if (!metric.known) return "significant, " + difference + " " + p;
    const bool better = (test.difference > 0) == metric.higher_is_better;
    return text("significantly ", better ? "better, " : "worse, ", difference, " ", p);
  }
  const std::string words = test.p < kSignificant ? text("significant alone, but not among the ",
                                                         family, " tests of the metric ")
                                                  : "not significant ";
  return words + p + equivalence_words(metric, c);
}

}  // namespace

Comparison compare(const SeedFigures& ours, const SeedFigures& baseline, double margin) {
  Comparison c;
  std::vector<double> x, y;
  for (const auto& [seed, figure] : ours) {
    const auto partner = baseline.find(seed);
    if (partner == baseline.end()) {
      c.left_out.push_back(seed);
    } else {
      x.push_back(figure);
      y.push_back(partner->second);
    }
  }
  for (const auto& [seed, figure] : baseline)
    if (!ours.count(seed)) c.left_out.push_back(seed);
  std::sort(c.left_out.begin(), c.left_out.end());
  c.t_test = paired_t_test(x, y);
  c.t_test.p = above_zero(c.t_test.p);
  c.wilcoxon = wilcoxon_signed_rank(x, y);
  c.wilcoxon.p = above_zero(c.wilcoxon.p);
  if (c.wilcoxon.kind == TestCase::usual && c.wilcoxon.n < 2) c.wilcoxon.kind = TestCase::too_few;
  if (margin > 0 && c.t_test.kind == TestCase::usual) {
    c.margin = margin;
    c.p_equivalence = above_zero(equivalence_p(x, y, margin));
  }
  return c;
}

void finish_comparisons(Report& report) {
  std::map<std::string, std::vector<Comparison*>> tested;  // by metric
  for (ReportTable& table : report.tables) {
    for (ReportRow& row : table.rows)
      if (row.comparison && is_tested(*row.comparison))
        tested[table.metric.key].push_back(&*row.comparison);
  }
  for (const auto& [metric, family] : tested) {
    std::vector<double> p;
    for (const Comparison* c : family) p.push_back(c->t_test.p);
    const std::vector<double> adjusted = holm(p);
    for (size_t i = 0; i < family.size(); ++i) family[i]->p_holm = adjusted[i];
  }
  for (ReportTable& table : report.tables) {
    table.family = int64_t(tested[table.metric.key].size());
    for (ReportRow& row : table.rows)
      if (row.comparison)
        row.comparison->words = in_words(table.metric, *row.comparison, table.family);
  }
}

}  // namespace lssm
