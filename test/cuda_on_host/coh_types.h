// SPDX-License-Identifier: Apache-2.0
// Keywords and built-in types of CUDA C++.
#pragma once

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
// One section holds all shared variables, so that the runtime can fill it before each block.
#define __shared__ static __attribute__((section("coh_shared")))

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
