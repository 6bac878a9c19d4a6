// SPDX-License-Identifier: Apache-2.0
// From a real skew matrix Omega to an orthogonal one, R, and the gradient of it. The groups of
// core/lie/so_n.h and core/lie/su_n.h share these maps.
//
//   exp       R = exp(Omega)
//   cayley    R = C(Omega / 2) with C(X) = (I - X)(I + X)^-1, so R = I - Omega + …
//   cayley2   R = C(Omega / 4)^2, again I - Omega + …
//
// An eigenvalue i w of Omega becomes a turn of one plane by the angle w (exp), -2 atan(w / 2)
// (cayley) or -4 atan(w / 4) (cayley2). So no finite Omega gives Cayley a half turn, and every
// involution (a transposition, say) is a half turn: a model must send Omega to infinity, where its
// gradient vanishes as 1 / w^2. cayley2 has it at w = 4, where its gradient is half of what it is
// at 0; the angle -4 atan(w / 4) covers every turn. All entries are rational functions of Omega.
//
// Every R is moved to the nearest orthogonal matrix at the end, so R^T R = I holds to rounding: for
// exp at any size of Omega, for the Cayley maps up to a size of 1e3 in f32 and 1e6 in f64, where
// elimination has lost half of the digits. Derivatives see nothing of the move: to first order it
// changes what is not tangent to the orthogonal matrices, and a derivative of R is tangent.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/lie/series.h"
#include "core/lie/square.h"

namespace lssm::lie {

// As wide as a pointer: arguments of CUDA kernels have no padding.
enum class SkewMap : int64_t { exp, cayley, cayley2 };

// A step of Newton's method to the nearest orthogonal matrix: R + R (I - R^T R) / 2.
template <class T, int N>
LSSM_HD LSSM_OUT_OF_LINE Square<T, N> orthonormalised(const Square<T, N>& r) {
  const Square<T, N> defect = identity_matrix<T, N>() - matmul(transpose(r), r);
  return add_scaled(r, T(0.5), matmul(r, defect));
}

// (a - a^T) / 2
template <class T, int N>
LSSM_HD LSSM_OUT_OF_LINE Square<T, N> skew_part(const Square<T, N>& a) {
  return T(0.5) * (a - transpose(a));
}

// ---- exp: scaling and squaring ----

// Omega = 2^halvings x, and no eigenvalue of x is above 1/2.
template <class T, int N>
struct Halved {
  Square<T, N> x;
  T factor;  // 2^-halvings
  int halvings;
};

template <class T, int N>
LSSM_HD LSSM_OUT_OF_LINE Halved<T, N> halved(const Square<T, N>& omega) {
  constexpr int kMost = sizeof(T) == 4 ? 126 : 1022;  // an infinite entry shall end as a NaN
  T norm(0);                                          // the largest sum of a row: a bound
  for (int i = 0; i < N; ++i) {
    T sum(0);
    for (int j = 0; j < N; ++j) sum = sum + (omega(i, j) < T(0) ? -omega(i, j) : omega(i, j));
    if (sum > norm) norm = sum;
  }
  T factor(1);
  int halvings = 0;
  for (; norm > T(0.5) && halvings < kMost; ++halvings) {
    norm = T(0.5) * norm;
    factor = T(0.5) * factor;
  }
  return {factor * omega, factor, halvings};
}

// The Taylor polynomial of exp, in four-term pieces (Paterson and Stockmeyer): of degree 8 in f32
// and 16 in f64, complete to rounding for |x| <= 1/2.
template <class T, int N>
LSSM_HD LSSM_OUT_OF_LINE Square<T, N> exp_small(const Square<T, N>& x) {
  constexpr int pieces = std::is_same_v<T, float> ? 2 : 4;
  constexpr auto c = [] {
    Vec<double, 4 * pieces + 1> table{};
    for (int n = 0; n <= 4 * pieces; ++n) table.v[n] = inverse_factorial(n);
    return table;
  }();
  const Square<T, N> one = identity_matrix<T, N>();
  const Square<T, N> x2 = matmul(x, x), x3 = matmul(x2, x), x4 = matmul(x2, x2);
  Square<T, N> y = T(c.v[4 * pieces]) * x4;
  for (int piece = pieces - 1; piece >= 0; --piece) {
    if (piece < pieces - 1) y = matmul(y, x4);
    y = add_scaled(y, T(c.v[4 * piece + 3]), x3);
    y = add_scaled(y, T(c.v[4 * piece + 2]), x2);
    y = add_scaled(y, T(c.v[4 * piece + 1]), x);
    y = add_scaled(y, T(c.v[4 * piece]), one);
  }
  return y;
}

// exp(2 x) of exp(x), the i-th time in a row. Errors double each time, so they are removed before
// they have grown beyond what one step removes.
template <class T, int N>
LSSM_HD inline Square<T, N> doubled(const Square<T, N>& r, int i) {
  const Square<T, N> y = matmul(r, r);
  return i % 4 == 3 ? orthonormalised(y) : y;
}

template <class T, int N>
LSSM_HD LSSM_OUT_OF_LINE Square<T, N> exp_skew(const Square<T, N>& omega) {
  const Halved<T, N> half = halved(omega);
  Square<T, N> r = exp_small(half.x);
  for (int i = 0; i < half.halvings; ++i) r = doubled(r, i);
  return orthonormalised(r);
}

// The gradient with respect to Omega. d exp(Omega) = R int_0^1 exp(-s Omega) dOmega exp(s Omega)
// ds, so it is the integral of exp(s Omega) M exp(-s Omega) with M = R^T dR. Of M only the skew
// part meets a skew dOmega. Let F_t(M) be the integral up to t with x = Omega / 2^n for Omega:
//   F_2t(M) = F_t(M + exp(t x) M exp(-t x)),  F_1(M) = sum_k ad_x^k M / (k + 1)!
// The operators in between commute, so they are applied while exp(x) is squared once more, and no
// power needs to be stored.
template <class T, int N>
LSSM_HD LSSM_OUT_OF_LINE Square<T, N> exp_skew_vjp(const Square<T, N>& omega, const Square<T, N>& r,
                                                   const Square<T, N>& dr) {
  constexpr int terms = std::is_same_v<T, float> ? 10 : 18;  // |ad_x| <= 1
  const Halved<T, N> half = halved(omega);
  Square<T, N> m = skew_part(matmul(transpose(r), dr));
  if (half.halvings > 0) {
    Square<T, N> power = exp_small(half.x);
    for (int i = 0; i < half.halvings; ++i) {
      if (i > 0) power = doubled(power, i - 1);
      m = m + matmul(matmul(power, m), transpose(power));
    }
  }
  // [x, m] = x m - (x m)^T, both being skew.
  Square<T, N> term = half.factor * m;
  Square<T, N> sum = term;
  for (int k = 1; k < terms; ++k) {
    const Square<T, N> xm = matmul(half.x, term);
    term = T(1.0 / (k + 1)) * (xm - transpose(xm));
    sum = sum + term;
  }
  return sum;
}

// ---- Cayley ----

// (I + X)^-1. The symmetric part of I + X is I, and it only grows in what elimination leaves (for
// X = [A B; -B^T D] that is I + D + B^T (I + A)^-1 B): every pivot is at least 1, none is above
// 1 + |X|^2, and errors are of the order eps |X|^2.
template <class T, int N>
LSSM_HD inline Square<T, N> cayley_solve(const Square<T, N>& omega, T scale) {
  return inverse_without_pivoting(add_scaled(identity_matrix<T, N>(), scale, omega));
}

// (I - X) (I + X)^-1 = 2 (I + X)^-1 - I. Two steps, since the error may be large.
template <class T, int N>
LSSM_HD LSSM_OUT_OF_LINE Square<T, N> cayley_of_solve(const Square<T, N>& p) {
  return orthonormalised(orthonormalised(T(2) * p - identity_matrix<T, N>()));
}

// dC = -(I + C) dX (I + X)^-1 = -2 P dX P with P = (I + X)^-1.
template <class T, int N>
LSSM_HD inline Square<T, N> cayley_vjp(const Square<T, N>& p, const Square<T, N>& dc) {
  const Square<T, N> pt = transpose(p);
  return T(-2) * matmul(matmul(pt, dc), pt);
}

// ---- the three maps ----

template <class T, int N>
LSSM_HD inline Square<T, N> skew_map(SkewMap map, const Square<T, N>& omega) {
  if (map == SkewMap::exp) return exp_skew(omega);
  if (map == SkewMap::cayley) return cayley_of_solve(cayley_solve(omega, T(0.5)));
  const Square<T, N> c = cayley_of_solve(cayley_solve(omega, T(0.25)));
  return orthonormalised(matmul(c, c));
}

// The gradient D of R = skew_map(map, omega): <dr, dR> = <D, dOmega> for every skew dOmega.
template <class T, int N>
LSSM_HD inline Square<T, N> skew_map_vjp(SkewMap map, const Square<T, N>& omega,
                                         const Square<T, N>& r, const Square<T, N>& dr) {
  if (map == SkewMap::exp) return exp_skew_vjp(omega, r, dr);
  if (map == SkewMap::cayley) return T(0.5) * cayley_vjp(cayley_solve(omega, T(0.5)), dr);
  const Square<T, N> p = cayley_solve(omega, T(0.25));
  const Square<T, N> ct = transpose(cayley_of_solve(p));
  return T(0.25) * cayley_vjp(p, matmul(ct, dr) + matmul(dr, ct));
}

}  // namespace lssm::lie
