// SPDX-License-Identifier: Apache-2.0
// The formulas of the kernels on rows, number by number: rows.cpp and softmax.h walk rows with them
// on the CPU, rows.cu on CUDA. V is a number or a pack (core/simd.h).
#pragma once

#include <cmath>
#include <limits>

#include "core/special.h"

namespace lssm::kernels {

// ---- softmax and cross-entropy; loss of a row = max - x[label] + log(sum of exp(x - max)) ----

// Maxima start from this, so that NaN, which is larger than nothing, is passed over everywhere.
template <class T>
constexpr T kLowest = std::numeric_limits<T>::lowest();

template <class V>
LSSM_HD inline V larger(V a, V b) {
  return select(b > a, b, a);
}

template <class V>
LSSM_HD inline V softmax_term(V x, V max) {
  return exp_nonpositive(x - max);
}

// The gradient of the mean loss over `count` rows at a logit is softmax_term * softmax_scale, less
// label_share at the label. `sum` is that of the terms of the row.
template <class T>
LSSM_HD inline T softmax_scale(T sum, double count) {
  return T(1 / (double(sum) * count));
}
template <class T>
LSSM_HD inline T label_share(double count) {
  return T(1 / count);
}

// ---- norms: y = z gain + bias with z = (x - mean) inverse ----

// `squares` is the sum of (x - mean)^2 over the row.
template <class T>
LSSM_HD inline T norm_inverse(T squares, int64_t width, double eps) {
  return 1 / std::sqrt(squares / T(width) + T(eps));
}

template <class T>
LSSM_HD inline T norm_z(T x, T mean, T inverse) {
  return (x - mean) * inverse;
}

// The gradient at x, where dz = dy gain; mean_dz and mean_dz_z are the means of dz and dz z over
// the row, the first 0 for the RMS norm, which takes off no mean. dgain sums dy z, dbias dy over
// rows.
template <class T>
LSSM_HD inline T norm_gradient(T dz, T z, T inverse, T mean_dz, T mean_dz_z) {
  return inverse * (dz - mean_dz - z * mean_dz_z);
}

}  // namespace lssm::kernels
