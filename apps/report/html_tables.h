// SPDX-License-Identifier: Apache-2.0
// The tables of the HTML page. Each lies in a box of its own, which scrolls on a narrow screen.
#pragma once

#include <string>
#include <vector>

#include "apps/report/analysis.h"

namespace lssm {

// Mean ± std of every metric: a line per variant and ceiling, a column per length.
std::string overview_html(const Report& report);
// All figures of one metric, and its tests if there are any.
std::string figures_table_html(const Report& report, const std::vector<const ReportTable*>& tables);
std::string tests_table_html(const Report& report, const std::vector<const ReportTable*>& tables);
std::string paper_html(const PaperTable& paper);
std::string costs_html(const Report& report);
std::string differences_html(const Report& report);

// Whether the test of a difference is significant, adjusted for all tests of its metric.
bool is_significant(const Comparison& comparison);
// What a difference amounts to. always_…: it is the same on every seed, so there is no test.
enum class Verdict { open, better, worse, always_better, always_worse };
Verdict verdict(const MetricInfo& metric, const Comparison& comparison);

}  // namespace lssm
