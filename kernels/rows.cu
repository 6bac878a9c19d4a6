// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda.h"
#include "kernels/parallel_for.h"
#include "kernels/row_math.h"
#include "kernels/rows.h"

namespace lssm::kernels {
namespace {

// ---- maps: one thread for each number ----

template <class T>
struct Gather {
  const T* table;
  const int32_t* index;
  T* y;
  int64_t width;
  __device__ void operator()(int64_t row, int64_t col) const {
    y[row * width + col] = table[index[row] * width + col];
  }
};

// One number of [a | b]: into the joined row, or out of it.
template <class T, bool kJoin>
struct Columns {
  T* a;
  T* b;
  T* joined;
  int64_t p, q;
  __device__ void operator()(int64_t row, int64_t col) const {
    T& part = col < p ? a[row * p + col] : b[row * q + col - p];
    T& whole = joined[row * (p + q) + col];
    if constexpr (kJoin) {
      whole = part;
    } else {
      part = whole;
    }
  }
};

void gather_rows_cuda(const Tensor& table, const Tensor& index, Tensor& y) {
  const int64_t width = table.dim(1);
  with_real(y.dtype(), [&]<class T>(T) {
    parallel_for_rows(y.device(), index.numel(), width,
                      Gather<T>{table.data<T>(), index.data<int32_t>(), y.data<T>(), width});
  });
}

template <bool kJoin>
void move_columns(const Tensor& a, const Tensor& b, const Tensor& joined) {
  with_real(joined.dtype(), [&]<class T>(T) {
    parallel_for_rows(
        joined.device(), joined.dim(0), joined.dim(1),
        Columns<T, kJoin>{a.data<T>(), b.data<T>(), joined.data<T>(), a.dim(1), b.dim(1)});
  });
}

void concat_columns_cuda(const Tensor& a, const Tensor& b, Tensor& y) {
  move_columns<true>(a, b, y);
}
void split_columns_cuda(const Tensor& y, Tensor& a, Tensor& b) { move_columns<false>(a, b, y); }

// ---- sums over rows, in a fixed order ----

// total[index[r]][col] = sum over rows r of term(r, col). Rows are cut into chunks; one thread
// walks one column of one chunk in order and owns that column of the chunk's partial table, so
// nothing races. Then the partial tables are added in order.
template <class T, class Term>
struct SumChunk {
  int64_t rows, chunks, width, entries;
  const int32_t* index;  // the entry that a row is added to; null: there is one entry
  Term term;
  T* partials;  // [chunks, entries, width], zeros
  __device__ void operator()(int64_t chunk, int64_t col) const {
    T* table = partials + chunk * entries * width + col;
    for (int64_t r = rows * chunk / chunks; r < rows * (chunk + 1) / chunks; ++r) {
      table[(index ? index[r] : 0) * width] += term(r, col);
    }
  }
};

template <class T>
struct AddPartials {
  const T* partials;
  int64_t chunks, n;
  T* total;
  __device__ void operator()(int64_t i) const {
    T sum = 0;
    for (int64_t c = 0; c < chunks; ++c) sum += partials[c * n + i];
    total[i] = sum;
  }
};

template <class T, class Term>
void ordered_sums(int64_t rows, int64_t entries, int64_t width, const int32_t* index, Term term,
                  T* total) {
  const int64_t n = entries * width;
  // As many chunks as keep the device busy and their tables small; a function of the shape alone.
  constexpr int64_t kRowsPerChunk = 64, kNumbers = 1 << 22;
  int64_t chunks = (rows + kRowsPerChunk - 1) / kRowsPerChunk;
  const int64_t most = kNumbers / (n > 0 ? n : 1);
  if (chunks > most) chunks = most;
  if (chunks < 1) chunks = 1;
  Tensor partials = Tensor::zeros({chunks, n}, dtype_of<T>(), Device::cuda);
  parallel_for_rows(
      Device::cuda, chunks, width,
      SumChunk<T, Term>{rows, chunks, width, entries, index, term, partials.data<T>()});
  parallel_for(Device::cuda, n, AddPartials<T>{partials.data<T>(), chunks, n, total});
}

template <class T>
struct Entry {
  const T* x;
  int64_t width;
  __device__ T operator()(int64_t row, int64_t col) const { return x[row * width + col]; }
};

void scatter_add_rows_cuda(const Tensor& dy, const Tensor& index, Tensor& dtable) {
  const int64_t width = dtable.dim(1);
  with_real(dy.dtype(), [&]<class T>(T) {
    ordered_sums<T>(index.numel(), dtable.dim(0), width, index.data<int32_t>(),
                    Entry<T>{dy.data<T>(), width}, dtable.data<T>());
  });
}

void sum_rows_cuda(const Tensor& x, Tensor& y) {
  const int64_t width = x.dim(1);
  with_real(x.dtype(), [&]<class T>(T) {
    ordered_sums<T>(x.dim(0), 1, width, nullptr, Entry<T>{x.data<T>(), width}, y.data<T>());
  });
}

// ---- one warp for each row ----

constexpr int kThreads = 128;

// f(row, lane) for every row, each by the 32 lanes of one warp. A warp past the last row returns as
// a whole: nothing in f waits for other warps.
template <class F>
__global__ void for_rows_by_warp(int64_t rows, F f) {
  const int64_t row = int64_t(blockIdx.x) * (kThreads / kWarp) + threadIdx.x / kWarp;
  if (row < rows) f(row, int(threadIdx.x % kWarp));
}

template <class F>
void rows_by_warp(int64_t rows, F f) {
  if (rows == 0) return;
  constexpr int64_t kRows = kThreads / kWarp;
  launch({(rows + kRows - 1) / kRows, kThreads}, for_rows_by_warp<F>, rows, f);
}

template <class T>
struct Norm {
  const T* x;
  const T* gain;
  const T* bias;  // null: RMS norm
  T* mean;
  T* inverse;
  T* y;
  int64_t width;
  double eps;  // in f64, so that the struct has no padding
  __device__ void operator()(int64_t row, int lane) const {
    const T* in = x + row * width;
    T center = 0, squares = 0;
    if (bias) {
      for (int64_t i = lane; i < width; i += kWarp) center += in[i];
      center = reduce_warp(center, Plus()) / T(width);
    }
    for (int64_t i = lane; i < width; i += kWarp) squares += (in[i] - center) * (in[i] - center);
    const T scale = norm_inverse(reduce_warp(squares, Plus()), width, eps);
    for (int64_t i = lane; i < width; i += kWarp) {
      y[row * width + i] = norm_z(in[i], center, scale) * gain[i] + (bias ? bias[i] : T(0));
    }
    if (lane == 0) {
      inverse[row] = scale;
      if (bias) mean[row] = center;
    }
  }
};

template <class T>
struct NormBackward {
  const T* x;
  const T* gain;
  const T* mean;  // null: RMS norm
  const T* inverse;
  const T* dy;
  T* dx;
  int64_t width;
  __device__ T z(int64_t row, int64_t i) const {
    return norm_z(x[row * width + i], mean ? mean[row] : T(0), inverse[row]);
  }
  __device__ void operator()(int64_t row, int lane) const {
    T mean_dz = 0, mean_dz_z = 0;
    for (int64_t i = lane; i < width; i += kWarp) {
      const T dz = dy[row * width + i] * gain[i];
      mean_dz += dz;
      mean_dz_z += dz * z(row, i);
    }
    mean_dz = mean ? reduce_warp(mean_dz, Plus()) / T(width) : T(0);
    mean_dz_z = reduce_warp(mean_dz_z, Plus()) / T(width);
    for (int64_t i = lane; i < width; i += kWarp) {
      const T dz = dy[row * width + i] * gain[i];
      dx[row * width + i] = norm_gradient(dz, z(row, i), inverse[row], mean_dz, mean_dz_z);
    }
  }
};

template <class T>
struct GainTerm {
  NormBackward<T> norm;
  __device__ T operator()(int64_t row, int64_t col) const {
    return norm.dy[row * norm.width + col] * norm.z(row, col);
  }
};

void norm_rows_cuda(NormRows& n, Tensor& y) {
  with_real(y.dtype(), [&]<class T>(T) {
    rows_by_warp(n.x.dim(0), Norm<T>{n.x.data<T>(), n.gain.data<T>(), data_or_null<T>(n.bias),
                                     data_or_null<T>(n.mean), n.inverse.data<T>(), y.data<T>(),
                                     n.x.dim(1), n.eps});
  });
}

void norm_rows_backward_cuda(const NormRows& n, const Tensor& dy, Tensor& dx, Tensor& dgain,
                             Tensor& dbias) {
  const int64_t rows = n.x.dim(0), width = n.x.dim(1);
  with_real(dy.dtype(), [&]<class T>(T) {
    const NormBackward<T> norm = {n.x.data<T>(),
                                  n.gain.data<T>(),
                                  data_or_null<T>(n.mean),
                                  n.inverse.data<T>(),
                                  dy.data<T>(),
                                  dx.data<T>(),
                                  width};
    rows_by_warp(rows, norm);
    ordered_sums<T>(rows, 1, width, nullptr, GainTerm<T>{norm}, dgain.data<T>());
    if (n.bias)
      ordered_sums<T>(rows, 1, width, nullptr, Entry<T>{dy.data<T>(), width}, dbias.data<T>());
  });
}

struct Larger {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return larger(a, b);
  }
};

// The largest of a row, for all lanes.
template <class T>
__device__ T row_max(const T* x, int64_t n, int lane) {
  T max = kLowest<T>;
  for (int64_t i = lane; i < n; i += kWarp) max = larger(max, x[i]);
  return reduce_warp(max, Larger());
}

// The number of rows that count, summed as f64 (exact).
struct CountTerm {
  const int32_t* mask;
  __device__ double operator()(int64_t row, int64_t) const {
    return !mask || mask[row] != 0 ? 1 : 0;
  }
};

template <class T>
struct CrossEntropy {
  const T* logits;
  const int32_t* target;
  const int32_t* mask;
  const double* count;
  double* losses;  // [rows]
  T* dlogits;      // or null
  int64_t classes;
  __device__ void operator()(int64_t row, int lane) const {
    const T* x = logits + row * classes;
    T* dx = dlogits ? dlogits + row * classes : nullptr;
    if (mask && mask[row] == 0) {  // neither its logits nor its label mean anything
      if (lane == 0) losses[row] = 0;
      for (int64_t i = lane; dx && i < classes; i += kWarp) dx[i] = 0;
      return;
    }
    const int32_t label = target[row];
    const T label_logit = x[label], max = row_max(x, classes, lane);
    T sum = 0;
    for (int64_t i = lane; i < classes; i += kWarp) sum += softmax_term(x[i], max);
    sum = reduce_warp(sum, Plus());
    __syncwarp();  // all lanes have read the row, which dlogits may be
    if (lane == 0) losses[row] = double(max - label_logit) + std::log(double(sum));
    if (!dx) return;
    const T scale = softmax_scale(sum, *count);
    for (int64_t i = lane; i < classes; i += kWarp) {
      const T y = softmax_term(x[i], max) * scale;
      dx[i] = i == label ? y - label_share<T>(*count) : y;
    }
  }
};

template <class T>
struct MeanLoss {
  const double* sum;
  const double* count;
  T* loss;
  __device__ void operator()(int64_t) const { *loss = *count > 0 ? T(*sum / *count) : T(0); }
};

void cross_entropy_cuda(const Tensor& logits, const Tensor& target, const Tensor& mask,
                        Tensor& loss, Tensor& dlogits) {
  const int64_t rows = logits.dim(0);
  const Tensor count = counted_rows_cuda(rows, mask);
  Tensor losses({rows}, DType::f64, Device::cuda);
  with_real(logits.dtype(), [&]<class T>(T) {
    cross_entropy_rows_cuda(rows, logits.dim(1), logits.data<T>(), target.data<int32_t>(),
                            data_or_null<int32_t>(mask), count, losses.data<double>(),
                            data_or_null<T>(dlogits));
  });
  mean_loss_cuda(losses, count, loss);
}

template <class T>
struct Argmax {
  const T* logits;
  int32_t* out;
  int64_t classes;
  __device__ void operator()(int64_t row, int lane) const {
    const T* x = logits + row * classes;
    const T max = row_max(x, classes, lane);
    int first = int(classes);  // the first place of the maximum
    for (int64_t i = lane; i < classes; i += kWarp) {
      if (x[i] == max && i < first) first = int(i);
    }
    first = -reduce_warp(-first, Larger());
    if (lane == 0) out[row] = first == classes ? 0 : first;  // a row of NaNs: any class
  }
};

void argmax_rows_cuda(const Tensor& logits, Tensor& out) {
  with_real(logits.dtype(), [&]<class T>(T) {
    rows_by_warp(logits.dim(0), Argmax<T>{logits.data<T>(), out.data<int32_t>(), logits.dim(1)});
  });
}

}  // namespace

Tensor counted_rows_cuda(int64_t rows, const Tensor& mask) {
  Tensor count({1}, DType::f64, Device::cuda);
  ordered_sums<double>(rows, 1, 1, nullptr, CountTerm{data_or_null<int32_t>(mask)},
                       count.data<double>());
  return count;
}

template <class T>
void cross_entropy_rows_cuda(int64_t rows, int64_t classes, const T* logits, const int32_t* target,
                             const int32_t* mask, const Tensor& count, double* losses, T* dlogits) {
  rows_by_warp(
      rows, CrossEntropy<T>{logits, target, mask, count.data<double>(), losses, dlogits, classes});
}
template void cross_entropy_rows_cuda(int64_t, int64_t, const float*, const int32_t*,
                                      const int32_t*, const Tensor&, double*, float*);
template void cross_entropy_rows_cuda(int64_t, int64_t, const double*, const int32_t*,
                                      const int32_t*, const Tensor&, double*, double*);

void mean_loss_cuda(const Tensor& losses, const Tensor& count, Tensor& loss) {
  Tensor sum({1}, DType::f64, Device::cuda);
  ordered_sums<double>(losses.numel(), 1, 1, nullptr, Entry<double>{losses.data<double>(), 1},
                       sum.data<double>());
  with_real(loss.dtype(), [&]<class T>(T) {
    parallel_for(Device::cuda, 1,
                 MeanLoss<T>{sum.data<double>(), count.data<double>(), loss.data<T>()});
  });
}

void register_rows() {
  gather_rows.cuda = &gather_rows_cuda;
  scatter_add_rows.cuda = &scatter_add_rows_cuda;
  concat_columns.cuda = &concat_columns_cuda;
  split_columns.cuda = &split_columns_cuda;
  sum_rows.cuda = &sum_rows_cuda;
  norm_rows.cuda = &norm_rows_cuda;
  norm_rows_backward.cuda = &norm_rows_backward_cuda;
  cross_entropy.cuda = &cross_entropy_cuda;
  argmax_rows.cuda = &argmax_rows_cuda;
}

}  // namespace lssm::kernels
