// SPDX-License-Identifier: Apache-2.0
// Laws of the finite groups that divide (are quotients of subgroups of) SO(3)^m or SU(2)^m, for any
// number m of heads. A group that breaks one cannot be tracked by a single layer of such heads with
// any readout (Lie-SSM paper, theorems 1 and 2, appendices A and B). SO(4)^m divides SU(2)^2m, so
// it has the laws of SU(2)^m.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/algebra/finite_group.h"

namespace lssm::algebra {

// Two words in the generators with the same tokens in another order. Both end in the same state
// wherever the law holds, but their products differ. Products are a b = a after b for permutations.
struct WordPair {
  std::string left, right;          // "(c t)^30 (t c)^30"
  int left_product, right_product;  // elements
  int length;                       // tokens in each
};

struct LawFailure {
  std::string reason;  // which law, and for which elements or subgroup
  std::optional<WordPair> words;
};

// Laws of SO(3)^m:
//   [u^30, v^30] = e
//   Sylow p-subgroups are abelian for odd p, and [u^2, x] = e for x in O_p(G)
//   [O_2(G), O^2(G)] is elementary abelian
//   the largest perfect subgroup is a power of A5
// The one on O_2(G) is what excludes 2T and 2O. Its proof: let G = H / K with H in SO(3)^m, P a
// Sylow 2-subgroup of the preimage of O_2(G), N its normaliser in H; N K = H by Frattini. In each
// factor N is cyclic, dihedral, A4 or S4 (A5 has no normal 2-subgroup), and there [P, O^2(N)] is
// trivial or the Klein group.
std::optional<LawFailure> rotation_law_failure(const FiniteGroup& group);

// Laws of SU(2)^m and SO(4)^m:
//   [u^30, v^30] is central and its square is e
//   the laws above for odd p
//   the largest perfect subgroup is a central quotient of a power of 2I
std::optional<LawFailure> spinor_law_failure(const FiniteGroup& group);

// In SO(n)^m and SU(n)^m an abelian p-group is diagonal over C, and what normalises it permutes its
// characters: at most n of them, in SO(n) in pairs of conjugates. So for x in O_p(G) and primes p
// whose subgroups there are all abelian
//   [u^k, x] = e,  k = exponent of the permutations
// (2 for SO(3) and SU(2)). Says for which x, u and p >= smallest_prime, p odd, it fails.
std::optional<LawFailure> core_law_failure(const FiniteGroup& group, int k, int smallest_prime);

// The first odd prime with a Sylow subgroup that is not abelian, or 0. Real representations of a
// non-abelian p-group have dimension 2p or more where they are faithful, complex ones p.
int nonabelian_odd_sylow(const FiniteGroup& group);

}  // namespace lssm::algebra
