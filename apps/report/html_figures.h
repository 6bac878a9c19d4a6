// SPDX-License-Identifier: Apache-2.0
// The plots of a report as HTML.
#pragma once

#include <string>
#include <vector>

#include "apps/report/html_plots.h"

namespace lssm {

// The figures with their legends, under a heading for each section; where gnuplot is missing one
// line that says so.
std::string figures_html(const std::vector<Figure>& figures);

}  // namespace lssm
