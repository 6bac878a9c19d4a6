// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers (Philox 4x32-10, Salmon et al. 2011, by Random123): a number is a
// pure function of (seed, stream, index), so nothing has to be saved to resume a run, and two
// models trained with one seed see the same data.
#pragma once

#include <Random123/philox.h>

#include <cstdint>

#include "core/small.h"

namespace lssm {

// Who draws. Streams never overlap: the stream is part of the counter.
enum class Stream : uint32_t { init, dropout, train, valid, test, order, check };

// Four words of 32 random bits: block `block` of substream `sub` of a stream.
LSSM_HD inline r123array4x32 random_block(uint64_t seed, Stream stream, uint32_t sub,
                                          uint64_t block) {
  const r123array4x32 counter = {{uint32_t(block), uint32_t(block >> 32), sub, uint32_t(stream)}};
  const r123array2x32 key = {{uint32_t(seed), uint32_t(seed >> 32)}};
  return philox4x32(counter, key);
}

// Uniform in [0, 1), 24 bits.
LSSM_HD inline float uniform_from_bits(uint32_t bits) { return float(bits >> 8) * 0x1p-24f; }

// Reads one substream from its start. Same arguments, same numbers.
class Random {
 public:
  Random(uint64_t seed, Stream stream, uint32_t sub) : seed_(seed), stream_(stream), sub_(sub) {}

  uint32_t bits();
  // Uniform in {0, …, n - 1}; each value has a probability within n / 2^32 of 1 / n, n >= 1.
  uint32_t below(uint32_t n) { return uint32_t((uint64_t(bits()) * n) >> 32); }
  double uniform();  // in (0, 1), 53 bits
  double normal();   // mean 0, variance 1

 private:
  uint64_t seed_;
  Stream stream_;
  uint32_t sub_;
  uint64_t next_ = 0;  // words drawn so far
  r123array4x32 block_ = {};
};

// A pseudo-random one-to-one map of {0, …, n - 1} onto itself: shuffles a set without storing it,
// and draws without repetition. A Feistel network whose rounds are Philox; values beyond n walk on.
class RandomPermutation {
 public:
  // n >= 1, at most 2^62. Same arguments, same permutation.
  RandomPermutation(uint64_t n, uint64_t seed, Stream stream, uint32_t sub);
  uint64_t operator()(uint64_t i) const;  // i < n

 private:
  uint64_t n_, seed_;
  Stream stream_;
  uint32_t sub_;
  int half_bits_;
};

}  // namespace lssm
