// SPDX-License-Identifier: Apache-2.0
// The families of finite groups, each from its own definition. named_group() finds them by name.
#pragma once

#include <string>

#include "core/algebra/finite_group.h"

namespace lssm::algebra {

// S_n, lexicographic. Generators c = (1 2 … n), t = (1 2); for n = 3 they are called r, s.
FiniteGroup symmetric_group(int n);

// A_n, in the order of S_n. Generators c, the longest even cycle ((1 … n), or (2 … n) when n is
// even), and t = (1 2 3).
FiniteGroup alternating_group(int n);

// The symmetries of a polygon with order / 2 corners: r^order/2 = s^2 = e, s r s = r^-1.
// Elements: the rotations e, r, r^2, …, then the reflections s, r s, r^2 s, …. Generators r, s.
FiniteGroup dihedral_group(const std::string& name, int order);

// r^n = e; element k is r^k. Generator r.
FiniteGroup cyclic_group(const std::string& name, int n);

// Generalised quaternion group of an order divisible by 4: a^(order/2) = e, b^2 = a^(order/4),
// b a b^-1 = a^-1. Elements: the powers of a, then a^k b. Generators a, b.
// Order 8 uses the usual names: 1, i, -1, -i, j, k, -j, -k, with generators i, j.
FiniteGroup quaternion_group(int order);

// Upper triangular 3x3 matrices over Z_p with ones on the diagonal. Element (a b c) has a above, b
// beside and c in the corner; index = (a p + b) p + c. Generators x = (1 0 0), y = (0 1 0).
FiniteGroup heisenberg_group(int p);

// The order-4 group of the double transpositions in S4. Generators a = (1 2)(3 4), b = (1 3)(2 4).
FiniteGroup klein_group();

// The maps x -> 2^k x + c of Z_p: order 20 for p = 5, order 21 for p = 7.
// Generators a: x -> x + 1, b: x -> 2 x, as permutations of the points x + 1.
FiniteGroup frobenius_group(int order);

// 2T, 2O or 2I ('T', 'O', 'I'): the unit quaternions over the rotations of the tetrahedron (order
// 24), the cube (48) and the icosahedron (120). Elements by shortest word. Generators s, t.
FiniteGroup binary_polyhedral_group(char solid);

}  // namespace lssm::algebra
