// SPDX-License-Identifier: Apache-2.0
// Quaternions as four numbers, for the finite groups made of them.
#pragma once

#include <array>
#include <numbers>

namespace lssm::algebra {

using Quaternion = std::array<double, 4>;  // w + x i + y j + z k

inline Quaternion product(const Quaternion& a, const Quaternion& b) {
  return {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
          a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
          a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
          a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
}

// Two unit quaternions that generate a binary polyhedral group: s turns by 1/3, and t by 1/k with
// k = 3, 4 or 5 for the tetrahedron, the cube and the icosahedron. s^3 = t^k = (s t)^2 = -1.
struct PolyhedralGenerators {
  Quaternion s;
  Quaternion t;
};

inline PolyhedralGenerators binary_tetrahedral_generators() {
  return {{0.5, 0.5, 0.5, 0.5}, {0.5, 0.5, 0.5, -0.5}};
}

inline PolyhedralGenerators binary_octahedral_generators() {
  const double h = std::numbers::sqrt2 / 2;
  return {{0.5, 0.5, 0.5, 0.5}, {h, h, 0, 0}};
}

inline PolyhedralGenerators binary_icosahedral_generators() {
  const double phi = std::numbers::phi;
  return {{0.5, 0.5, 0.5, 0.5}, {phi / 2, (phi - 1) / 2, 0.5, 0}};
}

}  // namespace lssm::algebra
