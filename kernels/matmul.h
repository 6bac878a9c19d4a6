// SPDX-License-Identifier: Apache-2.0
// Matrix products.
#pragma once

#include <algorithm>

#include "core/tensor.h"
#include "kernels/kernel.h"

namespace lssm::kernels {

// y = x w + bias.   x: [rows, in], w: [in, out], bias: [out] or empty, y: [rows, out].
extern Kernel<void(const Tensor& x, const Tensor& w, const Tensor& bias, Tensor& y)> linear;

// dx = dy w^T.   dy: [rows, out], w: [in, out], dx: [rows, in].
extern Kernel<void(const Tensor& dy, const Tensor& w, Tensor& dx)> linear_backward_input;

// dw = x^T dy, dbias = sum of the rows of dy.   dbias may be empty. On the CPU sums over rows run
// partition by partition and are then added in order, so that bits do not depend on the number of
// threads; on CUDA cuBLAS orders them.
extern Kernel<void(const Tensor& x, const Tensor& dy, Tensor& dw, Tensor& dbias)>
    linear_backward_weight;

// ---- the same for some rows at plain pointers, for kernels that go block by block ----

template <class T>
struct LinearMap {
  const T* w;     // [in, out]
  const T* bias;  // [out] or null
  int64_t in, out;
};

template <class T>
LinearMap<T> linear_map(const Tensor& w, const Tensor& bias) {
  return {w.data<T>(), data_or_null<T>(bias), w.dim(0), w.dim(1)};
}

// On the CPU (matmul.cpp). Rows that are multiplied at once: enough for the product to run at
// speed, few enough for Eigen's packed blocks to fit on the stack.
constexpr int64_t kLinearRows = 128;

// f(begin, count) for blocks of at most kLinearRows rows of [begin, end).
template <class F>
void for_row_blocks(int64_t begin, int64_t end, F f) {
  for (int64_t row = begin; row < end; row += kLinearRows) {
    f(row, std::min(kLinearRows, end - row));
  }
}

template <class T>
void linear_rows_cpu(const LinearMap<T>& map, int64_t rows, const T* x, T* y);
template <class T>
void linear_rows_backward_cpu(const LinearMap<T>& map, int64_t rows, const T* dy, T* dx);

// dw and dbias, summed for each partition of for_partitions(rows, kLinearRows) and then in order.
template <class T>
class WeightSums {
 public:
  WeightSums(int64_t rows, int64_t in, int64_t out);
  // One block of rows of a partition.
  void add(int partition, int64_t rows, const T* x, const T* dy);
  // dbias may be empty.
  void total(Tensor& dw, Tensor& dbias);

 private:
  Tensor partials_;  // [partitions, in + 1, out]; the last row is the bias
};

// On CUDA (matmul.cu). The second is c = op(a) op(b) + beta c for row-major matrices, rows x inner
// times inner x cols.
template <class T>
void linear_rows_cuda(const LinearMap<T>& map, int64_t rows, const T* x, T* y);
template <class T>
void multiply_cuda(bool transpose_a, bool transpose_b, int64_t rows, int64_t cols, int64_t inner,
                   const T* a, const T* b, T beta, T* c);

}  // namespace lssm::kernels
