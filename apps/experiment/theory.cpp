// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/theory.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "apps/experiment/exact_run.h"
#include "core/algebra/named_groups.h"
#include "core/algebra/subgroups.h"
#include "core/lie/group.h"
#include "core/random.h"
#include "kernels/scan.h"

namespace lssm {

using algebra::FiniteGroup;
using algebra::Quaternion;
using algebra::Rotation;

namespace {

Quaternion random_quaternion(Random& random) {
  Quaternion q;
  double squares = 0;
  for (double& x : q) {
    x = random.normal();
    squares += x * x;
  }
  for (double& x : q) x /= std::sqrt(squares);
  return q;
}

// Token by token, as a head turns: y_t = x_t y_{t-1}. The word (x z)^30 (z x)^30.
Rotation after_word(const Rotation& x, const Rotation& z) {
  Rotation y = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (int step = 0; step < 120; ++step)
    y = algebra::product((step % 2 == 0) == (step < 60) ? x : z, y);
  return y;
}

}  // namespace

double collision_distance(const Rotation& c, const Rotation& t) {
  return algebra::max_difference(after_word(c, t), after_word(t, c));
}

double worst_collision(const std::string& group) {
  const auto images = algebra::rotation_representation(algebra::named_group(group));
  double worst = 0;
  for (const Rotation& c : images)
    for (const Rotation& t : images) worst = std::max(worst, collision_distance(c, t));
  return worst;
}

double median_random_collision() {
  Random random(5, Stream::check, 0);
  std::vector<double> distances(1000);
  for (double& distance : distances) {
    const Rotation c = algebra::rotation_from_quaternion(random_quaternion(random));
    const Rotation t = algebra::rotation_from_quaternion(random_quaternion(random));
    distance = collision_distance(c, t);
  }
  std::nth_element(distances.begin(), distances.begin() + 500, distances.end());
  return distances[500];
}

double closest_states(int steps) {
  const FiniteGroup s5 = algebra::named_group("S5");
  Random random(6, Stream::check, 0);
  const std::array<Quaternion, 2> turns = {random_quaternion(random), random_quaternion(random)};
  std::vector<Quaternion> states;
  std::vector<int> products;
  Quaternion q = {1, 0, 0, 0};
  int product = 0;
  double largest = 0;  // |cos| of half the angle: q and -q are the same rotation
  for (int step = 0; step < steps; ++step) {
    const size_t letter = random.below(2);
    q = algebra::product(turns[letter], q);
    product = s5.product(s5.generators()[letter].element, product);
    for (size_t i = 0; i < states.size(); ++i) {
      if (products[i] == product) continue;
      double cosine = 0;
      for (size_t k = 0; k < 4; ++k) cosine += q[k] * states[i][k];
      largest = std::max(largest, std::abs(cosine));
    }
    states.push_back(q);
    products.push_back(product);
  }
  return 2 * std::acos(std::min(1.0, largest));
}

// Each pair is that of class c - 1, (u v, v u): v = u k with k a product of commutators of weight
// c - 1, and u v and v u differ by [u, k].
std::array<std::vector<int>, 2> word_pair(int c) {
  LSSM_CHECK(c >= 1 && c <= 4, "word_pair: c is ", c, ", expected 1 to 4");
  if (c == 1) return {{{0}, {1}}};
  const auto [u, v] = word_pair(c - 1);
  std::vector<int> uv = u, vu = v;
  uv.insert(uv.end(), v.begin(), v.end());
  vu.insert(vu.end(), u.begin(), u.end());
  return {uv, vu};
}

double saddle_gradient(int c, double eps) {
  constexpr double kLetters[2][3] = {{0.9, -0.4, 0.3}, {-0.2, 0.7, 0.8}};
  constexpr double kReadout[3] = {0.5, -0.7, 0.4};
  const std::vector<double> start = {0.36, 0.48, 0.8};
  std::array<std::array<double, 3>, 2> gradient{};
  double sign = 1;
  for (const std::vector<int>& word : word_pair(c)) {
    const int64_t length = int64_t(word.size());
    std::vector<double> a, dh(size_t(length) * 3);
    for (int letter : word)
      for (double x : kLetters[letter]) a.push_back(eps * x);
    std::copy(kReadout, kReadout + 3, dh.end() - 3);  // only the last state is read
    const Shape shape = {1, length, 3, 1};
    const kernels::ScanInputs in = {"so3", Tensor::from_host(shape, a, DType::f64),
                                    {},    Tensor::from_host({1, 3, 1}, start, DType::f64),
                                    {},    {}};
    Tensor h(shape, DType::f64);
    kernels::scan(in, h);
    kernels::ScanGradients out{Tensor(shape, DType::f64), {}, Tensor({1, 3, 1}, DType::f64), {}};
    kernels::scan_backward(in, h, Tensor::from_host(shape, dh, DType::f64), out);
    const std::vector<double> da = out.da.to_host();
    for (size_t t = 0; t < word.size(); ++t)
      for (size_t i = 0; i < 3; ++i) gradient[size_t(word[t])][i] += sign * da[t * 3 + i];
    sign = -1;
  }
  double squares = 0;
  for (const auto& of_letter : gradient)
    for (double x : of_letter) squares += x * x;
  return std::sqrt(squares);
}

// Least squares over x = -5 … -9, whose mean is -7 and whose squares about it add up to 10.
double saddle_slope(int c) {
  double slope = 0;
  for (int x = -9; x <= -5; ++x)
    slope += (x + 7) * std::log2(saddle_gradient(c, std::ldexp(1.0, x))) / 10;
  return slope;
}

namespace {

// The mean squared distance of the rows from their mean.
double variance(const std::vector<std::vector<double>>& rows) {
  std::vector<double> mean(rows[0].size());
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) mean[i] += row[i] / double(rows.size());
  double sum = 0;
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) sum += (row[i] - mean[i]) * (row[i] - mean[i]);
  return sum / double(rows.size());
}

}  // namespace

double centroid_dilution(const std::string& name) {
  const FiniteGroup group = algebra::named_group(name);
  const algebra::Quotient cosets = algebra::quotient_map(group, algebra::derived_subgroup(group));
  const size_t order = size_t(group.order()), count = size_t(cosets.order);
  std::vector<std::vector<double>> centroids(count, std::vector<double>(order));
  std::vector<std::vector<double>> one_hot(count, std::vector<double>(count));
  for (size_t g = 0; g < order; ++g)
    centroids[size_t(cosets.coset[g])][g] = double(count) / double(order);
  for (size_t c = 0; c < count; ++c) one_hot[c][c] = 1;
  return variance(centroids) / variance(one_hot);
}

Horizon leaky_horizon(double lambda) {
  LSSM_CHECK(lambda > 0 && lambda < 1, "leaky_horizon: lambda is ", lambda,
             ", expected a number between 0 and 1");
  const double spacing = std::numeric_limits<float>::epsilon();
  const auto steps = [&](double size) { return int64_t(std::log(size) / std::log(lambda)); };
  Horizon horizon{steps(spacing), 0, steps(spacing / 2), 0};
  const int64_t length = 2 * horizon.roundoff + 2;
  Tensor h({1, length, 1, 1}, DType::f32);
  const std::vector<double> lambdas(size_t(length), lambda);
  kernels::scan({"real",
                 Tensor::from_host({1, length, 1, 1}, lambdas, DType::f32),
                 {},
                 Tensor::from_host({1, 1, 1}, {1}, DType::f32),
                 {},
                 {}},
                h);
  for (int64_t n = 1; n <= length; ++n) {
    const float left = h.data<float>()[n - 1];
    if (left >= float(spacing)) horizon.spacing_run = n;
    if (1.0f + left != 1.0f) horizon.roundoff_run = n;
  }
  return horizon;
}

double plane_angle(lie::SkewMap map, double w) {
  Vec<double, 10> a{};
  a[0] = w;  // the plane of the first two coordinates
  const lie::Square<double, 5> r = lie::skew_map(map, lie::SON<5>::skew(a));
  return std::abs(std::atan2(r(1, 0), r(0, 0)));
}

// ---- claims ----

namespace {

std::vector<Claim> collision_claims() {
  const std::string check = "collision";
  const FiniteGroup s5 = algebra::named_group("S5");
  const int c = s5.element("c"), t = s5.element("t");
  const int ct = s5.power(s5.product(c, t), 30), tc = s5.power(s5.product(t, c), 30);
  std::vector<Claim> claims = {{check,
                                text("S5: (ct)^30 (tc)^30 = ", s5.element_name(s5.product(ct, tc)),
                                     ", the other order ", s5.element_name(s5.product(tc, ct))),
                                double(s5.product(ct, tc) != s5.product(tc, ct)), 1, 1}};
  for (const char* group : {"A5", "S4", "D16"}) {
    claims.push_back({check, text("c, t any two of ", group, " in SO(3): matrices differ by"),
                      worst_collision(group), 0, 1e-12});
  }
  claims.push_back({check, "c, t random, so no finite group: they differ by",
                    median_random_collision(), 0.01, 2});
  claims.push_back(
      {check, "but unequal products get near (rad): 500 steps", closest_states(500), 0, 0.2});
  claims.push_back({check, "and nearer: 8000 steps", closest_states(8000), 0, 0.03});
  return claims;
}

std::vector<Claim> saddle_claims() {
  std::vector<Claim> claims;
  for (int c = 1; c <= 4; ++c) {
    std::string words;
    for (const std::vector<int>& word : word_pair(c)) {
      words += words.empty() ? "" : ", ";
      for (int letter : word) words += letter == 0 ? 'a' : 'b';
    }
    claims.push_back({"saddle", text(words, ": gradient ~ eps^(c-1), c = ", c), saddle_slope(c),
                      c - 1 - 0.05, c - 1 + 0.05});
  }
  return claims;
}

std::vector<Claim> dilution_claims() {
  std::vector<Claim> claims;
  for (const auto& [group, order] : {std::pair("S5", 60), std::pair("D16", 4)}) {
    claims.push_back({"dilution",
                      text(group, ": variance of coset centroids, 1 / |[G, G]| = 1 / ", order),
                      centroid_dilution(group), (1 - 1e-12) / order, (1 + 1e-12) / order});
  }
  return claims;
}

std::vector<Claim> horizon_claims() {
  const Horizon h = leaky_horizon(0.95);
  const std::string check = "horizon";
  return {
      {check, "0.95^n >= 2^-23 up to n, by formula", double(h.spacing), 310, 310},
      {check, "the same, by running the scan in f32", double(h.spacing_run), 310, 310},
      {check, "0.95^n > 2^-24 up to n, by formula", double(h.roundoff), 324, 324},
      {check, "1 + 0.95^n is not 1 in f32 up to n, by running", double(h.roundoff_run), 324, 324}};
}

std::vector<Claim> exact_claims() {
  constexpr int64_t kLength = 100000;
  std::vector<Claim> claims;
  const std::string check = "exact";
  for (const auto& [group, head] : {std::pair("S5", "so5"), std::pair("A5", "so3"),
                                    std::pair("2I", "su2"), std::pair("Q8", "su2")}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const ExactRun run = exact_run(group, dtype, kLength);
      const bool single = dtype == DType::f32;
      const std::string name =
          text(group, " in ", head, ", ", single ? "f32" : "f64", ", ", kLength, " steps: ");
      // A step of d terms rounds by up to some units of 2^-24, and all may go one way.
      const double bound = double(kLength) * std::ldexp(4.0, single ? -24 : -53);
      claims.push_back({check, name + "wrong", double(run.wrong), 0, 0});
      claims.push_back({check, name + "norm drift", run.norm_drift, 0, bound});
      claims.push_back(
          {check, name + "angular drift", run.angular_drift, 0, std::min(bound, run.half_margin)});
    }
  }
  return claims;
}

std::vector<Claim> cayley_claims() {
  const std::string check = "cayley";
  const double pi = std::numbers::pi;
  std::vector<Claim> claims;
  for (const double w : {1.0, 10.0, 100.0, 1000.0}) {
    const double missing = pi - 2 * std::atan(w / 2);
    claims.push_back({check, text("cayley, |Omega| = ", w, ": rad short of a half turn"),
                      pi - plane_angle(lie::SkewMap::cayley, w), 0.999 * missing, 1.001 * missing});
  }
  claims.push_back({check, "cayley2, |Omega| = 4: rad short of a half turn",
                    std::abs(pi - plane_angle(lie::SkewMap::cayley2, 4)), 0, 1e-14});
  claims.push_back({check, "exp, |Omega| = pi: rad short of a half turn",
                    std::abs(pi - plane_angle(lie::SkewMap::exp, pi)), 0, 1e-14});
  return claims;
}

struct Check {
  const char* name;
  std::vector<Claim> (*claims)();
};
constexpr Check kChecks[] = {{"collision", collision_claims}, {"saddle", saddle_claims},
                             {"dilution", dilution_claims},   {"horizon", horizon_claims},
                             {"exact", exact_claims},         {"cayley", cayley_claims}};

}  // namespace

std::vector<std::string> theory_checks() {
  std::vector<std::string> names;
  for (const Check& check : kChecks) names.push_back(check.name);
  return names;
}

std::vector<Claim> check_theory(const std::string& name) {
  std::string known;
  for (const Check& check : kChecks) {
    if (name == check.name) return check.claims();
    known += (known.empty() ? "" : ", ") + std::string(check.name);
  }
  fail("verify: no check \"", name, "\", expected one of ", known);
}

}  // namespace lssm
