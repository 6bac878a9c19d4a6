// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear_cross_entropy.h"

#include "core/parallel.h"
#include "kernels/matmul.h"
#include "kernels/softmax.h"

namespace lssm::kernels {
namespace {

template <class T>
double loss_and_gradients(const LinearCrossEntropy& in, Tensor& dx, Tensor& dw, Tensor& dbias) {
  const LinearMap<T> map = linear_map<T>(in.w, in.bias);
  const RowLabels labels(in.target, in.mask);
  const int64_t rows = in.x.dim(0);
  const bool gradients = bool(dw);
  // The logits of one block for each partition; they become its dlogits.
  Tensor blocks({partition_count(rows, kLinearRows), kLinearRows, map.out}, in.x.dtype());
  WeightSums<T> weight_sums(gradients ? rows : 0, map.in, map.out);
  double sums[kPartitions] = {};
  for_partitions(rows, kLinearRows, [&](int p, int64_t begin, int64_t end) {
    T* block = blocks.data<T>() + p * kLinearRows * map.out;
    for_row_blocks(begin, end, [&](int64_t row, int64_t count) {
      const T* x = in.x.data<T>() + row * map.in;
      linear_rows_cpu(map, count, x, block);
      sums[p] +=
          cross_entropy_rows(block, labels, row, row + count, map.out, block, map.out, gradients);
      if (!gradients) return;
      weight_sums.add(p, count, x, block);
      if (dx) linear_rows_backward_cpu(map, count, block, dx.data<T>() + row * map.in);
    });
  });
  if (gradients) weight_sums.total(dw, dbias);
  return labels.mean(sums);
}

void linear_cross_entropy_cpu(const LinearCrossEntropy& in, Tensor& loss, Tensor& dx, Tensor& dw,
                              Tensor& dbias) {
  with_real(loss.dtype(),
            [&]<class T>(T) { *loss.data<T>() = T(loss_and_gradients<T>(in, dx, dw, dbias)); });
}

}  // namespace

decltype(linear_cross_entropy) linear_cross_entropy = {"linear_cross_entropy",
                                                       &linear_cross_entropy_cpu};

}  // namespace lssm::kernels
