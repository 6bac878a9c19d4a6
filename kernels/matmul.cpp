// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul.h"

#define EIGEN_DONT_PARALLELIZE  // threads are ours, over fixed partitions of the rows
#include <Eigen/Core>

#include "core/parallel.h"

namespace lssm::kernels {
namespace {

template <class T>
using Matrix = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
template <class T>
using ConstMatrix =
    Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

// Rows that are multiplied at once: enough for the product to run at speed, few enough for Eigen's
// packed blocks to fit on the stack.
constexpr int64_t kRows = 128;

// f(begin, count) for blocks of at most kRows rows of [begin, end).
template <class F>
void for_row_blocks(int64_t begin, int64_t end, F f) {
  for (int64_t row = begin; row < end; row += kRows) f(row, std::min(kRows, end - row));
}

void linear_cpu(const Tensor& x, const Tensor& w, const Tensor& bias, Tensor& y) {
  const int64_t in = w.dim(0), out = w.dim(1);
  with_real(y.dtype(), [&]<class T>(T) {
    const ConstMatrix<T> weight(w.data<T>(), in, out);
    for_partitions(x.dim(0), kRows, [&](int, int64_t begin, int64_t end) {
      for_row_blocks(begin, end, [&](int64_t row, int64_t count) {
        Matrix<T> rows(y.data<T>() + row * out, count, out);
        rows.noalias() = ConstMatrix<T>(x.data<T>() + row * in, count, in) * weight;
        if (bias) rows.rowwise() += ConstMatrix<T>(bias.data<T>(), 1, out).row(0);
      });
    });
  });
}

void linear_backward_input_cpu(const Tensor& dy, const Tensor& w, Tensor& dx) {
  const int64_t in = w.dim(0), out = w.dim(1);
  with_real(dx.dtype(), [&]<class T>(T) {
    const ConstMatrix<T> weight(w.data<T>(), in, out);
    for_partitions(dy.dim(0), kRows, [&](int, int64_t begin, int64_t end) {
      for_row_blocks(begin, end, [&](int64_t row, int64_t count) {
        Matrix<T>(dx.data<T>() + row * in, count, in).noalias() =
            ConstMatrix<T>(dy.data<T>() + row * out, count, out) * weight.transpose();
      });
    });
  });
}

void linear_backward_weight_cpu(const Tensor& x, const Tensor& dy, Tensor& dw, Tensor& dbias) {
  const int64_t in = dw.dim(0), out = dw.dim(1);
  with_real(dw.dtype(), [&]<class T>(T) {
    const int count = partition_count(x.dim(0), kRows);
    Tensor partial_sums = Tensor::zeros({count, in + 1, out}, dw.dtype());  // the last row: bias
    T* const partials = partial_sums.data<T>();
    for_partitions(x.dim(0), kRows, [&](int p, int64_t begin, int64_t end) {
      Matrix<T> partial(partials + p * (in + 1) * out, in + 1, out);
      for_row_blocks(begin, end, [&](int64_t row, int64_t count) {
        const ConstMatrix<T> rows(dy.data<T>() + row * out, count, out);
        partial.topRows(in).noalias() +=
            ConstMatrix<T>(x.data<T>() + row * in, count, in).transpose() * rows;
        partial.row(in) += rows.colwise().sum();
      });
    });
    Matrix<T> total(partials, in + 1, out);
    for (int p = 1; p < count; ++p) {
      total += ConstMatrix<T>(partials + p * (in + 1) * out, in + 1, out);
    }
    Matrix<T>(dw.data<T>(), in, out) = total.topRows(in);
    if (dbias) Matrix<T>(dbias.data<T>(), 1, out) = total.row(in);
  });
}

}  // namespace

decltype(linear) linear = {"linear", &linear_cpu};
decltype(linear_backward_input) linear_backward_input = {"linear_backward_input",
                                                         &linear_backward_input_cpu};
decltype(linear_backward_weight) linear_backward_weight = {"linear_backward_weight",
                                                           &linear_backward_weight_cpu};

}  // namespace lssm::kernels
