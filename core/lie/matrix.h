// SPDX-License-Identifier: Apache-2.0
// Multiplication of vectors of R^N by matrices that are given entry by entry: what the groups of
// core/lie/so_n.h and core/lie/su_n.h move states with. A monoid; only regular matrices have an
// inverse. The contract of every function is in core/lie/group.h.
#pragma once

#include "core/simd.h"
#include "core/small.h"

namespace lssm::lie {

template <int N>
struct Matrix {
  static constexpr char name[] = {'m', 'a', 't', 'r', 'i', 'x', char('0' + N), 0};
  static constexpr int algebra_dim = N * N;  // the entries, row by row: exp is the identity map
  static constexpr int element_dim = N * N;
  static constexpr int vector_dim = N;
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
    Element<T> g;
    for (int i = 0; i < N * N; ++i) g[i] = T(i % (N + 1) == 0 ? 1 : 0);
    return g;
  }

  template <class T>
  static LSSM_HD Element<T> exp(const Vec<T, N * N>& a) {
    return a;
  }

  template <class T>
  static LSSM_HD Algebra<T> log(const Vec<T, N * N>& g) {
    return g;
  }

  template <class T>
  static LSSM_HD Element<T> compose(const Vec<T, N * N>& g, const Vec<T, N * N>& h) {
    Element<T> y;
    for (int i = 0; i < N; ++i) {
      for (int j = 0; j < N; ++j) y[i * N + j] = product(g[i * N], h[j]);
      for (int k = 1; k < N; ++k)
        for (int j = 0; j < N; ++j)
          y[i * N + j] = mul_add(g[i * N + k], h[k * N + j], y[i * N + j]);
    }
    return y;
  }

  // By Gauss and Jordan. Rows below change places with the pivot row where their entry is larger,
  // one by one and by selects: each lane of a pack has its own order.
  template <class T>
  static LSSM_HD Element<T> inverse(Vec<T, N * N> g) {
    Element<T> y = identity<T>();
    for (int p = 0; p < N; ++p) {
      for (int i = p + 1; i < N; ++i) {
        const auto larger = absolute(g[i * N + p]) > absolute(g[p * N + p]);
        for (int j = 0; j < N; ++j) {
          swap_if(larger, g[i * N + j], g[p * N + j]);
          swap_if(larger, y[i * N + j], y[p * N + j]);
        }
      }
      const T scale = T(1) / g[p * N + p];
      for (int j = 0; j < N; ++j) {
        g[p * N + j] = scale * g[p * N + j];
        y[p * N + j] = scale * y[p * N + j];
      }
      for (int i = 0; i < N; ++i) {
        if (i == p) continue;
        const T factor = g[i * N + p];
        for (int j = 0; j < N; ++j) {
          g[i * N + j] = neg_mul_add(factor, g[p * N + j], g[i * N + j]);
          y[i * N + j] = neg_mul_add(factor, y[p * N + j], y[i * N + j]);
        }
      }
    }
    return y;
  }

  template <class T>
  static LSSM_HD Vector<T> act(const Vec<T, N * N>& g, const Vec<T, N>& x) {
    Vector<T> y;
    for (int i = 0; i < N; ++i) {
      y[i] = product(g[i * N], x[0]);
      for (int j = 1; j < N; ++j) y[i] = mul_add(g[i * N + j], x[j], y[i]);
    }
    return y;
  }

  template <class T>
  static LSSM_HD Vector<T> act_transpose(const Vec<T, N * N>& g, const Vec<T, N>& dy) {
    Vector<T> dx;
    for (int j = 0; j < N; ++j) dx[j] = product(g[j], dy[0]);
    for (int i = 1; i < N; ++i)
      for (int j = 0; j < N; ++j) dx[j] = mul_add(g[i * N + j], dy[i], dx[j]);
    return dx;
  }

  // da = dy x^T
  template <class T>
  static LSSM_HD Algebra<T> exp_act_vjp(const Vec<T, N * N>&, const Vec<T, N * N>&,
                                        const Vec<T, N>& x, const Vec<T, N>&, const Vec<T, N>& dy) {
    Algebra<T> da;
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) da[i * N + j] = dy[i] * x[j];
    return da;
  }

 private:
  template <class T>
  static LSSM_HD T absolute(const T& x) {
    return select(x < T(0), T(-x), x);
  }
  template <class Mask, class T>
  static LSSM_HD void swap_if(const Mask& condition, T& a, T& b) {
    const T kept = a;
    a = select(condition, b, a);
    b = select(condition, kept, b);
  }
};

}  // namespace lssm::lie
