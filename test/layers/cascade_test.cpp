// SPDX-License-Identifier: Apache-2.0
// Cascades, states that are group elements, and factored readouts with weights set by hand.
#include <cmath>
#include <numbers>

#include "core/algebra/named_groups.h"
#include "core/random.h"
#include "test/core/lie_reference.h"
#include "test/layers/layer_cases.h"
#include "test/test.h"

namespace lssm::test {
namespace {

constexpr double kPi = std::numbers::pi;
using Values = std::vector<double>;

Model model_of(const std::string& layers, const ModelInterface& interface) {
  return Model(model_config(layers), interface, 3, DType::f64, Device::cpu);
}

Values outputs(const Model& model, const Tensor& tokens) {
  Tape tape(false);
  Context context{.tape = tape};
  return model.forward(context, tokens).value().to_host();
}

// S3 = C3 : C2 with the tokens r and s. The first layer turns by pi at s: its state is the sign.
// The second turns by 120 degrees at r, in the direction that the sign says.
TEST_CASE("a semidirect cascade of two turning planes tracks S3", "[layers][exact]") {
  const std::string plane = R"({"type": "lie_ssm", "group": "so2", "heads": 1, "readout": "raw"})";
  for (const bool semidirect : {true, false}) {
    Model model =
        model_of(text(R"([{"type": "embedding", "width": 2}, {"type": "cascade", "first": )", plane,
                      R"(, "route": ")", semidirect ? "semidirect" : "schreier",
                      R"(", "second": [)", plane, "]}]"),
                 {2, 4});
    set_parameter(model, "layers.0.weight", {1, 0, 0, 1});
    set_parameter(model, "layers.1.first.h0", {1, 0});
    set_parameter(model, "layers.1.first.algebra.weight", {0, kPi});
    set_parameter(model, "layers.1.second.0.h0", {1, 0});
    Values route = {2 * kPi / 3, 0, 0, 0};  // of r h_0, r h_1, s h_0, s h_1 (and r, s)
    if (!semidirect) route.insert(route.end(), {0, 0});
    set_parameter(model, "layers.1.second.0.algebra.weight", route);

    const algebra::FiniteGroup s3 = algebra::named_group("S3");
    const int inputs[] = {s3.element("r"), s3.element("s")};
    const Tensor tokens = random_tokens(1, 500, 2);
    const Values h = outputs(model, tokens);
    int product = 0;
    for (size_t t = 0; t < 500; ++t) {
      product = s3.product(product, inputs[tokens.data<int32_t>()[t]]);
      // product = r^k s^flip
      int k = 0, flip = 0;
      for (const int f : {0, 1})
        for (const int i : {0, 1, 2})
          if (s3.product(s3.power(inputs[0], i), s3.power(inputs[1], f)) == product)
            k = i, flip = f;
      CHECK(h[4 * t] == Approx(flip ? -1 : 1).margin(1e-12));
      CHECK(h[4 * t + 2] == Approx(std::cos(2 * kPi * k / 3)).margin(1e-12));
      CHECK(h[4 * t + 3] == Approx(std::sin(2 * kPi * k / 3)).margin(1e-12));
    }
  }
}

// Columns of the product of exponentials, in f64 by the tests' own matrices.
TEST_CASE("an element's state is the product of its transitions", "[layers][exact]") {
  Model model = model_of(
      R"([{"type": "embedding", "width": 3},
          {"type": "lie_ssm", "group": "so3", "heads": 1, "state": "element", "readout": "matrix"}])",
      {2, 9});
  const Values w = {0.3, -0.7, 1.1, 2.0, 0.4, -0.5};
  set_parameter(model, "layers.0.weight", w);
  set_parameter(model, "layers.1.algebra.weight", {1, 0, 0, 0, 1, 0, 0, 0, 1});
  const auto turn = [&](size_t token) {
    const double *v = w.data() + 3 * token, x = v[0], y = v[1], z = v[2];
    return testing::expm(testing::Dense<3>{{0, -z, y, z, 0, -x, -y, x, 0}});
  };
  const Tensor tokens = random_tokens(1, 20, 2);
  const Values h = outputs(model, tokens);
  testing::Dense<3> product = testing::Dense<3>::identity();
  for (size_t t = 0; t < 20; ++t) {
    product = turn(size_t(tokens.data<int32_t>()[t])) * product;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        CHECK(h[9 * t + size_t(3 * i + j)] == Approx(product(i, j)).margin(1e-13));
  }
}

// A rigid motion (R, p) after (R', p') is (R R', R p' + p): here quarter turns about z and unit
// steps along x, in whole numbers.
TEST_CASE("a rigid motion's element is its rotation and its translation", "[layers][exact]") {
  Model model = model_of(
      R"([{"type": "embedding", "width": 2},
          {"type": "lie_ssm", "group": "se3", "heads": 1, "state": "element", "readout": "matrix"}])",
      {2, 12});
  set_parameter(model, "layers.0.weight", {1, 0, 0, 1});
  set_parameter(model, "layers.1.algebra.weight", {0, 0, kPi / 2, 0, 0, 0});
  set_parameter(model, "layers.1.shift.weight", {0, 0, 0, 1, 0, 0});
  const Tensor tokens = Tensor::from_host({1, 5}, {1, 0, 1, 1, 0}, DType::i32);
  const Values h = outputs(model, tokens);
  // x: (1, 0); turned: (0, 1); x: (1, 1); x: (2, 1); turned: (-1, 2).
  const std::vector<Values> places = {{1, 0}, {0, 1}, {1, 1}, {2, 1}, {-1, 2}};
  for (size_t t = 0; t < 5; ++t) {
    // Component i of column j at 4 i + j; the last column is the translation.
    CHECK(h[12 * t + 3] == Approx(places[t][0]).margin(1e-13));
    CHECK(h[12 * t + 7] == Approx(places[t][1]).margin(1e-13));
    CHECK(h[12 * t + 11] == Approx(0).margin(1e-13));
  }
  CHECK(h[12 * 4 + 0] == Approx(-1).margin(1e-13));  // two quarter turns
  CHECK(h[12 * 4 + 5] == Approx(-1).margin(1e-13));
}

// h_t = 0.5^t h_0 where nothing turns; at a gate of sigmoid(-1000) = 0 nothing turns at all.
TEST_CASE("contraction forgets at its rate and a closed gate keeps the state", "[layers][exact]") {
  for (const char* group : {"so2", "su2", "so3", "so5"}) {
    INFO(group);
    const int64_t v = group == std::string("so2")   ? 2
                      : group == std::string("su2") ? 4
                      : group == std::string("so3") ? 3
                                                    : 5;
    Model model = model_of(
        text(R"([{"type": "embedding", "width": 2}, {"type": "lie_ssm", "heads": 1, "group": ")",
             group, R"(", "gate": "head", "contraction": "fixed", "contraction_rate": 0.5,
             "readout": "raw"}])"),
        {2, v});
    set_parameter(model, "layers.1.gate.weight", {0, 0});
    set_parameter(model, "layers.1.gate.bias", {-1000});
    Values start(size_t(v), 0);
    start[1] = 1;
    set_parameter(model, "layers.1.h0", start);
    const Values h = outputs(model, random_tokens(1, 10, 2));
    for (int64_t t = 0; t < 10; ++t)
      for (int64_t i = 0; i < v; ++i)
        CHECK(h[size_t(t * v + i)] == (i == 1 ? std::ldexp(1, int(-t) - 1) : 0));
  }
}

// log softmax(class) = log softmax(first part) + log softmax(second part) if every pair is a class.
TEST_CASE("the factored readout's loss is the sum of its heads' losses", "[layers][exact]") {
  const std::vector<std::vector<int>> factors = {{0, 0, 0, 1, 1, 1}, {0, 1, 2, 0, 1, 2}};
  Model model = model_of(
      R"([{"type": "embedding", "width": 3}, {"type": "factored_readout", "first_inputs": 1}])",
      {2, 6, factors});
  set_parameter(model, "layers.0.weight", {0.4, -0.3, 0.8, -1.1, 0.6, 0.2});
  const Values first = {0.7, -0.4}, second = {0.3, 0.5, -0.2, 0.9, -0.6, 0.1, 0.4, 0.8, -0.7};
  set_parameter(model, "layers.1.0.out.weight", first);
  set_parameter(model, "layers.1.0.out.bias", {0.1, -0.2});
  set_parameter(model, "layers.1.1.out.weight", second);
  set_parameter(model, "layers.1.1.out.bias", {0, 0.3, -0.1});
  const Tensor tokens = Tensor::from_host({1, 2}, {0, 1}, DType::i32);
  const Tensor target = Tensor::from_host({1, 2}, {4, 2}, DType::i32);
  Tape tape(false);
  Context context{.tape = tape};
  const double loss = model.loss(context, tokens, target, Tensor()).value().item();

  const auto nll = [](const Values& logits, size_t right) {
    double sum = 0;
    for (const double x : logits) sum += std::exp(x);
    return std::log(sum) - logits[right];
  };
  const double x[2][3] = {{0.4, -0.3, 0.8}, {-1.1, 0.6, 0.2}};
  double expected = 0;
  for (size_t t = 0; t < 2; ++t) {
    const Values a = {0.7 * x[t][0] + 0.1, -0.4 * x[t][0] - 0.2};
    Values b = {0, 0.3, -0.1};
    for (size_t i = 0; i < 3; ++i)
      for (size_t j = 0; j < 3; ++j) b[j] += x[t][i] * second[3 * i + j];
    expected += (nll(a, t == 0 ? 1 : 0) + nll(b, t == 0 ? 1 : 2)) / 2;
  }
  CHECK(loss == Approx(expected).epsilon(1e-13));
}

TEST_CASE("cascades and factored readouts say what does not fit", "[layers]") {
  const auto error = [](const std::string& layers, const ModelInterface& interface) -> std::string {
    try {
      model_of(layers, interface);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  const std::string lie = R"({"type": "lie_ssm", "heads": 2})";
  CHECK_THAT(error(R"([{"type": "embedding"}, {"type": "cascade", "first": {"type": "mlp"},
                      "second": [)" +
                       lie + "]}]",
                   {2, 3}),
             Catch::Contains("/model/layers/1/first: expected a layer with states"));
  CHECK_THAT(error(R"([{"type": "embedding"}, {"type": "factored_readout"}])", {2, 3}),
             Catch::Contains("/model/layers/1: the task's classes have no factors"));
  CHECK_THAT(error(R"([{"type": "embedding"}, {"type": "factored_readout"}, {"type": "linear"}])",
                   {2, 3, kClassFactors}),
             Catch::Contains("/model/layers/1: factored_readout gives the task's classes"));
  CHECK_THAT(error(R"([{"type": "embedding", "width": 3},
                       {"type": "factored_readout", "first_inputs": 4}])",
                   {2, 3, kClassFactors}),
             Catch::Contains("/model/layers/1/first_inputs: got 4, expected at most"));
}

}  // namespace
}  // namespace lssm::test
