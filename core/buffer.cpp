// SPDX-License-Identifier: Apache-2.0
#include "core/buffer.h"

#include <algorithm>
#include <bit>

#include "core/check.h"

namespace lssm {
namespace {

constexpr size_t kSmallest = 512;  // bytes of size class 0

// Class c holds blocks of kSmallest * (8 + c % 8) / 8 * 2^(c / 8) bytes.
size_t class_bytes(int size_class) {
  return (kSmallest / 8 * size_t(8 + size_class % 8)) << (size_class / 8);
}

int size_class_of(size_t bytes) {
  if (bytes <= kSmallest) return 0;
  const int octave = std::bit_width((bytes - 1) / kSmallest) - 1;
  const size_t step = (kSmallest / 8) << octave;
  const int eighth = int((bytes + step - 1) / step) - 8;  // 0 … 8; 8 is the next octave's first
  return octave * 8 + eighth;
}

}  // namespace

Pool& Pool::of(Device device) {
  // Never destroyed: tensors in static storage may outlive any order of destruction.
  static Pool* const pools[] = {new Pool(Device::cpu), new Pool(Device::cuda)};
  return *pools[int(device)];
}

Buffer Pool::allocate(size_t bytes) {
  const int size_class = size_class_of(bytes);
  LSSM_CHECK(size_class < kSizeClasses, "pool: a tensor of ", bytes, " bytes is out of range");
  Buffer::Block* block = nullptr;
  if (exact_) {
    block = new_block(std::max<size_t>(bytes, 1), bytes);
  } else {
    std::vector<Buffer::Block*>& list = free_[size_t(size_class)];
    if (list.empty()) {
      list.push_back(new_block(class_bytes(size_class), bytes));
      list.reserve(8);  // so that returning blocks later does not allocate
    }
    block = list.back();
    list.pop_back();
  }
  block->references = 1;
  bytes_in_use_ += block->size;
  peak_bytes_ = std::max(peak_bytes_, bytes_in_use_);
  return Buffer(block);
}

void Pool::use_exact_blocks() {
  release_free();
  exact_ = true;
}

Buffer::Block* Pool::new_block(size_t size, size_t wanted) {
  void* memory = device_memory(device_).allocate(size);
  if (!memory) {
    release_free();
    memory = device_memory(device_).allocate(size);
  }
  LSSM_CHECK(memory, "out of memory on ", device_name(device_), ": wanted ", wanted, " bytes, ",
             device_memory(device_).free_bytes(), " are free; lssm uses ", bytes_in_use_);
  ++system_allocations_;
  return new Buffer::Block{memory, this, size, 0};
}

void Pool::delete_block(Buffer::Block* block) {
  device_memory(device_).release(block->bytes);
  delete block;
}

void Pool::release_free() {
  for (std::vector<Buffer::Block*>& list : free_) {
    for (Buffer::Block* block : list) delete_block(block);
    list.clear();
  }
}

void Pool::recycle(Buffer::Block* block) {
  bytes_in_use_ -= block->size;
  if (exact_) return delete_block(block);
  free_[size_t(size_class_of(block->size))].push_back(block);
}

}  // namespace lssm
