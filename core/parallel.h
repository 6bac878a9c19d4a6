// SPDX-License-Identifier: Apache-2.0
// Threads of the CPU backend. Work is cut into a fixed number of partitions, whatever the number of
// threads, so that sums taken partition by partition have the same bits for any thread count.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lssm {

// How many threads CPU kernels may use; 1 at the start.
int thread_count();
void set_thread_count(int threads);

constexpr int kPartitions = 8;

// Into how many partitions n items are cut: kPartitions, or fewer if they are less than `grain`
// each.
inline int partition_count(int64_t n, int64_t grain) {
  return int(std::clamp<int64_t>((n + grain - 1) / grain, 1, kPartitions));
}

// Calls f(partition, begin, end) for the partition_count(n, grain) ranges that cut 0 … n - 1.
// Ranges start at multiples of `grain`; none is empty unless n is 0.
template <class F>
void for_partitions(int64_t n, int64_t grain, F f) {
  const int count = partition_count(n, grain), threads = std::min(thread_count(), count);
  const int64_t grains = (n + grain - 1) / grain;
  const auto bound = [&](int64_t p) { return std::min(n, grains * p / count * grain); };
  if (threads == 1) {
    for (int p = 0; p < count; ++p) f(p, bound(p), bound(p + 1));
    return;
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int p = 0; p < count; ++p) f(p, bound(p), bound(p + 1));
}

}  // namespace lssm
