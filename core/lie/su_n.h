// SPDX-License-Identifier: Apache-2.0
// The Lie algebra of SU(N) by coordinates, for groups whose elements are matrices.
// core/lie/skew_map.h turns the algebra into the group; core/lie/group.h lists them.
#pragma once

#include "core/lie/square.h"
#include "core/small.h"

namespace lssm::lie {

// Anti-Hermitian N x N matrices S of trace 0, acting on C^N = R^2N: the components of a vector are
// Re z_1 … Re z_N, Im z_1 … Im z_N, and S = X + i Y is the skew matrix [X -Y; Y X].
//
// The coordinates belong to an orthonormal basis, Gell-Mann's matrices times i / sqrt(2), in this
// order (j < k as in core/lie/so_n.h, l = 1 … N-1):
//   (E_jk - E_kj) / sqrt(2)    for all j < k
//   i (E_jk + E_kj) / sqrt(2)  for all j < k
//   i diag(1, …, 1, -l, 0, …) / sqrt(l (l + 1))  with l ones
// Then |a|^2 is the sum of the squares of the angles by which exp turns the eigenvectors, as it is
// for SO(2N), so initial scales mean the same.
//
// exp maps this algebra to SU(N). The Cayley maps give unitary matrices whose determinant is a
// phase, exp(-2i sum_j atan(w_j / 2)) for eigenvalues i w_j: elements of U(N), not all of SU(N).
template <int N>
struct SUN {
  static constexpr char name[] = {'s', 'u', char('0' + N), 0};
  static constexpr int algebra_dim = N * N - 1;
  static constexpr int vector_dim = 2 * N;
  static constexpr int pairs = N * (N - 1) / 2;

  template <class T>
  static LSSM_HD Square<T, 2 * N> skew(const Vec<T, algebra_dim>& a) {
    Square<T, 2 * N> omega;
    const auto set = [&](int j, int k, T x, T y) {
      omega(j, k) = omega(N + j, N + k) = x;
      omega(N + j, k) = y;
      omega(j, N + k) = -y;
    };
    int at = 0;
    for (int j = 0; j < N; ++j) {
      for (int k = j + 1; k < N; ++k, ++at) {
        const T x = T(kRootHalf) * a[at], y = T(kRootHalf) * a[pairs + at];
        set(j, k, x, y);
        set(k, j, -x, y);
      }
    }
    // Entry j of the diagonal: -l a_l / norm_l at l = j, plus the ones of all later l.
    T later(0);
    for (int l = N - 1; l >= 0; --l) {
      const T scaled = l > 0 ? T(T(diagonal_scale(l)) * a[2 * pairs + l - 1]) : T(0);
      set(l, l, T(0), neg_mul_add(T(l), scaled, later));
      later = later + scaled;
    }
    return omega;
  }

  // The transpose of the linear map above: the gradient of a, given that of Omega.
  template <class T>
  static LSSM_HD Vec<T, algebra_dim> skew_vjp(const Square<T, 2 * N>& d) {
    const auto dx = [&](int j, int k) { return d(j, k) + d(N + j, N + k); };
    const auto dy = [&](int j, int k) { return d(N + j, k) - d(j, N + k); };
    Vec<T, algebra_dim> da;
    int at = 0;
    for (int j = 0; j < N; ++j) {
      for (int k = j + 1; k < N; ++k, ++at) {
        da[at] = T(kRootHalf) * (dx(j, k) - dx(k, j));
        da[pairs + at] = T(kRootHalf) * (dy(j, k) + dy(k, j));
      }
    }
    T earlier = dy(0, 0);
    for (int l = 1; l < N; ++l) {
      da[2 * pairs + l - 1] = T(diagonal_scale(l)) * neg_mul_add(T(l), dy(l, l), earlier);
      earlier = earlier + dy(l, l);
    }
    return da;
  }

 private:
  static constexpr double kRootHalf = 0.70710678118654752;
  // 1 / sqrt(l (l + 1)): a table, since it has to be a constant on every device.
  static LSSM_HD constexpr double diagonal_scale(int l) {
    return l == 1 ? kRootHalf : l == 2 ? 0.40824829046386302 : 0.28867513459481288;
  }
  static_assert(N >= 2 && N <= 4, "diagonal_scale() goes up to l = 3");
};

}  // namespace lssm::lie
