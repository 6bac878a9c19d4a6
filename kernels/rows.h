// SPDX-License-Identifier: Apache-2.0
// Kernels that treat a tensor as rows: gather and scatter, norms, softmax cross-entropy.
#pragma once

#include <tuple>

#include "core/tensor.h"
#include "kernels/kernel.h"

namespace lssm::kernels {

// y[r] = table[index[r]].   table: [entries, width], index: i32 [rows], y: [rows, width].
// Indices must be in range: the op that calls this has checked them.
extern Kernel<void(const Tensor& table, const Tensor& index, Tensor& y)> gather_rows;
// dtable[e] = sum of dy[r] over the rows with index[r] = e, in a fixed order.
extern Kernel<void(const Tensor& dy, const Tensor& index, Tensor& dtable)> scatter_add_rows;
// y = [a | b].   a: [rows, p], b: [rows, q], y: [rows, p + q]; and the way back.
extern Kernel<void(const Tensor& a, const Tensor& b, Tensor& y)> concat_columns;
extern Kernel<void(const Tensor& y, Tensor& a, Tensor& b)> split_columns;
// y = sum over the first axis.   x: [rows, width], y: [width].
extern Kernel<void(const Tensor& x, Tensor& y)> sum_rows;

// Layer normalisation (Ba et al. 2016): y = (x - mean) / std * gain + bias, mean and std over a
// row; RMS normalisation (Zhang & Sennrich 2019) where bias is empty: y = x / rms * gain. inverse:
// [rows], 1 / sqrt(variance + eps), kept for the backward pass; mean: [rows], or empty.
struct NormRows {
  Tensor x, gain, bias, mean, inverse;
  double eps;

  auto tensors() const { return std::tie(x, gain, bias, mean, inverse); }
};
extern Kernel<void(NormRows& norm, Tensor& y)> norm_rows;
extern Kernel<void(const NormRows& norm, const Tensor& dy, Tensor& dx, Tensor& dgain,
                   Tensor& dbias)>
    norm_rows_backward;

// Mean cross-entropy of softmax(logits) over the rows whose mask is not 0 (all rows if it is
// empty). logits: [rows, classes], target: i32 [rows], mask: i32 [rows]; loss: one number. If
// dlogits is not empty it receives the gradient of the loss.
extern Kernel<void(const Tensor& logits, const Tensor& target, const Tensor& mask, Tensor& loss,
                   Tensor& dlogits)>
    cross_entropy;
// The class with the largest logit, the first of equals.   out: i32 [rows].
extern Kernel<void(const Tensor& logits, Tensor& out)> argmax_rows;

// ---- steps of cross_entropy on CUDA (rows.cu), for kernels that make logits block by block ----

// The number of rows that count: f64 [1].   mask: i32 [rows] or empty.
Tensor counted_rows_cuda(int64_t rows, const Tensor& mask);
// The losses of some rows at plain pointers; mask and dlogits may be null.
template <class T>
void cross_entropy_rows_cuda(int64_t rows, int64_t classes, const T* logits, const int32_t* target,
                             const int32_t* mask, const Tensor& count, double* losses, T* dlogits);
// loss = sum of losses / count, 0 if that is 0.   losses: f64 [rows].
void mean_loss_cuda(const Tensor& losses, const Tensor& count, Tensor& loss);

}  // namespace lssm::kernels
