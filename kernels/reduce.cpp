// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"

namespace lssm::kernels {
namespace {

constexpr int64_t kGrain = 4096;

double sum_of_squares_cpu(const Tensor& x) {
  double sums[kPartitions] = {};
  with_real(x.dtype(), [&]<class T>(T) {
    const T* values = x.data<T>();
    for_partitions(x.numel(), kGrain, [&](int p, int64_t begin, int64_t end) {
      double sum = 0;
      for (int64_t i = begin; i < end; ++i) sum += double(values[i]) * double(values[i]);
      sums[p] = sum;
    });
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

int64_t first_not_finite_cpu(const Tensor& x) {
  return with_real(x.dtype(), [&]<class T>(T) {
    const T* begin = x.data<T>();
    const T* end = begin + x.numel();
    const T* bad = std::find_if_not(begin, end, [](T v) { return std::isfinite(v); });
    return bad == end ? int64_t(-1) : bad - begin;
  });
}

}  // namespace

decltype(sum_of_squares) sum_of_squares = {"sum_of_squares", &sum_of_squares_cpu};
decltype(first_not_finite) first_not_finite = {"first_not_finite", &first_not_finite_cpu};

}  // namespace lssm::kernels
