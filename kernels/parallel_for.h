// SPDX-License-Identifier: Apache-2.0
// The loop of every map kernel. A .cu file that uses it serves both devices from one functor: nvcc
// compiles it with the launch, the C++ compiler with the loop only. Functors live in anonymous
// namespaces, so the two compilers never emit one inline function with two bodies.
#pragma once

#include <cstdint>

#include "core/check.h"
#include "core/device.h"
#include "core/parallel.h"

namespace lssm::kernels {

#ifdef __CUDACC__
template <class F>
__global__ void map_kernel(int64_t n, F f) {
  const int64_t stride = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) f(i);
}
#endif

// f(i) for i = 0 … n - 1, in any order, on the device.
template <class F>
void parallel_for(Device device, int64_t n, F f) {
  if (n == 0) return;
#ifdef __CUDACC__
  if (device == Device::cuda) {
    constexpr int kThreads = 256;
    const int64_t blocks = (n + kThreads - 1) / kThreads;
    map_kernel<<<unsigned(blocks < 65535 ? blocks : 65535), kThreads>>>(n, f);
    const cudaError_t error = cudaGetLastError();
    LSSM_CHECK(error == cudaSuccess, "map kernel: ", cudaGetErrorString(error));
    return;
  }
#endif
  LSSM_CHECK(device == Device::cpu, "map kernel: this build has no ", device_name(device),
             " backend");
  constexpr int64_t kGrain = 4096;  // items that are worth a thread
  if (n <= kGrain) {
    for (int64_t i = 0; i < n; ++i) f(i);
    return;
  }
  for_partitions(n, kGrain, [&f](int, int64_t begin, int64_t end) {
    const F local = f;  // a copy of its own, so that the compiler keeps the pointers in registers
    for (int64_t i = begin; i < end; ++i) local(i);
  });
}

}  // namespace lssm::kernels
