// SPDX-License-Identifier: Apache-2.0
// Statistics against SciPy's numbers (statistics_golden.py), rows as papers print them, closed
// forms and examples counted by hand.
#include "apps/experiment/statistics.h"

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "core/config.h"
#include "core/file.h"
#include "test/test.h"

namespace lssm {
namespace {

using Sample = std::vector<double>;

const double kPi = std::acos(-1.0);
const double kInfinity = std::numeric_limits<double>::infinity();

Approx about(double value) { return Approx(value).epsilon(1e-10); }

const Json& golden(const char* part) {
  const std::string path = LSSM_SOURCE "/test/apps/statistics_golden.json";
  static const Json all = parse_json(read_file(path), path);
  REQUIRE(all.at(part).size() > 0);
  return all.at(part);
}

// n pairs whose differences have this t, up to a sign, from the outside: d_z = t / sqrt(n).
PairedTest of_t(int64_t n, double t) {
  return paired_t_test_of_effect(n, t / std::sqrt(double(n)));
}

TEST_CASE("Student's t has SciPy's p", "[statistics]") {
  for (const Json& c : golden("student")) {
    INFO(c.dump());
    const PairedTest test = of_t(c["n"], c["t"]);
    CHECK(test.kind == TestCase::usual);
    CHECK(test.df == c["n"].get<double>() - 1);
    CHECK(test.t == about(c["t"]));
    CHECK(test.p == about(c["p"]));
  }
}

TEST_CASE("Student's t with 1 and 2 degrees of freedom has a closed form", "[statistics]") {
  for (const double t : {0.0, 1e-6, 0.5, 1.0, 3.7, 1e3}) {
    INFO(t);
    CHECK(of_t(2, t).p == about(2 / kPi * std::atan2(1.0, t)));
    const double root = std::sqrt(2 + t * t);
    CHECK(of_t(3, t).p == about(2 / (root * (root + t))));  // 1 - t / root
    CHECK(of_t(3, -t).p == of_t(3, t).p);
  }
}

TEST_CASE("intervals are those of Student's t", "[statistics]") {
  // A sample of n values -1 and 1, and a 0 if n is odd: its std is known.
  for (const Json& c : golden("quantiles")) {
    INFO(c.dump());
    const int64_t n = c["n"];
    Sample sample(size_t(n), 0.0);
    for (int64_t i = 0; i + 1 < n; i += 2) sample[size_t(i)] = -(sample[size_t(i + 1)] = 1);
    const Description d = describe(sample);
    const double std = std::sqrt(double(n - n % 2) / double(n - 1));
    CHECK(d.std == about(std));
    CHECK(d.ci95 == about(c["quantile"].get<double>() * std / std::sqrt(double(n))));
  }
  CHECK(describe({-1, 1}).ci95 == about(std::tan(0.475 * kPi)));  // of one degree: Cauchy
}

TEST_CASE("papers' rows are met: t, p and d of n pairs", "[statistics]") {
  struct Row {
    int64_t n;
    double t, t_rounding, p, p_rounding, d;  // as printed; d has two decimals
  };
  const std::vector<Row> rows = {
      {5, 9.2274, 5e-5, 7.67e-4, 5e-7, 4.13},   {5, 60.35, 5e-3, 4.51e-7, 5e-10, 26.99},
      {5, 217.02, 5e-3, 2.70e-9, 5e-12, 97.05}, {5, 8.2837, 5e-5, 1.16e-3, 5e-6, 3.70},
      {5, 9.0287, 5e-5, 8.34e-4, 5e-7, 4.04},   {5, -1.3623, 5e-5, 0.2448, 5e-5, -0.61},
      {5, -0.5040, 5e-5, 0.6408, 5e-5, -0.23},  {5, 16.4995, 5e-5, 7.90e-5, 5e-8, 7.38},
      {3, 26.15, 5e-3, 0.00146, 5e-6, 15.10},   {3, 6.30, 5e-3, 0.02428, 5e-6, 3.64},
      {3, 212.43, 5e-3, 0.00002, 5e-6, 122.65}, {10, 15.58, 5e-3, 8.12e-8, 5e-11, 4.93}};
  for (const Row& row : rows) {
    INFO("n = " << row.n << ", t = " << row.t);
    // From d alone, t is within what rounding d leaves open.
    const PairedTest from_d = paired_t_test_of_effect(row.n, row.d);
    CHECK(std::abs(from_d.t - row.t) <= 0.005 * std::sqrt(double(row.n)) + row.t_rounding);
    // From t, d and p are those printed: p between those of the ends of t's rounding.
    CHECK(std::abs(of_t(row.n, row.t).cohens_dz - row.d) <= 0.005 + row.t_rounding);
    const double size = std::abs(row.t);
    CHECK(of_t(row.n, size + row.t_rounding).p <= row.p + row.p_rounding);
    CHECK(of_t(row.n, size - row.t_rounding).p >= row.p - row.p_rounding);
  }
}

TEST_CASE("samples are described with SciPy's numbers", "[statistics]") {
  for (const Json& c : golden("describe")) {
    INFO(c["name"]);
    const Description d = describe(c["x"].get<Sample>());
    CHECK(d.n == int64_t(c["x"].size()));
    CHECK(d.mean == Approx(c["mean"].get<double>()).epsilon(1e-15));
    CHECK(d.std == about(c["std"]));
    CHECK(d.ci95 == about(c["ci95"]));
    CHECK(d.median == c["median"].get<double>());
    CHECK(d.min == c["min"].get<double>());
    CHECK(d.max == c["max"].get<double>());
  }
}

TEST_CASE("samples without a spread have no interval", "[statistics]") {
  const Description nothing = describe({});
  CHECK(nothing.n == 0);
  CHECK(nothing.mean == 0);
  CHECK(nothing.ci95 == 0);

  const Description one = describe({0.1});
  CHECK(one.n == 1);
  CHECK(one.mean == 0.1);
  CHECK(one.median == 0.1);
  CHECK(one.std == 0);
  CHECK(one.ci95 == 0);

  // 0.1 three times adds up to more than 0.3, and 0.1 + 0.2 is not 0.3.
  for (const Sample& same : {Sample{0.1, 0.1, 0.1}, Sample{0.3, 0.1 + 0.2, 0.3}}) {
    CHECK(describe(same).mean == about(same[0]));
    CHECK(describe(same).std == 0);
    CHECK(describe(same).ci95 == 0);
  }
  CHECK(describe({1, 1 + 1e-14}).std == Approx(1e-14 / std::sqrt(2.0)).epsilon(0.01));
}

TEST_CASE("paired tests have SciPy's numbers", "[statistics]") {
  for (const Json& c : golden("paired")) {
    INFO(c["name"]);
    const Sample x = c["x"], y = c["y"];
    const PairedTest test = paired_t_test(x, y);
    CHECK(test.kind == TestCase::usual);
    CHECK(test.n == int64_t(x.size()));
    CHECK(test.difference == about(c["difference"]).margin(1e-14));
    CHECK(test.ci95 == about(c["ci95"]));
    CHECK(test.t == about(c["t"]).margin(1e-14));
    CHECK(test.df == c["df"].get<double>());
    CHECK(test.p == about(c["p"]));
    CHECK(test.cohens_dz == about(c["dz"]).margin(1e-14));
    CHECK(test.cohens_dz == about(test.t / std::sqrt(double(test.n))));

    const WilcoxonTest ranks = wilcoxon_signed_rank(x, y);
    const Json& expected = c["wilcoxon"];
    CHECK(ranks.kind == TestCase::usual);
    CHECK(ranks.n == expected["n"].get<int64_t>());
    CHECK(ranks.w == expected["w"].get<double>());
    CHECK(ranks.p == about(expected["p"]));

    for (const Json& e : c["equivalence"]) {
      INFO(e.dump());
      CHECK(equivalence_p(x, y, e["margin"]) == about(e["p"]));
      CHECK(equivalence_p(y, x, e["margin"]) == about(e["p"]));
    }

    const PairedTest swapped = paired_t_test(y, x);
    CHECK(swapped.t == -test.t);
    CHECK(swapped.p == test.p);
    CHECK(wilcoxon_signed_rank(y, x).p == ranks.p);
  }
}

TEST_CASE("the unit of the values does not matter, however small or large", "[statistics]") {
  const Sample x = {3.25, 1.5, 2.75, 5.125, 4}, y = {1, 2, 1.25, 1.5, 3.5};
  const PairedTest test = paired_t_test(x, y);
  for (const int power : {-1000, -530, -3, 10, 530, 990}) {  // exact, as powers of two are
    INFO("2^" << power);
    Sample u, v;
    for (const double value : x) u.push_back(std::ldexp(value, power));
    for (const double value : y) v.push_back(std::ldexp(value, power));
    const PairedTest scaled = paired_t_test(u, v);
    CHECK(scaled.kind == TestCase::usual);
    CHECK(scaled.t == test.t);
    CHECK(scaled.p == test.p);
    CHECK(scaled.difference == std::ldexp(test.difference, power));
    CHECK(wilcoxon_signed_rank(u, v).p == wilcoxon_signed_rank(x, y).p);
    CHECK(equivalence_p(u, v, std::ldexp(1.0, power)) == equivalence_p(x, y, 1));
    CHECK(welch_t_test(describe(u), describe(v)).p ==
          about(welch_t_test(describe(x), describe(y)).p));
  }
}

TEST_CASE("Wilcoxon's test of a few pairs, counted by hand", "[statistics]") {
  const Sample zeros(5, 0.0);
  // All five up: both ends of the 32 choices of signs, whether sizes differ or not.
  CHECK(wilcoxon_signed_rank({1, 2, 3, 4, 5}, zeros).p == 2 / 32.0);
  CHECK(wilcoxon_signed_rank({1, 1, 1, 1, 1}, zeros).p == 2 / 32.0);
  CHECK(wilcoxon_signed_rank({-1, -2, -3, -4, -5}, zeros).p == 2 / 32.0);
  // Only the smallest is down: sums 0 and 1.
  CHECK(wilcoxon_signed_rank({-1, 2, 3, 4, 5}, zeros).p == 4 / 32.0);
  // Ranks 1.5, 1.5, 3, 4, 5; one of the smallest is down: sums 0, 1.5 and 1.5.
  const WilcoxonTest tied = wilcoxon_signed_rank({1, -1, 3, 4, 5}, zeros);
  CHECK(tied.w == 1.5);
  CHECK(tied.p == 6 / 32.0);
  // Dropped pairs.
  const WilcoxonTest dropped = wilcoxon_signed_rank({1, 0, 3, 0, 5}, zeros);
  CHECK(dropped.n == 3);
  CHECK(dropped.w == 0);
  CHECK(dropped.p == 2 / 8.0);
  // One pair says nothing, and neither do two that agree to differ.
  CHECK(wilcoxon_signed_rank({7}, {3}).p == 1);
  CHECK(wilcoxon_signed_rank({1, -1}, {0, 0}).p == 1);
}

TEST_CASE("rounding makes no difference, no variance and no order", "[statistics]") {
  // 0.3 - 0.2 < 0.2 - 0.1 in binary, by 3e-17.
  const Sample x = {0.3, 0.2, 0.4, 99.9, 0.1}, y = {0.2, 0.1, 0.3, 99.8, 0};
  REQUIRE(x[0] - y[0] != x[1] - y[1]);
  const PairedTest test = paired_t_test(x, y);
  CHECK(test.kind == TestCase::zero_variance);
  CHECK(test.difference == about(0.1));
  CHECK(test.t == 0);
  CHECK(test.p == 1);
  CHECK(test.cohens_dz == 0);
  CHECK(test.ci95 == 0);
  CHECK(wilcoxon_signed_rank(x, y).p == 2 / 32.0);

  // Of differences 0.1, 0.1, -0.1, 0.2 the first three tie at rank 2: sums 0, 2, 2 and 2 of 16.
  const WilcoxonTest tied = wilcoxon_signed_rank({0.3, 0.2, 0.3, 0.9}, {0.2, 0.1, 0.4, 0.7});
  CHECK(tied.w == 2);
  CHECK(tied.p == 8 / 16.0);

  const Sample sums = {0.1 + 0.2, 0.5}, threes = {0.3, 0.5};
  REQUIRE(sums != threes);
  CHECK(paired_t_test(sums, threes).kind == TestCase::identical);
  CHECK(paired_t_test(sums, threes).difference == 0);
  CHECK(wilcoxon_signed_rank(sums, threes).kind == TestCase::identical);

  // A quotient and its scale round twice: 100 * (k / 1000) in percent.
  Sample before, after;
  for (int k = 1; k < 900; ++k) {
    before.push_back(100 * (k / 1000.0));
    after.push_back(100 * ((k + 7) / 1000.0));
  }
  CHECK(paired_t_test(before, after).kind == TestCase::zero_variance);
  after[450] += 1e-9;  // no rounding any more
  CHECK(paired_t_test(before, after).kind == TestCase::usual);
}

TEST_CASE("identical pairs, constant differences and too few pairs have their names",
          "[statistics]") {
  const Sample x = {100, 100, 99.5, 100, 98};
  const PairedTest same = paired_t_test(x, x);
  CHECK(same.kind == TestCase::identical);
  CHECK(same.n == 5);
  CHECK(same.difference == 0);
  CHECK(same.t == 0);
  CHECK(same.p == 1);
  CHECK(wilcoxon_signed_rank(x, x).kind == TestCase::identical);
  CHECK(wilcoxon_signed_rank(x, x).n == 0);
  CHECK(wilcoxon_signed_rank(x, x).p == 1);
  CHECK(equivalence_p(x, x, 1e-3) == 0);

  const Sample hundred(5, 100.0), half(5, 50.0);
  CHECK(paired_t_test(hundred, half).kind == TestCase::zero_variance);
  CHECK(paired_t_test(hundred, half).difference == 50);
  CHECK(equivalence_p(hundred, half, 49) == 1);
  CHECK(equivalence_p(hundred, half, 50) == 1);  // not less than the margin
  CHECK(equivalence_p(hundred, half, 51) == 0);

  CHECK(paired_t_test({}, {}).kind == TestCase::too_few);
  CHECK(paired_t_test({}, {}).n == 0);
  CHECK(wilcoxon_signed_rank({}, {}).kind == TestCase::too_few);
  CHECK(equivalence_p({}, {}, 1) == 1);
  for (const double y : {2.0, 5.0}) {  // with a difference, and without
    const PairedTest one = paired_t_test({5}, {y});
    CHECK(one.kind == TestCase::too_few);
    CHECK(one.n == 1);
    CHECK(one.difference == 5 - y);
    CHECK(one.p == 1);
    CHECK(equivalence_p({5}, {y}, 10) == 1);
  }
  CHECK(paired_t_test_of_effect(1, 3).kind == TestCase::too_few);
  CHECK(paired_t_test_of_effect(5, 0).p == 1);
}

Description figures(const Json& f) {
  Description d;
  d.n = f["n"];
  d.mean = f["mean"];
  d.std = f["std"];
  return d;
}

TEST_CASE("Welch's test has SciPy's numbers", "[statistics]") {
  for (const Json& c : golden("welch")) {
    INFO(c["name"]);
    const WelchTest test = welch_t_test(figures(c["x"]), figures(c["y"]));
    CHECK(test.kind == TestCase::usual);
    CHECK(test.difference == about(c["difference"]));
    CHECK(test.t == about(c["t"]));
    CHECK(test.df == about(c["df"]));
    CHECK(test.p == about(c["p"]));
  }
  const Description perfect = describe({100, 100, 100}), worse = describe({98, 98});
  CHECK(welch_t_test(perfect, perfect).kind == TestCase::identical);
  CHECK(welch_t_test(perfect, worse).kind == TestCase::zero_variance);
  CHECK(welch_t_test(perfect, worse).difference == 2);
  CHECK(welch_t_test(perfect, worse).p == 1);
  CHECK(welch_t_test(perfect, describe({98})).kind == TestCase::too_few);
  const WelchTest rounded = welch_t_test(describe({0.1 + 0.2, 0.1 + 0.2}), describe({0.3, 0.3}));
  CHECK(rounded.kind == TestCase::identical);
  CHECK(rounded.difference == 0);
  // Figures from elsewhere may hold a std that is rounding alone.
  Description residue = perfect;
  residue.std = 1e-300;
  CHECK(welch_t_test(residue, worse).kind == TestCase::zero_variance);
}

TEST_CASE("Holm's method", "[statistics]") {
  // The usual example: at 5 % it rejects the first and the last.
  const Sample adjusted = holm({0.01, 0.04, 0.03, 0.005});
  CHECK(adjusted[0] == about(0.03));
  CHECK(adjusted[1] == about(0.06));
  CHECK(adjusted[2] == about(0.06));
  CHECK(adjusted[3] == about(0.02));
  CHECK(holm({}).empty());
  CHECK(holm({0.2}) == Sample{0.2});
  CHECK(holm({1, 0, 0.75}) == Sample{1, 0, 1});
  for (const Json& c : golden("holm")) {
    const Sample got = holm(c["p"]);
    REQUIRE(got.size() == c["p"].size());
    for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == about(c["adjusted"][i]));
  }
}

TEST_CASE("statistics refuse what they cannot use", "[statistics]") {
  const auto kind_of = [](auto&& call) {
    try {
      call();
    } catch (const Error& e) {
      CHECK(std::string(e.what()).find("expected") != std::string::npos);
      return int(e.kind());
    }
    return 0;
  };
  const Sample two = {1, 2}, three = {1, 2, 3};
  CHECK(kind_of([&] { paired_t_test(two, three); }) == 2);
  CHECK(kind_of([&] { wilcoxon_signed_rank(three, two); }) == 2);
  CHECK(kind_of([&] { equivalence_p(two, three, 1); }) == 2);
  CHECK(kind_of([&] { equivalence_p(two, two, 0); }) == 2);
  CHECK(kind_of([&] { equivalence_p(two, two, -1); }) == 2);
  CHECK(kind_of([&] { paired_t_test_of_effect(-1, 2); }) == 2);
  Description negative = describe(two);
  negative.std = -1;
  CHECK(kind_of([&] { welch_t_test(describe(two), negative); }) == 4);
  for (const double bad : {std::nan(""), kInfinity, -kInfinity, 1e301}) {
    INFO(bad);
    CHECK(kind_of([&] { describe({1, bad}); }) == 4);
    CHECK(kind_of([&] { paired_t_test(two, {bad, 1}); }) == 4);
    CHECK(kind_of([&] { paired_t_test({bad, 1}, {bad, 1}); }) == 4);
    CHECK(kind_of([&] { wilcoxon_signed_rank({1, bad}, two); }) == 4);
    CHECK(kind_of([&] { equivalence_p(two, {1, bad}, 1); }) == 4);
    CHECK(kind_of([&] { equivalence_p(two, three, bad); }) == 4);
    CHECK(kind_of([&] { paired_t_test_of_effect(5, bad); }) == 4);
    Description broken = describe(two);
    broken.mean = bad;
    CHECK(kind_of([&] { welch_t_test(broken, describe(two)); }) == 4);
    CHECK(kind_of([&] { holm({0.5, bad}); }) == 4);
  }
  CHECK(kind_of([&] { holm({0.5, -0.1}); }) == 4);
}

TEST_CASE("nothing is ever NaN or infinite", "[statistics]") {
  std::mt19937_64 random(7);
  const Sample odd = {0,      -0.0, 1,       -1,   1 + 1e-15, 0.1,    0.3,    1e-300,
                      5e-324, 1e8,  1e8 + 1, 1e16, 1e300,     -1e300, 1e-160, 100};
  int usual = 0;
  for (int round = 0; round < 3000; ++round) {
    const size_t n = random() % 7;
    Sample x, y;
    for (size_t i = 0; i < n; ++i) {
      x.push_back(odd[random() % odd.size()]);
      y.push_back(random() % 3 ? odd[random() % odd.size()] : x.back());
    }
    const Description dx = describe(x), dy = describe(y);
    const PairedTest t = paired_t_test(x, y);
    const WilcoxonTest w = wilcoxon_signed_rank(x, y);
    const WelchTest v = welch_t_test(dx, dy);
    const double e = equivalence_p(x, y, 1);
    bool good = true;
    for (const double value : {dx.mean, dx.std, dx.median, dx.ci95, t.difference, t.ci95, t.t,
                               t.cohens_dz, v.difference, v.t, v.df, w.w}) {
      good = good && std::isfinite(value);
    }
    for (const double p : {t.p, w.p, v.p, e}) good = good && p >= 0 && p <= 1;
    if (!good) FAIL("x = " << Json(x) << ", y = " << Json(y));
    usual += t.kind == TestCase::usual;
  }
  CHECK(usual > 1000);
}

}  // namespace
}  // namespace lssm
