// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda.h"
#include "kernels/elementwise.h"
#include "kernels/linear_cross_entropy.h"
#include "kernels/matmul.h"
#include "kernels/rows.h"

namespace lssm::kernels {
namespace {

// Rows whose logits exist at once: enough to fill the device, and a function of nothing, so that
// sums over blocks always have the same order.
constexpr int64_t kBlock = 4096;

template <class T>
void loss_and_gradients(const LinearCrossEntropy& in, const Tensor& count, double* losses,
                        Tensor& dx, Tensor& dw, Tensor& dbias) {
  const LinearMap<T> map = linear_map<T>(in.w, in.bias);
  const int64_t rows = in.x.dim(0), most = rows < kBlock ? rows : kBlock;
  const bool gradients = bool(dw);
  Tensor block({most, map.out}, in.x.dtype(), Device::cuda);
  T* logits = block.data<T>();
  // dbias = the sum of the rows of dlogits = ones^T dlogits, which adds up as dw does.
  Tensor ones({most}, in.x.dtype(), Device::cuda);
  if (dbias) fill(ones, 1);
  for (int64_t row = 0; row < rows; row += kBlock) {
    const int64_t n = rows - row < kBlock ? rows - row : kBlock;
    const T* x = in.x.data<T>() + row * map.in;
    linear_rows_cuda(map, n, x, logits);
    cross_entropy_rows_cuda(n, map.out, logits, in.target.data<int32_t>() + row,
                            in.mask ? in.mask.data<int32_t>() + row : nullptr, count, losses + row,
                            gradients ? logits : nullptr);
    if (!gradients) continue;
    const T beta = row > 0 ? T(1) : T(0);
    multiply_cuda<T>(true, false, map.in, map.out, n, x, logits, beta, dw.data<T>());
    if (dbias) {
      multiply_cuda<T>(true, false, 1, map.out, n, ones.data<T>(), logits, beta, dbias.data<T>());
    }
    if (dx) {
      multiply_cuda<T>(false, true, n, map.in, map.out, logits, map.w, T(0),
                       dx.data<T>() + row * map.in);
    }
  }
}

void linear_cross_entropy_cuda(const LinearCrossEntropy& in, Tensor& loss, Tensor& dx, Tensor& dw,
                               Tensor& dbias) {
  const int64_t rows = in.x.dim(0);
  const Tensor count = counted_rows_cuda(rows, in.mask);
  Tensor losses({rows}, DType::f64, Device::cuda);
  if (rows == 0) {
    if (dw) dw.set_zero();
    if (dbias) dbias.set_zero();
  } else {
    with_real(loss.dtype(), [&]<class T>(T) {
      loss_and_gradients<T>(in, count, losses.data<double>(), dx, dw, dbias);
    });
  }
  mean_loss_cuda(losses, count, loss);
}

}  // namespace

void register_linear_cross_entropy() { linear_cross_entropy.cuda = &linear_cross_entropy_cuda; }

}  // namespace lssm::kernels
