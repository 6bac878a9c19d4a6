// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/exact_run.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "core/algebra/named_groups.h"
#include "core/algebra/representation.h"
#include "core/lie/group.h"
#include "core/random.h"
#include "kernels/lie_map.h"
#include "kernels/scan.h"

namespace lssm {
namespace {

using algebra::FiniteGroup;
using algebra::Quaternion;
using algebra::Rotation;
using Vector = std::vector<double>;

// A group, its letters, and how both move vectors of R^dim.
struct Setting {
  FiniteGroup group;
  std::string head;                                // Lie group of the head
  size_t dim;                                      // of the vectors
  std::vector<int> letters;                        // elements
  std::vector<Vector> algebra;                     // coordinates of each letter
  std::function<Vector(int, const Vector&)> move;  // M(g) h in f64
};

// Generators and their inverses, with the coordinates and their negatives.
void add_letters(Setting& setting, const std::vector<Vector>& of_generators) {
  for (size_t i = 0; i < of_generators.size(); ++i) {
    const int g = setting.group.generators()[i].element;
    Vector negative = of_generators[i];
    for (double& x : negative) x = -x;
    setting.letters.insert(setting.letters.end(), {g, setting.group.inverse(g)});
    setting.algebra.insert(setting.algebra.end(), {of_generators[i], negative});
  }
}

Vector axis_angle(const Vec<double, 3>& a) { return {a[0], a[1], a[2]}; }

Setting spinors(const std::string& name) {
  Setting s{algebra::named_group(name), "su2", 4, {}, {}, {}};
  const std::vector<Quaternion> images = algebra::quaternion_representation(s.group);
  s.move = [images](int g, const Vector& h) {
    const Quaternion y = algebra::product(images[size_t(g)], Quaternion{h[0], h[1], h[2], h[3]});
    return Vector(y.begin(), y.end());
  };
  std::vector<Vector> logs;
  for (const auto& generator : s.group.generators()) {
    const Quaternion& q = images[size_t(generator.element)];
    logs.push_back(axis_angle(lie::SU2::log(Vec<double, 4>{{q[0], q[1], q[2], q[3]}})));
  }
  add_letters(s, logs);
  return s;
}

// angle / (2 sin) times the skew part; angles of generators of A5 are 2 pi / 3 and 2 pi / 5.
Vector rotation_log(const Rotation& m) {
  const Vector axis = {m[7] - m[5], m[2] - m[6], m[3] - m[1]};  // 2 sin(angle) times the axis
  const double sine = std::sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]) / 2;
  const double angle = std::atan2(sine, (m[0] + m[4] + m[8] - 1) / 2);
  Vector a = axis;
  for (double& x : a) x *= angle / (2 * sine);
  return a;
}

Setting rotations() {
  Setting s{algebra::named_group("A5"), "so3", 3, {}, {}, {}};
  const std::vector<Rotation> images = algebra::rotation_representation(s.group);
  s.move = [images](int g, const Vector& h) {
    const Rotation& m = images[size_t(g)];
    Vector y(3);
    for (size_t i = 0; i < 3; ++i)
      y[i] = m[i * 3] * h[0] + m[i * 3 + 1] * h[1] + m[i * 3 + 2] * h[2];
    return y;
  };
  std::vector<Vector> logs;
  for (const auto& g : s.group.generators())
    logs.push_back(rotation_log(images[size_t(g.element)]));
  add_letters(s, logs);
  return s;
}

// Coordinates of so5 (core/lie/so_n.h) to which a turn of the plane of the orthonormal u, v is
// added, u towards v: Omega = angle (v u^T - u v^T).
void add_turn(Vector& a, const Vector& u, const Vector& v, double angle) {
  size_t at = 0;
  for (size_t i = 0; i < 5; ++i)
    for (size_t j = i + 1; j < 5; ++j) a[at++] += angle * (v[i] * u[j] - u[i] * v[j]);
}

// sign(p) P in SO(5). The 5-cycle turns the planes of its Fourier modes 1 and 2 by their angles.
// The transposition keeps (1, -1, 0, 0, 0) and is -1 on the rest, two half turns.
Setting signed_permutations() {
  Setting s{algebra::named_group("S5"), "so5", 5, {}, {}, {}};
  const auto images = algebra::signed_permutation_matrices(s.group);
  s.move = [images](int g, const Vector& h) {
    Vector y(5);
    for (size_t i = 0; i < 5; ++i)
      for (size_t j = 0; j < 5; ++j) y[i] += images[size_t(g)][i * 5 + j] * h[j];
    return y;
  };
  Vector cycle(10), transposition(10);
  for (int mode = 1; mode <= 2; ++mode) {
    const double angle = 2 * std::numbers::pi * mode / 5;
    Vector cosine(5), sine(5);
    for (size_t i = 0; i < 5; ++i) {
      cosine[i] = std::sqrt(0.4) * std::cos(angle * double(i));
      sine[i] = std::sqrt(0.4) * std::sin(angle * double(i));
    }
    add_turn(cycle, cosine, sine, angle);  // e_i -> e_(i+1)
  }
  const double h = std::numbers::sqrt2 / 2;
  add_turn(transposition, {h, h, 0, 0, 0}, {0, 0, 0, 0, 1}, std::numbers::pi);
  add_turn(transposition, {0, 0, 1, 0, 0}, {0, 0, 0, 1, 0}, std::numbers::pi);
  add_letters(s, {cycle, transposition});
  return s;
}

Setting setting_of(const std::string& group) {
  if (group == "S5") return signed_permutations();
  if (group == "A5") return rotations();
  LSSM_CHECK(group == "2I" || group == "Q8", "exact_run: ", group, ": expected S5, A5, 2I or Q8");
  return spinors(group);
}

double dot(const double* a, const Vector& b) {
  double sum = 0;
  for (size_t i = 0; i < b.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Accurate for small angles: the chord is 2 sin(angle / 2).
double angle_between(const Vector& a, const Vector& b) {
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return 2 * std::asin(std::min(1.0, std::sqrt(squares) / 2));
}

std::vector<Vector> places_from(const Setting& s, const Vector& start) {
  std::vector<Vector> places;
  for (int g = 0; g < s.group.order(); ++g) places.push_back(s.move(g, start));
  return places;
}

// The places are an orbit, so the nearest of h_0's neighbours are as near as any.
double least_angle(const std::vector<Vector>& places) {
  double least = std::numbers::pi;
  for (size_t g = 1; g < places.size(); ++g)
    least = std::min(least, angle_between(places[0], places[g]));
  return least;
}

// The best of some random directions.
std::vector<Vector> spread_places(const Setting& s) {
  Random random(3, Stream::check, 0);
  std::vector<Vector> best;
  for (int i = 0; i < 50; ++i) {
    Vector start(s.dim);
    for (double& x : start) x = random.normal();
    const double length = std::sqrt(dot(start.data(), start));
    for (double& x : start) x /= length;
    std::vector<Vector> places = places_from(s, start);
    if (best.empty() || least_angle(places) > least_angle(best)) best = std::move(places);
  }
  return best;
}

// The states of one head for a word, [length, dim].
Vector states_of(const Setting& s, const std::vector<int>& word, const Vector& start, DType dtype) {
  const int64_t length = int64_t(word.size()), k = int64_t(s.algebra[0].size());
  const int64_t dim = int64_t(s.dim);
  Vector a;
  for (int letter : word)
    a.insert(a.end(), s.algebra[size_t(letter)].begin(), s.algebra[size_t(letter)].end());
  Tensor coordinates = Tensor::from_host({1, length, k, 1}, a, dtype);
  std::string scanned = s.head;
  if (s.head == "so5") {
    Tensor matrices({length, 25, 1}, dtype);
    kernels::group_matrix(s.head, lie::SkewMap::exp, coordinates.reshape({length, k, 1}), matrices);
    coordinates = matrices.reshape({1, length, 25, 1});
    scanned = "matrix5";
  }
  const Tensor h0 = Tensor::from_host({1, dim, 1}, start, dtype);
  Tensor h({1, length, dim, 1}, dtype);
  kernels::scan({scanned, coordinates, {}, h0, {}, {}}, h);
  return h.to_host();
}

}  // namespace

ExactRun exact_run(const std::string& group, DType dtype, int64_t length) {
  const Setting s = setting_of(group);
  const std::vector<Vector> places = spread_places(s);
  Random random(4, Stream::check, 0);
  std::vector<int> word(static_cast<size_t>(length));
  for (int& letter : word) letter = int(random.below(uint32_t(s.letters.size())));
  const Vector states = states_of(s, word, places[0], dtype);

  ExactRun run{0, 0, least_angle(places) / 2, 0};
  int product = 0;
  for (size_t t = 0; t < word.size(); ++t) {
    product = s.group.product(s.letters[size_t(word[t])], product);
    const double* h = &states[t * s.dim];
    Vector direction(h, h + s.dim);
    const double norm = std::sqrt(dot(h, direction));
    for (double& x : direction) x /= norm;
    run.norm_drift = std::max(run.norm_drift, std::abs(norm - 1));
    run.angular_drift =
        std::max(run.angular_drift, angle_between(direction, places[size_t(product)]));
    int nearest = 0;
    double best = -2;
    for (int g = 0; g < s.group.order(); ++g) {
      const double cosine = dot(direction.data(), places[size_t(g)]);
      if (cosine <= best) continue;
      best = cosine;
      nearest = g;
    }
    run.wrong += nearest != product;
  }
  return run;
}

}  // namespace lssm
