// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/tracking_warning.h"

#include "test/apps/program.h"

namespace lssm {
namespace {

// A resolved config, as far as the warning reads it.
Json config_of(const std::string& group, const std::vector<Json>& recurrent,
               const std::vector<Json>& after = {}) {
  Json layers = Json::array({{{"type", "embedding"}}});
  for (const Json& layer : recurrent) layers.push_back(layer);
  for (const Json& layer : after) layers.push_back(layer);
  layers.push_back({{"type", "linear"}});
  return {{"task", {{"type", "group_word"}, {"group", group}, {"inputs", "generators"}}},
          {"model", {{"layers", layers}}}};
}

Json heads(const std::string& group, const Json& more = Json::object()) {
  Json layer = {{"type", "lie_ssm"}, {"group", group},         {"map", "exp"},
                {"inject", false},   {"readout", "direction"}, {"state", "vector"}};
  layer.update(more);
  return layer;
}

Json diagonal(bool inject, const std::string& kind = "complex", int low = 0) {
  return {{"type", "diagonal_ssm"}, {"kind", kind}, {"range", {low, 1}}, {"inject", inject}};
}

const Json kMlp = {{"type", "mlp"}};

std::string warning(const std::string& group, const std::vector<Json>& recurrent,
                    const std::vector<Json>& after = {}) {
  return tracking_warning(config_of(group, recurrent, after)).value_or("");
}

TEST_CASE("one layer that cannot hold the group is named, with the reason", "[warning]") {
  const std::string s5 = warning("S5", {heads("so3")});
  CHECK(has(s5, "so3"));
  CHECK(has(s5, "cannot hold S5"));
  CHECK(has(s5, "[u^30, v^30]"));
  CHECK(std::count(s5.begin(), s5.end(), '\n') == 0);

  for (const char* head : {"so3", "su2", "so4", "se3"}) {
    INFO(head);
    CHECK(has(warning("S5", {heads(head)}, {kMlp}), "cannot hold S5"));
  }
  for (const char* head : {"so5", "so6", "su4"}) {
    INFO(head);
    CHECK(warning("S5", {heads(head)}, {kMlp}).empty());
  }
  CHECK(warning("S5", {heads("so5")}).empty());
  CHECK(has(warning("Heis3", {heads("so5")}), "need N = 6"));
  CHECK(has(warning("2T", {heads("so3")}), "cannot hold 2T"));
  CHECK(warning("2T", {heads("su2", {{"readout", "raw"}})}).empty());
  CHECK(warning("A5", {heads("so3")}).empty());
}

TEST_CASE("a linear readout cannot join states", "[warning]") {
  const Json bloch = heads("su2", {{"readout", "bloch"}});
  CHECK(has(warning("Q8", {bloch}), "su2 heads (bloch)"));
  CHECK(has(warning("Q8", {bloch}), "linear readout"));
  CHECK(warning("Q8", {bloch}, {kMlp}).empty());
  CHECK(warning("Q8", {heads("su2")}).empty());
  CHECK(has(warning("A5", {heads("su2")}), "linear readout"));
  CHECK(warning("A5", {bloch}).empty());
  // A readout of two linear parts.
  Json factored = config_of("Q8", {bloch});
  factored["model"]["layers"].back() = {{"type", "factored_readout"}, {"hidden", 0}};
  CHECK(tracking_warning(factored));
  factored["model"]["layers"].back()["hidden"] = 16;
  CHECK_FALSE(tracking_warning(factored));
}

TEST_CASE("commutative recurrences", "[warning]") {
  CHECK(has(warning("S3", {heads("so2")}), "not abelian"));
  CHECK(has(warning("S3", {diagonal(false)}), "not abelian"));
  CHECK(warning("C12", {heads("so2")}).empty());
  CHECK(has(warning("C3", {diagonal(false, "real", -1)}), "signs"));
  CHECK(has(warning("C2", {diagonal(false, "real", 0)}), "positive"));
  CHECK(warning("C2", {diagonal(false, "real", -1)}).empty());
  // With an injection: derived length 2, as far as counters reach.
  CHECK(warning("S3", {diagonal(true)}).empty());
  CHECK(has(warning("S4", {diagonal(true)}), "derived length 3"));
  CHECK(has(warning("A5", {diagonal(true)}), "not solvable"));
}

TEST_CASE("several layers are warned of only what no cascade can do", "[warning]") {
  const Json residual = {{"type", "residual"},
                         {"layers", Json::array({{{"type", "layer_norm"}}, diagonal(true)})}};
  CHECK(has(warning("A5", {residual, residual, residual}), "not solvable"));
  CHECK(warning("S4", {residual, residual}).empty());
  CHECK(has(warning("S4", {diagonal(false), kMlp, diagonal(false)}), "derived length is above 2"));
  CHECK(warning("S3", {diagonal(false), kMlp, diagonal(false)}).empty());
  CHECK(warning("S5", {heads("so3"), kMlp, heads("so3")}).empty());
  CHECK(has(warning("A6", {heads("so3"), heads("su2"), heads("so4")}), "order 360"));
  CHECK(warning("A6", {heads("so3"), heads("so5")}).empty());
  const Json cascade = {
      {"type", "cascade"}, {"first", heads("so3")}, {"second", Json::array({kMlp, heads("so3")})}};
  CHECK(warning("S5", {cascade}).empty());
  CHECK(has(warning("A6", {cascade}), "order 360"));
}

TEST_CASE("nothing is said of what is not known", "[warning]") {
  CHECK(warning("S5", {Json{{"type", "gru"}}}).empty());
  CHECK(warning("S5", {Json{{"type", "some_day"}}, heads("so3")}).empty());
  CHECK(warning("S5", {}).empty());
  CHECK(warning("A7", {heads("so5")}, {kMlp}).empty());
  Json other = config_of("S5", {heads("so3")});
  other["task"] = {{"type", "copy"}};
  CHECK_FALSE(tracking_warning(other));
}

TEST_CASE("the subgroup that the inputs generate is what counts", "[warning]") {
  Json config = config_of("S5", {heads("so3")});
  config["task"]["inputs"] = {"(1 2 3 4 5)", "(1 2 3)"};
  CHECK_FALSE(tracking_warning(config));  // A5
  config["task"]["inputs"] = {"(1 2 3 4 5)", "(2 3 5 4)"};
  const auto f20 = tracking_warning(config);
  REQUIRE(f20);
  CHECK(has(*f20, "a subgroup of order 20 of S5"));
}

TEST_CASE("half turns are beyond the Cayley map", "[warning]") {
  CHECK(has(warning("S5", {heads("so5", {{"map", "cayley"}})}), "(1 2)"));
  CHECK(warning("S5", {heads("so5", {{"map", "cayley2"}})}).empty());
  CHECK(warning("S5", {heads("so5", {{"map", "cayley"}})}, {kMlp}).empty());
  CHECK(warning("A5", {heads("so5", {{"map", "cayley"}})}).empty());  // orders 5 and 3
}

TEST_CASE("train warns once, and goes on", "[warning]") {
  const Workplace place;
  Json config = tiny_config();
  config["task"]["group"] = "S5";
  config["train"]["steps"] = 2;
  place.write("s5.json", config);
  const ProcessResult result = place.lssm({"train", "s5.json"});
  CHECK(result.code == 0);
  const size_t first = result.err.find("cannot hold S5");
  REQUIRE(first != std::string::npos);
  CHECK(result.err.find("cannot hold S5", first + 1) == std::string::npos);
  CHECK(has(read_file(place.tiny_run("runs") / "log.txt"), "cannot hold S5"));

  place.write("tiny.json", tiny_config());
  CHECK_FALSE(has(place.lssm({"train", "tiny.json", "--force"}).err, "cannot hold"));
}

}  // namespace
}  // namespace lssm
