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
  size_t (*free_bytes)();  // not yet allocated by anyone
};

// The memory operations of a device. Throws, and says why, when this program cannot use it.
const DeviceMemory& device_memory(Device device);

// Called by a backend when it is loaded. The CPU is always there.
void register_device(Device device, const DeviceMemory* memory);

// Loads the CUDA backend (a library beside the program) if that was not tried before. Returns ""
// when tensors can live on the GPU, else why they cannot.
const std::string& load_cuda();

// "cpu", "cuda" or "auto" (CUDA where it can be used, else the CPU). Throws for a device that this
// program cannot use.
Device parse_device(const std::string& name);

}  // namespace lssm
