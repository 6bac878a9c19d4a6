// SPDX-License-Identifier: Apache-2.0
#include "autodiff/optimizer.h"

#include <cmath>
#include <functional>

#include "autodiff/schedule.h"
#include "test/autodiff/op_cases.h"
#include "test/test.h"

namespace lssm {
namespace {

using Values = std::vector<double>;
using testing::normal_numbers;

std::unique_ptr<OptimizerConfig> optimizer_config(Json json) {
  auto config = optimizer_registry().make(json.at("type").get<std::string>());
  REQUIRE(config);
  Fields::read(json, "/optimizer", *config);
  return config;
}

std::unique_ptr<Schedule> schedule(Json json) {
  auto made = schedule_registry().make(json.at("type").get<std::string>());
  REQUIRE(made);
  Fields::read(json, "/schedule", *made);
  return made;
}

// One number's update rule, written from the papers; state lives in the function.
using Rule = std::function<double(double w, double g, int64_t step, double lr)>;

// Adam: Kingma & Ba 2015, algorithm 1; AdamW: Loshchilov & Hutter 2019, algorithm 2.
Rule adam_rule(double beta1, double beta2, double eps, double weight_decay) {
  return [=, m = 0.0, v = 0.0](double w, double g, int64_t t, double lr) mutable {
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
    const double m_hat = m / (1 - std::pow(beta1, double(t)));
    const double v_hat = v / (1 - std::pow(beta2, double(t)));
    return w - lr * (m_hat / (std::sqrt(v_hat) + eps) + weight_decay * w);
  };
}

Rule sgd_rule(double momentum, double weight_decay) {
  return [=, u = 0.0](double w, double g, int64_t, double lr) mutable {
    u = momentum * u + g;
    return w - lr * (u + weight_decay * w);
  };
}

// Runs both for 50 steps with changing gradients, learning rates and clipping; returns the largest
// relative difference of a parameter.
double worst_difference(const Json& json, const Rule& rule, DType dtype) {
  ParameterStore store(3, dtype, Device::cpu);
  store.add("a", {3, 5}, init::normal(1));
  store.add("b", {7}, init::normal(0.1));
  const auto optimizer = optimizer_config(json)->build(store);
  std::vector<std::vector<Rule>> rules;
  std::vector<Values> expected;
  for (const Parameter& p : store.all()) {
    rules.emplace_back(size_t(p.value.numel()), rule);
    expected.push_back(p.value.to_host());
  }
  double worst = 0;
  for (int64_t step = 1; step <= 50; ++step) {
    const double lr = 0.01 * (1 + double(step % 7)), scale = step % 3 == 0 ? 0.25 : 1;
    for (size_t i = 0; i < expected.size(); ++i) {
      Parameter& p = store.all()[i];
      const Values g =
          normal_numbers(p.value.shape(), uint32_t(100 * step) + uint32_t(i)).to_host();
      p.grad = Tensor::from_host(p.value.shape(), g, dtype);
      for (size_t j = 0; j < g.size(); ++j) {
        expected[i][j] = rules[i][j](expected[i][j], scale * g[j], step, lr);
      }
    }
    optimizer->step(store, step, lr, scale);
    for (size_t i = 0; i < expected.size(); ++i) {
      const Values got = store.all()[i].value.to_host();
      for (size_t j = 0; j < got.size(); ++j) {
        worst = std::max(worst, std::abs(got[j] - expected[i][j]) / (1 + std::abs(expected[i][j])));
      }
    }
  }
  return worst;
}

TEST_CASE("optimizers follow their published algorithms", "[optimizer]") {
  struct Case {
    Json json;
    Rule rule;
  };
  const std::vector<Case> cases = {
      {{{"type", "adam"}}, adam_rule(0.9, 0.999, 1e-8, 0)},
      {{{"type", "adam"}, {"beta1", 0.5}, {"beta2", 0.75}, {"eps", 0.125}},
       adam_rule(0.5, 0.75, 0.125, 0)},
      {{{"type", "adam"}, {"beta1", 0}, {"beta2", 0}, {"eps", 1}}, adam_rule(0, 0, 1, 0)},
      {{{"type", "adamw"}}, adam_rule(0.9, 0.999, 1e-8, 0.01)},
      {{{"type", "adamw"}, {"weight_decay", 0.3}}, adam_rule(0.9, 0.999, 1e-8, 0.3)},
      {{{"type", "sgd"}}, sgd_rule(0.9, 0)},
      {{{"type", "sgd"}, {"momentum", 0}, {"weight_decay", 0.1}}, sgd_rule(0, 0.1)},
      {{{"type", "sgd"}, {"momentum", 0.5}}, sgd_rule(0.5, 0)}};
  for (const Case& c : cases) {
    INFO(c.json.dump());
    CHECK(worst_difference(c.json, c.rule, DType::f64) < 1e-13);
    CHECK(worst_difference(c.json, c.rule, DType::f32) < 1e-5);
  }
}

// Kingma & Ba 2015, section 2.1: the first step has size lr, whatever the size of the gradient.
TEST_CASE("the first step of Adam has size lr against the gradient's sign", "[optimizer]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    ParameterStore store(1, dtype, Device::cpu);
    Parameter& w = store.add("w", {4}, init::constant(0));
    const auto optimizer = optimizer_config({{"type", "adam"}})->build(store);
    w.grad = Tensor::from_host({4}, {1e-3, -1, 1e3, 0}, dtype);
    optimizer->step(store, 1, 0.01, 1);
    const Values step = w.value.to_host();
    const double tolerance = dtype == DType::f32 ? 1e-6 : 1e-12;
    CHECK(step[0] == Approx(-0.01 / (1 + 1e-5)).epsilon(tolerance));  // eps is 1e-5 of the gradient
    CHECK(step[1] == Approx(0.01 / (1 + 1e-8)).epsilon(tolerance));
    CHECK(step[2] == Approx(-0.01 / (1 + 1e-11)).epsilon(tolerance));
    CHECK(step[3] == 0);
  }
}

TEST_CASE("a constant gradient makes Adam walk lr at every step", "[optimizer]") {
  ParameterStore store(1, DType::f64, Device::cpu);
  Parameter& w = store.add("w", {1}, init::constant(0));
  const auto optimizer = optimizer_config({{"type", "adam"}, {"eps", 1e-300}})->build(store);
  for (int64_t t = 1; t <= 1000; ++t) {
    w.grad = Tensor::from_host({1}, {3.7}, DType::f64);
    optimizer->step(store, t, 0.125, 1);
    if (t % 100 == 0) CHECK(w.value.item() == Approx(-0.125 * double(t)).epsilon(1e-11));
  }
}

TEST_CASE("a parameter without a gradient stays as it is, and its moments too", "[optimizer]") {
  for (const char* type : {"adam", "adamw", "sgd"}) {
    ParameterStore store(1, DType::f64, Device::cpu);
    Parameter& a = store.add("a", {2}, init::constant(1));
    Parameter& b = store.add("b", {2}, init::constant(2));
    const auto optimizer = optimizer_config({{"type", type}})->build(store);
    b.grad = Tensor::from_host({2}, {1, 1}, DType::f64);
    optimizer->step(store, 1, 0.1, 1);
    CHECK(a.value.to_host() == Values{1, 1});
    CHECK(b.value.to_host() != Values{2, 2});
    for (const Optimizer::State& s : optimizer->state()) {
      INFO(s.name);
      const bool moved = s.value.to_host() != Values{0, 0};
      CHECK(moved == (s.name.back() == 'b'));
    }
  }
}

TEST_CASE("optimizer state is named by parameter", "[optimizer]") {
  ParameterStore store(1, DType::f32, Device::cpu);
  store.add("x.w", {2, 3}, init::constant(1));
  store.add("x.b", {3}, init::constant(1));
  const auto names = [&](const char* type) {
    std::vector<std::string> all;
    const auto optimizer = optimizer_config({{"type", type}})->build(store);
    for (const Optimizer::State& s : optimizer->state()) {
      all.push_back(s.name + text(s.value.shape()));
    }
    return all;
  };
  const std::vector<std::string> adam = {"adam.m.x.w[2, 3]", "adam.m.x.b[3]", "adam.v.x.w[2, 3]",
                                         "adam.v.x.b[3]"};
  CHECK(names("adam") == adam);
  CHECK(names("sgd") == std::vector<std::string>{"sgd.u.x.w[2, 3]", "sgd.u.x.b[3]"});
}

TEST_CASE("optimizer configs refuse numbers out of range", "[optimizer]") {
  const auto refused = [](const Json& json) {
    Json copy = json;
    const auto config = optimizer_registry().make(json.at("type").get<std::string>());
    CHECK_THROWS_AS(Fields::read(copy, "", *config), Error);
  };
  refused({{"type", "adam"}, {"lr", 0}});
  refused({{"type", "adam"}, {"lr", -1}});
  refused({{"type", "adam"}, {"beta1", 1}});
  refused({{"type", "adam"}, {"beta2", 1.0}});
  refused({{"type", "adam"}, {"eps", 0}});
  refused({{"type", "adam"}, {"weight_decay", 0.1}});  // AdamW's key
  refused({{"type", "adamw"}, {"weight_decay", -0.1}});
  refused({{"type", "sgd"}, {"momentum", 1.5}});
  CHECK(optimizer_config({{"type", "adam"}, {"lr", 0.25}})->lr() == 0.25);
}

TEST_CASE("groups of parameters have learning rates of their own", "[optimizer]") {
  const auto first_step = [](const Json& groups, const char* type) {
    ParameterStore store(1, DType::f64, Device::cpu);
    for (const char* name : {"layers.1.w", "layers.1.b", "layers.11.w"})
      store.add(name, {1}, init::constant(1)).grad = Tensor::from_host({1}, {0.5}, DType::f64);
    const auto config = optimizer_config({{"type", type}, {"lr", 0.25}, {"groups", groups}});
    config->build(store)->step(store, 1, config->lr(), 1);
    Values moved;
    for (const Parameter& p : store.all()) moved.push_back(1 - p.value.item());
    return moved;
  };
  // The first step of sgd is lr g, that of Adam lr (but for eps).
  CHECK(first_step(Json::array(), "sgd") == Values{0.125, 0.125, 0.125});
  const Json layer = {{"parameters", "layers.1"}, {"factor", 0.5}};
  const Json bias = {{"parameters", "layers.1.b"}, {"factor", 0}};
  CHECK(first_step(Json::array({layer}), "sgd") == Values{0.0625, 0.0625, 0.125});
  CHECK(first_step(Json::array({layer, bias}), "sgd") == Values{0.0625, 0, 0.125});
  CHECK(first_step(Json::array({bias, layer}), "sgd") == Values{0.0625, 0.0625, 0.125});
  const Values adam = first_step(Json::array({layer, bias}), "adam");
  CHECK(adam[0] == Approx(0.125).epsilon(1e-6));
  CHECK(adam[1] == 0);
  CHECK(adam[2] == Approx(0.25).epsilon(1e-6));
  CHECK_THROWS_WITH(
      first_step(Json::array({{{"parameters", "layers.1.v"}, {"factor", 1}}}), "sgd"),
      Catch::Contains("/train/optimizer/groups: no parameter") && Catch::Contains("did you mean"));
  CHECK_THROWS_AS(first_step(Json::array({{{"parameters", "layers.1"}, {"factor", -1}}}), "sgd"),
                  Error);
}

TEST_CASE("schedules at exact points", "[optimizer]") {
  const auto constant = schedule({{"type", "constant"}});
  CHECK(constant->factor(0, 10) == 1);
  CHECK(constant->factor(9, 10) == 1);

  const auto warm = schedule({{"type", "constant"}, {"warmup", 4}});
  for (int i = 0; i < 4; ++i) CHECK(warm->factor(i, 10) == (i + 1) / 4.0);
  CHECK(warm->factor(4, 10) == 1);
  CHECK(schedule({{"type", "constant"}, {"warmup", 1}})->factor(0, 10) == 1);

  const auto cosine = schedule({{"type", "cosine"}});
  CHECK(cosine->factor(0, 100) == 1);
  CHECK(cosine->factor(50, 100) == Approx(0.5).epsilon(1e-14));
  CHECK(cosine->factor(25, 100) == Approx((1 + std::sqrt(0.5)) / 2).epsilon(1e-14));
  CHECK(cosine->factor(100, 100) == Approx(0).margin(1e-16));

  const auto shaped = schedule({{"type", "cosine"}, {"warmup", 20}, {"final", 0.1}});
  CHECK(shaped->factor(0, 120) == Approx(1.0 / 20));
  CHECK(shaped->factor(19, 120) == 1);
  CHECK(shaped->factor(20, 120) == 1);
  CHECK(shaped->factor(70, 120) == Approx(0.55).epsilon(1e-14));
  CHECK(shaped->factor(120, 120) == Approx(0.1).epsilon(1e-14));
  double before = 2;
  for (int64_t step = 20; step < 120; ++step) {
    CHECK(shaped->factor(step, 120) < before);
    before = shaped->factor(step, 120);
  }
  CHECK(schedule({{"type", "cosine"}, {"warmup", 20}})->factor(20, 20) >= 0);  // only warm-up

  const auto step = schedule({{"type", "step"}, {"every", 10}, {"factor", 0.5}, {"warmup", 5}});
  CHECK(step->factor(4, 100) == 1);
  CHECK(step->factor(5, 100) == 1);
  CHECK(step->factor(14, 100) == 1);
  CHECK(step->factor(15, 100) == 0.5);
  CHECK(step->factor(25, 100) == 0.25);
  CHECK(step->factor(95, 100) == std::ldexp(1, -9));
}

TEST_CASE("grad_norm is the Euclidean norm of all gradients that are there", "[optimizer]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    ParameterStore store(1, dtype, Device::cpu);
    Parameter& a = store.add("a", {2}, init::constant(1));
    Parameter& b = store.add("b", {1, 2}, init::constant(1));
    store.add("none", {3}, init::constant(1));
    CHECK(grad_norm(store) == 0);
    a.grad = Tensor::from_host({2}, {2, -4}, dtype);
    CHECK(grad_norm(store) == std::sqrt(20.0));
    b.grad = Tensor::from_host({1, 2}, {5, 6}, dtype);
    CHECK(grad_norm(store) == 9);  // 4 + 16 + 25 + 36
  }
  ParameterStore store(1, DType::f32, Device::cpu);  // squares beyond f32 do not overflow
  Parameter& w = store.add("w", {10000}, init::constant(0));
  w.grad = Tensor::from_host({10000}, Values(10000, double(0x1p100f)), DType::f32);
  CHECK(grad_norm(store) == 100 * 0x1p100);
}

TEST_CASE("parameters: names are unique, counts add up, initial values follow the seed",
          "[optimizer]") {
  ParameterStore store(5, DType::f64, Device::cpu), same(5, DType::f64, Device::cpu),
      other(6, DType::f64, Device::cpu);
  const ParamScope scope(store, "");
  const Parameter& w = scope.child("layers").child("0").add("w", {20, 30}, init::normal(2));
  CHECK(w.name == "layers.0.w");
  CHECK_THROWS_AS(scope.child("layers").child("0").add("w", {1}, init::constant(0)), Error);
  const Parameter& u = store.add("u", {600}, init::normal(2));
  CHECK(store.count() == 1200);
  CHECK(w.value.to_host() != u.value.to_host());  // each has a stream of its own
  CHECK(same.add("x", {600}, init::normal(2)).value.to_host() == w.value.to_host());
  CHECK(other.add("x", {600}, init::normal(2)).value.to_host() != w.value.to_host());

  double sum = 0, squares = 0;
  for (const double v : w.value.to_host()) sum += v, squares += v * v;
  CHECK(std::abs(sum / 600) < 5 * 2 / std::sqrt(600.0));  // five standard errors
  CHECK(squares / 600 == Approx(4).epsilon(5 * std::sqrt(2 / 600.0)));
  for (const double v : store.add("uniform", {600}, init::uniform(0.5)).value.to_host()) {
    CHECK(std::abs(v) <= 0.5);
  }
  const Values columns = store.add("unit", {1, 3, 4}, init::unit_columns(3)).value.to_host();
  for (size_t head = 0; head < 4; ++head) {
    double length = 0;
    for (size_t i = 0; i < 3; ++i) length += columns[i * 4 + head] * columns[i * 4 + head];
    CHECK(length == Approx(1).epsilon(1e-14));
  }
}

}  // namespace
}  // namespace lssm
