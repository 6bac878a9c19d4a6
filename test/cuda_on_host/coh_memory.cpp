// SPDX-License-Identifier: Apache-2.0
// Device memory: a registry of allocations, copies, and the checks of pointers given to kernels.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>

#include "coh_internal.h"

namespace coh {
namespace {

constexpr size_t kAlignment = 256;
constexpr size_t kQuarantine =
    32 << 20;  // bytes of freed memory that are kept, to recognise its use

// Never destroyed: statics of a test may free memory as late as they like.
struct Registry {
  std::map<const char*, size_t> device;  // first byte -> bytes
  std::map<const char*, size_t> freed;
  std::deque<const char*> freed_order;
  size_t freed_bytes = 0;
  std::map<const char*, size_t> pinned;  // on the host
};
Registry& registry() {
  static Registry* r = new Registry;
  return *r;
}

using Entry = std::map<const char*, size_t>::iterator;

// The allocation that contains [p, p + bytes), or end().
Entry find(std::map<const char*, size_t>& map, const void* p, size_t bytes) {
  const char* first = static_cast<const char*>(p);
  auto it = map.upper_bound(first);
  if (it == map.begin()) return map.end();
  --it;
  return size_t(first - it->first) + bytes <= it->second ? it : map.end();
}

char* new_bytes(size_t bytes) {
  const size_t total = (bytes + kGuard + kAlignment - 1) / kAlignment * kAlignment;
  char* p = static_cast<char*>(std::aligned_alloc(kAlignment, total));
  if (!p) return nullptr;
  std::memset(p, kFill, bytes);
  set_guard(p + bytes);
  return p;
}

// The oldest freed allocations go back to the system.
void shrink_quarantine(size_t keep) {
  Registry& r = registry();
  while (r.freed_bytes > keep) {
    const auto it = r.freed.find(r.freed_order.front());
    r.freed_order.pop_front();
    r.freed_bytes -= it->second;
    unpoison(it->first, it->second + kGuard);
    std::free(const_cast<char*>(it->first));
    r.freed.erase(it);
  }
}

cudaError_t allocate(void** pointer, size_t bytes) {
  Counters& c = mutable_counters();
  *pointer = nullptr;
  if (bytes == 0 || sticky() != cudaSuccess) return sticky();
  if (bytes > settings().memory || c.bytes > settings().memory - bytes)
    return cudaErrorMemoryAllocation;
  char* p = new_bytes(bytes);
  if (!p) return cudaErrorMemoryAllocation;
  registry().device[p] = bytes;
  poison(p, bytes);
  ++c.allocations;
  c.bytes += bytes;
  c.peak_bytes = std::max(c.peak_bytes, c.bytes);
  *pointer = p;
  return cudaSuccess;
}

cudaError_t release(void* pointer, const char* function) {
  Registry& r = registry();
  const auto it = r.device.find(static_cast<char*>(pointer));
  if (it == r.device.end()) {
    report("%s: %p is not device memory%s", function, pointer,
           place_of(pointer) == Place::freed ? ": it was freed before" : "");
    return cudaErrorInvalidValue;
  }
  const auto [p, bytes] = *it;
  if (!guard_intact(p + bytes)) {
    report("%s: something wrote past the end of %p, %zu bytes", function, pointer, bytes);
    return cudaErrorIllegalAddress;
  }
  unpoison(p, bytes);
  std::memset(pointer, kFill, bytes);
  poison(p, bytes);
  r.device.erase(it);
  r.freed[p] = bytes;
  r.freed_order.push_back(p);
  r.freed_bytes += bytes;
  shrink_quarantine(kQuarantine);
  Counters& c = mutable_counters();
  --c.allocations;
  c.bytes -= bytes;
  return cudaSuccess;
}

// What an address is, in words.
const char* describe(Place place) {
  switch (place) {
    case Place::device:
      return "device memory, but too short";
    case Place::freed:
      return "freed device memory";
    case Place::host:
      return "host memory";
    default:
      return "no memory at all";
  }
}

// One end of a copy: must it be on the device, and is it?
bool check_end(const void* p, size_t bytes, bool device, const char* what) {
  if (device ? on_device(p, bytes) : place_of(p) == Place::host || place_of(p) == Place::unmapped) {
    return true;
  }
  report("%s %p, %zu bytes: expected %s memory, this is %s", what, p, bytes,
         device ? "device" : "host", describe(place_of(p)));
  return false;
}

cudaError_t copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t stream) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (bytes == 0) return cudaSuccess;
  const bool guess = kind == cudaMemcpyDefault;
  const bool to_device = guess ? place_of(to) == Place::device
                               : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = guess
                               ? place_of(from) == Place::device
                               : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (!check_end(to, bytes, to_device, "copy to") ||
      !check_end(from, bytes, from_device, "copy from"))
    return cudaErrorInvalidValue;
  return submit(stream, [=] {
    // Freed between the call and now? The stream's order then was wrong.
    if (!check_end(to, bytes, to_device, "copy to") ||
        !check_end(from, bytes, from_device, "copy from"))
      return set_sticky(cudaErrorIllegalAddress);
    const DeviceAccess access_to(to), access_from(from);
    std::memmove(to, from, bytes);
  });
}

cudaError_t fill(void* to, int value, size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  if (!check_end(to, bytes, true, "memset of")) return cudaErrorInvalidValue;
  return submit(stream, [=] {
    if (!check_end(to, bytes, true, "memset of")) return set_sticky(cudaErrorIllegalAddress);
    const DeviceAccess access(to);
    std::memset(to, value, bytes);
  });
}

// Whether a value that need not be a pointer points into memory of the host. The low part of the
// address space is left out: small integers, and pairs of them, would often look like that.
bool looks_like_host_pointer(uintptr_t value) {
  constexpr uintptr_t kLow = sizeof(void*) == 8 ? uintptr_t(1) << 46 : 0;
  return value >= kLow && place_of(reinterpret_cast<const void*>(value)) == Place::host;
}

// Calls f(pointer, surely a pointer) for all that may be one, also within structs.
template <class F>
void for_pointers(const Kernel& kernel, F f) {
  for (const Kernel::Argument& argument : kernel.arguments) {
    for (size_t i = 0; i + sizeof(void*) <= argument.bytes; i += sizeof(void*)) {
      uintptr_t value;
      std::memcpy(&value, static_cast<const char*>(argument.data) + i, sizeof value);
      if (value != 0) f(value, argument.is_pointer);
    }
  }
}

}  // namespace

Place place_of(const void* p) {
  Registry& r = registry();
  if (find(r.device, p, 0) != r.device.end()) return Place::device;
  if (find(r.freed, p, 0) != r.freed.end()) return Place::freed;
  const uintptr_t page = uintptr_t(sysconf(_SC_PAGESIZE));
  unsigned char resident;
  void* start = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(p) / page * page);
  return mincore(start, 1, &resident) == 0 ? Place::host : Place::unmapped;
}

bool on_device(const void* p, size_t bytes) {
  return find(registry().device, p, bytes) != registry().device.end();
}

bool check_arguments(const Kernel& kernel) {
  bool good = true;
  for_pointers(kernel, [&](uintptr_t value, bool surely) {
    const void* p = reinterpret_cast<const void*>(value);
    const Place place = place_of(p);
    if (place == Place::device) return;
    if (!surely && place != Place::freed && !looks_like_host_pointer(value)) return;
    report("launch of %s: argument %p points to %s", coh::describe(kernel).c_str(), p,
           describe(place));
    good = false;
  });
  return good;
}

void check_guards(const Kernel& kernel) {
  Registry& r = registry();
  for_pointers(kernel, [&](uintptr_t value, bool) {
    const auto it = find(r.device, reinterpret_cast<const void*>(value), 0);
    if (it != r.device.end() && !guard_intact(it->first + it->second))
      fail_launch(kernel, "wrote past the end of %p, %zu bytes",
                  static_cast<const void*>(it->first), it->second);
  });
}

// NaN for float and double, and its own for each buffer: a NaN that a kernel read past one buffer
// and wrote past another one must show.
static uint64_t guard_word(const void* end) {
  const uint64_t own = (reinterpret_cast<uintptr_t>(end) * 0x9e3779b97f4a7c15u) >> 32;
  return 0x7fff00007fff0000u | (own & 0xffffu) | (own & 0xffff0000u) << 16;
}

void set_guard(void* end) {
  const uint64_t word = guard_word(end);
  for (size_t i = 0; i < kGuard; i += sizeof word)
    std::memcpy(static_cast<char*>(end) + i, &word, sizeof word);
  poison(end, kGuard);
}

bool guard_intact(const void* end) {
  unpoison(end, kGuard);
  const uint64_t word = guard_word(end);
  bool intact = true;
  for (size_t i = 0; i < kGuard; i += sizeof word)
    intact &= std::memcmp(static_cast<const char*>(end) + i, &word, sizeof word) == 0;
  poison(end, kGuard);
  return intact;
}

DeviceAccess::DeviceAccess(const void* p) : p_(p) { set(false); }
DeviceAccess::~DeviceAccess() { set(true); }

void DeviceAccess::set(bool poisoned) const {
  if (!__asan_poison_memory_region) return;
  auto& map = registry().device;
  const Entry one = p_ ? find(map, p_, 0) : map.end();
  for (Entry it = p_ ? one : map.begin(); it != map.end(); ++it) {
    poisoned ? poison(it->first, it->second) : unpoison(it->first, it->second);
    if (p_) break;
  }
}

size_t list_leaks() {
  const Registry& r = registry();
  for (const auto& [p, bytes] : r.device)
    report("leak: %zu bytes of device memory at %p", bytes, static_cast<const void*>(p));
  for (const auto& [p, bytes] : r.pinned)
    report("leak: %zu bytes of pinned memory at %p", bytes, static_cast<const void*>(p));
  return r.device.size() + r.pinned.size();
}

}  // namespace coh

using namespace coh;

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  Api api;
  finish_all_streams();
  return api.done(allocate(pointer, bytes));
}

// Stricter than CUDA: memory that a lazy stream has yet to free is not there, also for this stream.
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t) {
  Api api;
  return api.done(allocate(pointer, bytes));
}

cudaError_t cudaFree(void* pointer) {
  Api api;
  finish_all_streams();
  return api.done(pointer ? release(pointer, "cudaFree") : cudaSuccess);
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  Api api;
  if (!pointer) return api.done(cudaSuccess);
  if (place_of(pointer) != Place::device) return api.done(release(pointer, "cudaFreeAsync"));
  return api.done(submit(stream, [pointer] {
    if (release(pointer, "cudaFreeAsync") != cudaSuccess) set_sticky(cudaErrorIllegalAddress);
  }));
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  Api api;
  char* p = new_bytes(bytes);
  registry().pinned[p] = bytes;
  *pointer = p;
  return api.done(cudaSuccess);
}

cudaError_t cudaFreeHost(void* pointer) {
  Api api;
  if (!pointer) return api.done(cudaSuccess);
  finish_all_streams();
  if (registry().pinned.erase(static_cast<char*>(pointer)) == 0) {
    report("cudaFreeHost: %p is not pinned memory", pointer);
    return api.done(cudaErrorInvalidValue);
  }
  std::free(pointer);
  return api.done(cudaSuccess);
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  Api api;
  *total_bytes = settings().memory;
  *free_bytes = settings().memory - mutable_counters().bytes;
  return api.done(cudaSuccess);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  Api api;
  return api.done(copy(to, from, bytes, kind, stream));
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  Api api;
  const cudaError_t error = copy(to, from, bytes, kind, nullptr);
  // The host waits unless both ends are on the device.
  if (kind != cudaMemcpyDeviceToDevice) finish_stream(nullptr);
  return api.done(error);
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  Api api;
  return api.done(fill(to, value, bytes, stream));
}

cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return cudaMemsetAsync(to, value, bytes, nullptr);
}
