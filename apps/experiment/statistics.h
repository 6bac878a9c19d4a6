// SPDX-License-Identifier: Apache-2.0
// Statistics of a few runs: what a table of results with its tests needs. Samples are small
// (seeds), so every special case has a name: nothing here is ever NaN or infinite. A value that is
// NaN, infinite or above 1e300 is a numeric Error; samples that cannot be paired are a usage Error.
//
// Values come rounded: 0.3 - 0.2 and 0.2 - 0.1 are one difference. Each value is taken to carry two
// roundings (a quotient, and its scale), and its difference one more. What rounding alone can make
// counts as no difference (0), no variance, or a tie.
#pragma once

#include <cstdint>
#include <vector>

namespace lssm {

// A sample's numbers. std is the sample's (n - 1). It and the interval are 0 if n = 1 or if all
// values are the same, and all of it is 0 if n = 0.
struct Description {
  int64_t n = 0;
  double mean = 0, std = 0, median = 0, min = 0, max = 0;
  double ci95 = 0;  // half width of the 95 % interval of the mean, by Student's t
};
Description describe(const std::vector<double>& sample);

// What a test of differences can say. Where it is not `usual`, t and d_z are 0 and p is 1: they
// were not computed.
enum class TestCase {
  usual,
  too_few,        // less than two pairs: no test
  identical,      // every difference is 0: there is nothing to test
  zero_variance,  // every difference is the same and not 0: t is infinite, and p has no meaning
};

// Student's paired test of two samples, x - y pair by pair, two-sided.
struct PairedTest {
  TestCase kind = TestCase::too_few;
  int64_t n = 0;
  double difference = 0;  // mean of x - y
  double ci95 = 0;        // half width of its 95 % interval
  double t = 0, df = 0, p = 1;
  double cohens_dz = 0;  // mean / std of the differences = t / sqrt(n)
};
PairedTest paired_t_test(const std::vector<double>& x, const std::vector<double>& y);
// The same from figures as papers print them, n pairs and d_z. They do not tell the difference and
// its interval, which stay 0.
PairedTest paired_t_test_of_effect(int64_t n, double cohens_dz);

// Wilcoxon's signed-rank test of the pairs, two-sided. Pairs without a difference are dropped;
// equal ones share their mean rank. The distribution is exact, with ties too, up to kWilcoxonExact
// pairs, else normal with a correction for ties. p cannot be below 2^(1 - n): 0.0625 for 5 pairs.
constexpr int64_t kWilcoxonExact = 50;
struct WilcoxonTest {
  TestCase kind = TestCase::too_few;  // too_few: no pairs; identical: no differences; else usual
  int64_t n = 0;                      // pairs with a difference
  double w = 0;                       // the smaller of the two rank sums
  double p = 1;
};
WilcoxonTest wilcoxon_signed_rank(const std::vector<double>& x, const std::vector<double>& y);

// Welch's test of two independent samples by their figures, two-sided: what is left where only
// mean, std and n were published. If both std are 0: kind is identical or zero_variance.
struct WelchTest {
  TestCase kind = TestCase::too_few;  // too_few: a sample has less than two values
  double difference = 0, t = 0, df = 0, p = 1;
};
WelchTest welch_t_test(const Description& x, const Description& y);

// Two one-sided tests of |mean difference| < margin: p of equivalence (small: equivalent). Without
// variance it is 0 or 1, with less than two pairs 1.
double equivalence_p(const std::vector<double>& x, const std::vector<double>& y, double margin);

// Holm-Bonferroni: p values adjusted for their family, in the order given.
std::vector<double> holm(const std::vector<double>& p);

}  // namespace lssm
