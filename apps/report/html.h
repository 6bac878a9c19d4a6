// SPDX-License-Identifier: Apache-2.0
// A report as one HTML page that needs nothing else: no network, no script, no other file.
#pragma once

#include <string>

#include "apps/report/analysis.h"

namespace lssm {

// Plots are drawn by gnuplot; where PATH has none the page says so and has everything else.
std::string html(const Report& report, const Results& results);

}  // namespace lssm
