// SPDX-License-Identifier: Apache-2.0
// The parameters that gru and lstm start with.
#include <algorithm>
#include <cmath>

#include "test/layers/layer_cases.h"
#include "test/test.h"

using namespace lssm;

namespace {

std::vector<double> parameter(const std::string& layer, const std::string& name) {
  Model model(
      test::model_config(R"([{"type": "embedding"}, )" + layer + R"(, {"type": "linear"}])"),
      {test::kVocabulary, test::kOutputs}, 1, DType::f64, Device::cpu);
  for (const Parameter& p : model.parameters().all())
    if (p.name == "layers.1." + name) return p.value.to_host();
  return {};
}

}  // namespace

TEST_CASE("gru and lstm start from 0 with numbers uniform in 1 / sqrt(width)", "[layers]") {
  const std::string gru = R"({"type": "gru", "width": 25})";
  const std::string lstm = R"({"type": "lstm", "width": 25, "forget_bias": 0})";
  const auto check = [](const std::vector<double>& x, size_t count) {
    REQUIRE(x.size() == count);
    CHECK(test::largest(x) <= 0.2);
    CHECK(test::largest(x) > 0.18);  // of 75 numbers or more, 1 in 2,700 seeds would stay below
  };
  check(parameter(gru, "gates.weight"), 4 * 3 * 25);
  check(parameter(gru, "gates.bias"), 3 * 25);
  check(parameter(gru, "u"), 25 * 3 * 25);
  check(parameter(gru, "bias"), 3 * 25);
  CHECK(parameter(gru, "h0") == std::vector<double>(25, 0));
  check(parameter(lstm, "gates.weight"), 4 * 4 * 25);
  check(parameter(lstm, "gates.bias"), 4 * 25);
  check(parameter(lstm, "u"), 25 * 4 * 25);
  CHECK(parameter(lstm, "bias").empty());
  CHECK(parameter(lstm, "h0") == std::vector<double>(25, 0));
  CHECK(parameter(lstm, "c0") == std::vector<double>(25, 0));
}

TEST_CASE("forget_bias is added to the second gate of lstm alone", "[layers]") {
  const auto bias = [](const std::string& value) {
    return parameter(R"({"type": "lstm", "width": 3)" + value + "}", "gates.bias");
  };
  const std::vector<double> none = bias(R"(, "forget_bias": 0)"), one = bias("");
  REQUIRE(none.size() == 12);
  REQUIRE(one.size() == 12);
  for (size_t i = 0; i < 12; ++i) CHECK(one[i] == none[i] + (i >= 3 && i < 6 ? 1 : 0));
}
