// SPDX-License-Identifier: Apache-2.0
// Kernels that treat a tensor as rows: gather and scatter, norms, softmax cross-entropy.
#pragma once

#include "core/tensor.h"
#include "kernels/kernel.h"

namespace lssm::kernels {

// y[r] = table[index[r]].   table: [entries, width], index: i32 [rows], y: [rows, width].
// Indices must be in range: the op that calls this has checked them.
void gather_rows(const Tensor& table, const Tensor& index, Tensor& y);
// dtable[e] = sum of dy[r] over the rows with index[r] = e, in a fixed order.
void scatter_add_rows(const Tensor& dy, const Tensor& index, Tensor& dtable);
// y = [a | b].   a: [rows, p], b: [rows, q], y: [rows, p + q]; and the way back.
void concat_columns(const Tensor& a, const Tensor& b, Tensor& y);
void split_columns(const Tensor& y, Tensor& a, Tensor& b);
// y = sum over the first axis.   x: [rows, width], y: [width].
void sum_rows(const Tensor& x, Tensor& y);

// Layer normalisation (Ba et al. 2016): y = (x - mean) / std * gain + bias, mean and std over a
// row; RMS normalisation (Zhang & Sennrich 2019) where bias is empty: y = x / rms * gain. inverse:
// [rows], 1 / sqrt(variance + eps), kept for the backward pass; mean: [rows], or empty.
struct NormRows {
  Tensor x, gain, bias, mean, inverse;
  double eps;
};
void norm_rows(NormRows& norm, Tensor& y);
void norm_rows_backward(const NormRows& norm, const Tensor& dy, Tensor& dx, Tensor& dgain,
                        Tensor& dbias);

// Mean cross-entropy of softmax(logits) over the rows whose mask is not 0 (all rows if it is
// empty). logits: [rows, classes], target: i32 [rows], mask: i32 [rows]; loss: one number. If
// dlogits is not empty it receives the gradient of the loss; it may be logits itself.
void cross_entropy(const Tensor& logits, const Tensor& target, const Tensor& mask, Tensor& loss,
                   Tensor& dlogits);
// The class with the largest logit, the first of equals.   out: i32 [rows].
void argmax_rows(const Tensor& logits, Tensor& out);

extern Kernel<void(const Tensor&, const Tensor&, Tensor&)> gather_rows_kernel;
extern Kernel<void(const Tensor&, const Tensor&, Tensor&)> scatter_add_rows_kernel;
extern Kernel<void(const Tensor&, const Tensor&, Tensor&)> concat_columns_kernel;
extern Kernel<void(const Tensor&, Tensor&, Tensor&)> split_columns_kernel;
extern Kernel<void(const Tensor&, Tensor&)> sum_rows_kernel;
extern Kernel<void(NormRows&, Tensor&)> norm_rows_kernel;
extern Kernel<void(const NormRows&, const Tensor&, Tensor&, Tensor&, Tensor&)>
    norm_rows_backward_kernel;
extern Kernel<void(const Tensor&, const Tensor&, const Tensor&, Tensor&, Tensor&)>
    cross_entropy_kernel;
extern Kernel<void(const Tensor&, Tensor&)> argmax_rows_kernel;

}  // namespace lssm::kernels
