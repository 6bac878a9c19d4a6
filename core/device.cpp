// SPDX-License-Identifier: Apache-2.0
#include "core/device.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/check.h"

namespace lssm {
namespace {

constexpr size_t kAlignment = 64;  // one cache line, and the widest SIMD load

void* cpu_allocate(size_t bytes) {
  void* pointer = nullptr;
  return posix_memalign(&pointer, kAlignment, bytes) == 0 ? pointer : nullptr;
}
void cpu_zero(void* pointer, size_t bytes) { std::memset(pointer, 0, bytes); }
void cpu_copy(void* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}
size_t cpu_free_bytes() {
  return size_t(sysconf(_SC_AVPHYS_PAGES)) * size_t(sysconf(_SC_PAGE_SIZE));
}

constexpr DeviceMemory kCpu = {&cpu_allocate, &std::free, &cpu_zero,      &cpu_copy,
                               &cpu_copy,     &cpu_copy,  &cpu_free_bytes};

const DeviceMemory* backends[2] = {&kCpu, nullptr};

// The reason why there is no CUDA, or "".
std::string try_to_load_cuda() {
  if (backends[int(Device::cuda)]) return "";
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto library = program.parent_path() / "liblssm_cuda.so";
  if (error || !std::filesystem::exists(library, error)) return "this build has no CUDA backend";
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return std::string("the CUDA backend cannot be loaded: ") + dlerror();
  const auto load = reinterpret_cast<const char* (*)()>(dlsym(handle, "lssm_load_cuda_backend"));
  if (!load) return std::string("the CUDA backend is of another version: ") + dlerror();
  const char* reason = load();
  return reason ? reason : "";
}

}  // namespace

const char* device_name(Device device) { return device == Device::cpu ? "cpu" : "cuda"; }

const DeviceMemory& device_memory(Device device) {
  const DeviceMemory* memory = backends[int(device)];
  LSSM_CHECK(memory, "device: ", device_name(device), " was not loaded");
  return *memory;
}

void register_device(Device device, const DeviceMemory* memory) { backends[int(device)] = memory; }

const std::string& load_cuda() {
  static const std::string reason = try_to_load_cuda();
  return reason;
}

Device parse_device(const std::string& name) {
  LSSM_CHECK(name == "cpu" || name == "cuda" || name == "auto", "device: got \"", name,
             "\", expected cpu, cuda or auto");
  if (name == "cpu" || (name == "auto" && !load_cuda().empty())) return Device::cpu;
  LSSM_CHECK(load_cuda().empty(), "/device: cuda cannot be used here: ", load_cuda());
  return Device::cuda;
}

}  // namespace lssm
