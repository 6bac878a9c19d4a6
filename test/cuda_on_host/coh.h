// SPDX-License-Identifier: Apache-2.0
// What tests ask of the emulation itself; the real runtime has no such thing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace coh {

// As COH_SCHEDULE, COH_LAZY, COH_MEMORY and COH_CAPABILITY in the environment. Pending work is
// finished first.
void set_schedule(const char* schedule);
void set_lazy(bool lazy);
void set_memory(size_t bytes);
void set_capability(int major, bool memory_pools);

// Forgets an illegal address, as only a new process does with CUDA.
void clear_error();

struct Counters {
  uint64_t launches = 0, blocks = 0, switches = 0;    // since the program started
  size_t allocations = 0, bytes = 0, peak_bytes = 0;  // on the device
};
Counters counters();

}  // namespace coh
