// SPDX-License-Identifier: Apache-2.0
// Noise in the transitions of exact models, taken out again.
#include "apps/experiment/snap.h"

#include <algorithm>

#include "apps/experiment/evaluator.h"
#include "test/apps/exact_model.h"
#include "test/apps/program.h"

namespace lssm {
namespace {

using test::exact_model;
using test::ExactModel;

double exact_prefix(const Experiment& experiment, int64_t length) {
  return evaluate(experiment, Split::test, 20, length)
      .accuracy.summary()["exact_prefix"]
      .get<double>();
}

TEST_CASE("snapping makes a perturbed model exact", "[snap]") {
  const std::vector<ExactModel> cases = {
      {{{"group", "A5"}, {"action", "right"}}, "so3", "direction"},
      {{{"group", "A5"}, {"action", "left"}}, "so3", "direction"},
      {{{"group", "A5"}, {"action", "right"}}, "su2", "bloch"},
      {{{"group", "2T"}, {"action", "right"}}, "su2", "raw"},
      {{{"group", "A4"}, {"compat", "illusion"}, {"samples", 0}}, "so3", "direction"},
      {{{"group", "A4"}, {"inputs", {"(1 2)(3 4)", "e", "(1 3)(2 4)", "(1 4)(2 3)"}}},
       "so3",
       "direction"}};
  for (ExactModel c : cases) {
    INFO(c.task << ' ' << c.lie << ' ' << c.readout);
    if (!c.task.contains("compat") && !c.task.contains("inputs")) c.task["inputs"] = "all";
    c.precision = "f32";
    c.noise = 0.05;
    const auto experiment = exact_model(c);
    const int64_t length = 2000;
    CHECK(exact_prefix(*experiment, length) == 0);

    const Snapped snapped = snap(*experiment);
    CHECK(snapped.right == snapped.products);
    REQUIRE(snapped.layers.size() == 1);
    CHECK(snapped.layers[0].pointer == "/model/layers/1");
    CHECK(snapped.layers[0].after.size() == 4);
    for (const double error : snapped.layers[0].before) CHECK(error > 0.05);
    for (const double error : snapped.layers[0].after) CHECK(error < 1e-12);
    CHECK(has(snapped_text(snapped), "4 of 4 heads are exact"));

    experiment->replacement = snapped.transitions;
    CHECK(exact_prefix(*experiment, length) == 1);
    experiment->replacement.clear();
    CHECK(exact_prefix(*experiment, length) == 0);
  }
}

TEST_CASE("snapping leaves an exact model as it is", "[snap]") {
  const auto experiment = exact_model({{{"group", "A4"}, {"inputs", "all"}}, "so3", "direction"});
  const std::vector<double> before = inspect(*experiment).layers[0].matrices.to_host();
  const Snapped snapped = snap(*experiment);
  const std::vector<double> after = snapped.transitions.at("/model/layers/1").to_host();
  double moved = 0;
  for (size_t i = 0; i < after.size(); ++i) moved = std::max(moved, std::abs(after[i] - before[i]));
  CHECK(moved < 1e-13);
  CHECK(snapped.rounds <= 2);
}

TEST_CASE("snapping says why it cannot", "[snap]") {
  const auto message = [](const Experiment& experiment) -> std::string {
    try {
      snap(experiment);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const auto open = exact_model({{{"group", "A5"}}, "so3", "direction"});
  CHECK(has(message(*open), "snap: the inputs are not closed under composition: the product of"));

  const Json layers = Json::parse(R"([{"type": "embedding"}, {"type": "lie_ssm", "heads": 2},
                                      {"type": "linear"}])");
  const auto untrained = test::experiment_of({{"group", "S4"}, {"inputs", "all"}}, layers);
  CHECK(
      has(message(*untrained), "snap: what the model answers to two tokens is no group's product"));

  // Right answers, but states of two dimensions: a half turn for the element that is not e.
  const auto parity = test::experiment_of({{"group", "C2"}, {"inputs", "all"}},
                                          Json::parse(R"([{"type": "embedding", "width": 2},
                      {"type": "lie_ssm", "group": "so2", "heads": 1}, {"type": "linear"}])"));
  test::set(*parity, "layers.0.weight", {1, 0, 0, 1});
  test::set(*parity, "layers.1.algebra.weight", {0, 3.14159265358979});
  test::set(*parity, "layers.1.algebra.bias", {0});
  test::set(*parity, "layers.1.h0", {1, 0});
  test::set(*parity, "layers.2.weight", {1, -1, 0, 0});
  test::set(*parity, "layers.2.bias", {0, 0});
  CHECK(has(message(*parity), "snap: no layer has transitions to snap: orthogonal matrices of 3"));
}

}  // namespace
}  // namespace lssm
