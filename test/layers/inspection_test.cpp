// SPDX-License-Identifier: Apache-2.0
// Transitions of recurrent layers, read out and replaced.
#include "layers/inspection.h"

#include <cmath>

#include "layers/model.h"
#include "test/test.h"

using namespace lssm;

namespace {

// One token, one head; row by row.
std::vector<double> matrix(const std::string& group, const std::vector<double>& a) {
  const Tensor row = Tensor::from_host({1, int64_t(a.size())}, a, DType::f64);
  return transition_matrices(group, row, 1).to_host();
}

void check_matrix(const std::string& group, const std::vector<double>& a,
                  const std::vector<double>& expected) {
  INFO(group);
  const std::vector<double> got = matrix(group, a);
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).margin(1e-14));
}

Model model_of(const Json& layers) {
  Json json = {{"width", 5}, {"layers", layers}};
  ModelConfig config;
  Fields::read(json, "/model", config);
  return Model(config, {5, 3}, 1, DType::f64, Device::cpu);
}

std::vector<double> outputs(const Model& model, Inspection* inspection,
                            const Replacement* replacement) {
  Tape tape(false);
  Context context = {.tape = tape, .inspection = inspection, .replacement = replacement};
  const Tensor tokens = Tensor::from_host({1, 4}, {0, 3, 3, 1}, DType::i32);  // of 5
  return model.forward(context, tokens).value().to_host();
}

}  // namespace

TEST_CASE("transitions are read as matrices", "[layers][inspection]") {
  const double angle = 0.3, c = std::cos(angle), s = std::sin(angle);
  check_matrix("so2", {angle}, {c, -s, s, c});
  check_matrix("so3", {0, 0, angle}, {c, -s, 0, s, c, 0, 0, 0, 1});
  check_matrix("scaled_so3", {0.5, 0, 0, angle}, {c / 2, -s / 2, 0, s / 2, c / 2, 0, 0, 0, 0.5});
  // The left product by cos + i sin.
  check_matrix("su2", {angle, 0, 0}, {c, -s, 0, 0, s, c, 0, 0, 0, 0, c, -s, 0, 0, s, c});
  check_matrix("real", {-0.7}, {-0.7});
  check_matrix("matrix3", {1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3, 4, 5, 6, 7, 8, 9});

  // Parameters of a head and of a token go to its place: [tokens, v, v, heads].
  const Tensor angles = Tensor::from_host({2, 2}, {0.1, 0.2, 0.3, 0.4}, DType::f32);
  const Tensor all = transition_matrices("so2", angles, 2);
  CHECK(all.shape() == Shape{2, 2, 2, 2});
  CHECK(all.dtype() == DType::f64);
  for (int64_t i = 0; i < 4; ++i) {
    const double a = angles.to_host()[size_t(i)];
    CHECK(all.data<double>()[i / 2 * 8 + 2 * 2 + i % 2] == Approx(std::sin(a)).epsilon(1e-14));
  }
}

TEST_CASE("a model runs the same on its own transitions, given as matrices",
          "[layers][inspection]") {
  for (const char* lie :
       {R"({"type": "lie_ssm", "group": "so3", "heads": 3, "inject": true})",
        R"({"type": "lie_ssm", "group": "su2", "heads": 2, "readout": "bloch"})",
        R"({"type": "lie_ssm", "group": "so3", "heads": 2, "contraction": "learned"})",
        R"({"type": "lie_ssm", "group": "so5", "heads": 2, "map": "cayley2"})",
        R"({"type": "lie_ssm", "group": "se3", "heads": 2, "readout": "raw"})"}) {
    INFO(lie);
    const Model model =
        model_of(Json::array({{{"type", "embedding"}}, Json::parse(lie), {{"type", "linear"}}}));
    Inspection found;
    const std::vector<double> expected = outputs(model, &found, nullptr);
    REQUIRE(found.layers.size() == 1);
    CHECK(found.layers[0].pointer == "/model/layers/1");
    CHECK(found.layers[0].matrices.dim(0) == 5);
    CHECK(found.others.empty());

    Replacement own = {{"/model/layers/1", found.layers[0].matrices}};
    Inspection again;
    const std::vector<double> got = outputs(model, &again, &own);
    for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).margin(1e-12));
    CHECK(again.layers[0].matrices.to_host() == found.layers[0].matrices.to_host());

    // Other matrices make a difference; those of another layer do not.
    Replacement other = {{"/model/layers/1", Tensor::zeros_like(found.layers[0].matrices)}};
    CHECK(outputs(model, nullptr, &other) != got);
    Replacement elsewhere = {{"/model/layers/2", found.layers[0].matrices}};
    CHECK(outputs(model, nullptr, &elsewhere) == expected);
  }
}

TEST_CASE("layers whose transitions depend on more than a token are named",
          "[layers][inspection]") {
  const Json lie = {{"type", "lie_ssm"}, {"heads", 2}};
  const Model model =
      model_of({{{"type", "embedding"}},
                {{"type", "mlp"}},
                {{"type", "cascade"}, {"first", lie}, {"second", {lie}}},
                {{"type", "residual"},
                 {"layers", {{{"type", "diagonal_ssm"}}, {{"type", "linear"}, {"width", 12}}}}},
                {{"type", "linear"}}});
  Inspection found;
  outputs(model, &found, nullptr);
  REQUIRE(found.layers.size() == 1);
  CHECK(found.layers[0].pointer == "/model/layers/2/first");
  CHECK(found.others ==
        std::vector<std::string>{"/model/layers/2/second/0", "/model/layers/3/layers/0"});

  const Replacement wrong = {{"/model/layers/3/layers/0", found.layers[0].matrices}};
  CHECK_THROWS_WITH(
      outputs(model, nullptr, &wrong),
      Catch::Contains("/model/layers/3/layers/0: transitions to replace: got matrices of shape"));
}
