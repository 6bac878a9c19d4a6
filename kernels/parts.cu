// SPDX-License-Identifier: Apache-2.0
#include "kernels/parallel_for.h"
#include "kernels/parts.h"

namespace lssm::kernels {
namespace {

// One row of work is one number of a and all of b.
template <class T>
struct OuterColumns {
  int64_t p, q;
  const T* a;  // [rows * p]
  const T* b;
  T* y;
  LSSM_HD void operator()(int64_t i, int64_t j) const { y[i * q + j] = a[i] * b[i / p * q + j]; }
};

template <class T>
struct OuterColumnsLeft {
  int64_t p, q;
  const T* b;
  const T* dy;
  T* da;  // [rows * p]
  LSSM_HD void operator()(int64_t i) const {
    const T* row = b + i / p * q;
    T sum = 0;
    for (int64_t j = 0; j < q; ++j) sum += row[j] * dy[i * q + j];
    da[i] = sum;
  }
};

template <class T>
struct OuterColumnsRight {
  int64_t p, q;
  const T* a;
  const T* dy;
  T* db;
  LSSM_HD void operator()(int64_t row, int64_t j) const {
    T sum = 0;
    for (int64_t i = row * p; i < (row + 1) * p; ++i) sum += a[i] * dy[i * q + j];
    db[row * q + j] = sum;
  }
};

template <class T>
struct SliceColumns {
  int64_t width, count, begin;
  const T* x;
  T* y;
  LSSM_HD void operator()(int64_t row, int64_t col) const {
    y[row * count + col] = x[row * width + begin + col];
  }
};

template <class T>
struct SliceColumnsBackward {
  int64_t width, count, begin;
  const T* dy;
  T* dx;
  LSSM_HD void operator()(int64_t row, int64_t col) const {
    const int64_t from = col - begin;
    dx[row * width + col] = from >= 0 && from < count ? dy[row * count + from] : T(0);
  }
};

// Rows of work are components. s_rows: components that share one row of s.
template <class T>
struct ScaleComponents {
  int64_t heads, s_rows;
  const T* x;
  const T* s;
  T* y;
  LSSM_HD void operator()(int64_t row, int64_t head) const {
    y[row * heads + head] = s[row / s_rows * heads + head] * x[row * heads + head];
  }
};

template <class T>
struct ScaleSums {
  int64_t n, heads;
  const T* x;
  const T* dy;
  T* ds;
  LSSM_HD void operator()(int64_t row, int64_t head) const {
    T sum = 0;
    for (int64_t k = row * n; k < (row + 1) * n; ++k) {
      sum += x[k * heads + head] * dy[k * heads + head];
    }
    ds[row * heads + head] = sum;
  }
};

struct Weights {
  int64_t count;
  double value[kMostCopies];  // in f64, so that the functors have no padding
};

Weights as_weights(const std::vector<double>& values) {
  Weights weights = {int64_t(values.size()), {}};
  for (size_t j = 0; j < values.size(); ++j) weights.value[j] = values[j];
  return weights;
}

template <class T>
struct RepeatHeads {
  Weights weights;
  int64_t heads;
  const T* x;
  T* y;
  LSSM_HD void operator()(int64_t row, int64_t col) const {
    const int64_t c = weights.count;
    y[row * heads * c + col] = T(weights.value[col % c]) * x[row * heads + col / c];
  }
};

template <class T>
struct RepeatHeadsBackward {
  Weights weights;
  const T* dy;
  T* dx;
  LSSM_HD void operator()(int64_t i) const {
    T sum = 0;
    for (int64_t j = 0; j < weights.count; ++j) {
      sum += T(weights.value[j]) * dy[i * weights.count + j];
    }
    dx[i] = sum;
  }
};

void outer_columns_map(const Tensor& a, const Tensor& b, Tensor& y) {
  with_real(y.dtype(), [&]<class T>(T) {
    const OuterColumns<T> map = {a.dim(1), b.dim(1), a.data<T>(), b.data<T>(), y.data<T>()};
    parallel_for_rows(y.device(), a.numel(), b.dim(1), map);
  });
}

void outer_columns_backward_map(const Tensor& a, const Tensor& b, const Tensor& dy, Tensor& da,
                                Tensor& db) {
  const int64_t p = a.dim(1), q = b.dim(1);
  with_real(dy.dtype(), [&]<class T>(T) {
    const OuterColumnsLeft<T> left = {p, q, b.data<T>(), dy.data<T>(), da.data<T>()};
    parallel_for(dy.device(), a.numel(), left);
    const OuterColumnsRight<T> right = {p, q, a.data<T>(), dy.data<T>(), db.data<T>()};
    parallel_for_rows(dy.device(), b.dim(0), q, right);
  });
}

void slice_columns_map(const Tensor& x, int64_t begin, Tensor& y) {
  with_real(x.dtype(), [&]<class T>(T) {
    const SliceColumns<T> map = {x.dim(1), y.dim(1), begin, x.data<T>(), y.data<T>()};
    parallel_for_rows(x.device(), y.dim(0), y.dim(1), map);
  });
}

void slice_columns_backward_map(const Tensor& dy, int64_t begin, Tensor& dx) {
  with_real(dy.dtype(), [&]<class T>(T) {
    const SliceColumnsBackward<T> map = {dx.dim(1), dy.dim(1), begin, dy.data<T>(), dx.data<T>()};
    parallel_for_rows(dy.device(), dx.dim(0), dx.dim(1), map);
  });
}

void scale_components_map(const Tensor& x, const Tensor& s, Tensor& y) {
  const int64_t components = x.dim(0) * x.dim(1), heads = x.dim(2);
  with_real(x.dtype(), [&]<class T>(T) {
    const int64_t s_rows = s.dim(0) == 1 ? components : x.dim(1);
    const ScaleComponents<T> map = {heads, s_rows, x.data<T>(), s.data<T>(), y.data<T>()};
    parallel_for_rows(x.device(), components, heads, map);
  });
}

void scale_components_backward_map(const Tensor& x, const Tensor& s, const Tensor& dy, Tensor& dx,
                                   Tensor& ds) {
  scale_components_map(dy, s, dx);
  with_real(x.dtype(), [&]<class T>(T) {
    const ScaleSums<T> map = {x.dim(1), x.dim(2), x.data<T>(), dy.data<T>(), ds.data<T>()};
    parallel_for_rows(x.device(), x.dim(0), x.dim(2), map);
  });
}

void repeat_heads_map(const Tensor& x, const std::vector<double>& weights, Tensor& y) {
  with_real(x.dtype(), [&]<class T>(T) {
    const RepeatHeads<T> map = {as_weights(weights), x.dim(2), x.data<T>(), y.data<T>()};
    parallel_for_rows(x.device(), y.dim(0) * y.dim(1), y.dim(2), map);
  });
}

void repeat_heads_backward_map(const Tensor& dy, const std::vector<double>& weights, Tensor& dx) {
  with_real(dy.dtype(), [&]<class T>(T) {
    const RepeatHeadsBackward<T> map = {as_weights(weights), dy.data<T>(), dx.data<T>()};
    parallel_for(dy.device(), dx.numel(), map);
  });
}

}  // namespace

#define LSSM_PARTS(X)       \
  X(outer_columns)          \
  X(outer_columns_backward) \
  X(slice_columns)          \
  X(slice_columns_backward) \
  X(scale_components)       \
  X(scale_components_backward) X(repeat_heads) X(repeat_heads_backward)
LSSM_MAP_KERNELS(parts, LSSM_PARTS)

}  // namespace lssm::kernels
