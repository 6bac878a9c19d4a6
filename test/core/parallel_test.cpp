// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"

#include <array>
#include <vector>

#include "core/check.h"
#include "test/test.h"

namespace lssm {
namespace {

struct Range {
  int64_t begin = 0, end = 0;
  bool operator==(const Range&) const = default;
};

// The ranges by partition; a partition that is not called stays empty.
std::array<Range, kPartitions> ranges(int64_t n, int64_t grain) {
  std::array<Range, kPartitions> all;
  for_partitions(n, grain, [&](int p, int64_t begin, int64_t end) {
    all[size_t(p)] = {begin, end};
  });
  return all;
}

TEST_CASE("partitions cover each index once, in order, at multiples of the grain", "[parallel]") {
  for (const int64_t grain : {1, 2, 3, 7, 128, 4096}) {
    for (int64_t n = 0; n < 9 * grain + 2; n += n < 20 ? 1 : 1 + grain / 5) {
      INFO("n " << n << ", grain " << grain);
      int64_t next = 0;
      for (const Range& r : ranges(n, grain)) {
        if (r.begin == r.end) continue;
        REQUIRE(r.begin == next);
        REQUIRE(r.begin % grain == 0);
        REQUIRE(r.end > r.begin);
        next = r.end;
      }
      REQUIRE(next == n);
    }
  }
}

TEST_CASE("partitions do not depend on the number of threads", "[parallel]") {
  CHECK(thread_count() == 1);
  for (const int64_t n : {0, 1, 100, 1000, 12345}) {
    for (const int64_t grain : {1, 128}) {
      const auto one = ranges(n, grain);
      for (const int threads : {2, 3, 8, 20}) {
        set_thread_count(threads);
        const auto many = ranges(n, grain);
        set_thread_count(1);
        CHECK(many == one);
      }
    }
  }
}

TEST_CASE("work is spread evenly over the partitions", "[parallel]") {
  for (const Range& r : ranges(8000, 1)) CHECK(r.end - r.begin == 1000);
  for (const Range& r : ranges(8 * 128 * 3, 128)) CHECK(r.end - r.begin == 3 * 128);
  for (const Range& r : ranges(8005, 1)) {
    CHECK(r.end - r.begin >= 1000);
    CHECK(r.end - r.begin <= 1001);
  }
}

TEST_CASE("every index is visited once, with several threads", "[parallel]") {
  for (const int threads : {1, 2, 5}) {
    set_thread_count(threads);
    std::vector<int> visits(10007, 0);
    for_partitions(int64_t(visits.size()), 10, [&](int, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++visits[size_t(i)];
    });
    set_thread_count(1);
    CHECK(visits == std::vector<int>(10007, 1));
  }
}

TEST_CASE("fewer than one thread is refused", "[parallel]") {
  CHECK_THROWS_WITH(set_thread_count(0), "threads: got 0, expected at least 1");
  CHECK_THROWS_AS(set_thread_count(-3), Error);
  CHECK(thread_count() == 1);
}

}  // namespace
}  // namespace lssm
