// SPDX-License-Identifier: Apache-2.0
// A report as two tables for other programs (RFC 4180). Numbers read back to the same bits; "NA"
// stands where there is none, and the last column says why.
#pragma once

#include <string>

#include "apps/report/analysis.h"

namespace lssm {

// A row for each metric, length and variant, with all figures and tests.
std::string csv(const Report& report);
// A row for each metric, length, variant and seed.
// The figures of a paper beside ours, a line each.
std::string csv_paper(const PaperTable& table);
std::string csv_seeds(const Report& report);

}  // namespace lssm
