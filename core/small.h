// SPDX-License-Identifier: Apache-2.0
// Small fixed-size vectors for host and device code. `T` is float, double, an unsigned integer (in
// exact tests) or a SIMD pack (core/simd.h).
#pragma once

#ifdef __CUDACC__
#define LSSM_HD __host__ __device__
#else
#define LSSM_HD
#endif

namespace lssm {

// N numbers of type T, a plain struct.
template <class T, int N>
struct Vec {
  T v[N];

  LSSM_HD T& operator[](int i) { return v[i]; }
  LSSM_HD const T& operator[](int i) const { return v[i]; }
};

template <class T, int N>
LSSM_HD inline Vec<T, N> operator+(const Vec<T, N>& a, const Vec<T, N>& b) {
  Vec<T, N> y;
  for (int i = 0; i < N; ++i) y[i] = a[i] + b[i];
  return y;
}

template <class T, int N>
LSSM_HD inline Vec<T, N> operator-(const Vec<T, N>& a, const Vec<T, N>& b) {
  Vec<T, N> y;
  for (int i = 0; i < N; ++i) y[i] = a[i] - b[i];
  return y;
}

template <class T, int N>
LSSM_HD inline Vec<T, N> operator-(const Vec<T, N>& a) {
  Vec<T, N> y;
  for (int i = 0; i < N; ++i) y[i] = -a[i];
  return y;
}

template <class T, int N>
LSSM_HD inline Vec<T, N> operator*(const T& s, const Vec<T, N>& a) {
  Vec<T, N> y;
  for (int i = 0; i < N; ++i) y[i] = s * a[i];
  return y;
}

template <class T, int N>
LSSM_HD inline T dot(const Vec<T, N>& a, const Vec<T, N>& b) {
  T sum = a[0] * b[0];
  for (int i = 1; i < N; ++i) sum = sum + a[i] * b[i];
  return sum;
}

template <class T>
LSSM_HD inline Vec<T, 3> cross(const Vec<T, 3>& a, const Vec<T, 3>& b) {
  return {{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}};
}

}  // namespace lssm
