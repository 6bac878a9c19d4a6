// SPDX-License-Identifier: Apache-2.0
// The smallest SO(N) that is known to hold a finite group, and the matrices.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/algebra/irreps.h"

namespace lssm::algebra {

struct FaithfulRotations {
  int n;            // a faithful homomorphism to SO(n) is known
  int at_least;     // and none to SO(N) with a smaller N than this exists
  std::string how;  // in a few words
  // An n x n matrix for each generator of the group, row by row; none for a regular representation
  // of more than kMaxIrrepOrder elements.
  std::vector<std::vector<double>> generators;
  double error = 0;  // how far these are from a homomorphism, from orthogonal and from det = 1

  bool smallest() const { return n == at_least; }
};

// Rotations, quaternions, signed permutations (of n points, times the sign where a determinant
// needs it, on the n-1 coordinates that sum to 0 where that has det = 1) and clock and shift
// matrices (Heisenberg) where they are the smallest; else a direct sum of irreducible
// representations, of the group or (above kMaxIrrepOrder elements) of its quotients; else the
// regular one. The bound at_least comes from all characters, so it is the smallest N there is,
// where there are not too many conjugacy classes. Throws Error (numeric) if the matrices fail their
// check.
FaithfulRotations faithful_rotations(const FiniteGroup& group);

// A representation that a direct sum is made of.
struct Block {
  int dim;
  Subgroup kernel;
  std::vector<bool> odd;  // det = -1, for each generator
  std::vector<std::vector<double>> generators;
};

// The blocks of a faithful direct sum of the least dimension, with a last block (det) where it has
// determinant -1 somewhere. The flag says whether no smaller sum exists.
struct DirectSum {
  int dim;
  std::vector<Block> blocks;
  bool smallest;
};
std::optional<DirectSum> smallest_direct_sum(const FiniteGroup& group,
                                             const std::vector<Block>& available);

}  // namespace lssm::algebra
