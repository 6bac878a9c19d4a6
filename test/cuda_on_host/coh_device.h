// SPDX-License-Identifier: Apache-2.0
// What kernels may call. Values pass between threads inside the runtime only, which is compiled
// without ThreadSanitizer: accesses to its tables are not races of the kernel.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <source_location>
#include <type_traits>

#include "coh_types.h"

// Of the thread that runs. Not const: they change whenever another thread takes over.
extern uint3 threadIdx;
extern uint3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;
inline constexpr int warpSize = 32;

namespace coh {

using Site = std::source_location;

enum class WarpOp { sync, shfl, shfl_up, shfl_down, shfl_xor };

// Waits for the lanes of `mask`; returns what the operation gives the calling lane.
uint64_t warp_collective(WarpOp op, unsigned mask, uint64_t value, unsigned argument, int width,
                         Site site);
// Waits for all threads of the block that have not returned.
void block_barrier(Site site);
// The dynamic shared memory of the block, with exactly the bytes that the launch asked for.
void* dynamic_shared();

template <class T, class... Choices>
concept OneOf = (std::same_as<T, Choices> || ...);

// What CUDA shuffles, less the 16-bit types.
template <class T>
concept Shuffled =
    OneOf<T, int, unsigned, long, unsigned long, long long, unsigned long long, float, double>;

template <class T>
T shuffle(WarpOp op, unsigned mask, T value, unsigned argument, int width, Site site) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const uint64_t bits = std::bit_cast<Bits>(value);
  return std::bit_cast<T>(Bits(warp_collective(op, mask, bits, argument, width, site)));
}

}  // namespace coh

inline void __syncthreads(coh::Site site = coh::Site::current()) { coh::block_barrier(site); }

inline void __syncwarp(unsigned mask = 0xffffffffu, coh::Site site = coh::Site::current()) {
  coh::warp_collective(coh::WarpOp::sync, mask, 0, 0, warpSize, site);
}
template <coh::Shuffled T>
T __shfl_sync(unsigned mask, T value, int lane, int width = warpSize,
              coh::Site site = coh::Site::current()) {
  return coh::shuffle(coh::WarpOp::shfl, mask, value, unsigned(lane), width, site);
}
template <coh::Shuffled T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                 coh::Site site = coh::Site::current()) {
  return coh::shuffle(coh::WarpOp::shfl_up, mask, value, delta, width, site);
}
template <coh::Shuffled T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                   coh::Site site = coh::Site::current()) {
  return coh::shuffle(coh::WarpOp::shfl_down, mask, value, delta, width, site);
}
template <coh::Shuffled T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize,
                  coh::Site site = coh::Site::current()) {
  return coh::shuffle(coh::WarpOp::shfl_xor, mask, value, unsigned(lane_mask), width, site);
}
template <class T>
T __ldg(const T* address) {
  return *address;
}
