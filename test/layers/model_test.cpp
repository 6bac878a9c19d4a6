// SPDX-License-Identifier: Apache-2.0
// Models as configs describe them: errors, names and first values of the parameters; their loss.
#include "layers/model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "test/layers/layer_cases.h"
#include "test/test.h"

using namespace lssm;
using namespace lssm::test;
using Catch::Matchers::Contains;

namespace {

struct BadModel {
  std::string layers;
  std::string error;  // part of the text
};

void build(const std::string& layers) {
  Model(model_config(layers), {kVocabulary, kOutputs, kClassFactors}, 1, DType::f64, Device::cpu);
}

std::map<std::string, std::vector<double>> parameters(const std::string& layers, uint64_t seed,
                                                      DType dtype = DType::f64) {
  const Model model(model_config(layers), {kVocabulary, kOutputs, kClassFactors}, seed, dtype,
                    Device::cpu);
  std::map<std::string, std::vector<double>> values;
  for (const Parameter& p : model.parameters().all()) values[p.name] = p.value.to_host();
  return values;
}

double mean(const std::vector<double>& x) {
  double sum = 0;
  for (double v : x) sum += v;
  return sum / double(x.size());
}

double deviation(const std::vector<double>& x) {
  const double m = mean(x);
  double squares = 0;
  for (double v : x) squares += (v - m) * (v - m);
  return std::sqrt(squares / double(x.size()));
}

// Loss and gradients, as run() gives them.
template <class F>
Pass loss_pass(ParameterStore& parameters, F loss_on) {
  Tape tape;
  Context context = {.tape = tape, .training = true, .seed = 3};
  const Var loss = loss_on(context);
  Pass pass;
  pass.loss = loss.value().item();
  pass.outputs = {pass.loss};
  parameters.zero_grad();
  tape.backward(loss);
  for (const Parameter& p : parameters.all())
    pass.gradients.push_back(p.grad ? p.grad.to_host() : std::vector<double>());
  return pass;
}

Tensor every_third(const Shape& shape) {
  std::vector<double> mask(size_t(shape.numel()));
  for (size_t i = 0; i < mask.size(); ++i) mask[i] = i % 3 == 0;
  return Tensor::from_host(shape, mask, DType::i32);
}

}  // namespace

TEST_CASE("the loss of a model is the cross-entropy of its outputs", "[layers]") {
  // One partition of rows, and several of which the last is not full.
  for (const Shape& shape : {Shape{2, 5}, Shape{7, 87}}) {
    const Tensor tokens = random_tokens(shape[0], shape[1]);
    const Tensor target = random_tokens(shape[0], shape[1], kOutputs);
    for (const Tensor& mask : {Tensor(), every_third(shape)}) {
      for (const ModelCase& c : model_cases()) {
        INFO(c.name << " " << tokens.shape() << (mask ? " masked" : ""));
        TestModel test(c.layers);
        const Model& model = test.model;
        const Pass fused = loss_pass(test.model.parameters(), [&](Context& context) {
          return model.loss(context, tokens, target, mask);
        });
        const Pass apart = loss_pass(test.model.parameters(), [&](Context& context) {
          return cross_entropy(model.forward(context, tokens), target, mask);
        });
        CHECK(difference(apart, fused) <= 1e-12);

        Tape tape(false);  // the loss alone
        Context context = {.tape = tape, .training = true, .seed = 3};
        CHECK(model.loss(context, tokens, target, mask).value().item() == fused.loss);
      }
    }
  }
}

TEST_CASE("linear_cross_entropy is cross_entropy of linear", "[layers]") {
  struct Sizes {
    int64_t rows, in, classes;
  };
  for (const auto& [rows, in, classes] :
       {Sizes{1, 3, 2}, Sizes{7, 1, 1}, Sizes{128, 5, 9}, Sizes{603, 48, 60}, Sizes{1, 0, 4}}) {
    for (const bool with_bias : {false, true}) {
      for (const bool masked : {false, true}) {
        INFO(rows << " rows, " << in << " inputs, " << classes << " classes"
                  << (with_bias ? ", bias" : "") << (masked ? ", masked" : ""));
        ParameterStore store(5, DType::f64, Device::cpu);
        Parameter& x = store.add("x", {rows, in}, init::uniform(2));
        Parameter& w = store.add("w", {in, classes}, init::uniform(1));
        Parameter& b = store.add("b", {classes}, init::uniform(1));
        const Tensor target = random_tokens(1, rows, classes);
        const Tensor mask = masked ? every_third({rows}) : Tensor();
        const auto pass = [&](auto loss) {
          return loss_pass(store, [&](Context& context) {
            const Var bias = with_bias ? context.tape.parameter(b) : Var();
            return loss(context.tape.parameter(x), context.tape.parameter(w), bias);
          });
        };
        const Pass fused = pass(
            [&](Var x, Var w, Var bias) { return linear_cross_entropy(x, w, bias, target, mask); });
        const Pass apart = pass([&](Var x, Var w, Var bias) {
          return cross_entropy(linear(x, w, bias), target, mask);
        });
        CHECK(difference(apart, fused) <= 1e-12);
      }
    }
  }
}

TEST_CASE("wrong models are refused with the place and the reason", "[layers]") {
  const std::vector<BadModel> table = {
      {R"([])", "/model/layers: a model needs at least one layer"},
      {R"([{"type": "linear"}])",
       "/model/layers/0: the model's input is tokens, so its first layer must be an embedding"},
      {R"([{"type": "sequential", "layers": [{"type": "lie_ssm"}]}])",
       "/model/layers/0: the model"},
      {R"([{"type": "embedding"}, {"type": "embedding", "width": 3}])",
       "/model/layers/1: an embedding reads tokens, so it can only be the first layer"},
      {R"([{"type": "embedding"}, {"type": "residual", "layers": [{"type": "embedding"}]}])",
       "/model/layers/1: an embedding reads tokens"},
      {R"([{"type": "embedding"}, {"type": "sequential", "layers": [{"type": "linear"},
           {"type": "embedding"}]}])",
       "/model/layers/1/layers/1: an embedding reads tokens"},
      {R"([{"type": "embedding"}, {"type": "residual", "layers": [{"type": "linear", "width": 7}]},
           {"type": "linear"}])",
       "/model/layers/1: residual: the layers turn width 4 into 7, expected the same width"},
      {R"([{"type": "embedding"}, {"type": "linear", "width": 7}])",
       "/model/layers: the last layer gives 7 numbers, the task asks for 3"},
      {R"([{"type": "embedding"}])", "the last layer gives 4 numbers, the task asks for 3"},
      {R"([{"type": "embedding"}, {"type": "lie_ssm", "group": "so3", "readout": "bloch"}])",
       "/model/layers/1/readout: bloch reads states of su2, the group is so3"},
      {R"([{"type": "embedding"}, {"type": "lie_ssm", "heads": 0}])",
       "/model/layers/1/heads: got 0, expected a number at least 1"},
      {R"([{"type": "embedding"}, {"type": "diagonal_ssm", "heads": 0}])",
       "/model/layers/1/heads: got 0"},
      {R"([{"type": "embedding"}, {"type": "lie_ssm", "group": "so33"}])",
       "/model/layers/1/group: got \"so33\"; did you mean \"so3\"?"},
      {R"([{"type": "embedding"}, {"type": "lie_ssm", "group": "polar"}])",
       "/model/layers/1/group: got \"polar\""},
      {R"([{"type": "embedding"}, {"type": "lie_ssm", "haeds": 2}])",
       "/model/layers/1/haeds: unknown key; did you mean \"heads\"?"},
      {R"([{"type": "embedding"}, {"type": "lie_smm"}])",
       "/model/layers/1/type: there is no layer"},
      {R"([{"type": "embedding"}, {"type": "diagonal_ssm", "range": [0, 2]}])",
       "/model/layers/1/range: expected [0, 1] or [-1, 1]"},
      {R"([{"type": "embedding"}, {"type": "diagonal_ssm", "kind": "unit", "range": [-1, 1]}])",
       "/model/layers/1/range: has no effect"},
      {R"([{"type": "embedding"}, {"type": "diagonal_ssm", "kind": "real", "angle_std": 0.5}])",
       "/model/layers/1/angle_std: has no effect"},
      {R"([{"type": "embedding"}, {"type": "residual", "layers": []}])",
       "/model/layers/1/layers: expected at least one layer"},
      {R"([{"type": "embedding"}, {"type": "sequential", "layers": []}])",
       "/model/layers/1/layers: expected at least one layer"},
      {R"([{"type": "embedding"}, {"type": "dropout", "rate": 1}])", "/model/layers/1/rate"},
      {R"([{"type": "embedding"}, {"type": "rms_norm", "eps": 0}])", "/model/layers/1/eps: got 0"},
      {R"([{"type": "embedding"}, {"type": "lie_ssm", "angle_std": -1}])",
       "/model/layers/1/angle_std: got -1"},
      {R"([{"type": "embedding"}, {"type": "residual"}])",
       "/model/layers/1/layers: this key is missing"},
  };
  for (const BadModel& bad : table) {
    INFO(bad.layers);
    CHECK_THROWS_AS(build(bad.layers), Error);
    CHECK_THROWS_WITH(build(bad.layers), Contains(bad.error));
  }
}

TEST_CASE("widths left open: the task's for the last layer, else the model's", "[layers]") {
  const auto shapes = [](const std::string& layers) {
    const Model model(model_config(layers), {kVocabulary, kOutputs, kClassFactors}, 1, DType::f64,
                      Device::cpu);
    std::map<std::string, std::vector<int64_t>> all;
    for (const Parameter& p : model.parameters().all()) all[p.name] = p.value.shape().sizes();
    return all;
  };
  using Shapes = std::map<std::string, std::vector<int64_t>>;
  CHECK(shapes(R"([{"type": "embedding"}, {"type": "linear"}, {"type": "mlp"}])") ==
        Shapes{{"layers.0.weight", {kVocabulary, 4}},
               {"layers.1.weight", {4, 4}},
               {"layers.1.bias", {4}},
               {"layers.2.in.weight", {4, 16}},
               {"layers.2.in.bias", {16}},
               {"layers.2.out.weight", {16, kOutputs}},
               {"layers.2.out.bias", {kOutputs}}});
  CHECK(shapes(R"([{"type": "embedding", "width": 2},
      {"type": "residual", "layers": [{"type": "linear", "width": 2}]},
      {"type": "sequential", "layers": [{"type": "lie_ssm", "group": "su2", "heads": 5,
                                         "inject": true, "readout": "bloch"},
                                        {"type": "linear"}]}])") ==
        Shapes{{"layers.0.weight", {kVocabulary, 2}},
               {"layers.1.0.weight", {2, 2}},
               {"layers.1.0.bias", {2}},
               {"layers.2.0.h0", {4, 5}},
               {"layers.2.0.inject.weight", {2, 20}},
               {"layers.2.0.inject.bias", {20}},
               {"layers.2.0.algebra.weight", {2, 15}},
               {"layers.2.0.algebra.bias", {15}},
               {"layers.2.1.weight", {15, kOutputs}},
               {"layers.2.1.bias", {kOutputs}}});
}

TEST_CASE("parameter names are unique and dotted", "[layers]") {
  for (const ModelCase& c : model_cases()) {
    INFO(c.name);
    TestModel test(c.layers);
    std::set<std::string> names;
    int64_t count = 0;
    for (const Parameter& p : test.model.parameters().all()) {
      INFO(p.name);
      CHECK(names.insert(p.name).second);
      CHECK(p.name.rfind("layers.", 0) == 0);
      CHECK(p.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._") ==
            std::string::npos);
      CHECK(p.name.find("..") == std::string::npos);
      count += p.value.numel();
    }
    CHECK(count == test.model.parameters().count());
  }
}

TEST_CASE("first values are a function of the seed", "[layers]") {
  for (const ModelCase& c : model_cases()) {
    INFO(c.name);
    const auto a = parameters(c.layers, 1), b = parameters(c.layers, 2);
    CHECK(a == parameters(c.layers, 1));
    for (const auto& [name, values] : a) {
      INFO(name);
      const double first = values[0];  // one number that is neither 0 nor 1 may be drawn
      const bool constant =
          deviation(values) == 0 && (values.size() > 1 || first == 0 || first == 1);
      CHECK((values == b.at(name)) == constant);
      const std::vector<double> narrow = parameters(c.layers, 1, DType::f32).at(name);
      for (size_t i = 0; i < values.size(); ++i) REQUIRE(narrow[i] == double(float(values[i])));
    }
  }
}

TEST_CASE("a layer more at the end leaves the others as they are", "[layers]") {
  const std::string start = R"([{"type": "embedding"}, {"type": "lie_ssm", "heads": 2})";
  const auto shorter = parameters(start + R"(, {"type": "linear"}])", 1);
  const auto longer =
      parameters(start + R"(, {"type": "linear", "width": 3}, {"type": "mlp"}])", 1);
  CHECK(longer.size() == shorter.size() + 4);
  for (const auto& [name, values] : shorter) CHECK(longer.at(name) == values);
}

TEST_CASE("parameters start with the scales that their layers state", "[layers]") {
  // Bounds are five standard errors of the sample's deviation, 5 / sqrt(2 n), or more.
  const auto start = [](const std::string& layers) {
    Json json = {{"width", 64}, {"layers", Json::parse(layers)}};
    ModelConfig config;
    Fields::read(json, "/model", config);
    const Model model(config, {256, 64}, 3, DType::f64, Device::cpu);
    std::map<std::string, std::vector<double>> values;
    for (const Parameter& p : model.parameters().all()) values[p.name] = p.value.to_host();
    return values;
  };
  for (double angle_std : {1.0, 0.25}) {
    const auto p = start(text(R"([{"type": "embedding"}, {"type": "lie_ssm", "heads": 64,
        "inject": true, "angle_std": )",
                              angle_std, R"(}, {"type": "linear"}])"));
    const std::vector<double>& x = p.at("layers.0.weight");          // [256, 64]
    const std::vector<double>& w = p.at("layers.1.algebra.weight");  // [64, 192]
    CHECK(deviation(x) == Approx(1).epsilon(0.028));
    CHECK(std::abs(mean(x)) < 5.0 / 128);
    CHECK(largest(p.at("layers.1.algebra.bias")) == 0);
    std::vector<double> theta;  // the coordinates of the algebra, for all tokens
    for (size_t token = 0; token < 256; ++token) {
      for (size_t j = 0; j < 192; ++j) {
        double sum = 0;
        for (size_t i = 0; i < 64; ++i) sum += x[token * 64 + i] * w[i * 192 + j];
        theta.push_back(sum);
      }
    }
    // sum x² w² has a relative variance of 2 / 16384 + 2 / 12288 from its factors: 0.9 %.
    CHECK(deviation(theta) == Approx(angle_std).epsilon(0.045));

    const std::vector<double>& h0 = p.at("layers.1.h0");  // [3, 64]: columns of length 1
    for (size_t head = 0; head < 64; ++head) {
      const double a = h0[head], b = h0[64 + head], c = h0[128 + head];
      CHECK(a * a + b * b + c * c == Approx(1));
    }
    CHECK(std::abs(mean(h0)) < 5 / std::sqrt(3.0 * 192));  // directions have no preference
  }

  const auto q = start(R"([{"type": "embedding"}, {"type": "diagonal_ssm", "kind": "complex",
      "heads": 64, "angle_std": 0.5}, {"type": "layer_norm"}, {"type": "mlp", "hidden": 100}])");
  const std::vector<double>& phase = q.at("layers.1.phase.weight");  // [64, 64]
  CHECK(deviation(phase) == Approx(0.5 / 8).epsilon(0.056));
  CHECK(largest(q.at("layers.1.phase.bias")) == 0);
  CHECK(largest(q.at("layers.1.h0")) == 0);  // an injected state starts from 0
  CHECK(q.at("layers.2.gain") == std::vector<double>(128, 1));
  CHECK(q.at("layers.2.bias") == std::vector<double>(128, 0));
  // Uniform in ±1/sqrt(in): deviation 1/sqrt(3 in).
  for (const auto& [name, in] : std::map<std::string, double>{{"layers.1.modulus.weight", 64},
                                                              {"layers.1.inject.weight", 64},
                                                              {"layers.3.in.weight", 128},
                                                              {"layers.3.out.weight", 100}}) {
    INFO(name);
    CHECK(deviation(q.at(name)) == Approx(1 / std::sqrt(3 * in)).epsilon(0.05));
    CHECK(largest(q.at(name)) <= 1 / std::sqrt(in));
    CHECK(largest(q.at(name)) > 0.99 / std::sqrt(in));
  }
}

TEST_CASE("the resolved config has every default and builds the same model", "[layers]") {
  for (const ModelCase& c : model_cases()) {
    INFO(c.name);
    Json json = {{"width", 4}, {"layers", Json::parse(c.layers)}};
    ModelConfig first;
    Fields::read(json, "/model", first);
    Json again = json;
    ModelConfig second;
    Fields::read(again, "/model", second);
    CHECK(again == json);
    const Model a(first, {kVocabulary, kOutputs, kClassFactors}, 1, DType::f64, Device::cpu);
    const Model b(second, {kVocabulary, kOutputs, kClassFactors}, 1, DType::f64, Device::cpu);
    REQUIRE(a.parameters().all().size() == b.parameters().all().size());
    for (size_t i = 0; i < a.parameters().all().size(); ++i)
      CHECK(a.parameters().all()[i].value.to_host() == b.parameters().all()[i].value.to_host());
  }
}
