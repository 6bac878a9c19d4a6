// SPDX-License-Identifier: Apache-2.0
// What the files of the runtime share. One host thread at a time is inside (Api holds a lock).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "coh.h"
#include "coh_device.h"
#include "coh_host.h"

// The sanitizers that the program was linked with; null without. The runtime itself is compiled
// without any: fiber switches must be, for ThreadSanitizer, and its tables are not the kernels'.
extern "C" {
[[gnu::weak]] void __asan_poison_memory_region(const volatile void* address, size_t bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* address, size_t bytes);
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** save, const void* bottom, size_t bytes);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* saved, const void** bottom, size_t* bytes);
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
[[gnu::weak]] void __tsan_acquire(void* address);
[[gnu::weak]] void __tsan_release(void* address);
}

namespace coh {

constexpr int kWarpSize = 32;
constexpr int kMaxThreads = 1024;        // of a block
constexpr size_t kMaxShared = 48 << 10;  // bytes of a block
constexpr int kMultiprocessors = 4;
constexpr unsigned char kFill = 0xff;  // makes every float and double a NaN
constexpr size_t kGuard = 64;          // bytes after a buffer that nobody may touch

inline void poison(const void* p, size_t bytes) {
  if (__asan_poison_memory_region) __asan_poison_memory_region(p, bytes);
}
inline void unpoison(const void* p, size_t bytes) {
  if (__asan_unpoison_memory_region) __asan_unpoison_memory_region(p, bytes);
}

// ---- Settings
struct Schedule {
  enum class Order { forward, reverse, random, priority };
  Order order = Order::forward;
  uint64_t seed = 0;
};
struct Settings {
  Schedule schedule;
  bool lazy = false;
  bool device_present = true;
  int capability = 9;  // its major number
  bool memory_pools = true;
  bool leaks_fail = false;
  size_t memory = size_t(2) << 30;
};
Settings& settings();  // from the environment, when first asked

// xorshift64*: small, and the same everywhere.
struct Random {
  uint64_t state;
  explicit Random(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15u + 0x1234567u) { next(); }
  uint64_t next() {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (state * 0x2545f4914f6cdd1du) >> 32;
  }
  unsigned below(unsigned n) { return unsigned(next() * n >> 32); }
};

// ---- Messages and errors
// Prints a mistake of the host; the caller returns the error code.
[[gnu::format(printf, 1, 2)]] void report(const char* format, ...);
// Ends the program at a mistake in a kernel.
[[noreturn, gnu::format(printf, 1, 2)]] void fail(const char* format, ...);
// The same where only the kernel is known.
[[noreturn, gnu::format(printf, 2, 3)]] void fail_launch(const Kernel& kernel, const char* format,
                                                         ...);
// "kernel(float*, int)": types are all that a function pointer tells.
std::string describe(const Kernel& kernel);

// One call of the runtime API: holds the lock, keeps the error that cudaGetLastError returns.
class Api {
 public:
  Api();
  ~Api();
  Api(const Api&) = delete;
  cudaError_t done(cudaError_t error);
};
// An error that stays, as CUDA's illegal addresses do: nothing runs on the device any more.
void set_sticky(cudaError_t error);
cudaError_t sticky();

// ---- Streams (coh_stream.cpp)
// Runs `work` in the order of the stream: now, or at synchronisation with lazy streams.
cudaError_t submit(cudaStream_t stream, std::function<void()> work);
void finish_stream(cudaStream_t stream);
void finish_all_streams();
int open_streams();  // streams and events that were not destroyed

// ---- Memory (coh_memory.cpp)
enum class Place { device, freed, host, unmapped };
Place place_of(const void* p);
// Whether [p, p + bytes) lies within one live device allocation.
bool on_device(const void* p, size_t bytes);
// Checks the arguments of a launch: false, with a report, for pointers that no kernel may use.
bool check_arguments(const Kernel& kernel);
// Looks for writes past the end of the buffers that the kernel got.
void check_guards(const Kernel& kernel);
// The guard behind a buffer, of kGuard bytes.
void set_guard(void* end);
bool guard_intact(const void* end);
// While it lives, AddressSanitizer allows accesses to all device memory, or to the allocation that
// holds `p`.
class DeviceAccess {
 public:
  explicit DeviceAccess(const void* p = nullptr);
  ~DeviceAccess();
  DeviceAccess(const DeviceAccess&) = delete;

 private:
  void set(bool poisoned) const;
  const void* p_;
};
size_t list_leaks();  // prints what was not freed; returns how much

// ---- Blocks (coh_schedule.cpp)
void run_grid(const Kernel& kernel, dim3 grid, dim3 block, size_t shared_bytes);
bool inside_kernel();
Counters& mutable_counters();

}  // namespace coh
