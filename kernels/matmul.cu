// SPDX-License-Identifier: Apache-2.0
#include <cublas_v2.h>

#include "kernels/matmul.h"
#include "kernels/parallel_for.h"
#include "kernels/rows.h"

namespace lssm::kernels {
namespace {

void cublas_check(cublasStatus_t status, const char* call, int line) {
  LSSM_CHECK(status == CUBLAS_STATUS_SUCCESS, "cuBLAS: ", call, " failed at ", __FILE__, ":", line,
             ": ", cublasGetStatusString(status));
}
#define LSSM_CUBLAS_CHECK(call) cublas_check((call), #call, __LINE__)

cublasHandle_t handle() {
  static cublasHandle_t made = [] {
    cublasHandle_t handle;
    LSSM_CUBLAS_CHECK(cublasCreate(&handle));
    LSSM_CUBLAS_CHECK(cublasSetStream(handle, cuda_stream()));
    // f32 means f32: no TF32, no reduced-precision sums.
    LSSM_CUBLAS_CHECK(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH));
    return handle;
  }();
  return made;
}

cublasStatus_t gemm(cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const float* a,
                    int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  const float one = 1;
  return cublasSgemm(handle(), ta, tb, m, n, k, &one, a, lda, b, ldb, &beta, c, ldc);
}
cublasStatus_t gemm(cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                    const double* a, int lda, const double* b, int ldb, double beta, double* c,
                    int ldc) {
  const double one = 1;
  return cublasDgemm(handle(), ta, tb, m, n, k, &one, a, lda, b, ldb, &beta, c, ldc);
}

// y[r] = bias for every row: what the product is then added to.
template <class T>
struct RepeatRow {
  const T* bias;
  T* y;
  int64_t width;
  __device__ void operator()(int64_t row, int64_t col) const { y[row * width + col] = bias[col]; }
};

void linear_cuda(const Tensor& x, const Tensor& w, const Tensor& bias, Tensor& y) {
  if (y.numel() == 0) return;
  with_real(y.dtype(), [&]<class T>(T) {
    linear_rows_cuda(linear_map<T>(w, bias), x.dim(0), x.data<T>(), y.data<T>());
  });
}

void linear_backward_input_cuda(const Tensor& dy, const Tensor& w, Tensor& dx) {
  if (dx.numel() == 0) return;
  with_real(dx.dtype(), [&]<class T>(T) {
    multiply_cuda<T>(false, true, dy.dim(0), w.dim(0), w.dim(1), dy.data<T>(), w.data<T>(), T(0),
                     dx.data<T>());
  });
}

void linear_backward_weight_cuda(const Tensor& x, const Tensor& dy, Tensor& dw, Tensor& dbias) {
  if (dbias) sum_rows(dy, dbias);
  if (x.dim(0) == 0) return dw.set_zero();
  with_real(dw.dtype(), [&]<class T>(T) {
    multiply_cuda<T>(true, false, dw.dim(0), dw.dim(1), x.dim(0), x.data<T>(), dy.data<T>(), T(0),
                     dw.data<T>());
  });
}

}  // namespace

// cuBLAS is column-major, so it is asked for the transposed product.
template <class T>
void multiply_cuda(bool transpose_a, bool transpose_b, int64_t rows, int64_t cols, int64_t inner,
                   const T* a, const T* b, T beta, T* c) {
  LSSM_CHECK(rows <= INT32_MAX && cols <= INT32_MAX && inner <= INT32_MAX,
             "matmul: a size is above 2^31");
  const auto operation = [](bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; };
  // Of an empty matrix too, a row must have a number.
  const auto leading = [](int64_t size) { return size > 0 ? int(size) : 1; };
  LSSM_CUBLAS_CHECK(gemm(operation(transpose_b), operation(transpose_a), int(cols), int(rows),
                         int(inner), b, leading(transpose_b ? inner : cols), a,
                         leading(transpose_a ? rows : inner), beta, c, leading(cols)));
}

template <class T>
void linear_rows_cuda(const LinearMap<T>& map, int64_t rows, const T* x, T* y) {
  if (map.bias) {
    parallel_for_rows(Device::cuda, rows, map.out, RepeatRow<T>{map.bias, y, map.out});
  }
  multiply_cuda<T>(false, false, rows, map.out, map.in, x, map.w, map.bias ? T(1) : T(0), y);
}

template void multiply_cuda(bool, bool, int64_t, int64_t, int64_t, const float*, const float*,
                            float, float*);
template void multiply_cuda(bool, bool, int64_t, int64_t, int64_t, const double*, const double*,
                            double, double*);
template void linear_rows_cuda(const LinearMap<float>&, int64_t, const float*, float*);
template void linear_rows_cuda(const LinearMap<double>&, int64_t, const double*, double*);

void register_matmul() {
  linear.cuda = &linear_cuda;
  linear_backward_input.cuda = &linear_backward_input_cuda;
  linear_backward_weight.cuda = &linear_backward_weight_cuda;
}

}  // namespace lssm::kernels
