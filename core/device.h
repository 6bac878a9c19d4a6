// SPDX-License-Identifier: Apache-2.0
// Where numbers live, and the few operations on raw memory that every device provides.
#pragma once

#include <cstddef>
#include <string>

namespace lssm {

enum class Device { cpu, cuda };

const char* device_name(Device device);

// What a backend must offer before tensors can live on its device. All calls are ordered on the
// device's one stream; the copies to and from the host return when the bytes are there.
struct DeviceMemory {
  void* (*allocate)(size_t bytes);  // null when memory is exhausted
  void (*release)(void* pointer);
  void (*zero)(void* pointer, size_t bytes);
  void (*copy)(void* to, const void* from, size_t bytes);  // both on the device
  void (*copy_from_host)(void* to, const void* from, size_t bytes);
  void (*copy_to_host)(void* to, const void* from, size_t bytes);
};

// The memory operations of a device. Throws when this program has no backend for it.
const DeviceMemory& device_memory(Device device);

// Called once by a backend when it is loaded. The CPU is always there.
void register_device(Device device, const DeviceMemory* memory);

// "cpu", "cuda" or "auto" (CUDA where it is available, else the CPU). Throws for a device that this
// program cannot use.
Device parse_device(const std::string& name);

}  // namespace lssm
