// SPDX-License-Identifier: Apache-2.0
// Softmax and its cross-entropy on the CPU: one row at a time, SIMD lane by SIMD lane.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/parallel.h"
#include "core/simd.h"
#include "core/tensor.h"
#include "kernels/row_math.h"

namespace lssm::kernels {

// The packs of one row; the last may have fewer lanes.
template <class T>
class RowPacks {
 public:
  using V = WidePack<T>;
  static constexpr int kWidth = PackTraits<V>::width;

  explicit RowPacks(int64_t n) : full_(n / kWidth * kWidth), rest_(int(n % kWidth)) {}

  // f(first position, load, store): load(p) reads this pack of an array, with `fill` in lanes past
  // the end of the row; store(x, p) writes it.
  template <class F>
  void for_each(T fill, F f) const {
    for (int64_t i = 0; i < full_; i += kWidth) {
      f([i](const T* p) { return PackTraits<V>::load(p + i); },
        [i](V x, T* p) { PackTraits<V>::store(x, p + i); });
    }
    if (rest_ == 0) return;
    // 0 for lanes of the row, then `fill`.
    T lanes[2 * kWidth] = {};
    std::fill(lanes + kWidth, lanes + 2 * kWidth, fill);
    const V past = PackTraits<V>::load(lanes + kWidth - rest_);
    f([&](const T* p) { return PackTraits<V>::load(p + full_, rest_) + past; },
      [&](V x, T* p) { PackTraits<V>::store(x, p + full_, rest_); });
  }

 private:
  int64_t full_;
  int rest_;
};

// All lanes of x by a tree of f, so that the order is fixed and the chain of operations short.
template <class V, class F>
ScalarOf<V> reduce_lanes(V x, F f) {
  ScalarOf<V> lanes[PackTraits<V>::width];
  PackTraits<V>::store(x, lanes);
  for (int half = PackTraits<V>::width / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lanes[i] = f(lanes[i], lanes[i + half]);
  }
  return lanes[0];
}

// The largest of x[0 … n-1], n >= 1.
template <class T>
inline T row_max(const T* x, int64_t n) {
  using V = WidePack<T>;
  V max(kLowest<T>);
  RowPacks<T>(n).for_each(kLowest<T>, [&](auto load, auto) { max = larger(max, load(x)); });
  return reduce_lanes(max, larger<T>);
}

// out = the terms of the softmax; returns their sum. out may be x.
template <class T>
inline T row_exp(const T* x, T max, int64_t n, T* out) {
  using V = WidePack<T>;
  V sums(T(0));
  RowPacks<T>(n).for_each(kLowest<T>, [&](auto load, auto store) {
    const V y = softmax_term(load(x), V(max));
    store(y, out);
    sums = sums + y;
  });
  return reduce_lanes(sums, [](T a, T b) { return a + b; });
}

// Adds log(x) for many x >= 1 by one logarithm for every 16 of them: log of their product, which
// stays below the largest double as long as x does below 1e19.
class LogSum {
 public:
  void add(double x) {
    product_ *= x;
    if (++count_ % 16 == 0) flush();
  }
  double total() {
    flush();
    return total_;
  }

 private:
  void flush() {
    total_ += std::log(product_);
    product_ = 1;
  }
  double product_ = 1, total_ = 0;
  int count_ = 0;
};

// The label of each row, and which rows count.
struct RowLabels {
  // mask may be empty: all rows count.
  RowLabels(const Tensor& target, const Tensor& mask)
      : label(target.data<int32_t>()), mask(data_or_null<int32_t>(mask)) {
    const int64_t rows = target.numel();
    count = double(this->mask ? rows - std::count(this->mask, this->mask + rows, 0) : rows);
  }
  bool counts(int64_t row) const { return !mask || mask[row] != 0; }
  // The mean over the rows that count, of sums over partitions; 0 if there are none.
  double mean(const double (&sums)[kPartitions]) const {
    double total = 0;
    for (const double sum : sums) total += sum;
    return count > 0 ? total / count : 0;
  }

  const int32_t* label;
  const int32_t* mask;
  double count;
};

// The loss of rows [begin, end), summed; x are their logits. `out` has a row for each of them, and
// may be x, or is a scratch row that is used for all (stride 0); with `gradient` it becomes
// (softmax - onehot) / count.
template <class T>
double cross_entropy_rows(const T* x, const RowLabels& labels, int64_t begin, int64_t end,
                          int64_t classes, T* out, int64_t out_stride, bool gradient) {
  double sum = 0;
  LogSum logs;
  for (int64_t r = begin; r < end; ++r, x += classes, out += out_stride) {
    if (!labels.counts(r)) {
      if (gradient) std::fill(out, out + classes, T(0));
      continue;
    }
    const int32_t label = labels.label[r];
    const T max = row_max(x, classes), label_logit = x[label];
    const T row_sum = row_exp(x, max, classes, out);
    sum += double(max - label_logit);
    logs.add(double(row_sum));
    if (!gradient) continue;
    const T scale = softmax_scale(row_sum, labels.count);
    for (int64_t i = 0; i < classes; ++i) out[i] *= scale;
    out[label] -= label_share<T>(labels.count);
  }
  return sum + logs.total();
}

}  // namespace lssm::kernels
