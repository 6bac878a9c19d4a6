// SPDX-License-Identifier: Apache-2.0
#include "test/autodiff/allocations.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

int64_t count = 0;

void* allocate(std::size_t bytes, std::size_t alignment) {
  ++count;
  const std::size_t size = bytes == 0 ? 1 : bytes;
  void* memory =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(size)
          : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

namespace lssm::testing {

int64_t allocations() { return count; }

}  // namespace lssm::testing

// The array forms end here too. The nothrow form does in the library, but not in
// AddressSanitizer's.
void* operator new(std::size_t bytes) { return allocate(bytes, 1); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return allocate(bytes, 1);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, std::size_t(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
