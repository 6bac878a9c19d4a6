// SPDX-License-Identifier: Apache-2.0
// Bytes on a device, reference-counted, recycled through a pool per device.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/device.h"

namespace lssm {

class Pool;

// A block of bytes that returns to its pool when the last Buffer handle goes. A handle is one
// pointer; copying shares. Handles belong to the thread that drives the tape: no locks.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer& other) : block_(other.block_) {
    if (block_) ++block_->references;
  }
  Buffer(Buffer&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Buffer& operator=(Buffer other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Buffer();

  explicit operator bool() const { return block_ != nullptr; }
  void* data() const { return block_ ? block_->bytes : nullptr; }
  bool unique() const { return block_ && block_->references == 1; }

 private:
  friend class Pool;
  struct Block {
    void* bytes;
    Pool* pool;
    size_t size;
    int64_t references;
  };
  explicit Buffer(Block* block) : block_(block) {}

  Block* block_ = nullptr;
};

// Keeps released blocks in lists by size class (eight classes to an octave, so at most an eighth is
// wasted) and hands them out again: after its first step a training loop asks the system for
// nothing.
class Pool {
 public:
  static Pool& of(Device device);

  // At least `bytes` bytes, not initialised. Out of memory throws, with what was wanted and in use.
  Buffer allocate(size_t bytes);

  // For tests under memory checkers: from now on each tensor has a block of exactly its bytes,
  // which goes back to the system with it. Overruns and numbers that nobody wrote then show.
  void use_exact_blocks();
  bool exact_blocks() const { return exact_; }

  size_t bytes_in_use() const { return bytes_in_use_; }
  size_t peak_bytes() const { return peak_bytes_; }
  int64_t system_allocations() const { return system_allocations_; }

 private:
  friend class Buffer;
  explicit Pool(Device device) : device_(device), free_(kSizeClasses) {}
  Buffer::Block* new_block(size_t size, size_t wanted);
  void delete_block(Buffer::Block* block);
  void recycle(Buffer::Block* block);
  // Gives the blocks that are not in use back to the system.
  void release_free();

  static constexpr int kSizeClasses = 8 * 48;
  Device device_;
  std::vector<std::vector<Buffer::Block*>> free_;
  size_t bytes_in_use_ = 0;
  size_t peak_bytes_ = 0;
  int64_t system_allocations_ = 0;
  bool exact_ = false;
};

inline Buffer::~Buffer() {
  if (block_ && --block_->references == 0) block_->pool->recycle(block_);
}

}  // namespace lssm
