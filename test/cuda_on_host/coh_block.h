// SPDX-License-Identifier: Apache-2.0
// The state of the block that runs: coh_schedule.cpp switches between its threads,
// coh_collectives.cpp makes them wait for each other.
#pragma once

#include "coh_internal.h"
#include "coh_switch.h"

namespace coh {

constexpr int kMaxWarps = kMaxThreads / kWarpSize;

struct Fiber {
  Context context;
  const void* stack = nullptr;  // the lowest address
  size_t stack_bytes = 0;
  void* asan_stack = nullptr;  // AddressSanitizer's own
  void* tsan = nullptr;        // ThreadSanitizer's idea of this fiber
};

enum class Wait { none, warp, block };

// One CUDA thread.
struct Lane {
  Fiber fiber;
  uint3 index;
  unsigned id;  // in the block
  Wait wait;
  Site site;  // where it waits
  // Of the warp operation that it waits in; afterwards `value` is the result.
  uint64_t value;
  unsigned argument;
  int width;
};

// Lanes of one warp that meet in one operation.
struct Meeting {
  WarpOp op;
  unsigned mask, arrived;
  Site site;
};

// Masks have one bit a lane.
struct Warp {
  unsigned running, ready, in_barrier;  // running: not returned yet
  int meetings;
  Meeting meeting[kWarpSize];
  // ThreadSanitizer's synchronisation objects. Two for each set of lanes, used in turn: a lane that
  // already waits in the next __syncwarp must not order what slow lanes do after the last one.
  unsigned turn[kWarpSize];
  char token[kWarpSize][2];
};

struct Barrier {
  unsigned waiting, turn;
  Site site;
  char token[2];
};

// Plain arrays throughout: the linker may pick instrumented copies of std templates, whose accesses
// would show up in ThreadSanitizer's reports about kernels.
struct Block {
  const Kernel* kernel;
  Lane lanes[kMaxThreads];
  Lane* current;  // null outside kernels
  Warp warps[kMaxWarps];
  Barrier barrier;
  int warp_count;
  unsigned running;      // threads that have not returned
  unsigned ready_warps;  // bit w: warp w has a ready lane
  void* dynamic_shared;
  Counters counters;
};
extern Block block;

// Gives the processor to the next thread; returns when the caller's turn comes again.
void run_next();
// The thread has returned from the kernel: others need not wait for it, or must not.
void leave();
[[noreturn]] void fail_deadlock();

inline int lowest(unsigned mask) { return __builtin_ctz(mask); }
inline int highest(unsigned mask) { return 31 - __builtin_clz(mask); }

}  // namespace coh
