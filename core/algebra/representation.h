// SPDX-License-Identifier: Apache-2.0
// Matrices and quaternions that multiply as a group does: M(a b) = M(a) M(b). Models built by hand
// from them solve the word problem exactly. A state that grows on the left, h_t = M(x_t) h_{t-1},
// follows the product x_t … x_1; for the product x_1 … x_t use M(x^-1), whose product is its
// inverse.
#pragma once

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "core/algebra/finite_group.h"
#include "core/algebra/quaternion.h"

namespace lssm::algebra {

template <int n>
using Matrix = std::array<double, size_t(n* n)>;  // row-major

using Rotation = Matrix<3>;

// Square matrices of any size but 2, whose four numbers would be taken for a quaternion.
template <size_t numbers>
std::array<double, numbers> product(const std::array<double, numbers>& a,
                                    const std::array<double, numbers>& b) {
  static_assert(numbers != 4);
  size_t n = 1;
  while (n * n < numbers) ++n;
  std::array<double, numbers> out{};
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < n; ++k)
      for (size_t j = 0; j < n; ++j) out[i * n + j] += a[i * n + k] * b[k * n + j];
  return out;
}

// A group element and its image.
template <class M>
using Image = std::pair<int, M>;

// The images of all elements, from those of generators, by breadth-first products; M is a
// Quaternion or a Matrix<n>. Checks M(a g) = M(a) M(g) for all a and generators g, to 1e-12.
// Throws Error when the elements do not generate the group or the images are no homomorphism.
template <class M>
std::vector<M> extend_representation(const FiniteGroup& group,
                                     const std::vector<Image<M>>& generators);

// Rotations of R^3 that realise the group: S3, S4, A4, A5, D_n, C_n, V4. Faithful.
// Throws Error for any other name.
std::vector<Rotation> rotation_representation(const FiniteGroup& group);

// Unit quaternions that realise the group: Q_4n, 2T, 2O, 2I, C_n. Faithful.
// Throws Error for any other name.
std::vector<Quaternion> quaternion_representation(const FiniteGroup& group);

// sign(p) times the permutation matrix, in SO(5), of each element of a permutation group on five
// points. Exact: entries 0, 1 and -1. Throws Error when the group is made of anything else.
std::vector<Matrix<5>> signed_permutation_matrices(const FiniteGroup& group);

// v -> q v q*, for a unit quaternion.
Rotation rotation_from_quaternion(const Quaternion& q);

// The two-to-one map to the group of rotations: 2I -> A5, 2O -> S4, 2T -> A4, Q8 -> V4.
// Returns for each element of `cover` the element of `group` that is the same rotation.
// Throws Error when a rotation of the cover is none of the group's.
std::vector<int> covering_map(const FiniteGroup& cover, const FiniteGroup& group);

// Largest difference of two entries.
template <size_t numbers>
double max_difference(const std::array<double, numbers>& a, const std::array<double, numbers>& b) {
  double largest = 0;
  for (size_t i = 0; i < numbers; ++i) largest = std::fmax(largest, std::abs(a[i] - b[i]));
  return largest;
}

namespace detail {

template <class M>
M identity_image() {
  size_t n = 1;
  while (n * n < M{}.size()) ++n;
  M out{};
  out[0] = 1;
  for (size_t i = 1; i < n && n != 2; ++i) out[i * (n + 1)] = 1;  // n = 2: the quaternion 1
  return out;
}

}  // namespace detail

template <class M>
std::vector<M> extend_representation(const FiniteGroup& group,
                                     const std::vector<Image<M>>& generators) {
  const size_t order = size_t(group.order());
  std::vector<M> images(order, detail::identity_image<M>());
  std::vector<bool> seen(order);
  std::vector<int> queue{0};
  seen[0] = true;
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const auto& [g, image] : generators) {
      LSSM_CHECK(g >= 0 && g < group.order(), "representation of ", group.name(), ": ", g,
                 " is no element");
      const int next = group.product(queue[i], g);
      if (seen[size_t(next)]) continue;
      seen[size_t(next)] = true;
      images[size_t(next)] = product(images[size_t(queue[i])], image);
      queue.push_back(next);
    }
  }
  LSSM_CHECK(queue.size() == order, "representation of ", group.name(),
             ": the given elements reach only ", queue.size(), " of ", order);
  for (int a = 0; a < group.order(); ++a) {
    for (const auto& [g, image] : generators) {
      const double error =
          max_difference(images[size_t(group.product(a, g))], product(images[size_t(a)], image));
      LSSM_CHECK(error <= 1e-12, "representation of ", group.name(), ": no homomorphism, M(",
                 group.element_name(a), ") M(", group.element_name(g),
                 ") differs from the image of their product by ", error);
    }
  }
  return images;
}

}  // namespace lssm::algebra
