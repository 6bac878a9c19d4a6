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

// A column-major matrix of a batch, and what is done to it before the product.
template <class T>
struct Matrix {
  T* data;
  int rows, cols;  // as stored
  int64_t leading, stride;
  bool transposed;

  bool valid() const { return leading >= std::max(1, rows); }
  size_t elements() const {  // from the first to the last that is used
    return rows > 0 && cols > 0 ? size_t(leading * (cols - 1) + rows) : 0;
  }
  T* of(int64_t item) const { return data + item * stride; }
};

// The 10 bits of mantissa of TF32, rounded to nearest, ties to even.
float round_tf32(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7f800000u) == 0x7f800000u) return x;
  return std::bit_cast<float>((bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu);
}

// op(x) as doubles: element (i, j) at i + j * rows.
template <class T>
std::vector<double> packed(const Matrix<const T>& x, int64_t item, bool tf32) {
  std::vector<double> y(size_t(x.rows) * size_t(x.cols));
  const T* from = x.of(item);
  for (int j = 0; j < x.cols; ++j) {
    for (int i = 0; i < x.rows; ++i) {
      T value = from[i + j * x.leading];
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
              T beta, const Matrix<T>& c, int batch, bool tf32) {
  const bool product = alpha != 0 && k > 0;
  for (int item = 0; item < batch; ++item) {
    std::vector<double> x, y, sum(static_cast<size_t>(m));
    if (product) x = packed(a, item, tf32), y = packed(b, item, tf32);
    for (int j = 0; j < n; ++j) {
      std::fill(sum.begin(), sum.end(), 0.0);
      for (int p = 0; product && p < k; ++p) {
        const double factor = y[size_t(p) + size_t(j) * size_t(k)];
        const double* column = &x[size_t(p) * size_t(m)];
        for (int i = 0; i < m; ++i) sum[size_t(i)] += column[i] * factor;
      }
      T* out = c.of(item) + j * c.leading;
      for (int i = 0; i < m; ++i) {
        const double old = beta == 0 ? 0 : double(beta) * double(out[i]);
        out[i] = T(double(alpha) * sum[size_t(i)] + old);
      }
    }
  }
}

template <class T>
bool check_matrix(const Matrix<T>& x, int batch, const char* name) {
  if (x.elements() == 0 || batch == 0) return true;
  bool good = true;
  for (int item : {0, batch - 1})
    if (good && !on_device(x.of(item), x.elements() * sizeof(T))) {
      report("cuBLAS: matrix %s, item %d: %p, %zu elements, is not device memory of that size",
             name, item, static_cast<const void*>(x.of(item)), x.elements());
      good = false;
    }
  return good;
}

template <class T>
cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                    int n, int k, const T* alpha, const T* a, int lda, long long stride_a,
                    const T* b, int ldb, long long stride_b, const T* beta, T* c, int ldc,
                    long long stride_c, int batch) {
  Api api;
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  const bool at = op_a != CUBLAS_OP_N, bt = op_b != CUBLAS_OP_N;
  const Matrix<const T> ma = {a, at ? k : m, at ? m : k, lda, stride_a, at};
  const Matrix<const T> mb = {b, bt ? n : k, bt ? k : n, ldb, stride_b, bt};
  const Matrix<T> mc = {c, m, n, ldc, stride_c, false};
  if (m < 0 || n < 0 || k < 0 || batch < 0 || !alpha || !beta || !ma.valid() || !mb.valid() ||
      !mc.valid()) {
    report("cuBLAS: gemm of %d x %d x %d, leading dimensions %d, %d, %d: invalid", m, n, k, lda,
           ldb, ldc);
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (m == 0 || n == 0 || batch == 0) return CUBLAS_STATUS_SUCCESS;
  const bool tf32 = handle->mode == CUBLAS_TF32_TENSOR_OP_MATH;
  const cudaError_t error = submit(handle->stream, [=, alpha = *alpha, beta = *beta] {
    const bool reads = alpha != 0 && k > 0;
    if ((reads && !(check_matrix(ma, batch, "A") && check_matrix(mb, batch, "B"))) ||
        !check_matrix(mc, batch, "C"))
      return set_sticky(cudaErrorIllegalAddress);
    const DeviceAccess access;
    multiply<T>(m, n, k, alpha, ma, mb, beta, mc, batch, tf32);
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

// Accepted, not used.
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, size_t bytes) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  return bytes == 0 || coh::on_device(workspace, bytes) ? CUBLAS_STATUS_SUCCESS
                                                        : CUBLAS_STATUS_INVALID_VALUE;
}

const char* cublasGetStatusName(cublasStatus_t status) {
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

const char* cublasGetStatusString(cublasStatus_t status) { return cublasGetStatusName(status); }

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                           int m, int n, int k, const float* alpha, const float* a, int lda,
                           const float* b, int ldb, const float* beta, float* c, int ldc) {
  return coh::gemm(handle, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);
}

cublasStatus_t cublasDgemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                           int m, int n, int k, const double* alpha, const double* a, int lda,
                           const double* b, int ldb, const double* beta, double* c, int ldc) {
  return coh::gemm(handle, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t op_a,
                                         cublasOperation_t op_b, int m, int n, int k,
                                         const float* alpha, const float* a, int lda,
                                         long long stride_a, const float* b, int ldb,
                                         long long stride_b, const float* beta, float* c, int ldc,
                                         long long stride_c, int batch) {
  return coh::gemm(handle, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c,
                   ldc, stride_c, batch);
}

cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t op_a,
                                         cublasOperation_t op_b, int m, int n, int k,
                                         const double* alpha, const double* a, int lda,
                                         long long stride_a, const double* b, int ldb,
                                         long long stride_b, const double* beta, double* c, int ldc,
                                         long long stride_c, int batch) {
  return coh::gemm(handle, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c,
                   ldc, stride_c, batch);
}
