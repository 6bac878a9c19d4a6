// SPDX-License-Identifier: Apache-2.0
// What kernels may call. Values pass between threads inside the runtime only, which is compiled
// without ThreadSanitizer: accesses to its tables are not races of the kernel.
#pragma once

#include <atomic>
#include <bit>
#include <cmath>
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

enum class WarpOp { sync, shfl, shfl_up, shfl_down, shfl_xor, ballot, any, all };
enum class BlockOp { sync, count, all, any };

// Waits for the lanes of `mask`; returns what the operation gives the calling lane.
uint64_t warp_collective(WarpOp op, unsigned mask, uint64_t value, unsigned argument, int width,
                         Site site);
// Waits for all threads of the block that have not returned; combines their predicates.
int block_collective(BlockOp op, bool predicate, Site site);
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

// Replaces *address by f(*address) in one step and returns the old value.
template <class T, class F>
T atomic_update(T* address, F f) {
  std::atomic_ref<T> shared(*address);
  T old = shared.load(std::memory_order_relaxed);
  while (!shared.compare_exchange_weak(old, f(old), std::memory_order_relaxed)) {
  }
  return old;
}

}  // namespace coh

inline void __syncthreads(coh::Site site = coh::Site::current()) {
  coh::block_collective(coh::BlockOp::sync, true, site);
}
inline int __syncthreads_count(int predicate, coh::Site site = coh::Site::current()) {
  return coh::block_collective(coh::BlockOp::count, predicate, site);
}
inline int __syncthreads_and(int predicate, coh::Site site = coh::Site::current()) {
  return coh::block_collective(coh::BlockOp::all, predicate, site);
}
inline int __syncthreads_or(int predicate, coh::Site site = coh::Site::current()) {
  return coh::block_collective(coh::BlockOp::any, predicate, site);
}

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
inline unsigned __ballot_sync(unsigned mask, int predicate, coh::Site site = coh::Site::current()) {
  return unsigned(
      coh::warp_collective(coh::WarpOp::ballot, mask, predicate != 0, 0, warpSize, site));
}
inline int __any_sync(unsigned mask, int predicate, coh::Site site = coh::Site::current()) {
  return int(coh::warp_collective(coh::WarpOp::any, mask, predicate != 0, 0, warpSize, site));
}
inline int __all_sync(unsigned mask, int predicate, coh::Site site = coh::Site::current()) {
  return int(coh::warp_collective(coh::WarpOp::all, mask, predicate != 0, 0, warpSize, site));
}

// Atomics for the types that CUDA has them for; note that uint64_t, an unsigned long, is not one.
template <coh::OneOf<int, unsigned, unsigned long long, float, double> T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  return coh::atomic_update(address, [value](T old) { return T(old + value); });
}
template <coh::OneOf<int, unsigned, long long, unsigned long long> T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  return coh::atomic_update(address, [value](T old) { return old < value ? value : old; });
}
template <coh::OneOf<int, unsigned, long long, unsigned long long> T>
T atomicMin(T* address, std::type_identity_t<T> value) {
  return coh::atomic_update(address, [value](T old) { return value < old ? value : old; });
}
template <coh::OneOf<int, unsigned, unsigned long long, float> T>
T atomicExch(T* address, std::type_identity_t<T> value) {
  return coh::atomic_update(address, [value](T) { return value; });
}
template <coh::OneOf<int, unsigned, unsigned long long> T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  std::atomic_ref<T>(*address).compare_exchange_strong(expected, value, std::memory_order_relaxed);
  return expected;
}

template <class T>
T __ldg(const T* address) {
  return *address;
}

// Maths beyond <cmath>; sincosf and sincos come from the C library.
inline float rsqrtf(float x) noexcept { return 1 / sqrtf(x); }
inline double rsqrt(double x) noexcept { return 1 / std::sqrt(x); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline int __clz(int x) { return std::countl_zero(unsigned(x)); }
inline int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(unsigned(x)) + 1; }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned(uint64_t(a) * b >> 32); }
inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
