// SPDX-License-Identifier: Apache-2.0
// The vectors of heads in component-major arrays, for map kernels.
#pragma once

#include <cstdint>

#include "core/small.h"

namespace lssm::kernels {
namespace {  // although a header: the builds for the two devices differ in LSSM_HD

// Vectors of N components, `heads` numbers apart, in an array [rows, N, heads]. The number of
// components is a constant, so that the loop over heads is vectorised.
template <int N>
struct Columns {
  int64_t heads;
  template <class T>
  LSSM_HD Vec<T, N> load(const T* p, int64_t row, int64_t head) const {
    Vec<T, N> x;
    for (int k = 0; k < N; ++k) x[k] = p[(row * N + k) * heads + head];
    return x;
  }
  template <class T>
  LSSM_HD void store(const Vec<T, N>& x, T* p, int64_t row, int64_t head) const {
    for (int k = 0; k < N; ++k) p[(row * N + k) * heads + head] = x[k];
  }
};

}  // namespace
}  // namespace lssm::kernels
