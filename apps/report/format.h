// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them, the same in every format of a report.
#pragma once

#include <string>
#include <vector>

#include "apps/report/analysis.h"

namespace lssm {

// With so many decimals; never "-0.00".
std::string decimals_text(double value, int decimals);
// A figure, its spread or a ceiling: 2 decimals in %, else 4 significant digits.
std::string value_text(const MetricInfo& metric, double value);
// A difference with its sign and unit: "+2.00 points".
std::string difference_text(const MetricInfo& metric, double difference);
// "0.031", "7.7e-04"; never 0.
std::string p_text(double p);
// "42, 123, 456"
std::string seeds_text(const std::vector<uint64_t>& seeds);
// "97.00 ± 1.20", or "97.00 (one seed)". `plus_minus` is the sign between them.
std::string mean_text(const MetricInfo& metric, const Description& figures,
                      const std::string& plus_minus);
// A figure of a paper: "97.00 ± 1.20 (3 seeds)", "97.00".
std::string published_text(const PaperRow& row, const std::string& plus_minus);
// "96.10 to 97.90", of the 95 % interval; "one seed" where there is none.
std::string interval_text(const MetricInfo& metric, const Description& figures);
// "final step (%)"
std::string metric_title(const MetricInfo& metric);

// What the tables of tests say of a comparison, a column each; "none" where there is no test.
struct ComparisonText {
  std::string pairs, difference, t, p, p_holm, dz, wilcoxon;
};
ComparisonText comparison_text(const MetricInfo& metric, const Comparison& comparison);

// "parikh" as "best commutative model".
std::string ceiling_title(const std::string& name);
// "1.9e-05", or "none".
std::string drift_text(double drift);
// What every report says first: baseline, training lengths, selection rule; a sentence or two each.
std::vector<std::string> introduction(const Report& report);
// How many t tests the report has, of all metrics.
int64_t count_tests(const Report& report);
// How the tables of figures and of tests are to be read; "" where there is nothing to say.
std::string figures_legend(const Report& report);
std::string tests_legend(const Report& report);
// Which test stands in the tables of papers.
constexpr const char* kPaperTest =
    "Welch's test of independent samples, two-sided, not adjusted for the number of rows";
// The variant that config differences are counted from.
std::string difference_reference(const Report& report);

// The tables of one metric.
std::vector<std::vector<const ReportTable*>> tables_by_metric(const Report& report);
// The names of the ceilings that any of the tables has, in their order.
std::vector<std::string> ceiling_names(const std::vector<const ReportTable*>& tables);

}  // namespace lssm
