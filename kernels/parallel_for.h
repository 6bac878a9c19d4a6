// SPDX-License-Identifier: Apache-2.0
// The loop of every map kernel. A .cu file that uses it serves both devices from one functor: built
// with LSSM_CUDA_BACKEND the loop is a launch, else it runs on the CPU. Functors live in anonymous
// namespaces, so the two builds never emit one inline function with two bodies.
#pragma once

#include <cstdint>

#include "core/device.h"
#include "core/parallel.h"
#include "core/small.h"

#ifdef LSSM_CUDA_BACKEND
#include "kernels/cuda.h"
#endif

namespace lssm::kernels {

#ifdef LSSM_CUDA_BACKEND

namespace {

template <class F>
__global__ void map_kernel(int64_t n, F f) {
  const int64_t stride = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) f(i);
}

// One item of a flat index i = row * cols + col.
template <class F>
struct FlatIndex {
  int64_t cols;
  F f;
  __device__ void operator()(int64_t i) const { f(i / cols, i % cols); }
};

}  // namespace

// f(i) for i = 0 … n - 1, in any order. Errors name the caller.
template <class F>
void parallel_for(Device, int64_t n, F f, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  constexpr int kThreads = 256;
  constexpr int64_t kMaxBlocks = 65536;  // the loop in the kernel does the rest
  const int64_t blocks = (n + kThreads - 1) / kThreads;
  launch({blocks < kMaxBlocks ? blocks : kMaxBlocks, kThreads, file, line}, map_kernel<F>, n, f);
}

// f(row, col) for all rows and columns, in any order.
template <class F>
void parallel_for_rows(Device device, int64_t rows, int64_t cols, F f,
                       const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  parallel_for(device, rows * cols, FlatIndex<F>{cols, f}, file, line);
}

#else

template <class F>
void parallel_for(Device, int64_t n, F f) {
  constexpr int64_t kGrain = 4096;  // items that are worth a thread
  for_partitions(n, kGrain, [&f](int, int64_t begin, int64_t end) {
    const F local = f;  // a copy of its own, so that the compiler keeps the pointers in registers
#pragma GCC ivdep  // an output is an input at the same place, or apart from it
    for (int64_t i = begin; i < end; ++i) local(i);
  });
}

template <class F>
void parallel_for_rows(Device, int64_t rows, int64_t cols, F f) {
  constexpr int64_t kGrain = 128;  // rows that are worth a thread
  for_partitions(rows, kGrain, [&f, cols](int, int64_t begin, int64_t end) {
    const F local = f;
    for (int64_t row = begin; row < end; ++row) {
#pragma GCC ivdep
      for (int64_t col = 0; col < cols; ++col) local(row, col);
    }
  });
}

#endif

}  // namespace lssm::kernels
