// SPDX-License-Identifier: Apache-2.0
// What every CUDA source file needs: checked calls, the one stream, launches. Only .cu files of the
// CUDA backend include it (LSSM_CUDA_BACKEND is defined there).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/check.h"
#include "core/tensor.h"

namespace lssm::kernels {

// All work of this program is ordered on one stream.
cudaStream_t cuda_stream();

// Turns a failure into an error with call, file and line.
inline void cuda_check(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // so that the next call does not report this one again
  fail("CUDA: ", call, " failed at ", file, ":", line, ": ", cudaGetErrorString(status));
}
#define LSSM_CUDA_CHECK(call) ::lssm::kernels::cuda_check((call), #call, __FILE__, __LINE__)

// How a kernel is laid out, and where that is written, for errors. Blocks in x may pass 65,535, in
// y and z they may not.
struct Launch {
  int64_t blocks;
  int threads;
  const char* file = __builtin_FILE();
  int line = __builtin_LINE();
};

// kernel<<<…>>>(arguments…) on the stream, in a form that a C++ compiler reads too.
template <class... Parameters, class... Arguments>
void launch(const Launch& layout, void (*kernel)(Parameters...), Arguments... arguments) {
  if (layout.blocks == 0) return;
  LSSM_CHECK(layout.blocks <= INT32_MAX, "CUDA: ", layout.blocks,
             " blocks are too many for one launch");
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(unsigned(layout.blocks));
  config.blockDim = dim3(unsigned(layout.threads));
  config.stream = cuda_stream();
  cuda_check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...),
             "the launch of a kernel", layout.file, layout.line);
}

constexpr int kWarp = 32;
constexpr unsigned kFullWarp = 0xffffffffu;

// What the kernels share with each other, private to each file (rule of the host emulation: kernels
// and their helpers have internal linkage).
namespace {

// Sums (or any commutative f) over the lanes of a warp by a fixed tree; every lane gets the result.
template <class T, class F>
__device__ T reduce_warp(T x, F f) {
  for (int mask = kWarp / 2; mask > 0; mask /= 2) x = f(x, __shfl_xor_sync(kFullWarp, x, mask));
  return x;
}

struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

}  // namespace

// Fills in the CUDA pointers of a family of kernels; each is at the end of its .cu file.
void register_conv();
void register_elementwise();
void register_head_matrix();
void register_lie_map();
void register_linear_cross_entropy();
void register_matmul();
void register_optimizer();
void register_parts();
void register_previous();
void register_readout();
void register_reduce();
void register_rnn();
void register_rows();
void register_scan();

}  // namespace lssm::kernels
