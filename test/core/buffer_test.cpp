// SPDX-License-Identifier: Apache-2.0
#include "core/buffer.h"

#include <cstdint>
#include <cstring>

#include "core/check.h"
#include "test/test.h"

namespace lssm {
namespace {

Pool& pool() { return Pool::of(Device::cpu); }

// What the pool sets aside for a tensor of this size.
size_t set_aside(size_t bytes) {
  const size_t before = pool().bytes_in_use();
  const Buffer buffer = pool().allocate(bytes);
  return pool().bytes_in_use() - before;
}

TEST_CASE("a released block is handed out again, for any size of its class", "[buffer]") {
  const size_t bytes = 1 << 20;
  const size_t step = bytes / 8;
  void* first = pool().allocate(bytes).data();
  const int64_t system = pool().system_allocations();
  CHECK(pool().allocate(bytes).data() == first);
  CHECK(pool().allocate(bytes - 1).data() == first);
  CHECK(pool().allocate(bytes - step / 2 + 1).data() == first);  // below 2^20 classes are 2^16 wide
  CHECK(pool().system_allocations() == system);
  CHECK(pool().allocate(bytes + 1).data() != first);
  CHECK(pool().system_allocations() == system + 1);
}

TEST_CASE("two live blocks never overlap", "[buffer]") {
  std::vector<Buffer> live;
  for (size_t i = 0; i < 40; ++i) {
    live.push_back(pool().allocate(i * 97));
    if (i > 0) std::memset(live[i].data(), int(i), i * 97);
  }
  live.erase(live.begin() + 10, live.begin() + 20);
  for (size_t i = 100; i < 110; ++i) {
    live.push_back(pool().allocate(1000));
    std::memset(live.back().data(), int(i), 1000);
  }
  for (size_t i = 1; i < 40; ++i) {
    if (i >= 10 && i < 20) continue;
    const auto* bytes = static_cast<unsigned char*>(live[i < 10 ? i : i - 10].data());
    for (size_t k = 0; k < i * 97; ++k) REQUIRE(bytes[k] == i);
  }
}

TEST_CASE("bytes in use go up and down, the peak stays", "[buffer]") {
  const size_t before = pool().bytes_in_use();
  size_t top = 0;
  {
    const Buffer a = pool().allocate(1 << 22), b = pool().allocate(1 << 22);
    top = pool().bytes_in_use();
    CHECK(top == before + 2 * (size_t(1) << 22));
    CHECK(pool().peak_bytes() >= top);
    const Buffer shared = a;
    CHECK(pool().bytes_in_use() == top);
  }
  CHECK(pool().bytes_in_use() == before);
  CHECK(pool().peak_bytes() >= top);
  const size_t peak = pool().peak_bytes();
  const Buffer above = pool().allocate(2 * peak);
  CHECK(pool().peak_bytes() == pool().bytes_in_use());
}

TEST_CASE("at most an eighth is set aside in vain, and the smallest block is 512 bytes",
          "[buffer]") {
  for (const size_t bytes : {0, 1, 511, 512}) CHECK(set_aside(bytes) == 512);
  size_t last = 512;
  for (size_t bytes = 513; bytes < (size_t(1) << 25); bytes += 1 + bytes / 61) {
    const size_t size = set_aside(bytes);
    INFO(bytes << " bytes got " << size);
    REQUIRE(size >= bytes);
    REQUIRE(8 * (size - bytes) <= bytes);
    REQUIRE(size >= last);  // more bytes never get a smaller block
    last = size;
  }
  for (int power = 9; power < 26; ++power) {  // powers of two fit exactly
    CHECK(set_aside(size_t(1) << power) == size_t(1) << power);
    CHECK(set_aside((size_t(1) << power) + 1) > size_t(1) << power);
  }
}

TEST_CASE("handles share, move and count", "[buffer]") {
  Buffer a = pool().allocate(100);
  CHECK((a && a.unique()));
  Buffer b = a;
  CHECK(!a.unique());
  CHECK(b.data() == a.data());
  Buffer c = std::move(b);
  CHECK(!b);  // NOLINT: a moved-from handle is empty
  CHECK(!a.unique());
  c = Buffer();
  CHECK(a.unique());
  a = *&a;  // to itself
  CHECK((a && a.unique()));
  CHECK(!Buffer());
  CHECK(!Buffer().unique());
  CHECK(Buffer().data() == nullptr);
}

TEST_CASE("blocks are aligned to a cache line", "[buffer]") {
  for (const size_t bytes : {1, 513, 577, 70000}) {
    CHECK(reinterpret_cast<uintptr_t>(pool().allocate(bytes).data()) % 64 == 0);
  }
}

TEST_CASE("sizes that no machine has are refused and change nothing", "[buffer]") {
  const size_t before = pool().bytes_in_use();
  CHECK_THROWS_AS(pool().allocate(SIZE_MAX), Error);
  CHECK_THROWS_AS(pool().allocate(SIZE_MAX / 2), Error);
#ifndef __SANITIZE_ADDRESS__  // which ends the program instead
  CHECK_THROWS_WITH(pool().allocate(size_t(1) << 50), Catch::Matchers::Contains("out of memory"));
#endif
  CHECK(pool().bytes_in_use() == before);
  CHECK(pool().allocate(1000).data() != nullptr);
}

}  // namespace
}  // namespace lssm
