// SPDX-License-Identifier: Apache-2.0
// A report as JSON for other programs: everything in it, null where there is no such number.
#pragma once

#include <string>

#include "apps/report/analysis.h"

namespace lssm {

std::string json(const Report& report);

}  // namespace lssm
