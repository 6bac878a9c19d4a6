// SPDX-License-Identifier: Apache-2.0
// The irreducible representations of a finite group on R^d, found numerically.
#pragma once

#include <vector>

#include "core/algebra/subgroups.h"

namespace lssm::algebra {

struct RealIrrep {
  int dim;
  // Dimension of the matrices that commute with all images: 1 where it stays irreducible over C, 2
  // where it is a complex one of dimension dim / 2 and its conjugate, 4 where it is one of
  // dimension dim / 2 twice (quaternionic).
  int commutant;
  std::vector<double> images;  // [group order, dim, dim], orthogonal to about 1e-12
  Subgroup kernel;             // the elements that are mapped to the identity

  const double* image(int a) const { return images.data() + int64_t(a) * dim * dim; }
};

constexpr int kMaxIrrepOrder = 800;  // the work is cubic in the order: a second at 800

// All of them up to equivalence, by dimension; the first is the trivial one. Throws Error when the
// group has more than kMaxIrrepOrder elements.
std::vector<RealIrrep> real_irreps(const FiniteGroup& group);

// det = -1, for each generator of the group: the determinant is a homomorphism.
std::vector<bool> odd_generators(const FiniteGroup& group, const RealIrrep& irrep);

}  // namespace lssm::algebra
