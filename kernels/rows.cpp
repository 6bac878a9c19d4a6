// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows.h"

#include <algorithm>
#include <cstring>

#include "core/parallel.h"
#include "kernels/softmax.h"

namespace lssm::kernels {
namespace {

constexpr int64_t kGrain = 128;  // rows that are worth a thread

void gather_rows_cpu(const Tensor& table, const Tensor& index, Tensor& y) {
  const size_t row_bytes = size_t(table.dim(1) * dtype_bytes(table.dtype()));
  const int32_t* rows = index.data<int32_t>();
  const char* from = static_cast<const char*>(table.raw());
  char* to = static_cast<char*>(y.raw());
  for_partitions(index.numel(), kGrain, [&](int, int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      std::memcpy(to + size_t(r) * row_bytes, from + size_t(rows[r]) * row_bytes, row_bytes);
    }
  });
}

// Sums that are taken partition by partition and then in order: `add(partial, begin, end)` adds its
// range of rows to `partial`, `width` numbers that start at 0.
template <class T, class Add>
void ordered_sum(int64_t rows, int64_t width, T* total, Add add) {
  const int count = partition_count(rows, kGrain);
  Tensor partials = Tensor::zeros({count, width}, dtype_of<T>());
  for_partitions(rows, kGrain, [&](int p, int64_t begin, int64_t end) {
    add(partials.data<T>() + p * width, begin, end);
  });
  std::fill(total, total + width, T(0));
  for (int p = 0; p < count; ++p) {
    const T* partial = partials.data<T>() + p * width;
    for (int64_t i = 0; i < width; ++i) total[i] += partial[i];
  }
}

void scatter_add_rows_cpu(const Tensor& dy, const Tensor& index, Tensor& dtable) {
  const int64_t width = dtable.dim(1);
  const int32_t* rows = index.data<int32_t>();
  with_real(dy.dtype(), [&]<class T>(T) {
    ordered_sum(index.numel(), dtable.numel(), dtable.data<T>(),
                [&](T* partial, int64_t begin, int64_t end) {
                  for (int64_t r = begin; r < end; ++r) {
                    const T* from = dy.data<T>() + r * width;
                    T* to = partial + rows[r] * width;
                    for (int64_t i = 0; i < width; ++i) to[i] += from[i];
                  }
                });
  });
}

// f(part, place, n) for both parts of every row: n bytes at `part` belong to `place` in the joined
// row.
template <class F>
void for_joined_rows(const Tensor& a, const Tensor& b, const Tensor& joined, F f) {
  const int64_t p = a.dim(1) * dtype_bytes(a.dtype()), q = b.dim(1) * dtype_bytes(b.dtype());
  for_partitions(joined.dim(0), kGrain, [&](int, int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      char* row = static_cast<char*>(joined.raw()) + r * (p + q);
      f(static_cast<char*>(a.raw()) + r * p, row, size_t(p));
      f(static_cast<char*>(b.raw()) + r * q, row + p, size_t(q));
    }
  });
}

void concat_columns_cpu(const Tensor& a, const Tensor& b, Tensor& y) {
  for_joined_rows(a, b, y,
                  [](const char* part, char* joined, size_t n) { std::memcpy(joined, part, n); });
}

void split_columns_cpu(const Tensor& y, Tensor& a, Tensor& b) {
  for_joined_rows(a, b, y,
                  [](char* part, const char* joined, size_t n) { std::memcpy(part, joined, n); });
}

void sum_rows_cpu(const Tensor& x, Tensor& y) {
  const int64_t width = x.dim(1);
  with_real(x.dtype(), [&]<class T>(T) {
    ordered_sum(x.dim(0), width, y.data<T>(), [&](T* partial, int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        for (int64_t i = 0; i < width; ++i) partial[i] += x.data<T>()[r * width + i];
      }
    });
  });
}

void norm_rows_cpu(NormRows& norm, Tensor& y) {
  const int64_t width = norm.x.dim(1);
  with_real(norm.x.dtype(), [&]<class T>(T) {
    const T* gain = norm.gain.data<T>();
    const T* bias = data_or_null<T>(norm.bias);
    for_partitions(norm.x.dim(0), kGrain, [&](int, int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const T* x = norm.x.data<T>() + r * width;
        T* out = y.data<T>() + r * width;
        T mean = 0, squares = 0;
        if (bias) {
          for (int64_t i = 0; i < width; ++i) mean += x[i];
          mean /= T(width);
          norm.mean.data<T>()[r] = mean;
        }
        for (int64_t i = 0; i < width; ++i) squares += (x[i] - mean) * (x[i] - mean);
        const T inverse = norm_inverse(squares, width, norm.eps);
        norm.inverse.data<T>()[r] = inverse;
        for (int64_t i = 0; i < width; ++i) {
          out[i] = norm_z(x[i], mean, inverse) * gain[i] + (bias ? bias[i] : T(0));
        }
      }
    });
  });
}

void norm_rows_backward_cpu(const NormRows& norm, const Tensor& dy, Tensor& dx, Tensor& dgain,
                            Tensor& dbias) {
  const int64_t width = norm.x.dim(1);
  with_real(norm.x.dtype(), [&]<class T>(T) {
    const T* gain = norm.gain.data<T>();
    Tensor sums({2, width}, norm.x.dtype());
    ordered_sum(norm.x.dim(0), 2 * width, sums.data<T>(),
                [&](T* partial, int64_t begin, int64_t end) {
                  for (int64_t r = begin; r < end; ++r) {
                    const T* x = norm.x.data<T>() + r * width;
                    const T* g = dy.data<T>() + r * width;
                    T* out = dx.data<T>() + r * width;
                    const T inverse = norm.inverse.data<T>()[r];
                    const T mean = norm.bias ? norm.mean.data<T>()[r] : T(0);
                    T mean_dz = 0, mean_dz_z = 0;
                    for (int64_t i = 0; i < width; ++i) {
                      const T z = norm_z(x[i], mean, inverse);
                      mean_dz += g[i] * gain[i];
                      mean_dz_z += g[i] * gain[i] * z;
                      partial[i] += g[i] * z;
                      partial[width + i] += g[i];
                    }
                    mean_dz = norm.bias ? mean_dz / T(width) : T(0);
                    mean_dz_z /= T(width);
                    for (int64_t i = 0; i < width; ++i) {
                      out[i] = norm_gradient(g[i] * gain[i], norm_z(x[i], mean, inverse), inverse,
                                             mean_dz, mean_dz_z);
                    }
                  }
                });
    std::copy_n(sums.data<T>(), width, dgain.data<T>());
    if (norm.bias) std::copy_n(sums.data<T>() + width, width, dbias.data<T>());
  });
}

void cross_entropy_cpu(const Tensor& logits, const Tensor& target, const Tensor& mask, Tensor& loss,
                       Tensor& dlogits) {
  const int64_t rows = logits.dim(0), classes = logits.dim(1);
  const RowLabels labels(target, mask);
  with_real(logits.dtype(), [&]<class T>(T) {
    double sums[kPartitions] = {};
    Tensor scratch({kPartitions, classes}, logits.dtype());
    for_partitions(rows, kGrain, [&](int p, int64_t begin, int64_t end) {
      T* out = dlogits ? dlogits.data<T>() + begin * classes : scratch.data<T>() + p * classes;
      sums[p] = cross_entropy_rows(logits.data<T>() + begin * classes, labels, begin, end, classes,
                                   out, dlogits ? classes : 0, bool(dlogits));
    });
    *loss.data<T>() = T(labels.mean(sums));
  });
}

void argmax_rows_cpu(const Tensor& logits, Tensor& out) {
  const int64_t classes = logits.dim(1);
  with_real(logits.dtype(), [&]<class T>(T) {
    for_partitions(logits.dim(0), kGrain, [&](int, int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const T* x = logits.data<T>() + r * classes;
        const T* found = std::find(x, x + classes, row_max(x, classes));
        out.data<int32_t>()[r] =
            found == x + classes ? 0 : int32_t(found - x);  // a row of NaNs: any class
      }
    });
  });
}

}  // namespace

decltype(gather_rows) gather_rows = {"gather_rows", &gather_rows_cpu};
decltype(scatter_add_rows) scatter_add_rows = {"scatter_add_rows", &scatter_add_rows_cpu};
decltype(concat_columns) concat_columns = {"concat_columns", &concat_columns_cpu};
decltype(split_columns) split_columns = {"split_columns", &split_columns_cpu};
decltype(sum_rows) sum_rows = {"sum_rows", &sum_rows_cpu};
decltype(norm_rows) norm_rows = {"norm_rows", &norm_rows_cpu};
decltype(norm_rows_backward) norm_rows_backward = {"norm_rows_backward", &norm_rows_backward_cpu};
decltype(cross_entropy) cross_entropy = {"cross_entropy", &cross_entropy_cpu};
decltype(argmax_rows) argmax_rows = {"argmax_rows", &argmax_rows_cpu};

}  // namespace lssm::kernels
