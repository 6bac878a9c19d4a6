// SPDX-License-Identifier: Apache-2.0
// Which config of a variant is reported, chosen by what it did on the valid stream alone.
#pragma once

#include <string>

#include "apps/report/results.h"

namespace lssm {

// The full names of the variants that a name means: of itself, or of all configs that a sweep's
// grid makes of the variant of that name.
std::vector<std::string> configs_named(const Results& results, const std::string& name);

// Keeps of each variant of a sweep with a grid, the baseline too, the config with the best mean of
// a figure of validation: "valid.prefix", "valid.final" (higher is better) or "valid.loss" (lower).
// The mean is over the seeds that all configs of the variant have. A baseline that is one of the
// configs by its full name stays as it is. A figure of the test is refused. What was left out
// becomes a note. Returns the rule, a sentence.
std::string select_configs(Results& results, const std::string& baseline,
                           const std::string& figure);

// Keeps the runs of these seeds. Error: there is none.
void keep_seeds(Results& results, const std::vector<uint64_t>& seeds);

// Moves the baseline, if one is named, to the front. Error: there is no variant of that name.
void put_first(Results& results, const std::string& baseline);

}  // namespace lssm
