// SPDX-License-Identifier: Apache-2.0
#include "core/device.h"

#include <cstdlib>
#include <cstring>

#include "core/check.h"

namespace lssm {
namespace {

constexpr size_t kAlignment = 64;  // one cache line, and the widest SIMD load

void* cpu_allocate(size_t bytes) {
  return std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
}
void cpu_zero(void* pointer, size_t bytes) { std::memset(pointer, 0, bytes); }
void cpu_copy(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

constexpr DeviceMemory kCpu = {&cpu_allocate, &std::free, &cpu_zero,
                               &cpu_copy,     &cpu_copy,  &cpu_copy};

const DeviceMemory* backends[2] = {&kCpu, nullptr};

}  // namespace

const char* device_name(Device device) { return device == Device::cpu ? "cpu" : "cuda"; }

const DeviceMemory& device_memory(Device device) {
  const DeviceMemory* memory = backends[int(device)];
  LSSM_CHECK(memory, "device: this build has no ", device_name(device), " backend");
  return *memory;
}

void register_device(Device device, const DeviceMemory* memory) { backends[int(device)] = memory; }

Device parse_device(const std::string& name) {
  if (name == "auto") return backends[int(Device::cuda)] ? Device::cuda : Device::cpu;
  LSSM_CHECK(name == "cpu" || name == "cuda", "device: got \"", name,
             "\", expected cpu, cuda or auto");
  const Device device = name == "cpu" ? Device::cpu : Device::cuda;
  device_memory(device);
  return device;
}

}  // namespace lssm
