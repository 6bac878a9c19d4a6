// SPDX-License-Identifier: Apache-2.0
// Rotations of the plane: the commutative twin of SU(2) and SO(3). The contract of every function
// is in core/lie/group.h.
#pragma once

#include "core/lie/series.h"
#include "core/small.h"

namespace lssm::lie {

struct SO2 {
  static constexpr const char* name = "so2";
  static constexpr int algebra_dim = 1;  // the angle, radians
  static constexpr int element_dim = 2;  // cos, sin
  static constexpr int vector_dim = 2;
  static constexpr bool is_group = true;
  static constexpr bool orthogonal = true;

  template <class T>
  using Algebra = Vec<T, algebra_dim>;
  template <class T>
  using Element = Vec<T, element_dim>;
  template <class T>
  using Vector = Vec<T, vector_dim>;

  template <class T>
  static LSSM_HD Element<T> identity() {
    return {{T(1), T(0)}};
  }

  template <class T>
  static LSSM_HD Element<T> exp(const Vec<T, 1>& a) {
    const SinCos<T> e = sincos(a[0]);
    return {{e.cos, e.sin}};
  }

  template <class T>
  static LSSM_HD Algebra<T> log(const Vec<T, 2>& g) {
    return {{arc_tangent(g[1], g[0])}};
  }

  // A product of complex numbers, as is act.
  template <class T>
  static LSSM_HD Element<T> compose(const Vec<T, 2>& g, const Vec<T, 2>& h) {
    return {{neg_mul_add(g[1], h[1], T(g[0] * h[0])), mul_add(g[1], h[0], T(g[0] * h[1]))}};
  }

  template <class T>
  static LSSM_HD Element<T> inverse(const Vec<T, 2>& g) {
    return {{g[0], -g[1]}};
  }

  template <class T>
  static LSSM_HD Vector<T> act(const Vec<T, 2>& g, const Vec<T, 2>& x) {
    return compose(g, x);
  }

  template <class T>
  static LSSM_HD Vector<T> act_transpose(const Vec<T, 2>& g, const Vec<T, 2>& dy) {
    return compose(inverse(g), dy);
  }

  // da = y * dy, the plane's cross product: dy/da is y turned by a right angle.
  template <class T>
  static LSSM_HD Algebra<T> exp_act_vjp(const Vec<T, 1>&, const Vec<T, 2>&, const Vec<T, 2>&,
                                        const Vec<T, 2>& y, const Vec<T, 2>& dy) {
    return {{neg_mul_add(y[1], dy[0], T(y[0] * dy[1]))}};
  }
};

}  // namespace lssm::lie
