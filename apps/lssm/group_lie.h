// SPDX-License-Identifier: Apache-2.0
// The part of `lssm group G --lie`: which transitions can hold a group.
#pragma once

#include <vector>

#include "core/algebra/finite_group.h"
#include "core/config.h"

namespace lssm {

// Verdicts on all transitions, witness words, and the smallest faithful rotations, for the subgroup
// that the inputs generate.
Json lie_json(const algebra::FiniteGroup& group, const std::vector<int>& inputs, int length);

// In lines of at most 100 columns.
void print_lie(const Json& lie);

}  // namespace lssm
