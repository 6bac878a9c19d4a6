// SPDX-License-Identifier: Apache-2.0
// Square matrices of a fixed small size for host and device code. Sums of products go through
// mul_add, so that bits depend on no compiler's choice (core/simd.h).
#pragma once

#include "core/simd.h"
#include "core/small.h"

// Whole matrices do not fit in a GPU's registers: with the loops over their rows unrolled, four
// times as much is spilled, and with the products inlined nvcc takes minutes.
#ifdef __CUDACC__
#define LSSM_ROW_LOOP _Pragma("unroll 1")
#define LSSM_OUT_OF_LINE __noinline__
#else
#define LSSM_ROW_LOOP
#define LSSM_OUT_OF_LINE inline
#endif

namespace lssm::lie {

// Row by row.
template <class T, int N>
struct Square {
  Vec<T, N * N> entries;

  LSSM_HD T& operator()(int i, int j) { return entries[i * N + j]; }
  LSSM_HD const T& operator()(int i, int j) const { return entries[i * N + j]; }

  friend LSSM_HD Square operator+(const Square& a, const Square& b) {
    return {a.entries + b.entries};
  }
  friend LSSM_HD Square operator-(const Square& a, const Square& b) {
    return {a.entries - b.entries};
  }
  friend LSSM_HD Square operator*(const T& s, const Square& a) { return {s * a.entries}; }
};

template <class T, int N>
LSSM_HD inline Square<T, N> identity_matrix() {
  Square<T, N> y;
  for (int i = 0; i < N * N; ++i) y.entries[i] = T(i % (N + 1) == 0 ? 1 : 0);
  return y;
}

template <class T, int N>
LSSM_HD inline Square<T, N> transpose(const Square<T, N>& a) {
  Square<T, N> y;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) y(i, j) = a(j, i);
  return y;
}

template <class T, int N>
LSSM_HD LSSM_OUT_OF_LINE Square<T, N> matmul(const Square<T, N>& a, const Square<T, N>& b) {
  Square<T, N> y;
  LSSM_ROW_LOOP
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < N; ++j) y(i, j) = a(i, 0) * b(0, j);
    for (int k = 1; k < N; ++k)
      for (int j = 0; j < N; ++j) y(i, j) = mul_add(a(i, k), b(k, j), y(i, j));
  }
  return y;
}

// a + s b
template <class T, int N>
LSSM_HD inline Square<T, N> add_scaled(const Square<T, N>& a, const T& s, const Square<T, N>& b) {
  Square<T, N> y;
  for (int i = 0; i < N * N; ++i) y.entries[i] = mul_add(s, b.entries[i], a.entries[i]);
  return y;
}

// By Gauss and Jordan, in place and without a choice of pivots: only for matrices that need none.
template <class T, int N>
LSSM_HD LSSM_OUT_OF_LINE Square<T, N> inverse_without_pivoting(Square<T, N> a) {
  LSSM_ROW_LOOP
  for (int p = 0; p < N; ++p) {
    const T scale = T(1) / a(p, p);
    a(p, p) = T(1);
    for (int j = 0; j < N; ++j) a(p, j) = scale * a(p, j);
    for (int i = 0; i < N; ++i) {
      if (i == p) continue;
      const T factor = a(i, p);
      a(i, p) = T(0);
      for (int j = 0; j < N; ++j) a(i, j) = neg_mul_add(factor, a(p, j), a(i, j));
    }
  }
  return a;
}

}  // namespace lssm::lie

#undef LSSM_ROW_LOOP
