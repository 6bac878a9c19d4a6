// SPDX-License-Identifier: Apache-2.0
// Finite groups by name, as configs and the command line write them.
//
//   S5 A5        symmetric and alternating groups, by the number of points
//   C7 = Z7      cyclic groups, by order
//   D16          dihedral groups BY ORDER: D16 has 16 elements (octagon), D6 is the triangle's.
//                One exception: D4 is the square's group of order 8, as in the state-tracking
//                papers ({r, s} on D4 has the commutative ceiling 50 %); D8 is the same group. The
//                group of order 4 is V4. Odd indices are refused, they fit no reading by order.
//   Q8 Q16       (generalised) quaternion groups, by order
//   2T 2O 2I     binary polyhedral groups, orders 24, 48, 120
//   Heis3        Heisenberg group over Z_p
//   V4 F20 F21   the Klein group and two Frobenius groups
//   A4xZ5        direct products, also written A4_x_Z5
#pragma once

#include <string>
#include <vector>

#include "core/algebra/finite_group.h"

namespace lssm::algebra {

struct GroupFamily {
  std::string pattern;  // "S<n>", or the whole name
  std::string rule;     // which n: "n from 2 to 7"
  std::string meaning;  // "all permutations of n points"
};

// For lists and help texts.
std::vector<GroupFamily> group_families();

// Throws Error for an unknown name, with the families and the nearest valid name.
FiniteGroup named_group(const std::string& name);

}  // namespace lssm::algebra
