// SPDX-License-Identifier: Apache-2.0
// What is said of the heads of models whose weights are set by hand.
#include "apps/experiment/explain.h"

#include <algorithm>
#include <map>
#include <numbers>
#include <sstream>

#include "test/apps/exact_model.h"
#include "test/apps/program.h"

namespace lssm {
namespace {

using test::exact_model;
using test::experiment_of;

Json names_of(const Explanation& e, size_t head) {
  return explanation_json(e)["layers"][0]["heads"][head]["multiplicities"];
}

// The irreducible character of a degree with a value at an element.
std::string character(const Explanation& e, int degree, const std::string& element, double value) {
  const size_t k = size_t(e.table.class_of[size_t(e.group.element(element))]);
  for (const algebra::Character& chi : e.table.characters)
    if (chi.degree == degree && std::abs(chi.values[k] - value) < 1e-9) return chi.name;
  return "none";
}

TEST_CASE("an exact head is explained exactly", "[explain]") {
  for (const char* action : {"left", "right"}) {
    for (const char* inputs : {"generators", "all"}) {
      INFO(action << ", " << inputs);
      const auto experiment =
          exact_model({{{"group", "S4"}, {"action", action}, {"inputs", inputs}}, "so3", "raw", 2});
      const Explanation e = explain(*experiment);
      REQUIRE(e.layers.size() == 1);
      CHECK(e.layers[0].pointer == "/model/layers/1");
      CHECK(e.layers[0].dimension == 3);
      // Both heads move alike.
      REQUIRE(e.layers[0].heads.size() == 1);
      const HeadExplanation& head = e.layers[0].heads[0];
      CHECK(head.count == 2);
      CHECK(head.error_max < 1e-12);
      CHECK(head.error_mean <= head.error_max);
      CHECK(head.representation);
      CHECK(head.norm == Approx(1));
      CHECK(head.kernel_order == 1);
      CHECK(*head.share == Approx(1));
      // Rotations of the cube: a transposition is a half turn, of trace -1.
      CHECK(names_of(e, 0) == Json{{character(e, 3, "(1 2)", -1), 1}});
      const size_t k = size_t(e.table.class_of[size_t(e.group.element("(1 2 3 4)"))]);
      CHECK(head.character[k] == Approx(1));  // a quarter turn: 1 + 2 cos 90
    }
  }
}

// Four heads of one layer: exact, at random, half turns for odd permutations, at rest.
TEST_CASE("heads are told apart", "[explain]") {
  const auto experiment =
      exact_model({{{"group", "S4"}, {"inputs", "all"}, {"action", "left"}}, "so3", "raw", 4});
  const algebra::FiniteGroup s4 = algebra::named_group("S4");
  Random random(9, Stream::check, 0);
  std::vector<double> a(size_t(24 * 3 * 4)), w(size_t(3 * 4 * 24));
  for (const Parameter& p : experiment->model.parameters().all())
    if (p.name == "layers.1.algebra.weight") a = p.value.to_host();
  for (size_t g = 0; g < 24; ++g) {
    for (size_t k = 0; k < 3; ++k) {
      double* heads = &a[(g * 3 + k) * 4];
      heads[1] = random.normal();
      heads[2] = k == 2 && algebra::sign(s4.permutations()[g]) < 0 ? std::numbers::pi : 0;
      heads[3] = 0;
    }
  }
  for (size_t i = 0; i < w.size(); ++i) {
    const size_t head = i / 24 % 4;
    w[i] = head == 0 ? 2 : head == 1 ? -1 : 0;
  }
  test::set(*experiment, "layers.1.algebra.weight", a);
  test::set(*experiment, "layers.2.weight", w);

  const Explanation e = explain(*experiment);
  const std::vector<HeadExplanation>& heads = e.layers[0].heads;
  REQUIRE(heads.size() == 4);
  CHECK(heads[0].representation);
  CHECK(heads[0].norm == Approx(1));

  CHECK_FALSE(heads[1].representation);
  CHECK(heads[1].error_max > 1);
  CHECK(heads[1].multiplicities.empty());
  CHECK(heads[1].kernel_order == 0);

  CHECK(heads[2].representation);  // diag(s, s, 1) with s the sign
  CHECK(names_of(e, 2) == Json{{"1a", 1}, {"1b", 2}});
  CHECK(heads[2].norm == Approx(5));  // 1 + 2^2
  CHECK(heads[2].kernel_order == 12);

  CHECK(heads[3].representation);
  CHECK(names_of(e, 3) == Json{{"1a", 3}});
  CHECK(heads[3].kernel_order == 24);
  CHECK(heads[3].error_max == 0);

  // 72 weights of each head: norms 2 sqrt(72) and sqrt(72), squares 4 to 1.
  CHECK(*heads[0].readout == Approx(2 * std::sqrt(72)));
  CHECK(*heads[0].share == Approx(0.8));
  CHECK(*heads[1].share == Approx(0.2));
  CHECK(*heads[3].share == 0);

  const Json json = explanation_json(e);
  CHECK(json["layers"][0]["representations"] == 3);
  CHECK(json["layers"][0]["heads"][1]["multiplicities"].is_null());
  CHECK(json["group"] == "S4");
  CHECK(json["characters"].size() == 5);

  const std::string text = explanation_text(e);
  CHECK(has(text, "3 of 4 heads are representations of S4; they have 80.00 % of the squared"));
  CHECK(has(text, "1a + 2 x 1b"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 100);
}

TEST_CASE("a small error is not taken for a representation", "[explain]") {
  const auto experiment = exact_model(
      {.task = {{"group", "A5"}}, .lie = "so3", .readout = "raw", .heads = 1, .noise = 0.1});
  const Explanation e = explain(*experiment);
  const HeadExplanation& head = e.layers[0].heads[0];
  CHECK_FALSE(head.representation);
  CHECK(head.error_max > kRelationTolerance);
  CHECK(has(explanation_text(e), "0 of 1 heads are representations of A5"));
}

TEST_CASE("spinors are read with and without their sign", "[explain]") {
  const auto spinors = [](const char* group, const char* readout) {
    return explain(*exact_model({{{"group", group}}, "su2", readout, 1}));
  };
  // C^2 as four real numbers: a character and its conjugate, which are the same here.
  const Explanation raw = spinors("2I", "raw");
  CHECK(raw.layers[0].heads[0].representation);
  REQUIRE(names_of(raw, 0).size() == 1);
  CHECK(names_of(raw, 0).begin().key()[0] == '2');
  CHECK(names_of(raw, 0).begin().value() == 2);
  CHECK(raw.layers[0].heads[0].kernel_order == 1);

  // A5 has no faithful representation in SU(2): signs are wrong somewhere, |2 * 1| = 4.
  const Explanation lifted = spinors("A5", "raw");
  CHECK_FALSE(lifted.layers[0].heads[0].representation);
  CHECK(lifted.layers[0].heads[0].error_max == Approx(4));
  // The Bloch vector does not see them.
  const Explanation bloch = spinors("A5", "bloch");
  CHECK(bloch.layers[0].dimension == 3);
  CHECK(bloch.layers[0].heads[0].error_max < 1e-12);
  CHECK(names_of(bloch, 0).begin().key()[0] == '3');
  // With -1 in the kernel 2I is A5.
  CHECK(spinors("2I", "bloch").layers[0].heads[0].kernel_order == 2);
}

TEST_CASE("lengths count only where the readout sees them", "[explain]") {
  for (const char* readout : {"direction", "raw"}) {
    const auto exact = exact_model({{{"group", "A4"}}, "so3", readout, 1});
    Json layers = exact->resolved["model"]["layers"];
    layers[1]["contraction"] = "fixed";
    layers[1]["contraction_rate"] = 0.9;
    const auto contracting = experiment_of({{"group", "A4"}}, layers);
    for (const Parameter& p : exact->model.parameters().all())
      test::set(*contracting, p.name, p.value.to_host());
    const HeadExplanation head = explain(*contracting).layers[0].heads[0];
    CHECK(head.representation == (readout == std::string("direction")));
  }
}

TEST_CASE("tokens of a task with special ones are found", "[explain]") {
  const auto experiment = exact_model(
      {{{"group", "A4"}, {"compat", "illusion"}, {"samples", 0}}, "so3", "direction", 2});
  CHECK(explain(*experiment).layers[0].heads[0].error_max < 1e-12);
}

TEST_CASE("an element of the group as state is one head for all its columns", "[explain]") {
  const auto experiment = experiment_of({{"group", "S3"}}, Json::parse(R"([{"type": "embedding"},
      {"type": "lie_ssm", "heads": 2, "state": "element", "readout": "matrix"},
      {"type": "linear"}])"));
  const Explanation e = explain(*experiment);
  REQUIRE(e.layers[0].heads.size() == 2);
  CHECK(e.layers[0].heads[1].head == 3);
  CHECK(e.layers[0].heads[1].count == 3);
  CHECK(*e.layers[0].heads[0].share + *e.layers[0].heads[1].share == Approx(1));
}

TEST_CASE("what cannot be explained is said in a line", "[explain]") {
  const Json two = Json::parse(R"([{"type": "embedding"}, {"type": "lie_ssm"},
                                   {"type": "lie_ssm"}, {"type": "linear"}])");
  const Explanation deep = explain(*experiment_of({{"group", "S3"}}, two));
  CHECK(deep.layers.size() == 1);
  CHECK_FALSE(deep.layers[0].heads[0].share);
  CHECK(has(explanation_text(deep),
            "/model/layers/2: not explained, its transitions are no function of a single token\n"));

  const Json none = Json::parse(R"([{"type": "embedding"}, {"type": "linear"}])");
  CHECK(has(explanation_text(explain(*experiment_of({{"group", "S3"}}, none))),
            "not explained: the model has no layer with linear transitions\n"));
  const auto part = experiment_of({{"group", "A5"}, {"inputs", {"(1 2 3)"}}}, two);
  CHECK_THROWS_WITH(explain(*part), "explain: the inputs generate only 3 of the 60 elements of A5");
}

TEST_CASE("eval explains a checkpoint", "[explain][eval]") {
  const Workplace place;
  place.write("tiny.json", tiny_config());
  place.good({"train", "tiny.json"});
  const std::string checkpoint = (place.tiny_run("runs") / "checkpoint.safetensors").string();
  const std::string table = place.good({"eval", checkpoint, "--explain"});
  CHECK(has(table, "tiny, step 40"));
  CHECK(has(table, "/model/layers/1 (lie_ssm, 3 dimensions, without lengths)"));
  const Json json = Json::parse(place.good({"eval", checkpoint, "--explain", "--json"}));
  CHECK(json["explanation"]["layers"][0]["heads"].size() == 4);
  CHECK(json["test"].contains("8"));
  CHECK_FALSE(Json::parse(place.good({"eval", checkpoint, "--json"})).contains("explanation"));
  check_error(place.lssm({"eval", checkpoint, "--snap"}), 2,
              {"snap: the inputs are not closed under composition", "\"inputs\": \"all\""});
}

}  // namespace
}  // namespace lssm
