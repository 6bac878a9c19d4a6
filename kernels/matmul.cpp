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

void linear_cpu(const Tensor& x, const Tensor& w, const Tensor& bias, Tensor& y) {
  with_real(y.dtype(), [&]<class T>(T) {
    const LinearMap<T> map = linear_map<T>(w, bias);
    for_partitions(x.dim(0), kLinearRows, [&](int, int64_t begin, int64_t end) {
      for_row_blocks(begin, end, [&](int64_t row, int64_t count) {
        linear_rows_cpu(map, count, x.data<T>() + row * map.in, y.data<T>() + row * map.out);
      });
    });
  });
}

void linear_backward_input_cpu(const Tensor& dy, const Tensor& w, Tensor& dx) {
  with_real(dx.dtype(), [&]<class T>(T) {
    const LinearMap<T> map = linear_map<T>(w, Tensor());
    for_partitions(dy.dim(0), kLinearRows, [&](int, int64_t begin, int64_t end) {
      for_row_blocks(begin, end, [&](int64_t row, int64_t count) {
        linear_rows_backward_cpu(map, count, dy.data<T>() + row * map.out,
                                 dx.data<T>() + row * map.in);
      });
    });
  });
}

void linear_backward_weight_cpu(const Tensor& x, const Tensor& dy, Tensor& dw, Tensor& dbias) {
  const int64_t in = dw.dim(0), out = dw.dim(1);
  with_real(dw.dtype(), [&]<class T>(T) {
    WeightSums<T> sums(x.dim(0), in, out);
    for_partitions(x.dim(0), kLinearRows, [&](int p, int64_t begin, int64_t end) {
      for_row_blocks(begin, end, [&](int64_t row, int64_t count) {
        sums.add(p, count, x.data<T>() + row * in, dy.data<T>() + row * out);
      });
    });
    sums.total(dw, dbias);
  });
}

}  // namespace

template <class T>
void linear_rows_cpu(const LinearMap<T>& map, int64_t rows, const T* x, T* y) {
  Matrix<T> result(y, rows, map.out);
  result.noalias() = ConstMatrix<T>(x, rows, map.in) * ConstMatrix<T>(map.w, map.in, map.out);
  if (map.bias) result.rowwise() += ConstMatrix<T>(map.bias, 1, map.out).row(0);
}

template <class T>
void linear_rows_backward_cpu(const LinearMap<T>& map, int64_t rows, const T* dy, T* dx) {
  Matrix<T>(dx, rows, map.in).noalias() =
      ConstMatrix<T>(dy, rows, map.out) * ConstMatrix<T>(map.w, map.in, map.out).transpose();
}

template <class T>
WeightSums<T>::WeightSums(int64_t rows, int64_t in, int64_t out)
    : partials_(Tensor::zeros({partition_count(rows, kLinearRows), in + 1, out}, dtype_of<T>())) {}

template <class T>
void WeightSums<T>::add(int partition, int64_t rows, const T* x, const T* dy) {
  const int64_t in = partials_.dim(1) - 1, out = partials_.dim(2);
  Matrix<T> partial(partials_.data<T>() + partition * (in + 1) * out, in + 1, out);
  const ConstMatrix<T> gradient(dy, rows, out);
  partial.topRows(in).noalias() += ConstMatrix<T>(x, rows, in).transpose() * gradient;
  partial.row(in) += gradient.colwise().sum();
}

template <class T>
void WeightSums<T>::total(Tensor& dw, Tensor& dbias) {
  const int64_t in = partials_.dim(1) - 1, out = partials_.dim(2);
  Matrix<T> total(partials_.data<T>(), in + 1, out);
  for (int64_t p = 1; p < partials_.dim(0); ++p) {
    total += ConstMatrix<T>(partials_.data<T>() + p * (in + 1) * out, in + 1, out);
  }
  Matrix<T>(dw.data<T>(), in, out) = total.topRows(in);
  if (dbias) Matrix<T>(dbias.data<T>(), 1, out) = total.row(in);
}

template void linear_rows_cpu(const LinearMap<float>&, int64_t, const float*, float*);
template void linear_rows_cpu(const LinearMap<double>&, int64_t, const double*, double*);
template void linear_rows_backward_cpu(const LinearMap<float>&, int64_t, const float*, float*);
template void linear_rows_backward_cpu(const LinearMap<double>&, int64_t, const double*, double*);
template class WeightSums<float>;
template class WeightSums<double>;

decltype(linear) linear = {"linear", &linear_cpu};
decltype(linear_backward_input) linear_backward_input = {"linear_backward_input",
                                                         &linear_backward_input_cpu};
decltype(linear_backward_weight) linear_backward_weight = {"linear_backward_weight",
                                                           &linear_backward_weight_cpu};

}  // namespace lssm::kernels
