// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "layers/model.h"
#include "test/layers/layer_cases.h"
#include "test/test.h"

using namespace lssm;
using namespace lssm::test;

namespace {

using Values = std::vector<double>;
using Points = std::vector<int>;

Values unit_matrix(int64_t n) {
  Values x(size_t(n * n));
  for (int64_t i = 0; i < n; ++i) x[size_t(i * (n + 1))] = 1;
  return x;
}

// Four vectors e_a - e_b whose reflections, the first first, move each e_i to e_to[i]: each puts
// one more into its place. 0 where nothing is to be done.
Values transpositions(const Points& to) {
  Points now = {0, 1, 2, 3, 4};
  Values vectors;
  for (size_t i = 0; i < 4; ++i) {
    const int from = now[i];
    Values v(5, 0);
    if (from != to[i]) v[size_t(from)] = 1, v[size_t(to[i])] = -1;
    for (int& x : now) x = x == from ? to[i] : x == to[i] ? from : x;
    vectors.insert(vectors.end(), v.begin(), v.end());
  }
  return vectors;
}

}  // namespace

// Each token of the model is one of the 120 permutations of five numbers, as four reflections.
TEST_CASE("four reflections set by hand follow S5 without any error", "[layers][exact]") {
  constexpr int64_t tokens = 120, length = 5000;
  std::vector<Points> group;
  for (Points p = {0, 1, 2, 3, 4}; group.empty() || p != group[0];
       std::next_permutation(p.begin(), p.end())) {
    group.push_back(p);
  }
  REQUIRE(group.size() == tokens);
  for (const DType dtype : {DType::f32, DType::f64}) {
    Json json = {{"width", tokens},
                 {"layers",
                  {{{"type", "embedding"}},
                   {{"type", "delta_product"},
                    {"reflections", 4},
                    {"dim", 5},
                    {"heads", 1},
                    {"readout", "raw"}},
                   {{"type", "linear"}}}}};
    ModelConfig config;
    Fields::read(json, "/model", config);
    Model model(config, {tokens, 5}, 1, dtype, Device::cpu);
    Values vectors;
    for (const Points& p : group) {
      const Values own = transpositions(p);
      vectors.insert(vectors.end(), own.begin(), own.end());
    }
    set_parameter(model, "layers.0.weight", unit_matrix(tokens));
    set_parameter(model, "layers.1.h0", {1, 2, 3, 4, 5});
    set_parameter(model, "layers.1.vectors.weight", vectors);
    set_parameter(model, "layers.1.vectors.bias", Values(20));
    set_parameter(model, "layers.1.beta.weight", Values(size_t(4 * tokens)));
    set_parameter(model, "layers.1.beta.bias", Values(4, 100));  // 2 sigmoid(100) = 2
    set_parameter(model, "layers.2.weight", unit_matrix(5));
    set_parameter(model, "layers.2.bias", Values(5));

    Tensor word = random_tokens(1, length, tokens);
    word.data<int32_t>()[0] = 0;  // the identity: the output is the state at the start
    Tape tape(false);
    Context context = {.tape = tape};
    const Values outputs = model.forward(context, word).value().to_host();
    Values state(outputs.begin(), outputs.begin() + 5);
    CHECK(state[4] == Approx(5 / std::sqrt(55)).epsilon(1e-6));
    CHECK(std::is_sorted(state.begin(), state.end()));
    for (int64_t t = 1; t < length; ++t) {
      const Points& to = group[size_t(word.data<int32_t>()[t])];
      Values moved(5);
      for (size_t i = 0; i < 5; ++i) moved[size_t(to[i])] = state[i];
      state = moved;
      const Values got(outputs.begin() + 5 * t, outputs.begin() + 5 * (t + 1));
      REQUIRE(got == state);
    }
  }
}

// A token whose embedding is 0 has the first betas everywhere: one reflection along e_1 leaves
// 1 - beta of the first component. Its logit is within 1 / sqrt(4) of the one that is asked for.
TEST_CASE("delta_product starts with the beta that it is told", "[layers]") {
  const std::vector<std::pair<std::string, double>> cases = {
      {R"("range": [0, 2])", 1.96},
      {R"("range": [0, 1])", 0.04},
      {R"("range": [0, 2], "beta_start": 0.5)", 0.5},
      {R"("range": [0, 1], "beta_start": 0.75)", 0.75}};
  for (const auto& [options, beta] : cases) {
    INFO(options);
    Model model(model_config(R"([{"type": "embedding"}, {"type": "delta_product", "heads": 1,
                                 "reflections": 1, "readout": "raw", )" +
                             options + R"(}, {"type": "linear"}])"),
                {1, 3}, 1, DType::f64, Device::cpu);
    set_parameter(model, "layers.0.weight", Values(4));
    set_parameter(model, "layers.1.h0", {3, 4, 0});
    set_parameter(model, "layers.1.vectors.bias", {7, 0, 0});
    set_parameter(model, "layers.2.weight", unit_matrix(3));
    set_parameter(model, "layers.2.bias", Values(3));
    Tape tape(false);
    Context context = {.tape = tape};
    const Tensor word = random_tokens(1, 2, 1);
    const Values outputs = model.forward(context, word).value().to_host();
    const double end = options.find("2]") == std::string::npos ? 1 : 2, got = 1 - outputs[0] / 0.6;
    CHECK(std::abs(std::log(got / (end - got)) - std::log(beta / (end - beta))) < 0.5);
    CHECK(outputs[3] == Approx(0.6 * (1 - got) * (1 - got)).epsilon(1e-12));
    CHECK(outputs[4] == Approx(0.8).epsilon(1e-12));
  }
}

TEST_CASE("delta_product refuses options that it has no meaning for", "[layers]") {
  using Catch::Matchers::Contains;
  const auto error_of = [](const std::string& options) {
    try {
      model_config(R"([{"type": "embedding"}, {"type": "delta_product", )" + options + "}]");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK(error_of(R"("dim": 8)") == "no error");
  CHECK_THAT(error_of(R"("dim": 2)"), Contains("/model/layers/1/dim"));
  CHECK_THAT(error_of(R"("dim": 9)"), Contains("/model/layers/1/dim"));
  CHECK_THAT(error_of(R"("reflections": 0)"), Contains("/model/layers/1/reflections"));
  CHECK_THAT(error_of(R"("range": [-1, 1])"), Contains("expected [0, 2] or [0, 1]"));
  CHECK_THAT(error_of(R"("readout": "bloch")"), Contains("direction_radial"));
  CHECK_THAT(error_of(R"("gate": true)"), Contains("/model/layers/1/gate: has no effect"));
  CHECK(error_of(R"("gate": true, "inject": true)") == "no error");
  CHECK(error_of(R"("gate": true, "readout": "direction_radial")") == "no error");
  CHECK(error_of(R"("beta_start": 1.5)") == "no error");
  CHECK_THAT(error_of(R"("beta_start": 2)"), Contains("lies outside of the range"));
  CHECK_THAT(error_of(R"("range": [0, 1], "beta_start": 1)"), Contains("outside of the range"));
}
