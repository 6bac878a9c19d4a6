// SPDX-License-Identifier: Apache-2.0
// Finite groups from a config.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/algebra/finite_group.h"

namespace lssm::algebra {

// A name: "A5", "A4xZ5" (named_groups.h); or permutations that generate the group:
//   {"name": "my_group", "permutations": ["(1 2 3 4 5)", "(1 2 3)"]}
// or a Cayley table with element 0 the identity, and element indices as generators if wanted:
//   {"name": "my_group", "cayley": [[0, 1], [1, 0]], "generators": [1]}
// Throws Error for anything else, unknown keys included.
FiniteGroup group_from_json(const nlohmann::json& spec);

}  // namespace lssm::algebra
