// SPDX-License-Identifier: Apache-2.0
#include "core/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "test/test.h"

namespace lssm {
namespace {

using Words = std::array<uint32_t, 4>;

Words block(const Words& counter, uint64_t key) {
  const uint64_t index = uint64_t(counter[1]) << 32 | counter[0];
  const auto words = random_block(key, Stream(counter[3]), counter[2], index);
  return {words.v[0], words.v[1], words.v[2], words.v[3]};
}

// The known answers of philox4x32-10 that come with Random123 (kat_vectors). They also pin which
// argument goes to which word of counter and key, on which every published result depends.
TEST_CASE("random blocks are the known answers of Philox 4x32-10", "[random]") {
  CHECK(block({0, 0, 0, 0}, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(block({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffffffffffff) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a generator reads its substream's blocks in order", "[random]") {
  Random random(11, Stream::train, 5);
  for (uint64_t b = 0; b < 10; ++b) {
    const auto words = random_block(11, Stream::train, 5, b);
    for (const uint32_t word : words.v) REQUIRE(random.bits() == word);
  }
}

TEST_CASE("seeds, streams and substreams give different numbers", "[random]") {
  const auto numbers = [](uint64_t seed, Stream stream, uint32_t sub) {
    Random random(seed, stream, sub);
    std::vector<uint32_t> words(64);
    for (uint32_t& w : words) w = random.bits();
    return words;
  };
  const auto base = numbers(1, Stream::train, 0);
  CHECK(numbers(1, Stream::train, 0) == base);
  std::vector<std::vector<uint32_t>> all = {base, numbers(2, Stream::train, 0),
                                            numbers(uint64_t(1) << 32 | 1, Stream::train, 0),
                                            numbers(1, Stream::train, 1)};
  for (const Stream s :
       {Stream::init, Stream::dropout, Stream::valid, Stream::test, Stream::order, Stream::check}) {
    all.push_back(numbers(1, s, 0));
  }
  std::vector<uint32_t> words;
  for (const auto& list : all) words.insert(words.end(), list.begin(), list.end());
  std::sort(words.begin(), words.end());
  // 640 words of 32 bits: one pair in 2 * 10^4 such lists is alike by chance.
  CHECK(std::adjacent_find(words.begin(), words.end()) == words.end());
}

// Pearson's statistic of counts that should be equal has mean n - 1 and deviation sqrt(2 (n - 1)).
double chi_square_deviations(const std::vector<int>& counts, int draws) {
  const double expected = double(draws) / double(counts.size());
  double statistic = 0;
  for (const int c : counts) statistic += (c - expected) * (c - expected) / expected;
  const double mean = double(counts.size()) - 1;
  return (statistic - mean) / std::sqrt(2 * mean);
}

TEST_CASE("below is uniform", "[random]") {
  for (const uint32_t n : {2u, 3u, 7u, 60u, 1000u}) {
    Random random(3, Stream::check, n);
    const int draws = 200000;
    std::vector<int> counts(n);
    for (int i = 0; i < draws; ++i) {
      const uint32_t value = random.below(n);
      REQUIRE(value < n);
      ++counts[value];
    }
    INFO("n " << n);
    CHECK(std::abs(chi_square_deviations(counts, draws)) < 5);
  }
  Random random(3, Stream::check, 0);
  for (int i = 0; i < 100; ++i) CHECK(random.below(1) == 0);
  for (int i = 0; i < 100; ++i) CHECK(random.below(UINT32_MAX) < UINT32_MAX);
}

TEST_CASE("uniform has the moments of the uniform distribution and never is 0 or 1", "[random]") {
  Random random(4, Stream::check, 0);
  const int draws = 200000;
  double sum = 0, squares = 0;
  std::vector<int> counts(256);
  for (int i = 0; i < draws; ++i) {
    const double u = random.uniform();
    REQUIRE((u > 0 && u < 1));
    sum += u;
    squares += u * u;
    ++counts[size_t(u * 256)];
  }
  CHECK(std::abs(sum / draws - 0.5) < 5 * std::sqrt(1 / 12.0 / draws));
  CHECK(std::abs(squares / draws - 1 / 3.0) < 5 * std::sqrt(4 / 45.0 / draws));
  CHECK(std::abs(chi_square_deviations(counts, draws)) < 5);
}

TEST_CASE("normal has the moments and the tails of the normal distribution", "[random]") {
  Random random(5, Stream::check, 0);
  const int draws = 200000;
  double sums[5] = {};
  int within = 0, beyond = 0;
  for (int i = 0; i < draws; ++i) {
    const double x = random.normal();
    REQUIRE(std::isfinite(x));
    double power = 1;
    for (double& sum : sums) sum += power, power *= x;
    within += std::abs(x) < 1;
    beyond += std::abs(x) > 3;
  }
  // Means of x, x^2, x^3, x^4 are 0, 1, 0, 3; variances 1, 2, 15, 96.
  const double n = draws;
  CHECK(std::abs(sums[1] / n) < 5 * std::sqrt(1 / n));
  CHECK(std::abs(sums[2] / n - 1) < 5 * std::sqrt(2 / n));
  CHECK(std::abs(sums[3] / n) < 5 * std::sqrt(15 / n));
  CHECK(std::abs(sums[4] / n - 3) < 5 * std::sqrt(96 / n));
  const double p = 0.682689492137086, q = 0.002699796063260;  // P(|x| < 1), P(|x| > 3)
  CHECK(std::abs(within - n * p) < 5 * std::sqrt(n * p * (1 - p)));
  CHECK(std::abs(beyond - n * q) < 5 * std::sqrt(n * q * (1 - q)));
}

TEST_CASE("uniform_from_bits covers [0, 1) and never reaches 1", "[random]") {
  CHECK(uniform_from_bits(0) == 0);
  CHECK(uniform_from_bits(0x80000000) == 0.5f);
  CHECK(uniform_from_bits(0xffffffff) == 1 - 0x1p-24f);
}

bool is_bijection(uint64_t n, uint64_t seed) {
  const RandomPermutation permutation(n, seed, Stream::order, 0);
  std::vector<bool> seen(n);
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t image = permutation(i);
    if (image >= n || seen[image]) return false;
    seen[image] = true;
  }
  return true;
}

TEST_CASE("a random permutation is one-to-one", "[random]") {
  for (uint64_t n = 1; n <= 100; ++n) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
      INFO("n " << n << ", seed " << seed);
      CHECK(is_bijection(n, seed));
    }
  }
  for (const uint64_t n : {255u, 256u, 257u, 65535u, 65536u, 65537u, 100000u}) {
    INFO("n " << n);
    CHECK(is_bijection(n, 1));
  }
}

TEST_CASE("random permutations differ by seed and sub, and repeat for the same", "[random]") {
  const auto images = [](uint64_t seed, uint32_t sub) {
    const RandomPermutation permutation(1000, seed, Stream::order, sub);
    std::vector<uint64_t> all(1000);
    for (uint64_t i = 0; i < 1000; ++i) all[i] = permutation(i);
    return all;
  };
  CHECK(images(1, 2) == images(1, 2));
  CHECK(images(1, 2) != images(2, 2));
  CHECK(images(1, 2) != images(1, 3));
  // A random permutation has one fixed point on average; more than 8 have probability 1e-6.
  int fixed = 0;
  const auto all = images(1, 2);
  for (uint64_t i = 0; i < 1000; ++i) fixed += all[i] == i;
  CHECK(fixed <= 8);
}

TEST_CASE("the first image of random permutations is uniform", "[random]") {
  const int draws = 20000;
  for (const uint64_t n : {5u, 10u, 100u}) {
    std::vector<int> counts(n);
    for (int seed = 0; seed < draws; ++seed) {
      ++counts[RandomPermutation(n, uint64_t(seed), Stream::order, 0)(0)];
    }
    INFO("n " << n);
    CHECK(std::abs(chi_square_deviations(counts, draws)) < 5);
  }
}

TEST_CASE("a permutation of 2^62 numbers stays in range", "[random]") {
  const uint64_t n = uint64_t(1) << 62;
  const RandomPermutation permutation(n, 1, Stream::order, 0);
  for (const uint64_t i : {uint64_t(0), uint64_t(1), n / 2, n - 1}) CHECK(permutation(i) < n);
}

}  // namespace
}  // namespace lssm
