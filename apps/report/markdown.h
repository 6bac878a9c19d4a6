// SPDX-License-Identifier: Apache-2.0
// A report in Markdown, as GitHub shows it.
#pragma once

#include <string>

#include "apps/report/analysis.h"

namespace lssm {

std::string markdown(const Report& report);

// Text that Markdown shows as it is, on one line and also inside a table.
std::string markdown_escaped(const std::string& words);

}  // namespace lssm
