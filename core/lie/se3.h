// SPDX-License-Identifier: Apache-2.0
// Rigid motions of R^3 by the exponential map. An algebra element (omega, v) is the motion
// h -> exp(omega) h + V(omega) v: a rotation as in core/lie/so3.h and a translation, so a scan of
// SO(3) with an injection moves states by it. With t = |omega| and * the cross product
//   V(omega) v = v + A omega * v + B omega * (omega * v),  A = (1 - cos t)/t^2, B = (t - sin t)/t^3
// which is the left Jacobian of SO(3) (Sola et al., A micro Lie theory, arXiv:1812.01537, eq. 174).
#pragma once

#include "core/lie/quaternion.h"
#include "core/lie/series.h"
#include "core/small.h"

namespace lssm::lie {

// Its coordinates are omega, then v. No scan of its own, so it is in no list of core/lie/group.h.
struct SE3 {
  static constexpr const char* name = "se3";
  static constexpr int algebra_dim = 6;
  static constexpr int vector_dim = 3;
};

// The two coefficients and their derivatives as functions of x = t^2.
template <class T>
struct TranslationSeries {
  T a, b, da, db;
};

// dA/dx = (S - 2A)/(2x) and dB/dx = (A - 3B)/(2x) with S = sin(t)/t. Below t = 3 these lose digits,
// and the series -sum_j (j+1)(-x)^j/(2j+4)! and -sum_j (j+1)(-x)^j/(2j+5)! are complete to rounding
// after a few terms.
template <class T>
LSSM_HD inline TranslationSeries<T> translation_series(const T& x) {
  constexpr int last = std::is_same_v<ScalarOf<T>, float> ? 9 : 15;
  constexpr auto c = [] {
    Vec<double, 2 * last + 2> table{};
    for (int j = 0; j <= last; ++j) {
      table.v[2 * j] = (j + 1) * inverse_factorial(2 * j + 4);
      table.v[2 * j + 1] = (j + 1) * inverse_factorial(2 * j + 5);
    }
    return table;
  }();
  const T half = sinc(T(T(0.25) * x)), s = sinc(x);
  const T a = T(0.5) * half * half, b = sinc3(x, s);
  T da(c.v[2 * last]), db(c.v[2 * last + 1]);
  for (int j = last - 1; j >= 0; --j) {
    da = neg_mul_add(x, da, T(c.v[2 * j]));
    db = neg_mul_add(x, db, T(c.v[2 * j + 1]));
  }
  const auto small = x < T(9);
  const T y = T(0.5) / select(small, T(9), x);
  return {a, b, select(small, T(-da), T(y * neg_mul_add(T(2), a, s))),
          select(small, T(-db), T(y * neg_mul_add(T(3), b, a)))};
}

// V(omega) v
template <class T>
LSSM_HD inline Vec<T, 3> translation(const Vec<T, 3>& omega, const Vec<T, 3>& v) {
  const T x = fused_dot(omega, omega), half = sinc(T(T(0.25) * x));
  const Vec<T, 3> u = fused_cross(omega, v);
  return mul_add(sinc3(x, sinc(x)), fused_cross(omega, u), mul_add(T(T(0.5) * half * half), u, v));
}

template <class T>
struct TranslationGradient {
  Vec<T, 3> omega, v;
};

// The gradients of omega and v, given d, that of V(omega) v. With u = omega * v, w = omega * u and
// e = d * omega:
//   dv = V(-omega) d
//   domega = A v * d + B (u * d + v * e) + 2 (A' <d, u> + B' <d, w>) omega
template <class T>
LSSM_HD inline TranslationGradient<T> translation_vjp(const Vec<T, 3>& omega, const Vec<T, 3>& v,
                                                      const Vec<T, 3>& d) {
  const TranslationSeries<T> f = translation_series(fused_dot(omega, omega));
  const Vec<T, 3> u = fused_cross(omega, v), w = fused_cross(omega, u), e = fused_cross(d, omega);
  const T radial = T(2) * mul_add(f.da, fused_dot(d, u), T(f.db * fused_dot(d, w)));
  Vec<T, 3> domega = mul_add(f.a, fused_cross(v, d), radial * omega);
  domega = mul_add(f.b, fused_cross(u, d) + fused_cross(v, e), domega);
  return {domega, translation(-omega, d)};
}

}  // namespace lssm::lie
