// SPDX-License-Identifier: Apache-2.0
// One arithmetic for numbers and for SIMD packs of numbers.
//
// Generic code is written once for T = float, double, uint32_t or Pack<T, W> with the functions at
// the top: mul_add, neg_mul_add, select, square_root, bits. Products that are added always go
// through mul_add (or product), so no compiler decides which of them are fused: a number and any
// lane of any pack give the same bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/small.h"

#if defined(__x86_64__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

// Packs need GCC's vector extension (GCC, Clang). Elsewhere, and under nvcc, numbers serve alone.
#if defined(__GNUC__) && !defined(__CUDACC__)
#define LSSM_HAS_PACKS 1
#else
#define LSSM_HAS_PACKS 0
#endif

// Whether fma is one instruction. Where it is not, a * b + c is rounded twice, in one fixed order.
#if defined(__CUDA_ARCH__) || defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define LSSM_HAS_FMA 1
#else
#define LSSM_HAS_FMA 0
#endif

namespace lssm {

// a * b + c
template <class T>
requires std::is_arithmetic_v<T> LSSM_HD inline T mul_add(T a, T b, T c) {
#if LSSM_HAS_FMA
  if constexpr (std::is_floating_point_v<T>) return ::fma(a, b, c);
#endif
  return a * b + c;
}
#if LSSM_HAS_FMA
template <>
LSSM_HD inline float mul_add(float a, float b, float c) {
  return ::fmaf(a, b, c);
}
#endif

// c - a * b
template <class T>
requires std::is_arithmetic_v<T> LSSM_HD inline T neg_mul_add(T a, T b, T c) {
  return mul_add(T(-a), b, c);
}

// condition ? a : b
template <class T>
requires std::is_arithmetic_v<T> LSSM_HD inline T select(bool condition, T a, T b) {
  return condition ? a : b;
}

LSSM_HD inline float square_root(float x) { return ::sqrtf(x); }
LSSM_HD inline double square_root(double x) { return ::sqrt(x); }

// The bits of a float as an integer, and back.
LSSM_HD inline uint32_t bits(float x) {
  uint32_t y;
  memcpy(&y, &x, sizeof(y));
  return y;
}
LSSM_HD inline float float_of_bits(uint32_t x) {
  float y;
  memcpy(&y, &x, sizeof(y));
  return y;
}

// Reads or writes one number where generic code reads or writes a pack; `count` is 1.
template <class T>
struct PackTraits {
  using Scalar = T;
  static constexpr int width = 1;
  static T load(const T* p) { return *p; }
  static T load(const T* p, int) { return *p; }
  static void store(T x, T* p) { *p = x; }
  static void store(T x, T* p, int) { *p = x; }
};

#if LSSM_HAS_PACKS

// W numbers of type T in one vector register. Every operation works lane by lane.
template <class T, int W>
struct Pack {
  using Native [[gnu::vector_size(W * sizeof(T))]] = T;
  using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  using Mask [[gnu::vector_size(W * sizeof(T))]] = Bits;  // per lane 0 or -1

  Native v;

  Pack() = default;
  Pack(T x) : v(x - Native{}) {}  // NOLINT(runtime/explicit): a number stands for W equal ones
  static Pack of(Native v) {
    Pack p;
    p.v = v;
    return p;
  }

  T lane(int i) const { return v[i]; }
  void set_lane(int i, T x) { v[i] = x; }

  friend Pack operator+(Pack a, Pack b) { return of(a.v + b.v); }
  friend Pack operator-(Pack a, Pack b) { return of(a.v - b.v); }
  friend Pack operator*(Pack a, Pack b) { return of(a.v * b.v); }
  friend Pack operator/(Pack a, Pack b) { return of(a.v / b.v); }
  friend Pack operator-(Pack a) { return of(-a.v); }
  friend Pack operator&(Pack a, Pack b) { return of(a.v & b.v); }
  friend Pack operator^(Pack a, Pack b) { return of(a.v ^ b.v); }
  friend Pack operator<<(Pack a, int n) { return of(a.v << n); }
  friend Mask operator<(Pack a, Pack b) { return a.v < b.v; }
  friend Mask operator>(Pack a, Pack b) { return a.v > b.v; }
  friend Mask operator==(Pack a, Pack b) { return a.v == b.v; }
  friend Mask operator!=(Pack a, Pack b) { return a.v != b.v; }
};

template <class T, int W>
inline Pack<T, W> select(typename Pack<T, W>::Mask condition, Pack<T, W> a, Pack<T, W> b) {
  return Pack<T, W>::of(condition ? a.v : b.v);
}

// f of every lane: for functions that have no vector form.
template <class T, int W, class F>
inline Pack<T, W> map(F f, Pack<T, W> a) {
  for (int i = 0; i < W; ++i) a.set_lane(i, f(a.lane(i)));
  return a;
}
template <class T, int W, class F>
inline Pack<T, W> map(F f, Pack<T, W> a, Pack<T, W> b) {
  for (int i = 0; i < W; ++i) a.set_lane(i, f(a.lane(i), b.lane(i)));
  return a;
}

template <class T, int W>
inline Pack<T, W> mul_add(Pack<T, W> a, Pack<T, W> b, Pack<T, W> c) {
  using P [[maybe_unused]] = Pack<T, W>;
  if constexpr (std::is_integral_v<T>) return a * b + c;
#ifdef __AVX512F__
  if constexpr (std::is_same_v<P, Pack<float, 16>>) return P::of(_mm512_fmadd_ps(a.v, b.v, c.v));
  if constexpr (std::is_same_v<P, Pack<double, 8>>) return P::of(_mm512_fmadd_pd(a.v, b.v, c.v));
#endif
#ifdef __FMA__
  if constexpr (std::is_same_v<P, Pack<float, 8>>) return P::of(_mm256_fmadd_ps(a.v, b.v, c.v));
  if constexpr (std::is_same_v<P, Pack<double, 4>>) return P::of(_mm256_fmadd_pd(a.v, b.v, c.v));
#endif
#if !LSSM_HAS_FMA
  return a * b + c;
#endif
  for (int i = 0; i < W; ++i) c.set_lane(i, mul_add(a.lane(i), b.lane(i), c.lane(i)));
  return c;
}

template <class T, int W>
inline Pack<T, W> neg_mul_add(Pack<T, W> a, Pack<T, W> b, Pack<T, W> c) {
  return mul_add(-a, b, c);
}

template <class T, int W>
inline Pack<T, W> square_root(Pack<T, W> x) {
  using P [[maybe_unused]] = Pack<T, W>;
#ifdef __AVX512F__  // maskz, since g++ 12 warns inside its own _mm512_sqrt_ps
  if constexpr (std::is_same_v<P, Pack<float, 16>>) return P::of(_mm512_maskz_sqrt_ps(0xFFFF, x.v));
  if constexpr (std::is_same_v<P, Pack<double, 8>>) return P::of(_mm512_maskz_sqrt_pd(0xFF, x.v));
#endif
#ifdef __AVX__
  if constexpr (std::is_same_v<P, Pack<float, 8>>) return P::of(_mm256_sqrt_ps(x.v));
  if constexpr (std::is_same_v<P, Pack<double, 4>>) return P::of(_mm256_sqrt_pd(x.v));
#endif
  return map([](T lane) { return square_root(lane); }, x);
}

template <int W>
inline Pack<uint32_t, W> bits(Pack<float, W> x) {
  return Pack<uint32_t, W>::of(std::bit_cast<typename Pack<uint32_t, W>::Native>(x.v));
}
template <int W>
inline Pack<float, W> float_of_bits(Pack<uint32_t, W> x) {
  return Pack<float, W>::of(std::bit_cast<typename Pack<float, W>::Native>(x.v));
}

// Loads and stores need no alignment. With `count`, only the first `count` lanes touch memory, and
// the others read as zero.
template <class T, int W>
struct PackTraits<Pack<T, W>> {
  using Scalar = T;
  using P = Pack<T, W>;
  static constexpr int width = W;
  static constexpr int bytes = W * int(sizeof(T));

  static P load(const T* p) {
    P x;
    std::memcpy(&x.v, p, bytes);
    return x;
  }
  static void store(P x, T* p) { std::memcpy(p, &x.v, bytes); }

  static P load(const T* p, int count) {
#ifdef __AVX512VL__
    using Native = typename P::Native;
    const uint32_t mask = (1u << count) - 1u;
    if constexpr (bytes == 64 && sizeof(T) == 4)
      return P::of(std::bit_cast<Native>(_mm512_maskz_loadu_epi32(__mmask16(mask), p)));
    if constexpr (bytes == 64 && sizeof(T) == 8)
      return P::of(std::bit_cast<Native>(_mm512_maskz_loadu_epi64(__mmask8(mask), p)));
    if constexpr (bytes == 32 && sizeof(T) == 4)
      return P::of(std::bit_cast<Native>(_mm256_maskz_loadu_epi32(__mmask8(mask), p)));
    if constexpr (bytes == 32 && sizeof(T) == 8)
      return P::of(std::bit_cast<Native>(_mm256_maskz_loadu_epi64(__mmask8(mask), p)));
#endif
    P x(T(0));
    for (int i = 0; i < W; ++i)
      if (i < count) x.set_lane(i, p[i]);
    return x;
  }

  static void store(P x, T* p, int count) {
#ifdef __AVX512VL__
    const uint32_t mask = (1u << count) - 1u;
    if constexpr (bytes == 64 && sizeof(T) == 4)
      return _mm512_mask_storeu_epi32(p, __mmask16(mask), std::bit_cast<__m512i>(x.v));
    if constexpr (bytes == 64 && sizeof(T) == 8)
      return _mm512_mask_storeu_epi64(p, __mmask8(mask), std::bit_cast<__m512i>(x.v));
    if constexpr (bytes == 32 && sizeof(T) == 4)
      return _mm256_mask_storeu_epi32(p, __mmask8(mask), std::bit_cast<__m256i>(x.v));
    if constexpr (bytes == 32 && sizeof(T) == 8)
      return _mm256_mask_storeu_epi64(p, __mmask8(mask), std::bit_cast<__m256i>(x.v));
#endif
    for (int i = 0; i < W; ++i)
      if (i < count) p[i] = x.lane(i);
  }
};

// Bytes of the widest vector register this build may use.
#if defined(__AVX512F__) && defined(__AVX512VL__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

// Two register widths: the widest, and the one for the rest of a row that does not fill it.
template <class T>
using WidePack = Pack<T, kVectorBytes / int(sizeof(T))>;
template <class T>
using NarrowPack = Pack<T, (kVectorBytes > 32 ? 32 : kVectorBytes) / int(sizeof(T))>;

#else

template <class T>
using WidePack = T;
template <class T>
using NarrowPack = T;

#endif

template <class T>
using ScalarOf = typename PackTraits<T>::Scalar;

// a * b for callers that may add to it: fused with a zero here, it cannot be fused with the
// addition.
template <class T>
LSSM_HD inline T product(const T& a, const T& b) {
  return mul_add(a, b, T(0));
}

// mul_add for vectors, component by component: s * a + b and b - s * a.
template <class T, int N>
LSSM_HD inline Vec<T, N> mul_add(const T& s, const Vec<T, N>& a, const Vec<T, N>& b) {
  Vec<T, N> y;
  for (int i = 0; i < N; ++i) y[i] = mul_add(s, a[i], b[i]);
  return y;
}
template <class T, int N>
LSSM_HD inline Vec<T, N> neg_mul_add(const T& s, const Vec<T, N>& a, const Vec<T, N>& b) {
  Vec<T, N> y;
  for (int i = 0; i < N; ++i) y[i] = neg_mul_add(s, a[i], b[i]);
  return y;
}

// dot and cross of core/small.h with every addition fused (see the top of this file).
template <class T, int N>
LSSM_HD inline T fused_dot(const Vec<T, N>& a, const Vec<T, N>& b) {
  T sum = a[0] * b[0];
  for (int i = 1; i < N; ++i) sum = mul_add(a[i], b[i], sum);
  return sum;
}
template <class T>
LSSM_HD inline Vec<T, 3> fused_cross(const Vec<T, 3>& a, const Vec<T, 3>& b) {
  return {{neg_mul_add(a[2], b[1], T(a[1] * b[2])), neg_mul_add(a[0], b[2], T(a[2] * b[0])),
           neg_mul_add(a[1], b[0], T(a[0] * b[1]))}};
}

}  // namespace lssm
