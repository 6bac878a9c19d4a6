// SPDX-License-Identifier: Apache-2.0
// Choosing a variant of a grid, by what it did on the valid stream alone.
#pragma once

#include <string>

#include "apps/report/results.h"

namespace lssm {

// Keeps, beside the baseline, the variant with the best mean of a figure of validation:
// "valid.prefix", "valid.final" (higher is better) or "valid.loss" (lower). A figure of the test is
// refused. What was left out becomes a note. Returns the rule, a sentence.
std::string select_variant(Results& results, const std::string& baseline,
                           const std::string& figure);

// Moves the baseline, if one is named, to the front. Error: there is no variant of that name.
void put_first(Results& results, const std::string& baseline);

}  // namespace lssm
