// SPDX-License-Identifier: Apache-2.0
// exp, the normal distribution and tanh without branches or calls in f32, so that loops over them
// are vectorised; one source for numbers, packs and CUDA. In f64 they are those of the library.
#pragma once

#include <cmath>

#include "core/simd.h"

namespace lssm {

// exp(x) for x <= 0. In f32 2^k times a polynomial on [-ln 2 / 2, ln 2 / 2] (the coefficients of
// Cephes' expf), relative error below 2e-7. Below -87 the result is 0, so denormals never appear.
template <class V>
LSSM_HD inline V exp_nonpositive(V x) {
  if constexpr (std::is_same_v<ScalarOf<V>, float>) {
    const V shift(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer in the low bits
    const V kept = select(x < V(-87.0f), V(-87.0f), x);
    const V rounded = mul_add(kept, V(1.44269504f), shift);  // 1 / ln 2
    const V k = rounded - shift;
    const V r = mul_add(k, V(2.12194440e-4f), mul_add(k, V(-0.693359375f), kept));
    V p = mul_add(V(1.9875691500e-4f), r, V(1.3981999507e-3f));
    p = mul_add(p, r, V(8.3334519073e-3f));
    p = mul_add(p, r, V(4.1665795894e-2f));
    p = mul_add(p, r, V(1.6666665459e-1f));
    p = mul_add(p, r, V(5.0000001201e-1f));
    const V y = mul_add(product(p, r), r, r + V(1.0f));
    const V power = float_of_bits((bits(rounded) << 23) + bits(V(1.0f)));
    return select(x < V(-87.0f), V(0.0f), y * power);
  } else if constexpr (std::is_same_v<V, double>) {
    return std::exp(x);
  } else {
    return map([](double lane) { return std::exp(lane); }, x);
  }
}

// 1 / (1 + exp(-x))
template <class T>
LSSM_HD inline T logistic(T x) {
  const T e = exp_nonpositive(-std::abs(x));
  return select(x < T(0), e, T(1)) / (T(1) + e);
}

// The distribution function of a standard normal variable and exp(-x^2 / 2). In f32 by formula
// 7.1.26 of Abramowitz & Stegun, error below 1e-7.
template <class T>
struct Normal {
  T cdf, bell;
};
template <class T>
LSSM_HD inline Normal<T> normal(T x) {
  const T bell = exp_nonpositive(-x * x / 2);
  if constexpr (std::is_same_v<T, double>) {
    return {(1 + std::erf(x * 0.7071067811865476)) / 2, bell};  // 1 / sqrt(2)
  } else {
    const T t = T(1) / mul_add(std::abs(x), T(0.3275911f * 0.70710678f), T(1));
    T p = mul_add(T(1.061405429f), t, T(-1.453152027f));
    p = mul_add(p, t, T(1.421413741f));
    p = mul_add(p, t, T(-0.284496736f));
    p = mul_add(p, t, T(0.254829592f));
    const T tail = p * t * bell / 2;
    return {select(x < T(0), tail, T(1) - tail), bell};
  }
}

// In f32 by Cephes' tanhf: a polynomial where 1 - exp(-2 |x|) would lose digits.
template <class T>
LSSM_HD inline T hyperbolic_tangent(T x) {
  if constexpr (std::is_same_v<T, double>) {
    return std::tanh(x);
  } else {
    const T size = std::abs(x), z = x * x;
    T p = mul_add(T(-5.70498872745e-3f), z, T(2.06390887954e-2f));
    p = mul_add(p, z, T(-5.37397155531e-2f));
    p = mul_add(p, z, T(1.33314422036e-1f));
    p = mul_add(p, z, T(-3.33332819422e-1f));
    const T near = mul_add(product(p, z), x, x);
    const T e = exp_nonpositive(-2 * size);
    const T far = (T(1) - e) / (T(1) + e);
    return select(size < T(0.625f), near, select(x < T(0), -far, far));
  }
}

}  // namespace lssm
