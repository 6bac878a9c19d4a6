// SPDX-License-Identifier: Apache-2.0
// The functions of an angle that Lie groups need, for numbers and for SIMD packs.
//
// All but sincos take the square of the angle: they are even functions, smooth at 0, and |a|^2 is
// what a group has at hand. None cuts to a series at one small global epsilon: each form is used
// only where it loses no digits. Branches are selects, so packs take them too.
#pragma once

#include <cmath>
#include <type_traits>

#include "core/simd.h"

namespace lssm::lie {

template <class T>
struct SinCos {
  T sin, cos;
};

template <class T>
struct SincCos {
  T sinc, cos;
};

// sin and cos in f32: phi = j pi/2 + f with |f| <= pi/4, then one polynomial each (Cephes sinf.c).
// Cody-Waite: pi/2 in three parts, the first two short, so that j times them is exact for
// j < 2^13 with or without fma. Absolute error below 1e-7 for |phi| <= 1e4. Beyond that digits of
// the angle get lost, but f is kept in range, so sin^2 + cos^2 = 1 stays true for every finite phi.
// The range is a little wide: rounding j pi/2 may push f past pi/4. T is float or a pack of floats.
template <class T>
LSSM_HD inline SinCos<T> sincos_f32(T phi) {
  // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
  const T shift(12582912.0f);
  const T shifted = mul_add(phi, T(0.636619772f), shift);
  const auto quadrant = bits(shifted);
  using Int = std::remove_const_t<decltype(quadrant)>;
  const T j = shifted - shift;
  T f = neg_mul_add(j, T(1.5703125f), phi);
  f = neg_mul_add(j, T(4.837512969970703125e-4f), f);
  f = neg_mul_add(j, T(7.54978995489188216e-8f), f);
  f = select(f > T(0.8f), T(0.8f), f);
  f = select(f < T(-0.8f), T(-0.8f), f);

  const T z = f * f;
  T s = mul_add(z, T(-1.9515295891e-4f), T(8.3321608736e-3f));
  s = mul_add(z, s, T(-1.6666654611e-1f));
  s = mul_add(T(z * f), s, f);
  T c = mul_add(z, T(2.443315711809948e-5f), T(-1.388731625493765e-3f));
  c = mul_add(z, c, T(4.166664568298827e-2f));
  c = mul_add(T(z * z), c, mul_add(z, T(-0.5f), T(1.0f)));

  // Quadrants 1 and 3 swap sin and cos; sin is negative in 2 and 3, cos in 1 and 2.
  const auto odd = (quadrant & Int(1)) != Int(0);
  const Int sin_sign = (quadrant & Int(2)) << 30;
  const Int cos_sign = ((quadrant + Int(1)) & Int(2)) << 30;
  return {float_of_bits(bits(select(odd, c, s)) ^ sin_sign),
          float_of_bits(bits(select(odd, s, c)) ^ cos_sign)};
}

LSSM_HD inline SinCos<float> sincos(float phi) { return sincos_f32(phi); }
LSSM_HD inline SinCos<double> sincos(double phi) { return {::sin(phi), ::cos(phi)}; }

LSSM_HD inline float arc_tangent(float y, float x) { return ::atan2f(y, x); }
LSSM_HD inline double arc_tangent(double y, double x) { return ::atan2(y, x); }

#if LSSM_HAS_PACKS
template <class T, int W>
inline SinCos<Pack<T, W>> sincos(Pack<T, W> phi) {
  if constexpr (std::is_same_v<T, float>) {
    return sincos_f32(phi);
  } else {
    SinCos<Pack<T, W>> y;
    for (int i = 0; i < W; ++i) {
      const SinCos<T> lane = sincos(phi.lane(i));
      y.sin.set_lane(i, lane.sin);
      y.cos.set_lane(i, lane.cos);
    }
    return y;
  }
}

template <class T, int W>
inline Pack<T, W> arc_tangent(Pack<T, W> y, Pack<T, W> x) {
  return map([](T a, T b) { return arc_tangent(a, b); }, y, x);
}
#endif

// sin(t)/t and cos(t) of x = t^2. The quotient is exact to rounding for every t > 0.
template <class T>
LSSM_HD inline SincCos<T> sinc_cos(const T& x) {
  const T t = square_root(x);
  const SinCos<T> sc = sincos(t);
  return {select(x == T(0), T(1), T(sc.sin / t)), sc.cos};
}

// sin(t)/t of x = t^2.
template <class T>
LSSM_HD inline T sinc(const T& x) {
  return sinc_cos(x).sinc;
}

// 1/n!
LSSM_HD constexpr double inverse_factorial(int n) {
  double y = 1;
  for (int i = 2; i <= n; ++i) y /= i;
  return y;
}

// (t - sin t)/t^3 of x = t^2, given s = sin(t)/t. From t = 2 on, (1 - s)/x loses at most one digit
// in base 2; below, sum_k (-x)^k / (2k+3)! is complete to rounding after a few terms.
template <class T>
LSSM_HD inline T sinc3(const T& x, const T& s) {
  constexpr int last = std::is_same_v<ScalarOf<T>, float> ? 6 : 12;
  constexpr auto c = [] {  // a table, since nvcc would divide at run time
    Vec<double, last + 1> table{};
    for (int k = 0; k <= last; ++k) table.v[k] = inverse_factorial(2 * k + 3);
    return table;
  }();
  T y(c.v[last]);
  for (int k = last - 1; k >= 0; --k) y = neg_mul_add(x, y, T(c.v[k]));
  return select(x < T(4), y, T((T(1) - s) / x));
}

}  // namespace lssm::lie
