// SPDX-License-Identifier: Apache-2.0
#include "core/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace lssm {

uint32_t Random::bits() {
  if (next_ % 4 == 0) block_ = random_block(seed_, stream_, sub_, next_ / 4);
  return block_.v[next_++ % 4];
}

double Random::uniform() {
  const uint64_t high = bits();
  const uint64_t low = bits();
  return (double(((high << 32) | low) >> 11) + 0.5) * 0x1p-53;
}

double Random::normal() {  // Box and Muller 1958; the second number is not kept
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

RandomPermutation::RandomPermutation(uint64_t n, uint64_t seed, Stream stream, uint32_t sub)
    : n_(n),
      seed_(seed),
      stream_(stream),
      sub_(sub),
      half_bits_((std::max(int(std::bit_width(n - 1)), 2) + 1) / 2) {}

uint64_t RandomPermutation::operator()(uint64_t i) const {
  constexpr int kRounds = 4;  // pseudo-random by Luby & Rackoff 1988
  const uint64_t mask = (uint64_t(1) << half_bits_) - 1;
  do {
    uint64_t left = i >> half_bits_, right = i & mask;
    for (int round = 0; round < kRounds; ++round) {
      const uint64_t block = right | (uint64_t(round) << 60);
      const uint64_t mixed = left ^ (random_block(seed_, stream_, sub_, block).v[0] & mask);
      left = right;
      right = mixed;
    }
    i = (left << half_bits_) | right;
  } while (i >= n_);
  return i;
}

}  // namespace lssm
