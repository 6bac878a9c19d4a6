// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <vector>

#include "coh_internal.h"
#include "cublas_v2.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasMath_t mode = CUBLAS_DEFAULT_MATH;
};

namespace coh {
namespace {

// A column-major matrix, and what is done to it before the product.
template <class T>
struct Matrix {
  T* data;
  int rows, cols;  // as stored
  int64_t leading;
  bool transposed;

  bool valid() const { return leading >= std::max(1, rows); }
  size_t elements() const {  // from the first to the last that is used
    return rows > 0 && cols > 0 ? size_t(leading * (cols - 1) + rows) : 0;
  }
};

// The 10 bits of mantissa of TF32, rounded to nearest, ties to even.
float round_tf32(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7f800000u) == 0x7f800000u) return x;
  return std::bit_cast<float>((bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu);
}

// op(x) as doubles: element (i, j) at i + j * rows.
template <class T>
std::vector<double> packed(const Matrix<const T>& x, bool tf32) {
  std::vector<double> y(size_t(x.rows) * size_t(x.cols));
  for (int j = 0; j < x.cols; ++j) {
    for (int i = 0; i < x.rows; ++i) {
      T value = x.data[i + j * x.leading];
      if constexpr (sizeof(T) == 4)
        if (tf32) value = round_tf32(value);
      y[x.transposed ? size_t(j) + size_t(i) * size_t(x.cols)
                     : size_t(i) + size_t(j) * size_t(x.rows)] = double(value);
    }
  }
  return y;
}

template <class T>
void multiply(int m, int n, int k, T alpha, const Matrix<const T>& a, const Matrix<const T>& b,
              T beta, const Matrix<T>& c, bool tf32) {
  const bool product = alpha != 0 && k > 0;
  std::vector<double> x, y, sum(static_cast<size_t>(m));
  if (product) x = packed(a, tf32), y = packed(b, tf32);
  for (int j = 0; j < n; ++j) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for (int p = 0; product && p < k; ++p) {
      const double factor = y[size_t(p) + size_t(j) * size_t(k)];
      const double* column = &x[size_t(p) * size_t(m)];
      for (int i = 0; i < m; ++i) sum[size_t(i)] += column[i] * factor;
    }
    T* out = c.data + j * c.leading;
    for (int i = 0; i < m; ++i) {
      const double old = beta == 0 ? 0 : double(beta) * double(out[i]);
      out[i] = T(double(alpha) * sum[size_t(i)] + old);
    }
  }
}

template <class T>
bool check_matrix(const Matrix<T>& x, const char* name) {
  if (x.elements() == 0 || on_device(x.data, x.elements() * sizeof(T))) return true;
  report("cuBLAS: matrix %s: %p, %zu elements, is not device memory of that size", name,
         static_cast<const void*>(x.data), x.elements());
  return false;
}

template <class T>
cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                    int n, int k, const T* alpha, const T* a, int lda, const T* b, int ldb,
                    const T* beta, T* c, int ldc) {
  Api api;
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  const bool at = op_a != CUBLAS_OP_N, bt = op_b != CUBLAS_OP_N;
  const Matrix<const T> ma = {a, at ? k : m, at ? m : k, lda, at};
  const Matrix<const T> mb = {b, bt ? n : k, bt ? k : n, ldb, bt};
  const Matrix<T> mc = {c, m, n, ldc, false};
  if (m < 0 || n < 0 || k < 0 || !alpha || !beta || !ma.valid() || !mb.valid() || !mc.valid()) {
    report("cuBLAS: gemm of %d x %d x %d, leading dimensions %d, %d, %d: invalid", m, n, k, lda,
           ldb, ldc);
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  const bool tf32 = handle->mode == CUBLAS_TF32_TENSOR_OP_MATH;
  const cudaError_t error = submit(handle->stream, [=, alpha = *alpha, beta = *beta] {
    const bool reads = alpha != 0 && k > 0;
    if ((reads && !(check_matrix(ma, "A") && check_matrix(mb, "B"))) || !check_matrix(mc, "C"))
      return set_sticky(cudaErrorIllegalAddress);
    const DeviceAccess access;
    multiply<T>(m, n, k, alpha, ma, mb, beta, mc, tf32);
  });
  return api.done(error) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace
}  // namespace coh

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  coh::Api api;
  if (api.done(cudaSuccess) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
  }
  return "unknown";
}

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                           int m, int n, int k, const float* alpha, const float* a, int lda,
                           const float* b, int ldb, const float* beta, float* c, int ldc) {
  return coh::gemm(handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

cublasStatus_t cublasDgemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                           int m, int n, int k, const double* alpha, const double* a, int lda,
                           const double* b, int ldb, const double* beta, double* c, int ldc) {
  return coh::gemm(handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
