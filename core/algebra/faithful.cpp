// SPDX-License-Identifier: Apache-2.0
#define EIGEN_DONT_PARALLELIZE  // many small products
#include "core/algebra/faithful.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/algebra/irrep_facts.h"
#include "core/algebra/laws.h"
#include "core/algebra/representation.h"
#include "core/algebra/sections.h"

namespace lssm::algebra {
namespace {

using Numbers = std::vector<double>;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Candidate {
  int n;
  std::string how;
  std::vector<Numbers> generators;
};

template <class Images, class F>
std::vector<Numbers> of_generators(const FiniteGroup& group, const Images& images, F matrix) {
  std::vector<Numbers> out;
  for (const Generator& g : group.generators()) out.push_back(matrix(images[size_t(g.element)]));
  return out;
}

std::optional<Candidate> plane_rotations(const FiniteGroup& group) {
  const int n = group.order();
  int a = 0;
  while (a < n && group.element_order(a) != n) ++a;
  if (a == n) return std::nullopt;
  Candidate out{n == 1 ? 1 : 2, "a turn of the plane", {}};
  std::vector<int> exponent(static_cast<size_t>(n));
  for (int k = 0, x = 0; k < n; ++k, x = group.product(x, a)) exponent[size_t(x)] = k;
  for (const Generator& g : group.generators()) {
    const double angle = 2 * std::numbers::pi * exponent[size_t(g.element)] / n;
    const double c = std::cos(angle), s = std::sin(angle);
    out.generators.push_back(n == 1 ? Numbers{1} : Numbers{c, -s, s, c});
  }
  return out;
}

// Rotations and quaternions go by names; what has none throws.
std::optional<Candidate> by_name(const FiniteGroup& group) {
  const std::string& name = group.name();
  try {
    if (name[0] == 'Q' || name[0] == '2') {
      const auto matrix = [](const Quaternion& q) {  // x -> q x
        return Numbers{q[0], -q[1], -q[2], -q[3], q[1], q[0],  -q[3], q[2],
                       q[2], q[3],  q[0],  -q[1], q[3], -q[2], q[1],  q[0]};
      };
      return Candidate{4, "unit quaternions, by left multiplication",
                       of_generators(group, quaternion_representation(group), matrix)};
    }
    const auto matrix = [](const Rotation& r) { return Numbers(r.begin(), r.end()); };
    return Candidate{3, "rotations of a solid",
                     of_generators(group, rotation_representation(group), matrix)};
  } catch (const Error&) {
    return std::nullopt;
  }
}

// An orthonormal basis of the vectors that sum to 0: (1, …, 1, -k, 0, …) / sqrt(k (k + 1)).
RowMajor sum_zero_basis(int points) {
  RowMajor v = RowMajor::Zero(points, points - 1);
  for (int k = 1; k < points; ++k) {
    for (int i = 0; i < k; ++i) v(i, k - 1) = 1;
    v(k, k - 1) = -k;
    v.col(k - 1) /= std::sqrt(double(k) * (k + 1));
  }
  return v;
}

// sign(p)^s P has det sign(p)^(s n + 1), and on the sum-zero vectors sign(p)^(s (n - 1) + 1).
std::optional<Candidate> signed_permutations(const FiniteGroup& group) {
  const auto& all = group.permutations();
  if (all.empty()) return std::nullopt;
  const int points = int(all[0].size());
  const bool even = std::all_of(all.begin(), all.end(), [](const auto& p) { return sign(p) == 1; });
  if (points < 3)
    return std::nullopt;  // sign(p) P is the identity for (1 2) on the line that is left
  const bool deleted = even || points % 2 == 0;
  const RowMajor basis = deleted ? sum_zero_basis(points) : RowMajor::Identity(points, points);
  Candidate out{deleted ? points - 1 : points,
                text(even ? "" : "signed ", "permutations of ", points, " points",
                     deleted ? ", on the vectors that sum to 0" : ""),
                {}};
  for (const Generator& g : group.generators()) {
    const Permutation& p = all[size_t(g.element)];
    RowMajor m = RowMajor::Zero(points, points);
    for (int i = 0; i < points; ++i) m(p[size_t(i)], i) = sign(p);
    const RowMajor moved = basis.transpose() * m * basis;
    out.generators.emplace_back(moved.data(), moved.data() + moved.size());
  }
  return out;
}

// x -> shift, y -> clock on C^p = R^2p: e_j -> e_(j+1), e_j -> w^j e_j with w = exp(2 pi i / p).
// In Heis(p), x y = y x z with a central z, which becomes w^-1.
std::optional<Candidate> clock_and_shift(const FiniteGroup& group) {
  const std::string& name = group.name();
  if (!name.starts_with("Heis") || group.generators().size() != 2) return std::nullopt;
  const int p = int(std::lround(std::cbrt(group.order())));
  if (p < 3 || name != text("Heis", p)) return std::nullopt;
  RowMajor shift = RowMajor::Zero(2 * p, 2 * p), clock = shift;
  for (int j = 0; j < p; ++j) {
    const double angle = 2 * std::numbers::pi * j / p, c = std::cos(angle), s = std::sin(angle);
    const int next = (j + 1) % p;
    shift(2 * next, 2 * j) = shift(2 * next + 1, 2 * j + 1) = 1;
    clock(2 * j, 2 * j) = clock(2 * j + 1, 2 * j + 1) = c;
    clock(2 * j + 1, 2 * j) = s;
    clock(2 * j, 2 * j + 1) = -s;
  }
  Candidate out{2 * p, text("clock and shift matrices on C^", p), {}};
  for (const RowMajor& m : {shift, clock})
    out.generators.emplace_back(m.data(), m.data() + m.size());
  return out;
}

Candidate candidate_of(const DirectSum& sum) {
  std::string dims;
  for (const Block& block : sum.blocks) dims += (dims.empty() ? "" : " + ") + text(block.dim);
  Candidate out{sum.dim,
                sum.blocks.size() == 1 ? "an irreducible representation"
                                       : "a direct sum of dimensions " + dims,
                {}};
  for (size_t k = 0; k < sum.blocks[0].generators.size(); ++k) {
    RowMajor m = RowMajor::Zero(sum.dim, sum.dim);
    int at = 0;
    for (const Block& block : sum.blocks) {
      m.block(at, at, block.dim, block.dim) =
          Eigen::Map<const RowMajor>(block.generators[k].data(), block.dim, block.dim);
      at += block.dim;
    }
    out.generators.emplace_back(m.data(), m.data() + m.size());
  }
  return out;
}

// The irreducible representations of G / N, as ones of G.
void add_blocks(const FiniteGroup& group, const Subgroup& normal, std::vector<Block>& blocks) {
  const Quotient map = quotient_map(group, normal);
  const FiniteGroup quotient = quotient_group(group, normal);
  for (const RealIrrep& irrep : real_irreps(quotient)) {
    Block block{irrep.dim, {}, odd_generators(quotient, irrep), {}};
    for (int a = 0; a < group.order(); ++a) {
      if (std::binary_search(irrep.kernel.begin(), irrep.kernel.end(), map.coset[size_t(a)]))
        block.kernel.push_back(a);
    }
    for (const Generator& g : group.generators()) {
      const double* image = irrep.image(map.coset[size_t(g.element)]);
      block.generators.emplace_back(image, image + irrep.dim * irrep.dim);
    }
    blocks.push_back(std::move(block));
  }
}

// All irreducible representations, or those of the largest quotients for which they can be had.
std::vector<Block> blocks_of(const FiniteGroup& group) {
  std::vector<Block> blocks;
  std::vector<Subgroup> used;
  const std::vector<Subgroup> candidates = group.order() <= kMaxIrrepOrder
                                               ? std::vector<Subgroup>{{0}}
                                               : known_normal_subgroups(group).list;
  for (const Subgroup& normal : candidates) {
    const bool small = group.order() / int(normal.size()) <= kMaxIrrepOrder;
    const bool seen = std::any_of(used.begin(), used.end(), [&](const Subgroup& n) {
      return std::includes(normal.begin(), normal.end(), n.begin(), n.end());
    });
    if (!small || seen) continue;
    used.push_back(normal);
    add_blocks(group, normal, blocks);
  }
  return blocks;
}

std::optional<Candidate> direct_sum(const FiniteGroup& group) {
  const std::optional<DirectSum> sum = smallest_direct_sum(group, blocks_of(group));
  if (!sum) return std::nullopt;
  return candidate_of(*sum);
}

// Left multiplication by an element of order m is |G| / m cycles of length m.
Candidate regular(const FiniteGroup& group) {
  bool odd = false;
  for (const Generator& g : group.generators()) {
    const int m = group.element_order(g.element);
    odd |= m % 2 == 0 && group.order() / m % 2 == 1;
  }
  return {group.order() + odd,
          odd ? "the regular representation and its sign" : "the regular representation",
          {}};
}

// By all characters; else from what is known: finite subgroups of SO(2) are cyclic, those of SO(3)
// are on a list (core/algebra/sections.h), and a non-abelian p-group with p odd needs 2p
// (core/algebra/laws.h).
int lower_bound(const FiniteGroup& group) {
  if (group.order() == 1) return 1;
  const std::string type = rotation_type(group);
  if (!type.empty()) return type[0] == 'C' ? 2 : 3;
  if (const auto facts = irrep_facts(group)) {
    std::vector<Block> blocks;
    for (const IrrepFacts& f : *facts) blocks.push_back({f.real_dim, f.kernel, f.odd, {}});
    const std::optional<DirectSum> sum = smallest_direct_sum(group, blocks);
    if (sum && sum->smallest) return sum->dim;
  }
  return std::max(4, 2 * nonabelian_odd_sylow(group));
}

// The worst of: M(a g) - M(a) M(g), M^T M - 1, det - 1. Infinite when two elements have one image.
double error_of(const FiniteGroup& group, const Candidate& c) {
  const int n = c.n;
  std::vector<RowMajor> generators, images(size_t(group.order()));
  double error = 0;
  for (const Numbers& numbers : c.generators) {
    generators.emplace_back(Eigen::Map<const RowMajor>(numbers.data(), n, n));
    const RowMajor& g = generators.back();
    const RowMajor gram = g.transpose() * g - RowMajor::Identity(n, n);
    error = std::max({error, gram.cwiseAbs().maxCoeff(), std::abs(g.determinant() - 1)});
  }
  images[0] = RowMajor::Identity(n, n);
  std::vector<int> queue{0};
  for (size_t i = 0; i < queue.size(); ++i) {
    const RowMajor here = images[size_t(queue[i])];
    for (size_t k = 0; k < generators.size(); ++k) {
      const int next = group.product(queue[i], group.generators()[k].element);
      RowMajor& image = images[size_t(next)];
      const RowMajor product = here * generators[k];
      if (image.size() == 0) {
        image = product;
        queue.push_back(next);
      }
      error = std::max(error, (image - product).cwiseAbs().maxCoeff());
    }
  }
  for (size_t a = 1; a < images.size(); ++a)
    if ((images[a] - images[0]).cwiseAbs().maxCoeff() < 1e-4) return HUGE_VAL;
  return error;
}

}  // namespace

FaithfulRotations faithful_rotations(const FiniteGroup& group) {
  std::vector<Candidate> candidates;
  const auto offer = [&](std::optional<Candidate> c) {
    if (c) candidates.push_back(std::move(*c));
  };
  offer(plane_rotations(group));
  offer(by_name(group));
  offer(signed_permutations(group));
  offer(clock_and_shift(group));
  const int at_least = lower_bound(group);
  const auto smaller = [](const Candidate& a, const Candidate& b) { return a.n < b.n; };
  auto best = std::min_element(candidates.begin(), candidates.end(), smaller);
  if (best == candidates.end() || best->n > at_least) {
    offer(direct_sum(group));
    offer(regular(group));
    best = std::min_element(candidates.begin(), candidates.end(), smaller);
  }
  FaithfulRotations out{best->n, at_least, best->how, best->generators};
  if (!best->generators.empty()) out.error = error_of(group, *best);
  if (!(out.error < 1e-9)) {
    fail_numeric("faithful_rotations: ", best->how, " of ", group.name(),
                 ": no faithful homomorphism to SO(", best->n, "), error ", out.error);
  }
  return out;
}

}  // namespace lssm::algebra
