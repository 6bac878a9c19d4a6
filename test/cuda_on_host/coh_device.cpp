// SPDX-License-Identifier: Apache-2.0
// Settings, errors, the properties of the device, and launches.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "coh_internal.h"

namespace coh {
namespace {

std::recursive_mutex mutex;
cudaError_t last_error = cudaSuccess;
cudaError_t sticky_error = cudaSuccess;

Schedule parse_schedule(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  Schedule schedule;
  char* end = nullptr;
  if (colon != std::string::npos) schedule.seed = std::strtoull(&text[colon + 1], &end, 10);
  const bool seeded = end && *end == 0 && end != &text[colon + 1];
  if (text == "forward") return schedule;
  schedule.order = text == "reverse"    ? Schedule::Order::reverse
                   : name == "random"   ? Schedule::Order::random
                   : name == "priority" ? Schedule::Order::priority
                                        : Schedule::Order::forward;
  if (schedule.order == Schedule::Order::forward || seeded != (text != "reverse"))
    fail("schedule \"%s\": expected forward, reverse, random:SEED or priority:SEED", text.c_str());
  return schedule;
}

Settings from_environment() {
  Settings s;
  if (const char* text = std::getenv("COH_SCHEDULE")) s.schedule = parse_schedule(text);
  if (const char* text = std::getenv("COH_LAZY")) s.lazy = std::string(text) != "0";
  if (const char* text = std::getenv("COH_MEMORY")) s.memory = std::strtoull(text, nullptr, 10);
  if (const char* text = std::getenv("COH_CAPABILITY")) s.capability = std::atoi(text);
  if (const char* text = std::getenv("COH_DEVICES")) s.device_present = std::string(text) != "0";
  if (!s.device_present) set_sticky(cudaErrorInsufficientDriver);  // the answer to every call
  if (const char* text = std::getenv("COH_LEAKS")) s.leaks_fail = std::string(text) == "fail";
  return s;
}

// After the destructors of all statics, which may own device memory.
[[gnu::destructor]] void report_leaks() {
  const int handles = open_streams();
  if (handles > 0) report("leak: %d streams and events", handles);
  const bool leaks = list_leaks() + size_t(handles) > 0;
  if (!leaks || !settings().leaks_fail) return;
  std::fflush(nullptr);
  _exit(1);
}

bool valid_shape(dim3 grid, dim3 block) {
  return block.x >= 1 && block.y >= 1 && block.z >= 1 && block.x <= kMaxThreads &&
         block.y <= kMaxThreads && block.z <= 64 &&
         uint64_t(block.x) * block.y * block.z <= kMaxThreads && grid.x >= 1 && grid.y >= 1 &&
         grid.z >= 1 && grid.x <= 0x7fffffffu && grid.y <= 65535 && grid.z <= 65535;
}

}  // namespace

Settings& settings() {
  static Settings s = from_environment();
  return s;
}

void set_schedule(const char* schedule) {
  Api api;
  finish_all_streams();
  settings().schedule = parse_schedule(schedule);
}
void set_lazy(bool lazy) {
  Api api;
  finish_all_streams();
  settings().lazy = lazy;
}
void set_memory(size_t bytes) {
  Api api;
  settings().memory = bytes;
}
void set_capability(int major, bool memory_pools) {
  Api api;
  settings().capability = major;
  settings().memory_pools = memory_pools;
}
void clear_error() {
  Api api;
  last_error = sticky_error = cudaSuccess;
}
Counters counters() { return mutable_counters(); }

void report(const char* format, ...) {
  va_list args;
  va_start(args, format);
  std::fputs("coh: ", stderr);
  std::vfprintf(stderr, format, args);
  std::fputc('\n', stderr);
  va_end(args);
}

void fail(const char* format, ...) {
  va_list args;
  va_start(args, format);
  std::fputs("coh: ", stderr);
  std::vfprintf(stderr, format, args);
  std::fputc('\n', stderr);
  std::abort();
}

void fail_launch(const Kernel& kernel, const char* format, ...) {
  va_list args;
  va_start(args, format);
  std::fprintf(stderr, "coh: %s: ", describe(kernel).c_str());
  std::vfprintf(stderr, format, args);
  std::fputc('\n', stderr);
  std::abort();
}

std::string describe(const Kernel& kernel) {
  // "… [with Params = {float*, int}; Args = …]", as g++ and clang write it.
  const std::string text = kernel.signature;
  const size_t begin = text.find("Params = "), end = text.find("Args = ");
  if (begin == std::string::npos || end == std::string::npos) return "kernel";
  return "kernel(" + text.substr(begin + 10, end - begin - 13) + ")";
}

Api::Api() {
  mutex.lock();
  settings();
  if (inside_kernel()) fail("a kernel called the runtime API");
}
Api::~Api() { mutex.unlock(); }

cudaError_t Api::done(cudaError_t error) {
  if (sticky_error != cudaSuccess) error = sticky_error;
  if (error != cudaSuccess) last_error = error;
  return error;
}

void set_sticky(cudaError_t error) { sticky_error = error; }
cudaError_t sticky() { return sticky_error; }

cudaError_t launch(const cudaLaunchConfig_t& config, Kernel kernel) {
  Api api;
  const dim3 grid = config.gridDim, block = config.blockDim;
  if (config.numAttrs != 0) {
    report("launch of %s: attributes are not supported", describe(kernel).c_str());
    return api.done(cudaErrorInvalidValue);
  }
  if (!valid_shape(grid, block)) {
    report("launch of %s: grid (%u,%u,%u) of blocks (%u,%u,%u) is not valid",
           describe(kernel).c_str(), grid.x, grid.y, grid.z, block.x, block.y, block.z);
    return api.done(cudaErrorInvalidConfiguration);
  }
  const size_t shared = config.dynamicSmemBytes;
  if (shared > kMaxShared) {
    report("launch of %s: %zu bytes of dynamic shared memory, %zu are allowed",
           describe(kernel).c_str(), shared, kMaxShared);
    return api.done(cudaErrorInvalidValue);
  }
  return api.done(submit(config.stream, [grid, block, shared, kernel = std::move(kernel)] {
    if (!check_arguments(kernel)) return set_sticky(cudaErrorIllegalAddress);
    {
      const DeviceAccess access;
      run_grid(kernel, grid, block, shared);
    }
    check_guards(kernel);
  }));
}

}  // namespace coh

using namespace coh;

cudaError_t cudaGetLastError() {
  Api api;
  const cudaError_t error = sticky_error != cudaSuccess ? sticky_error : last_error;
  last_error = cudaSuccess;
  return error;
}

namespace {

struct ErrorText {
  cudaError_t error;
  const char* text;
};
constexpr ErrorText kErrors[] = {
    {cudaSuccess, "no error"},
    {cudaErrorInvalidValue, "invalid argument"},
    {cudaErrorMemoryAllocation, "out of memory"},
    {cudaErrorInvalidConfiguration, "invalid configuration argument"},
    {cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"},
    {cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorNoDevice, "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "invalid resource handle"},
    {cudaErrorNotReady, "device not ready"},
    {cudaErrorIllegalAddress, "an illegal memory access was encountered"},
};

}  // namespace

const char* cudaGetErrorString(cudaError_t error) {
  for (const ErrorText& e : kErrors)
    if (e.error == error) return e.text;
  return "unrecognized error code";
}

// As the real runtime does without a driver, it leaves *count alone then.
cudaError_t cudaGetDeviceCount(int* count) {
  Api api;
  if (!settings().device_present) return api.done(cudaErrorInsufficientDriver);
  *count = 1;
  return api.done(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  Api api;
  if (device != 0) return api.done(cudaErrorInvalidDevice);
  cudaDeviceProp& p = *properties;
  p = {};
  std::snprintf(p.name, sizeof p.name, "CUDA on host");
  p.totalGlobalMem = settings().memory;
  p.major = settings().capability;
  p.multiProcessorCount = kMultiprocessors;
  p.l2CacheSize = 4 << 20;
  return api.done(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  Api api;
  if (device != 0) return api.done(cudaErrorInvalidDevice);
  *value = attribute == cudaDevAttrComputeCapabilityMajor ? settings().capability
           : attribute == cudaDevAttrMemoryPoolsSupported ? settings().memory_pools
                                                          : 0;
  return api.done(cudaSuccess);
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}

// Without a driver: success, and version 0.
cudaError_t cudaDriverGetVersion(int* version) {
  *version = settings().device_present ? 13000 : 0;
  return cudaSuccess;
}
