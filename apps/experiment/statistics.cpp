// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/statistics.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/check.h"

namespace lssm {
namespace {

// Squares of the values that are let in neither overflow nor vanish in it.
using Real = long double;
constexpr double kLargest = 1e300;
static_assert(std::numeric_limits<Real>::max_exponent10 > 4 * 300);

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

void check_finite(const char* who, const char* what, double value) {
  if (!(std::abs(value) <= kLargest)) {
    fail_numeric(who, ": ", what, " is ", value, ", expected a finite number of at most ",
                 kLargest);
  }
}

// P(T > t)
Real upper_tail(Real t, Real df) {
  return cdf(complement(boost::math::students_t_distribution<Real>(df), t));
}

double two_sided_p(Real t, Real df) {
  return double(std::min(Real(1), 2 * upper_tail(std::abs(t), df)));
}

// Half width of the 95 % interval of a mean, given the mean's own standard deviation.
double half_width_95(Real standard_error, Real df) {
  const boost::math::students_t_distribution<Real> student(df);
  return double(quantile(complement(student, Real(0.025L))) * standard_error);
}

struct Moments {
  Real mean = 0, std = 0;
  Real standard_error = 0;  // of the mean
};

// Two passes, from the first value on: a large common offset costs no digits.
Moments moments(const std::vector<double>& sample) {
  const Real n = Real(sample.size()), first = sample.front();
  Real sum = 0, squares = 0;
  for (const double value : sample) sum += value - first;
  const Real mean = sum / n;
  for (const double value : sample) squares += (value - first - mean) * (value - first - mean);
  const Real variance = n > 1 ? squares / (n - 1) : 0;
  return {first + mean, std::sqrt(variance), std::sqrt(variance / n)};
}

struct Difference {
  double value = 0;
  double rounding = 0;  // the exact difference may be this far away
};

std::vector<Difference> differences(const char* who, const std::vector<double>& x,
                                    const std::vector<double>& y) {
  LSSM_CHECK(x.size() == y.size(), who, ": ", x.size(), " values against ", y.size(),
             ", expected pairs");
  std::vector<Difference> all;
  for (size_t i = 0; i < x.size(); ++i) {
    check_finite(who, "a value of the first sample", x[i]);
    check_finite(who, "a value of the second sample", y[i]);
    // Two roundings of each value are at most epsilon of it, the subtraction's at most half that.
    all.push_back({x[i] - y[i], 2 * kEpsilon * (std::abs(x[i]) + std::abs(y[i]))});
  }
  return all;
}

bool is_zero(const Difference& d) { return std::abs(d.value) <= d.rounding; }

// What the differences allow to be tested: they are the same if one number is within all of them.
TestCase case_of(const std::vector<Difference>& all) {
  if (all.size() < 2) return TestCase::too_few;
  if (std::all_of(all.begin(), all.end(), is_zero)) return TestCase::identical;
  double low = -std::numeric_limits<double>::infinity(), high = -low;
  for (const Difference& d : all) {
    low = std::max(low, d.value - d.rounding);
    high = std::min(high, d.value + d.rounding);
  }
  return low <= high ? TestCase::zero_variance : TestCase::usual;
}

Moments moments(const std::vector<Difference>& all) {
  std::vector<double> values;
  for (const Difference& d : all) values.push_back(d.value);
  return moments(values);
}

// Twice the rank of each difference by size, so that shared ranks are integers too. `all` is
// sorted by size. Also returns the sum of k^3 - k over groups of k equal ones.
std::vector<int64_t> doubled_ranks(const std::vector<Difference>& all, double& ties) {
  const int64_t n = int64_t(all.size());
  std::vector<int64_t> ranks;
  ties = 0;
  for (int64_t begin = 0, end = 0; begin < n; begin = end) {
    for (end = begin + 1; end < n; ++end) {
      const Difference &a = all[size_t(end - 1)], &b = all[size_t(end)];
      if (std::abs(b.value) - std::abs(a.value) > a.rounding + b.rounding) break;
    }
    const double k = double(end - begin);
    ties += k * k * k - k;
    ranks.insert(ranks.end(), size_t(end - begin), begin + 1 + end);
  }
  return ranks;
}

// P(sum of the ranks with a random sign + is at most w), all doubled. Counts stay below 2^53.
double exact_tail(const std::vector<int64_t>& ranks, int64_t w) {
  std::vector<double> count(size_t(w + 1), 0.0);  // sign vectors by their sum, as far as w
  count[0] = 1;
  for (const int64_t rank : ranks) {
    for (int64_t sum = w; sum >= rank; --sum) count[size_t(sum)] += count[size_t(sum - rank)];
  }
  return std::ldexp(std::accumulate(count.begin(), count.end(), 0.0), -int(ranks.size()));
}

}  // namespace

Description describe(const std::vector<double>& sample) {
  Description d;
  if (sample.empty()) return d;
  for (const double value : sample) check_finite("describe", "a value", value);
  std::vector<double> sorted = sample;
  std::sort(sorted.begin(), sorted.end());
  const size_t half = sorted.size() / 2;
  d.n = int64_t(sorted.size());
  d.median = sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  d.min = sorted.front();
  d.max = sorted.back();
  const Moments m = moments(sorted);
  d.mean = double(m.mean);
  // Two roundings of each end.
  if (d.max - d.min <= kEpsilon * (std::abs(d.min) + std::abs(d.max))) return d;
  d.std = double(m.std);
  d.ci95 = half_width_95(m.standard_error, Real(d.n - 1));
  return d;
}

PairedTest paired_t_test(const std::vector<double>& x, const std::vector<double>& y) {
  const std::vector<Difference> all = differences("paired t-test", x, y);
  PairedTest test;
  test.kind = case_of(all);
  test.n = int64_t(all.size());
  if (all.empty()) return test;
  const Moments m = moments(all);
  test.difference = test.kind == TestCase::identical ? 0 : double(m.mean);
  test.df = double(test.n - 1);
  if (test.kind != TestCase::usual) return test;
  const Real t = m.mean / m.standard_error;
  test.ci95 = half_width_95(m.standard_error, test.df);
  test.t = double(t);
  test.p = two_sided_p(t, test.df);
  test.cohens_dz = double(m.mean / m.std);
  return test;
}

PairedTest paired_t_test_of_effect(int64_t n, double cohens_dz) {
  LSSM_CHECK(n >= 0, "paired t-test: got ", n, " pairs, expected 0 or more");
  check_finite("paired t-test", "d_z", cohens_dz);
  PairedTest test;
  test.n = n;
  test.df = double(std::max(int64_t(0), n - 1));
  if (n < 2) return test;
  const Real t = cohens_dz * std::sqrt(Real(n));
  test.kind = TestCase::usual;
  test.t = double(t);
  test.p = two_sided_p(t, test.df);
  test.cohens_dz = cohens_dz;
  return test;
}

WilcoxonTest wilcoxon_signed_rank(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<Difference> all = differences("Wilcoxon's test", x, y);
  WilcoxonTest test;
  if (all.empty()) return test;
  all.erase(std::remove_if(all.begin(), all.end(), is_zero), all.end());
  test.kind = all.empty() ? TestCase::identical : TestCase::usual;
  test.n = int64_t(all.size());
  if (all.empty()) return test;

  std::sort(all.begin(), all.end(), [](const Difference& a, const Difference& b) {
    return std::abs(a.value) < std::abs(b.value);
  });
  double ties = 0;
  const std::vector<int64_t> ranks = doubled_ranks(all, ties);
  int64_t positive = 0, negative = 0;
  for (size_t i = 0; i < all.size(); ++i) (all[i].value > 0 ? positive : negative) += ranks[i];
  const int64_t smaller = std::min(positive, negative);
  test.w = double(smaller) / 2;
  if (test.n <= kWilcoxonExact) {
    test.p = std::min(1.0, 2 * exact_tail(ranks, smaller));
  } else {
    const double n = double(test.n), mean = n * (n + 1) / 4;
    const double variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48;
    test.p = std::erfc((mean - test.w) / std::sqrt(2 * variance));  // 2 P(Z < -z)
  }
  return test;
}

WelchTest welch_t_test(const Description& x, const Description& y) {
  for (const Description* d : {&x, &y}) {
    check_finite("Welch's test", "a mean", d->mean);
    if (!(d->std >= 0 && d->std <= 2 * kLargest)) {  // that of two values may be above them
      fail_numeric("Welch's test: a std is ", d->std, ", expected a finite number of 0 or more");
    }
  }
  WelchTest test;
  test.difference = x.mean - y.mean;
  if (std::min(x.n, y.n) < 2) return test;
  const double rounding = 2 * kEpsilon * (std::abs(x.mean) + std::abs(y.mean));
  if (std::max(x.std, y.std) <= rounding / 2) {  // no more than rounding of the means, or 0
    const bool same = is_zero({test.difference, rounding});
    test.kind = same ? TestCase::identical : TestCase::zero_variance;
    if (same) test.difference = 0;
    return test;
  }
  const Real x_part = Real(x.std) * x.std / Real(x.n), y_part = Real(y.std) * y.std / Real(y.n);
  const Real variance = x_part + y_part, share = x_part / variance;
  const Real df = 1 / (share * share / Real(x.n - 1) + (1 - share) * (1 - share) / Real(y.n - 1));
  const Real t = (Real(x.mean) - y.mean) / std::sqrt(variance);
  test.kind = TestCase::usual;
  test.t = double(t);
  test.df = double(df);
  test.p = two_sided_p(t, df);
  return test;
}

double equivalence_p(const std::vector<double>& x, const std::vector<double>& y, double margin) {
  check_finite("equivalence", "the margin", margin);
  LSSM_CHECK(margin > 0, "equivalence: the margin is ", margin, ", expected more than 0");
  const std::vector<Difference> all = differences("equivalence", x, y);
  const TestCase kind = case_of(all);
  if (kind == TestCase::too_few) return 1;
  if (kind != TestCase::usual) {
    const bool within = std::all_of(all.begin(), all.end(), [&](const Difference& d) {
      return std::abs(d.value) + d.rounding < margin;
    });
    return within ? 0 : 1;
  }
  const Moments m = moments(all);
  // The larger p of the two: that of the nearer end of the margin.
  return double(upper_tail((margin - std::abs(m.mean)) / m.standard_error, Real(all.size() - 1)));
}

std::vector<double> holm(const std::vector<double>& p) {
  for (const double value : p) {
    if (!(value >= 0 && value <= 1)) fail_numeric("Holm: got p = ", value, ", expected 0 to 1");
  }
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, std::min(1.0, double(order.size() - i) * p[order[i]]));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

}  // namespace lssm
