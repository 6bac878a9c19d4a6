// SPDX-License-Identifier: Apache-2.0
// The inputs of a word problem, as the task "group_word" and the command `lssm group` read them.
#pragma once

#include <vector>

#include "core/algebra/finite_group.h"
#include "core/config.h"

namespace lssm {

// The elements that `inputs` names, each once, in order: "generators", "generators_inverses",
// "all", a list of elements by name, or {"max_moved": points} (permutations that move at most so
// many points). Throws Error for anything else.
std::vector<int> input_elements(const algebra::FiniteGroup& group, const Json& inputs);

}  // namespace lssm
