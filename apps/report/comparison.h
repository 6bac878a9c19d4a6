// SPDX-License-Identifier: Apache-2.0
// Tests of one variant against another, and what they amount to in words.
#pragma once

#include <map>

#include "apps/report/analysis.h"

namespace lssm {

// A difference is significant if its p is below.
constexpr double kSignificant = 0.05;

// Figures of a variant by seed, as shown.
using SeedFigures = std::map<uint64_t, double>;

// Everything but p_holm and words. Margin 0: equivalence is not tested.
Comparison compare(const SeedFigures& ours, const SeedFigures& baseline, double margin);

// Adjusts the p values by Holm, over all tests of one metric, and puts every comparison in words.
void finish_comparisons(Report& report);

}  // namespace lssm
