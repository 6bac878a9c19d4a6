// SPDX-License-Identifier: Apache-2.0
// What the kernel tests share: seeded tensors, bits, and a run with several thread counts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "core/parallel.h"
#include "core/random.h"
#include "core/tensor.h"

namespace lssm::testing {

inline Tensor real(const Shape& shape, const std::vector<double>& values, DType dtype) {
  return Tensor::from_host(shape, values, dtype);
}

// Normal numbers that f32 holds exactly, so both dtypes get the same.
inline Tensor normal(const Shape& shape, uint32_t seed, DType dtype, double scale = 1) {
  Random random(99, Stream::check, seed);
  std::vector<double> values(size_t(shape.numel()));
  for (double& v : values) v = double(float(scale * random.normal()));
  return Tensor::from_host(shape, values, dtype);
}

// Integers from -bound to bound: sums of their products are exact in any order.
inline Tensor small_integers(const Shape& shape, uint32_t seed, DType dtype, uint32_t bound) {
  Random random(98, Stream::check, seed);
  std::vector<double> values(size_t(shape.numel()));
  for (double& v : values) v = double(random.below(2 * bound + 1)) - double(bound);
  return Tensor::from_host(shape, values, dtype);
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         std::memcmp(a.raw(), b.raw(), size_t(a.bytes())) == 0;
}

// Whether f() has the same bits with 1, 2, 3 and 8 threads.
inline bool same_for_any_threads(const std::function<Tensor()>& f) {
  const Tensor one = f();
  bool same = true;
  for (const int threads : {2, 3, 8}) {
    set_thread_count(threads);
    same = same && same_bits(f(), one);
  }
  set_thread_count(1);
  return same;
}

inline Tensor integers(const std::vector<double>& values) {
  return Tensor::from_host({int64_t(values.size())}, values, DType::i32);
}

inline Tensor integers_below(uint32_t n, int64_t count, uint32_t seed) {
  Random random(97, Stream::check, seed);
  std::vector<double> values(static_cast<size_t>(count));
  for (double& v : values) v = random.below(n);
  return integers(values);
}

inline double precision(DType dtype) {
  return dtype == DType::f32 ? double(std::numeric_limits<float>::epsilon())
                             : std::numeric_limits<double>::epsilon();
}

// The largest difference relative to the largest entry (or `floor`, for numbers that are small
// because larger ones cancel); infinite if a number is not finite.
inline double worst(const Tensor& got, const std::vector<long double>& expected,
                    double floor = 1e-30) {
  const std::vector<double> values = got.to_host();
  if (values.size() != expected.size()) return INFINITY;
  long double largest = floor, difference = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) return INFINITY;
    largest = std::max(largest, std::abs(expected[i]));
    difference = std::max(difference, std::abs(values[i] - expected[i]));
  }
  return difference == 0 ? 0 : double(difference / largest);
}

constexpr DType kReal[] = {DType::f32, DType::f64};

}  // namespace lssm::testing
