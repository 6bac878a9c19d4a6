// SPDX-License-Identifier: Apache-2.0
// Models whose weights are set by hand solve word problems exactly, at any length.
//
// A token x turns the state by M(x), so after x_1 … x_t the state is M(y) h0 with y = x_t … x_1:
// the product of the action "left". For "right", y = x_1 … x_t, a token turns it by M(x)^-1 and the
// state is M(y)^-1 h0. The readout compares with these |G| places; the nearest one is the answer.
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>

#include "core/algebra/named_groups.h"
#include "core/algebra/representation.h"
#include "core/lie/group.h"
#include "core/random.h"
#include "layers/model.h"
#include "tasks/group_word.h"
#include "tasks/task.h"
#include "test/core/lie_reference.h"
#include "test/layers/layer_cases.h"
#include "test/test.h"

using namespace lssm;
using algebra::FiniteGroup;
using algebra::Quaternion;
using algebra::Rotation;

namespace {

constexpr int64_t kLong = 10000;

struct ExactCase {
  std::string group;    // finite
  std::string lie;      // group of the layer
  std::string readout;  // of the layer
  int heads = 4;
  std::string map = "exp";
};

// The unit quaternion of a rotation, from its largest component, so that half turns lose no digits.
Quaternion quaternion_of(const Rotation& m) {
  const double w = 1 + m[0] + m[4] + m[8], x = 1 + m[0] - m[4] - m[8];
  const double y = 1 - m[0] + m[4] - m[8], z = 1 - m[0] - m[4] + m[8];
  const double most = std::max({w, x, y, z});
  Quaternion q;
  if (most == w) {
    q = {w, m[7] - m[5], m[2] - m[6], m[3] - m[1]};
  } else if (most == x) {
    q = {m[7] - m[5], x, m[1] + m[3], m[2] + m[6]};
  } else if (most == y) {
    q = {m[2] - m[6], m[1] + m[3], y, m[5] + m[7]};
  } else {
    q = {m[3] - m[1], m[2] + m[6], m[5] + m[7], z};
  }
  for (double& c : q) c /= 2 * std::sqrt(most);
  return q;
}

// A unit quaternion for each element. For a group of rotations that moves su2, a lift: a product of
// lifts is a lift up to the sign, which the Bloch vector does not see.
std::vector<Quaternion> quaternions(const FiniteGroup& group) {
  const std::string& name = group.name();
  if (name[0] == 'Q' || name[0] == '2') return algebra::quaternion_representation(group);
  std::vector<Quaternion> out;
  for (const Rotation& m : algebra::rotation_representation(group)) out.push_back(quaternion_of(m));
  return out;
}

template <int N>
std::vector<double> numbers(const Vec<double, N>& v) {
  return {v.v, v.v + N};
}

Vec<double, 4> vec(const Quaternion& q) { return {{q[0], q[1], q[2], q[3]}}; }
Quaternion conjugate(const Quaternion& q) { return {q[0], -q[1], -q[2], -q[3]}; }

// How an element of the finite group moves one head.
struct Motion {
  std::vector<double> algebra;                                          // exp of it acts
  std::function<std::vector<double>(const std::vector<double>&)> move;  // the same, in f64
};

// The standard representation of S5 times the sign: rotations of R^5, faithful.
Eigen::MatrixXd rotation_of(const algebra::Permutation& p) {
  Eigen::MatrixXd r = Eigen::MatrixXd::Zero(Eigen::Index(p.size()), Eigen::Index(p.size()));
  for (size_t i = 0; i < p.size(); ++i) r(p[i], Eigen::Index(i)) = algebra::sign(p);
  return r;
}

// Coordinates that a map of core/lie/skew_map.h takes to the rotation r: the planes that it turns
// and by how much, from its Schur form. Half turns come as pairs of eigenvalues -1.
std::vector<double> coordinates_of(const Eigen::MatrixXd& r, const std::string& map) {
  const Eigen::RealSchur<Eigen::MatrixXd> schur(r);
  const Eigen::MatrixXd &q = schur.matrixU(), &t = schur.matrixT();
  const Eigen::Index n = r.rows();
  Eigen::MatrixXd omega = Eigen::MatrixXd::Zero(n, n);
  const auto turn = [&](Eigen::Index i, Eigen::Index j, double angle) {
    const double w = map == "exp" ? angle : -4 * std::tan(angle / 4);
    omega += w * (q.col(j) * q.col(i).transpose() - q.col(i) * q.col(j).transpose());
  };
  std::vector<Eigen::Index> minus;
  for (Eigen::Index i = 0; i < n; ++i) {
    if (i + 1 < n && t(i + 1, i) != 0) {
      turn(i, i + 1, std::atan2(t(i + 1, i), t(i, i)));
      ++i;
    } else if (t(i, i) < 0) {
      minus.push_back(i);
    }
  }
  for (size_t i = 0; i + 1 < minus.size(); i += 2) turn(minus[i], minus[i + 1], std::numbers::pi);
  std::vector<double> a;
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = i + 1; j < n; ++j) a.push_back(omega(i, j));
  return a;
}

std::vector<Motion> motions_in_so5(const FiniteGroup& group, const std::string& map, bool inverse) {
  std::vector<Motion> out;
  for (const algebra::Permutation& p : group.permutations()) {
    const Eigen::MatrixXd r = rotation_of(inverse ? algebra::inverse(p) : p);
    out.push_back({coordinates_of(r, map), [r](const std::vector<double>& h) {
                     const Eigen::VectorXd y = r * Eigen::Map<const Eigen::VectorXd>(h.data(), 5);
                     return std::vector<double>(y.begin(), y.end());
                   }});
  }
  return out;
}

// The motions of all elements, or of their inverses.
std::vector<Motion> motions(const FiniteGroup& group, const ExactCase& c, bool inverse) {
  const std::string& lie = c.lie;
  if (lie == "so5") return motions_in_so5(group, c.map, inverse);
  std::vector<Motion> out;
  if (lie == "so2") {  // the cyclic group of order 2: half a turn
    for (int g = 0; g < group.order(); ++g) {
      const double sign = g == 0 ? 1 : -1;
      out.push_back({{g * std::numbers::pi}, [sign](const std::vector<double>& h) {
                       return std::vector<double>{sign * h[0], sign * h[1]};
                     }});
    }
    return out;
  }
  for (const Quaternion& image : quaternions(group)) {
    const Quaternion q = inverse ? conjugate(image) : image;
    if (lie == "su2") {
      out.push_back({numbers(lie::SU2::log(vec(q))), [q](const std::vector<double>& h) {
                       const Quaternion y = algebra::product(q, {h[0], h[1], h[2], h[3]});
                       return std::vector<double>(y.begin(), y.end());
                     }});
    } else {
      const Rotation m = algebra::rotation_from_quaternion(q);
      out.push_back({numbers(lie::SO3::log(vec(q))), [m](const std::vector<double>& h) {
                       std::vector<double> y(3);
                       for (size_t i = 0; i < 9; ++i) y[i / 3] += m[i] * h[i % 3];
                       return y;
                     }});
    }
  }
  return out;
}

// The formula of kernels/readout.h.
std::vector<double> bloch_vector(const std::vector<double>& h) {
  const double w = h[0], x = h[1], y = h[2], z = h[3];
  return {2 * (w * y + z * x), 2 * (z * y - w * x), w * w + z * z - y * y - x * x};
}

// Column-wise: numbers of head k at [i * heads + k].
void place(std::vector<double>& row, const std::vector<double>& head_numbers, int head, int heads) {
  for (size_t i = 0; i < head_numbers.size(); ++i)
    row[i * size_t(heads) + size_t(head)] = head_numbers[i];
}

ModelConfig config_of(const ExactCase& c, int64_t tokens) {
  Json json = {{"width", tokens},
               {"layers",
                {{{"type", "embedding"}},
                 {{"type", "lie_ssm"},
                  {"group", c.lie},
                  {"map", c.map},
                  {"heads", c.heads},
                  {"readout", c.readout}},
                 {{"type", "linear"}}}}};
  ModelConfig config;
  Fields::read(json, "/model", config);
  return config;
}

// Sets all weights. Returns the margin: how much the right class leads, at the least, if the state
// is exact and features have length 1.
double solve(Model& model, const ExactCase& c, const FiniteGroup& group,
             const std::vector<int>& inputs, bool right) {
  const std::vector<Motion> all = motions(group, c, right);
  const size_t heads = size_t(c.heads), k = all[0].algebra.size();
  const size_t v = c.lie == "so2" ? 2 : c.lie == "su2" ? 4 : c.lie == "so5" ? 5 : 3;
  const size_t features = (c.readout == "bloch" ? 3 : v) * heads;
  const size_t tokens = inputs.size(), classes = size_t(group.order());

  std::vector<double> one_hot(tokens * tokens), algebra(tokens * k * heads), h0(v * heads);
  for (size_t i = 0; i < tokens; ++i) one_hot[i * (tokens + 1)] = 1;
  Random random(5, Stream::check, 0);
  std::vector<std::vector<double>> templates(classes, std::vector<double>(features));
  for (int head = 0; head < c.heads; ++head) {
    std::vector<double> start(v);  // in general position: no element but the identity keeps it
    double squares = 0;
    for (double& x : start) {
      x = random.normal();
      squares += x * x;
    }
    for (double& x : start) x /= std::sqrt(squares);
    place(h0, start, head, c.heads);
    for (size_t g = 0; g < classes; ++g) {
      const std::vector<double> state = all[g].move(start);
      place(templates[g], c.readout == "bloch" ? bloch_vector(state) : state, head, c.heads);
    }
    for (size_t i = 0; i < tokens; ++i)
      for (size_t j = 0; j < k; ++j)
        algebra[(i * k + j) * heads + size_t(head)] = all[size_t(inputs[i])].algebra[j];
  }
  std::vector<double> readout(features * classes);
  for (size_t g = 0; g < classes; ++g)
    for (size_t f = 0; f < features; ++f) readout[f * classes + g] = templates[g][f];

  test::set_parameter(model, "layers.0.weight", one_hot);
  test::set_parameter(model, "layers.1.algebra.weight", algebra);
  test::set_parameter(model, "layers.1.algebra.bias", std::vector<double>(k * heads));
  test::set_parameter(model, "layers.1.h0", h0);
  test::set_parameter(model, "layers.2.weight", readout);
  test::set_parameter(model, "layers.2.bias", std::vector<double>(classes));

  double margin = 2;
  for (size_t a = 0; a < classes; ++a) {
    for (size_t b = 0; b < a; ++b) {
      double cosine = 0;
      for (size_t f = 0; f < features; ++f) cosine += templates[a][f] * templates[b][f];
      margin = std::min(margin, 1 - cosine / double(heads));
    }
  }
  return margin;
}

struct Outcome {
  int64_t wrong = 0;
  double drift = 0;
  std::vector<int64_t> seen;  // how often each class was the target
};

Outcome follow(const Model& model, const Task& task) {
  Outcome outcome;
  outcome.seen.resize(size_t(task.classes()));
  const Batch batch = task.batch(Split::test, 7, 0, 2, kLong);
  Tape tape(false);
  Context context = {.tape = tape};
  context.drift = &outcome.drift;
  const Tensor logits = model.forward(context, batch.tokens).value();
  const float* row = logits.data<float>();
  for (int64_t i = 0; i < batch.targets.numel(); ++i, row += task.classes()) {
    const int32_t target = batch.targets.data<int32_t>()[i];
    ++outcome.seen[size_t(target)];
    outcome.wrong += std::max_element(row, row + task.classes()) - row != target;
  }
  return outcome;
}

}  // namespace

TEST_CASE("models set by hand are right at all of 10,000 positions", "[layers][exact]") {
  const std::vector<ExactCase> cases = {{"C2", "so2", "raw", 1},
                                        {"C2", "so2", "direction", 3},  // parity
                                        {"Q8", "su2", "raw", 1},
                                        {"Q8", "su2", "direction", 9},
                                        {"2T", "su2", "raw", 1},
                                        {"2I", "su2", "raw", 1},
                                        {"A5", "su2", "bloch"},
                                        {"S4", "su2", "bloch"},
                                        {"S3", "so3", "direction"},
                                        {"D4", "so3", "raw"},
                                        {"S4", "so3", "direction"},
                                        {"A4", "so3", "raw", 9},
                                        {"A5", "so3", "direction"},
                                        {"A5", "so3", "raw", 1},
                                        {"D10", "so3", "direction", 2},
                                        {"S5", "so5", "raw", 4},
                                        {"S5", "so5", "raw", 4, "cayley2"},
                                        {"S5", "so5", "direction", 9, "cayley2"}};
  for (const ExactCase& c : cases) {
    for (const char* action : {"right", "left"}) {
      for (const char* inputs : {"generators", "generators_inverses", "all"}) {
        INFO(c.group << " in " << c.lie << ' ' << c.map << ' ' << c.readout << ", " << action
                     << ", " << inputs);
        Json json = {{"group", c.group}, {"action", action}, {"inputs", inputs}};
        const std::unique_ptr<TaskConfig> config = task_registry().make("group_word");
        Fields::read(json, "/task", *config);
        const std::unique_ptr<Task> task = config->build();
        const FiniteGroup group = algebra::named_group(c.group);
        const std::vector<int> elements = input_elements(group, inputs);
        Model model(config_of(c, int64_t(elements.size())), {task->vocabulary(), task->classes()},
                    1, DType::f32, Device::cpu);
        const double margin = solve(model, c, group, elements, action == std::string("right"));
        const Outcome outcome = follow(model, *task);
        INFO("margin " << margin << ", drift " << outcome.drift);
        CHECK(outcome.wrong == 0);
        CHECK(outcome.drift < 1e-2);
        CHECK(outcome.drift > 0);  // it was measured
        CHECK(margin > 0.02);
        CHECK(*std::min_element(outcome.seen.begin(), outcome.seen.end()) > 0);
      }
    }
  }
}

TEST_CASE("weights for one action fail at the other", "[layers][exact]") {
  const FiniteGroup a5 = algebra::named_group("A5");
  const ExactCase c = {"A5", "so3", "direction"};
  Json json = {{"group", "A5"}, {"action", "left"}};
  const std::unique_ptr<TaskConfig> config = task_registry().make("group_word");
  Fields::read(json, "/task", *config);
  const std::unique_ptr<Task> task = config->build();
  const std::vector<int> elements = input_elements(a5, "generators");
  Model model(config_of(c, 2), {task->vocabulary(), task->classes()}, 1, DType::f32, Device::cpu);
  solve(model, c, a5, elements, true);
  CHECK(follow(model, *task).wrong > kLong);  // of 2 * kLong positions
}

// The layer's own split into a rotation and a translation, against products of 4 x 4 matrices.
TEST_CASE("se3 moves points by the exponentials of its coordinates", "[layers][exact]") {
  const ExactCase c = {"", "se3", "raw", 1};
  constexpr int64_t kTokens = 4, kSteps = 50;
  Model model(config_of(c, kTokens), {kTokens, 3}, 1, DType::f64, Device::cpu);
  Random random(6, Stream::check, 0);
  std::vector<double> one_hot(kTokens * kTokens), turns(kTokens * 3), shifts(kTokens * 3);
  for (size_t i = 0; i < kTokens; ++i) one_hot[i * (kTokens + 1)] = 1;
  for (double& x : turns) x = 1.5 * random.normal();
  for (double& x : shifts) x = random.normal();
  test::set_parameter(model, "layers.0.weight", one_hot);
  test::set_parameter(model, "layers.1.algebra.weight", turns);
  test::set_parameter(model, "layers.1.algebra.bias", {0, 0, 0});
  test::set_parameter(model, "layers.1.shift.weight", shifts);
  test::set_parameter(model, "layers.1.shift.bias", {0, 0, 0});
  test::set_parameter(model, "layers.1.h0", {0.6, 0, 0.8});
  test::set_parameter(model, "layers.2.weight", {1, 0, 0, 0, 1, 0, 0, 0, 1});
  test::set_parameter(model, "layers.2.bias", {0, 0, 0});

  Tensor tokens({1, kSteps}, DType::i32);
  for (int64_t t = 0; t < kSteps; ++t) tokens.data<int32_t>()[t] = int32_t(random.below(kTokens));
  Tape tape(false);
  Context context = {.tape = tape};
  const std::vector<double> outputs = model.forward(context, tokens).value().to_host();
  std::array<double, 4> point = {0.6, 0, 0.8, 1};
  for (size_t t = 0; t < kSteps; ++t) {
    const size_t token = size_t(tokens.data<int32_t>()[t]);
    const double *w = &turns[token * 3], *v = &shifts[token * 3];
    const testing::Dense<4> motion = testing::expm(testing::Dense<4>{
        {0, -w[2], w[1], v[0], w[2], 0, -w[0], v[1], -w[1], w[0], 0, v[2], 0, 0, 0, 0}});
    std::array<double, 4> next = {};
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) next[size_t(i)] += motion(i, j) * point[size_t(j)];
    point = next;
    for (size_t i = 0; i < 3; ++i)
      CHECK(outputs[t * 3 + i] == Approx(point[i]).epsilon(1e-12).margin(1e-12));
  }
}
