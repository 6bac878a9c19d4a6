// SPDX-License-Identifier: Apache-2.0
// Rotations of neighbouring heads of SO(3) that are mixed at their borders. The contract is that of
// MatrixGroup in core/lie/group.h.
#pragma once

#include "core/lie/square.h"
#include "core/small.h"

namespace lssm::lie {

// m heads of R^3 side by side in R^3m. A skew matrix has a block of so(3) for each head, [w]x as in
// core/lie/so3.h, and an angle for each border, in the plane of the last component of one head and
// the first of the next. The Lie algebra that these matrices generate is all of so(3m), with
// 4m - 1 coordinates a step instead of 3m (3m - 1) / 2 (Lie-SSM paper, sections 3.4 and 4.4).
template <int m>
struct SO3Chain {
  static constexpr char name[] = {'s', 'o', '3', 'x', char('0' + m), 0};
  static constexpr int algebra_dim = 3 * m + (m - 1);  // w of each head, then the borders' angles
  static constexpr int vector_dim = 3 * m;

  template <class T>
  static LSSM_HD Square<T, 3 * m> skew(const Vec<T, algebra_dim>& a) {
    Square<T, 3 * m> omega;
    for (int i = 0; i < 9 * m * m; ++i) omega.entries[i] = T(0);
    const auto set = [&](int i, int j, const T& x) {
      omega(i, j) = x;
      omega(j, i) = -x;
    };
    for (int h = 0; h < m; ++h) {
      set(3 * h + 2, 3 * h + 1, a[3 * h]);
      set(3 * h, 3 * h + 2, a[3 * h + 1]);
      set(3 * h + 1, 3 * h, a[3 * h + 2]);
    }
    for (int h = 0; h + 1 < m; ++h) set(3 * h + 3, 3 * h + 2, a[3 * m + h]);
    return omega;
  }

  // The transpose of the linear map above: the gradient of a, given that of Omega.
  template <class T>
  static LSSM_HD Vec<T, algebra_dim> skew_vjp(const Square<T, 3 * m>& d) {
    Vec<T, algebra_dim> da;
    const auto get = [&](int i, int j) { return d(i, j) - d(j, i); };
    for (int h = 0; h < m; ++h) {
      da[3 * h] = get(3 * h + 2, 3 * h + 1);
      da[3 * h + 1] = get(3 * h, 3 * h + 2);
      da[3 * h + 2] = get(3 * h + 1, 3 * h);
    }
    for (int h = 0; h + 1 < m; ++h) da[3 * m + h] = get(3 * h + 3, 3 * h + 2);
    return da;
  }
};

}  // namespace lssm::lie
