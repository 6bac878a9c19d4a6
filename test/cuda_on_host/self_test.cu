// SPDX-License-Identifier: Apache-2.0
// CUDA on host does what CUDA does. Only the last two cases ask the emulation about itself: the
// rest runs on a GPU too, as a part of test_cuda.
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "test/test.h"

#ifndef __CUDACC__
#include "coh.h"
#endif

namespace {

constexpr unsigned kFull = 0xffffffffu;

template <class... Params, class... Args>
cudaError_t launch(dim3 grid, dim3 block, size_t shared, void (*kernel)(Params...), Args... args) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  return cudaLaunchKernelEx(&config, kernel, static_cast<Params>(args)...);
}

// n items on the device.
template <class T>
class Array {
 public:
  explicit Array(std::vector<T> from) : n_(from.size()) {
    REQUIRE(cudaMalloc(&data_, n_ * sizeof(T)) == cudaSuccess);
    REQUIRE(cudaMemcpy(data_, from.data(), n_ * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
  }
  explicit Array(size_t n) : Array(std::vector<T>(n)) {}
  ~Array() { cudaFree(data_); }
  Array(const Array&) = delete;

  T* data() const { return data_; }
  std::vector<T> host() const {
    std::vector<T> to(n_);
    REQUIRE(cudaMemcpy(to.data(), data_, n_ * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
    return to;
  }

 private:
  size_t n_;
  T* data_ = nullptr;
};

std::vector<int> counting(size_t n) {
  std::vector<int> x(n);
  std::iota(x.begin(), x.end(), 0);
  return x;
}

// Each lane shuffles its number; out: [4, 32].
__global__ void shuffles(int* out, int argument, int width) {
  const int lane = int(threadIdx.x);
  out[lane] = __shfl_sync(kFull, lane, argument, width);
  out[32 + lane] = __shfl_up_sync(kFull, lane, unsigned(argument), width);
  out[64 + lane] = __shfl_down_sync(kFull, lane, unsigned(argument), width);
  out[96 + lane] = __shfl_xor_sync(kFull, lane, argument, width);
}

__global__ void wide_values(double* d, long long* l) {
  d[threadIdx.x] = __shfl_xor_sync(kFull, d[threadIdx.x], 31);
  l[threadIdx.x] = __shfl_xor_sync(kFull, l[threadIdx.x], 31);
}

// The two halves of a warp each meet on their own; half of the block leaves early.
__global__ void legal_divergence(int* out) {
  const int i = int(threadIdx.x), lane = i % 32;
  int value = i;
  if (lane < 16) {
    for (int d = 8; d > 0; d /= 2) value += __shfl_xor_sync(0x0000ffffu, value, d);
  } else {
    for (int d = 8; d > 0; d /= 2) value += __shfl_xor_sync(0xffff0000u, value, d);
  }
  __syncwarp();
  out[i] = value;
  if (i >= 64) return;
  __syncthreads();
  out[i] += out[63 - i] * 0;
}

__global__ void indices(int* out) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned i = block * (blockDim.x * blockDim.y * blockDim.z) + thread;
  out[i] += int(i);
}

__global__ void doubled(const int* in, int* out, int n) {
  for (int i = int(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += int(gridDim.x * blockDim.x))
    out[i] = 2 * in[i];
}

}  // namespace

TEST_CASE("shuffles move values as CUDA defines") {
  for (int width : {1, 2, 8, 32}) {
    for (int argument : {0, 1, 3, 8, 31}) {
      const Array<int> out(128);
      REQUIRE(launch(1, 32, 0, shuffles, out.data(), argument, width) == cudaSuccess);
      const std::vector<int> y = out.host();
      for (int lane = 0; lane < 32; ++lane) {
        const int first = lane / width * width, last = first + width - 1;
        const size_t i = size_t(lane);
        CHECK(y[i] == first + argument % width);
        CHECK(y[32 + i] == (lane - argument >= first ? lane - argument : lane));
        CHECK(y[64 + i] == (lane + argument <= last ? lane + argument : lane));
        CHECK(y[96 + i] == ((lane ^ argument) <= last ? lane ^ argument : lane));
      }
    }
  }
  std::vector<double> d(32);
  std::vector<long long> l(32);
  for (size_t i = 0; i < 32; ++i) d[i] = 0.1 * double(i), l[i] = (1ll << 40) + (long long)(i);
  const Array<double> on_d(d);
  const Array<long long> on_l(l);
  REQUIRE(launch(1, 32, 0, wide_values, on_d.data(), on_l.data()) == cudaSuccess);
  for (size_t i = 0; i < 32; ++i) {
    CHECK(on_d.host()[i] == d[31 - i]);
    CHECK(on_l.host()[i] == l[31 - i]);
  }
}

TEST_CASE("lanes may diverge under masks, and leave before barriers") {
  const Array<int> out(128);
  REQUIRE(launch(1, 128, 0, legal_divergence, out.data()) == cudaSuccess);
  for (int i = 0; i < 128; ++i) CHECK(out.host()[size_t(i)] == i / 16 * 16 * 16 + 120);
}

TEST_CASE("every thread of every block runs once") {
  const Array<int> out(2 * 3 * 5 * 4 * 2 * 3);
  REQUIRE(launch(dim3(2, 3, 5), dim3(4, 2, 3), 0, indices, out.data()) == cudaSuccess);
  CHECK(out.host() == counting(720));
  const Array<int> many(64 * 1024);
  REQUIRE(launch(64, 1024, 0, indices, many.data()) == cudaSuccess);
  CHECK(many.host() == counting(64 * 1024));
}

TEST_CASE("streams and events") {
  const Array<int> x(counting(1000)), y(1000), z(1000);
  cudaStream_t first, second;
  REQUIRE(cudaStreamCreate(&first) == cudaSuccess);
  REQUIRE(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking) == cudaSuccess);
  cudaEvent_t begin, end;
  REQUIRE(cudaEventCreate(&begin) == cudaSuccess);
  REQUIRE(cudaEventCreate(&end) == cudaSuccess);
  cudaLaunchConfig_t config = {};
  config.gridDim = config.blockDim = dim3(32);
  const int* from = x.data();
  config.stream = first;
  REQUIRE(cudaEventRecord(begin, first) == cudaSuccess);
  REQUIRE(cudaLaunchKernelEx(&config, doubled, from, y.data(), 1000) == cudaSuccess);
  REQUIRE(cudaEventRecord(end, first) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(second, end) == cudaSuccess);
  config.stream = second;
  from = y.data();
  REQUIRE(cudaLaunchKernelEx(&config, doubled, from, z.data(), 1000) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(second) == cudaSuccess);  // which needs what `first` does
  float ms = -1;
  CHECK(cudaEventElapsedTime(&ms, begin, end) == cudaSuccess);
  CHECK(ms >= 0);
  CHECK(z.host()[999] == 4 * 999);
  int* pooled;
  REQUIRE(cudaMallocAsync(&pooled, 4000, first) == cudaSuccess);
  REQUIRE(cudaMemcpyAsync(pooled, z.data(), 4000, cudaMemcpyDeviceToDevice, first) == cudaSuccess);
  REQUIRE(cudaMemcpyAsync(x.data(), pooled, 4000, cudaMemcpyDeviceToDevice, first) == cudaSuccess);
  REQUIRE(cudaFreeAsync(pooled, first) == cudaSuccess);
  CHECK(x.host()[7] == 28);  // the null stream, where it is copied, waits for `first`
  CHECK(cudaEventDestroy(begin) == cudaSuccess);
  CHECK(cudaEventDestroy(end) == cudaSuccess);
  CHECK(cudaStreamDestroy(first) == cudaSuccess);
  CHECK(cudaStreamDestroy(second) == cudaSuccess);
}

TEST_CASE("refused launches leave an error that can be cleared") {
  const Array<int> x(4);
  int* p = x.data();
  CHECK(launch(1, 1025, 0, indices, p) == cudaErrorInvalidConfiguration);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(launch(dim3(1, 65536), 32, 0, indices, p) == cudaErrorInvalidConfiguration);
  CHECK(launch(0, 32, 0, indices, p) == cudaErrorInvalidConfiguration);
  CHECK(launch(1, 1, 49153, indices, p) == cudaErrorInvalidValue);
  CHECK(launch(1, 1, 49152, indices, p) == cudaSuccess);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);  // still that of the launch before
  CHECK(std::string(cudaGetErrorString(cudaErrorMemoryAllocation)) == "out of memory");
}

// C = alpha op(A) op(B) + beta C against a plain loop, in guarded leading dimensions.
template <class T, class Gemm>
void check_gemm(Gemm gemm, T tolerance) {
  const int m = 5, n = 4, k = 7, ld = 9;
  cublasHandle_t handle;
  REQUIRE(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
  for (int form = 0; form < 8; ++form) {
    const bool at = form & 1, bt = form & 2;
    const T alpha = T(1.5), beta = form & 4 ? T(0.5) : T(0);
    std::vector<T> a(size_t(ld * 7)), b(a), c(a);
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = std::sin(T(i)), b[i] = std::cos(T(3 * i));
      c[i] = beta == 0 ? T(NAN) : T(i);  // with beta = 0, NaN must not come through
    }
    const Array<T> on_a(a), on_b(b), on_c(c);
    REQUIRE(gemm(handle, at ? CUBLAS_OP_T : CUBLAS_OP_N, bt ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, k,
                 &alpha, on_a.data(), ld, on_b.data(), ld, &beta, on_c.data(),
                 ld) == CUBLAS_STATUS_SUCCESS);
    const std::vector<T> y = on_c.host();
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int p = 0; p < k; ++p)
          sum += double(a[size_t(at ? p + i * ld : i + p * ld)]) *
                 double(b[size_t(bt ? j + p * ld : p + j * ld)]);
        const size_t to = size_t(i + j * ld);
        const double old = beta == 0 ? 0 : double(beta) * double(c[to]);
        CHECK(std::abs(double(y[to]) - (double(alpha) * sum + old)) <= double(tolerance));
      }
    }
  }
  const T one = 1;
  const Array<T> x(16);
  CHECK(gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, x.data(), 3, x.data(), 4, &one,
             x.data(), 4) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
}

TEST_CASE("cuBLAS products") {
  check_gemm<float>([](auto... args) { return cublasSgemm(args...); }, 1e-4f);
  check_gemm<double>([](auto... args) { return cublasDgemm(args...); }, 1e-12);
}

#ifndef __CUDACC__

TEST_CASE("device memory is limited and counted") {
  const coh::Counters before = coh::counters();
  coh::set_memory(before.bytes + 1000);
  void *p, *q;
  CHECK(cudaMalloc(&p, 800) == cudaSuccess);
  CHECK(cudaMalloc(&q, 800) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  size_t free_bytes, total_bytes;
  CHECK(cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess);
  CHECK(free_bytes == 200);
  CHECK(coh::counters().allocations == before.allocations + 1);
  // Freed in the order of a stream: there again when that is synchronised.
  CHECK(cudaFreeAsync(p, nullptr) == cudaSuccess);
  CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
  CHECK(cudaMallocAsync(&q, 800, nullptr) == cudaSuccess);
  CHECK(cudaFree(q) == cudaSuccess);
  coh::set_memory(size_t(2) << 30);
}

TEST_CASE("an illegal address stays") {
  const Array<int> x(counting(32));
  const std::vector<int> host(32);
  const int* bad = host.data();
  launch(1, 32, 0, doubled, bad, x.data(), 32);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  cudaGetLastError();
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  int* p = nullptr;
  CHECK(cudaMalloc(&p, 4) == cudaErrorIllegalAddress);
  coh::clear_error();
  CHECK(x.host() == counting(32));
}

#endif
