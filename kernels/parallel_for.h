// SPDX-License-Identifier: Apache-2.0
// The loop of every map kernel. A .cu file that uses it serves both devices from one functor: nvcc
// compiles it with the launch, the C++ compiler with the loop only. Functors live in anonymous
// namespaces, so the two compilers never emit one inline function with two bodies.
#pragma once

#include <cstdint>

#include "core/check.h"
#include "core/device.h"
#include "core/parallel.h"
#include "core/small.h"

namespace lssm::kernels {

#ifdef __CUDACC__
template <class F>
__global__ void map_kernel(int64_t n, F f) {
  const int64_t stride = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) f(i);
}

template <class F>
void launch_map(int64_t n, F f) {
  constexpr int kThreads = 256;
  const int64_t blocks = (n + kThreads - 1) / kThreads;
  map_kernel<<<unsigned(blocks < 65535 ? blocks : 65535), kThreads>>>(n, f);
  const cudaError_t error = cudaGetLastError();
  LSSM_CHECK(error == cudaSuccess, "map kernel: ", cudaGetErrorString(error));
}
#endif

// f(i) for i = 0 … n - 1, in any order, on the device.
template <class F>
void parallel_for(Device device, int64_t n, F f) {
  if (n == 0) return;
#ifdef __CUDACC__
  if (device == Device::cuda) return launch_map(n, f);
#endif
  LSSM_CHECK(device == Device::cpu, "map kernel: this build has no ", device_name(device),
             " backend");
  constexpr int64_t kGrain = 4096;  // items that are worth a thread
  for_partitions(n, kGrain, [&f](int, int64_t begin, int64_t end) {
    const F local = f;  // a copy of its own, so that the compiler keeps the pointers in registers
#pragma GCC ivdep       // an output is an input at the same place, or apart from it
    for (int64_t i = begin; i < end; ++i) local(i);
  });
}

// One item of a flat index i = row * cols + col.
template <class F>
struct FlatIndex {
  int64_t cols;
  F f;
  LSSM_HD void operator()(int64_t i) const { f(i / cols, i % cols); }
};

// f(row, col) for all rows and columns, in any order. On the CPU columns are the inner loop.
template <class F>
void parallel_for_rows(Device device, int64_t rows, int64_t cols, F f) {
  if (device != Device::cpu) return parallel_for(device, rows * cols, FlatIndex<F>{cols, f});
  constexpr int64_t kGrain = 128;  // rows that are worth a thread
  for_partitions(rows, kGrain, [&f, cols](int, int64_t begin, int64_t end) {
    const F local = f;
    for (int64_t row = begin; row < end; ++row) {
#pragma GCC ivdep  // an output is an input at the same place, or apart from it
      for (int64_t col = 0; col < cols; ++col) local(row, col);
    }
  });
}

}  // namespace lssm::kernels
