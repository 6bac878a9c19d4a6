// SPDX-License-Identifier: Apache-2.0
// Multiplication by a complex number in polar form: the complex diagonal recurrence,
// h -> r e^{i phi} h. A monoid; only nonzero numbers have an inverse. The contract of every
// function is in core/lie/group.h.
#pragma once

#include "core/lie/series.h"
#include "core/lie/so2.h"
#include "core/small.h"

namespace lssm::lie {

struct Polar {
  static constexpr const char* name = "polar";
  static constexpr int algebra_dim = 2;  // r (of any sign), phi
  static constexpr int element_dim = 2;  // re, im
  static constexpr int vector_dim = 2;   // re, im
  static constexpr bool is_group = false;
  static constexpr bool orthogonal = false;

  template <class T>
  using Algebra = Vec<T, algebra_dim>;
  template <class T>
  using Element = Vec<T, element_dim>;
  template <class T>
  using Vector = Vec<T, vector_dim>;

  template <class T>
  static LSSM_HD Element<T> identity() {
    return SO2::identity<T>();
  }

  template <class T>
  static LSSM_HD Element<T> exp(const Vec<T, 2>& a) {
    const SinCos<T> e = sincos(a[1]);
    return {{a[0] * e.cos, a[0] * e.sin}};
  }

  // r >= 0
  template <class T>
  static LSSM_HD Algebra<T> log(const Vec<T, 2>& g) {
    return {{square_root(fused_dot(g, g)), arc_tangent(g[1], g[0])}};
  }

  template <class T>
  static LSSM_HD Element<T> compose(const Vec<T, 2>& g, const Vec<T, 2>& h) {
    return SO2::compose(g, h);
  }

  template <class T>
  static LSSM_HD Element<T> inverse(const Vec<T, 2>& g) {
    const T s = T(1) / fused_dot(g, g);
    return {{s * g[0], -(s * g[1])}};
  }

  template <class T>
  static LSSM_HD Vector<T> act(const Vec<T, 2>& g, const Vec<T, 2>& x) {
    return SO2::act(g, x);
  }

  template <class T>
  static LSSM_HD Vector<T> act_transpose(const Vec<T, 2>& g, const Vec<T, 2>& dy) {
    return SO2::act_transpose(g, dy);
  }

  // With u = e^{i phi} x: dr = <u, dy> and dphi = r (u * dy), * the plane's cross product. From x,
  // since y says nothing at r = 0.
  template <class T>
  static LSSM_HD Algebra<T> exp_act_vjp(const Vec<T, 2>& a, const Vec<T, 2>&, const Vec<T, 2>& x,
                                        const Vec<T, 2>&, const Vec<T, 2>& dy) {
    const SinCos<T> e = sincos(a[1]);
    const Vec<T, 2> u = SO2::act(Vec<T, 2>{{e.cos, e.sin}}, x);
    return {{fused_dot(u, dy), a[0] * neg_mul_add(u[1], dy[0], T(u[0] * dy[1]))}};
  }
};

}  // namespace lssm::lie
