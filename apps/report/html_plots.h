// SPDX-License-Identifier: Apache-2.0
// Which plots a report has.
#pragma once

#include <string>
#include <vector>

#include "apps/report/analysis.h"
#include "apps/report/plot.h"

namespace lssm {

struct Figure {
  std::string section;  // "Learning curves"; figures of one section follow each other
  Plot plot;
  std::string caption;  // what the title does not say
};
// Only plots with a curve in them: a report of one length has no accuracy by length.
std::vector<Figure> report_figures(const Report& report, const Results& results);

}  // namespace lssm
