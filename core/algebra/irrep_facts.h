// SPDX-License-Identifier: Apache-2.0
// What the characters say of the irreducible representations of a finite group: no matrices.
#pragma once

#include <optional>
#include <vector>

#include "core/algebra/subgroups.h"

namespace lssm::algebra {

// A complex representation; of one and its conjugate, only one is listed.
struct IrrepFacts {
  int dim;       // over C
  int real_dim;  // of the smallest real representation that contains it: dim, or twice that
  Subgroup kernel;
  bool special_unitary;   // its determinant is 1
  std::vector<bool> odd;  // the real one has determinant -1, for each generator of the group
};

// By dimension. None for a group of more than 300 conjugacy classes, which would take long.
std::optional<std::vector<IrrepFacts>> irrep_facts(const FiniteGroup& group);

}  // namespace lssm::algebra
