// SPDX-License-Identifier: Apache-2.0
// "extends" and "set" in config files, and the differences of two configs.
#include "apps/experiment/config_file.h"

#include "test/apps/program.h"

namespace lssm {
namespace {

TEST_CASE("extends takes another config and changes it", "[config]") {
  const Workplace place;
  std::filesystem::create_directories(place.path("more"));
  place.write("base.json", tiny_config());
  place.write("more/steps.json", std::string(R"({
    // A comment, and a list that replaces another.
    "$schema": "lssm.schema.json",
    "extends": "../base.json", "name": "child",
    "train": {"steps": 5}, /* the other keys of "train" stay */
    "eval": {"lengths": [3]},
    "set": {"model.layers.1.group": "so2", "train.batch": 4}
  })"));
  Json expected = tiny_config();
  expected["name"] = "child";
  expected["train"]["steps"] = 5;
  expected["train"]["batch"] = 4;
  expected["eval"]["lengths"] = {3};
  expected["model"]["layers"][1]["group"] = "so2";
  CHECK(read_config(place.path("more/steps.json").string()) == expected);

  // A chain; "set" of the lower file is done before the upper one looks.
  place.write("top.json", Json{{"extends", "more/steps.json"}, {"train", {{"batch", 2}}}});
  expected["train"]["batch"] = 2;
  CHECK(read_config(place.path("top.json").string()) == expected);
  place.good({"train", "top.json", "--quiet"});
  CHECK(read_json(place.path("runs/child/seed-7/config.json"))["train"]["batch"] == 2);
  CHECK_FALSE(read_json(place.path("runs/child/seed-7/config.json")).contains("extends"));
}

TEST_CASE("an object of another type replaces the one that it extends", "[config]") {
  const Workplace place;
  place.write("base.json", tiny_config());
  place.write("sgd.json", Json{{"extends", "base.json"},
                               {"train", {{"optimizer", {{"type", "sgd"}, {"lr", 0.1}}}}}});
  const Json sgd = {{"type", "sgd"}, {"lr", 0.1}};
  CHECK(read_config(place.path("sgd.json").string())["train"]["optimizer"] == sgd);
  place.write("lr.json", Json{{"extends", "base.json"}, {"train", {{"optimizer", {{"lr", 0.1}}}}}});
  const Json adam = {{"type", "adam"}, {"lr", 0.1}};
  CHECK(read_config(place.path("lr.json").string())["train"]["optimizer"] == adam);
}

TEST_CASE("what is wrong with extends and set is said", "[config][bad]") {
  const Workplace place;
  place.write("base.json", tiny_config());
  place.write("a.json", Json{{"extends", "b.json"}});
  place.write("b.json", Json{{"extends", "a.json"}});
  check_error(place.lssm({"config", "check", "a.json"}), 2, {"/extends", "extends itself"});
  place.write("none.json", Json{{"extends", "nowhere.json"}});
  check_error(place.lssm({"config", "check", "none.json"}), 3, {"nowhere.json", "No such file"});
  place.write("number.json", Json{{"extends", 3}});
  check_error(place.lssm({"config", "check", "number.json"}), 2,
              {"number.json: /extends: expected the path of a config, got 3"});
  place.write("list.json", std::string("[1]"));
  place.write("of_list.json", Json{{"extends", "list.json"}});
  check_error(place.lssm({"config", "check", "of_list.json"}), 2, {"of_list.json", "no object"});
  place.write("set.json",
              Json{{"extends", "base.json"}, {"set", {{"model.layers.7.group", "so2"}}}});
  check_error(place.lssm({"config", "check", "set.json"}), 2,
              {"set.json: /set: model.layers.7.group", "no index of a list of 3"});
  place.write("key.json", Json{{"extends", "base.json"}, {"set", {{"model.layers.1.haeds", 3}}}});
  check_error(place.lssm({"config", "check", "key.json"}), 2, {"/model/layers/1/haeds", "heads"});
}

TEST_CASE("differences of two configs", "[config]") {
  const Json a = Json::parse(R"({"x": 1, "same": [1, 2], "deep": {"y": 2, "z": 3},
    "layers": [{"type": "p", "n": 1}, {"type": "q"}], "lengths": [1, 2]})");
  const Json b = Json::parse(R"({"x": 2, "same": [1, 2], "deep": {"y": 2, "w": true},
    "layers": [{"type": "p", "n": 2}, {"type": "r", "m": 0}, {"type": "p"}], "lengths": [1, 3]})");
  std::string lines;
  for (const KeyDifference& d : config_differences(a, b))
    lines += text(d.key, "|", d.a, "|", d.b, "\n");
  CHECK(lines ==
        "deep.w||true\n"
        "deep.z|3|\n"
        "layers.0.n|1|2\n"
        "layers.1|{\"type\":\"q\"}|{\"m\":0,\"type\":\"r\"}\n"
        "layers.2||{\"type\":\"p\"}\n"
        "lengths|[1,2]|[1,3]\n"
        "x|1|2\n");
  CHECK(config_differences(a, a).empty());
}

TEST_CASE("config diff", "[config]") {
  const Workplace place;
  place.write("a.json", tiny_config());
  place.write("b.json", Json{{"extends", "a.json"}, {"train", {{"steps", 5}}}, {"device", "cuda"}});
  CHECK(place.good({"config", "diff", "a.json", "b.json"}) ==
        "device: \"cpu\" -> \"cuda\"\ntrain.steps: 40 -> 5\n");
  CHECK(place.good({"config", "diff", "a.json", "a.json"}) == "no difference\n");
  const Json list = Json::parse(place.good({"config", "diff", "a.json", "b.json", "--json"}));
  CHECK(list[1] == Json{{"key", "train.steps"}, {"a", "40"}, {"b", "5"}});
  // A default that is written out is no difference.
  place.good({"train", "a.json", "--quiet", "--until", "0"});
  CHECK(place.good({"config", "diff", "a.json", "runs/tiny/seed-7/config.json"}) ==
        "no difference\n");
  check_error(place.lssm({"config", "diff", "a.json", "none.json"}), 3, {"none.json"});
}

}  // namespace
}  // namespace lssm
