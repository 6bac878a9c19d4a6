// SPDX-License-Identifier: Apache-2.0
// Permutations of the points 1..n, in cycle notation.
#pragma once

#include <string>
#include <vector>

namespace lssm::algebra {

// Image list, counted from 0: p[i] is the image of point i + 1, minus 1. Comparison with < is the
// lexicographic order of image lists, in which the identity comes first.
using Permutation = std::vector<int>;

inline constexpr int kMaxPoints = 255;

// "(1 2 3)(4 5)", "(1,2,3)" or, with single-digit points only, "(123)"; "()" is the identity.
// Acts on `degree` points, or on as many as the text names when degree is 0.
// Throws Error when the text is no product of disjoint cycles or names a point out of range.
Permutation parse_permutation(const std::string& text, int degree = 0);

// Cycles by their smallest point, fixed points left out: "(1 2 3)(4 5)"; the identity is "()".
std::string to_cycles(const Permutation& p);

Permutation identity_permutation(int degree);

// The same permutation on more points. Throws Error when degree is smaller than it has now.
Permutation extended(const Permutation& p, int degree);

// a after b: result[i] = a[b[i]]. Throws Error when the degrees differ.
Permutation compose(const Permutation& a, const Permutation& b);

Permutation inverse(const Permutation& p);

// +1 for an even permutation, -1 for an odd one.
int sign(const Permutation& p);

}  // namespace lssm::algebra
