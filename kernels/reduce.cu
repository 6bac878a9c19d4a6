// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda.h"
#include "kernels/reduce.h"

namespace lssm::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMaxBlocks = 256;

int64_t blocks_for(int64_t n) {
  const int64_t blocks = (n + kThreads - 1) / kThreads;
  return blocks < 1 ? 1 : blocks > kMaxBlocks ? kMaxBlocks : blocks;
}

// f over the block by a fixed tree; every thread gets the result. Once per kernel.
template <class T, class F>
__device__ T reduce_block(T x, F f) {
  __shared__ T warps[kThreads / kWarp];
  x = reduce_warp(x, f);
  if (threadIdx.x % kWarp == 0) warps[threadIdx.x / kWarp] = x;
  __syncthreads();
  T total = warps[0];
  for (int i = 1; i < kThreads / kWarp; ++i) total = f(total, warps[i]);
  return total;
}

// partials[block] = sum of the squares of the numbers that the block walks over, in f64.
template <class T>
__global__ void sum_of_squares_blocks(const T* x, int64_t n, double* partials) {
  double sum = 0;
  const int64_t stride = int64_t(gridDim.x) * kThreads;
  for (int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x; i < n; i += stride) {
    sum += double(x[i]) * double(x[i]);
  }
  sum = reduce_block(sum, Plus());
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

struct Smaller {
  __device__ long long operator()(long long a, long long b) const { return a < b ? a : b; }
};

// partials[block] = the first position whose number is not finite, among those the block walks
// over; n if there is none.
template <class T>
__global__ void first_not_finite_blocks(const T* x, int64_t n, long long* partials) {
  long long first = n;
  const int64_t stride = int64_t(gridDim.x) * kThreads;
  for (int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x; i < n; i += stride) {
    // x - x is 0 for finite numbers alone
    if (!(x[i] - x[i] == T(0)) && i < first) first = i;
  }
  first = reduce_block(first, Smaller());
  if (threadIdx.x == 0) partials[blockIdx.x] = first;
}

double sum_of_squares_cuda(const Tensor& x) {
  const int64_t blocks = blocks_for(x.numel());
  Tensor partials({blocks}, DType::f64, Device::cuda);
  with_real(x.dtype(), [&]<class T>(T) {
    launch({blocks, kThreads}, sum_of_squares_blocks<T>, x.data<T>(), x.numel(),
           partials.data<double>());
  });
  double total = 0;
  for (const double partial : partials.to_host()) total += partial;
  return total;
}

int64_t first_not_finite_cuda(const Tensor& x) {
  const int64_t blocks = blocks_for(x.numel());
  Tensor partials({blocks}, DType::f64, Device::cuda);  // as room for 8-byte integers
  with_real(x.dtype(), [&]<class T>(T) {
    launch({blocks, kThreads}, first_not_finite_blocks<T>, x.data<T>(), x.numel(),
           static_cast<long long*>(partials.raw()));
  });
  const Tensor host = partials.to(Device::cpu);
  long long first = x.numel();
  for (int64_t i = 0; i < blocks; ++i) {
    const long long block_first = static_cast<const long long*>(host.raw())[i];
    first = block_first < first ? block_first : first;
  }
  return first == x.numel() ? -1 : first;
}

}  // namespace

void register_reduce() {
  sum_of_squares.cuda = &sum_of_squares_cuda;
  first_not_finite.cuda = &first_not_finite_cuda;
}

}  // namespace lssm::kernels
