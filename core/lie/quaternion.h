// SPDX-License-Identifier: Apache-2.0
// Quaternions in the order (w, x, y, z): what SU(2) and SO(3) share.
#pragma once

#include "core/lie/series.h"
#include "core/small.h"

namespace lssm::lie {

// The vector part (x, y, z).
template <class T>
LSSM_HD inline Vec<T, 3> imaginary(const Vec<T, 4>& q) {
  return {{q[1], q[2], q[3]}};
}

template <class T>
LSSM_HD inline Vec<T, 4> conjugate(const Vec<T, 4>& q) {
  return {{q[0], -q[1], -q[2], -q[3]}};
}

// Hamilton product p q.
template <class T>
LSSM_HD inline Vec<T, 4> multiply(const Vec<T, 4>& p, const Vec<T, 4>& q) {
  Vec<T, 4> y = p[0] * q;
  y[0] = neg_mul_add(p[1], q[1], y[0]);
  y[1] = mul_add(p[1], q[0], y[1]);
  y[2] = neg_mul_add(p[1], q[3], y[2]);
  y[3] = mul_add(p[1], q[2], y[3]);
  y[0] = neg_mul_add(p[2], q[2], y[0]);
  y[1] = mul_add(p[2], q[3], y[1]);
  y[2] = mul_add(p[2], q[0], y[2]);
  y[3] = neg_mul_add(p[2], q[1], y[3]);
  y[0] = neg_mul_add(p[3], q[3], y[0]);
  y[1] = neg_mul_add(p[3], q[2], y[1]);
  y[2] = mul_add(p[3], q[1], y[2]);
  y[3] = mul_add(p[3], q[0], y[3]);
  return y;
}

// exp of the pure quaternion a: (cos |a|, sin|a|/|a| a).
template <class T>
LSSM_HD inline Vec<T, 4> exp_pure(const Vec<T, 3>& a) {
  const SincCos<T> e = sinc_cos(fused_dot(a, a));
  return {{e.cos, e.sinc * a[0], e.sinc * a[1], e.sinc * a[2]}};
}

// The pure quaternion a of length <= pi with exp_pure(a) = q, for a unit quaternion q. At q = -1,
// where every axis serves, it is (pi, 0, 0).
template <class T>
LSSM_HD inline Vec<T, 3> log_unit(const Vec<T, 4>& q) {
  const Vec<T, 3> v = imaginary(q);
  const T n = square_root(fused_dot(v, v));
  const auto at_pole = n == T(0);
  Vec<T, 3> a = select(at_pole, T(T(1) / q[0]), T(arc_tangent(n, q[0]) / n)) * v;
  const T pi(3.14159265358979324);
  a[0] = select(at_pole, select(q[0] < T(0), pi, a[0]), a[0]);
  return a;
}

// J_left(a)^T m for the group of unit quaternions, whose bracket is [a, b] = 2 a * b (* is the
// cross product). With D exp(a)[da] = (J_left(a) da) exp(a) and t = |a|:
//   J_left = sum_n ad_a^n/(n+1)! = I + (1-cos 2t)/(4t^2) ad_a + (2t-sin 2t)/(2t)^3 ad_a^2
//   J_left^T m = m - S^2 (a * m) + 4 sinc3(2t) a * (a * m),  S = sin(t)/t
// (Sola et al., A micro Lie theory, arXiv:1812.01537, eq. 145, with the rotation vector 2a.)
template <class T>
LSSM_HD inline Vec<T, 3> left_jacobian_transpose(const Vec<T, 3>& a, const Vec<T, 3>& m) {
  const T x = fused_dot(a, a);
  const SincCos<T> e = sinc_cos(x);
  const T d = T(4) * sinc3(T(T(4) * x), product(e.sinc, e.cos));
  const Vec<T, 3> am = fused_cross(a, m);
  return mul_add(d, fused_cross(a, am), neg_mul_add(T(e.sinc * e.sinc), am, m));
}

}  // namespace lssm::lie
