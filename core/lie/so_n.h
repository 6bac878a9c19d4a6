// SPDX-License-Identifier: Apache-2.0
// The Lie algebra of the rotations of R^N by coordinates, for groups whose elements are matrices.
// core/lie/skew_map.h turns the algebra into the group; core/lie/group.h lists them.
#pragma once

#include "core/lie/square.h"
#include "core/small.h"

namespace lssm::lie {

// Skew matrices Omega. The coordinates are Omega_ij for i < j: (0, 1), (0, 2), …, (N-2, N-1).
template <int N>
struct SON {
  static constexpr char name[] = {'s', 'o', char('0' + N), 0};
  static constexpr int algebra_dim = N * (N - 1) / 2;
  static constexpr int vector_dim = N;

  template <class T>
  static LSSM_HD Square<T, N> skew(const Vec<T, algebra_dim>& a) {
    Square<T, N> omega;
    int at = 0;
    for (int i = 0; i < N; ++i) {
      omega(i, i) = T(0);
      for (int j = i + 1; j < N; ++j, ++at) {
        omega(i, j) = a[at];
        omega(j, i) = -a[at];
      }
    }
    return omega;
  }

  // The transpose of the linear map above: the gradient of a, given that of Omega.
  template <class T>
  static LSSM_HD Vec<T, algebra_dim> skew_vjp(const Square<T, N>& d) {
    Vec<T, algebra_dim> da;
    int at = 0;
    for (int i = 0; i < N; ++i)
      for (int j = i + 1; j < N; ++j, ++at) da[at] = d(i, j) - d(j, i);
    return da;
  }
};

}  // namespace lssm::lie
