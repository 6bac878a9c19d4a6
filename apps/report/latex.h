// SPDX-License-Identifier: Apache-2.0
// A report's tables for a paper: needs \usepackage{booktabs} and nothing else.
#pragma once

#include <string>

#include "apps/report/analysis.h"

namespace lssm {

std::string latex(const Report& report);

// Text that LaTeX sets as it is.
std::string latex_escaped(const std::string& words);

}  // namespace lssm
