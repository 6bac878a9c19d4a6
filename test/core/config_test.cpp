// SPDX-License-Identifier: Apache-2.0
#include "core/config.h"

#include "test/core/sample_config.h"
#include "test/test.h"

namespace lssm {
namespace {

using testing::Sample;

// The message that reading this JSON gives, or "no error".
std::string refusal(const std::string& json) {
  return error_of([&] {
    Json object = parse_json(json, "test");
    Sample sample;
    Fields::read(object, "", sample);
  });
}

// The smallest valid config with some keys added.
std::string with(const std::string& keys) {
  return "{\"name\": \"x\", \"layers\": [], " + keys + "}";
}

TEST_CASE("values are read and defaults written back", "[config]") {
  Json json = parse_json(R"({"name": "run", "steps": 7, "layers": [{"type": "linear"}]})", "test");
  Sample sample;
  Fields::read(json, "", sample);
  CHECK(sample.name == "run");
  CHECK(sample.steps == 7);
  CHECK(sample.rate == 0.5);
  CHECK(sample.seed == 1);
  const Json expected = parse_json(R"({
    "name": "run", "steps": 7, "rate": 0.5, "seed": 1, "fast": false, "mode": "all",
    "lengths": [1, 2], "extra": null, "window": {"size": 3},
    "gate": {"type": "none"},
    "layers": [{"type": "linear", "width": 4}]})",
                                   "test");
  CHECK(json == expected);
  const Json resolved = json;  // reading what was written back changes nothing
  Fields::read(json, "", sample);
  CHECK(json == resolved);
}

TEST_CASE("unknown keys are refused with pointer, nearest spelling and allowed keys", "[config]") {
  CHECK(refusal(with(R"("stesp": 3)")) ==
        "/stesp: unknown key; did you mean \"steps\"? allowed: name, steps, rate, seed, fast, "
        "mode, lengths, extra, window, gate, layers");
  CHECK(
      refusal(R"({"name": "x", "layers": [{"type": "linear"}, {"type": "linear", "wdith": 1}]})") ==
      "/layers/1/wdith: unknown key; did you mean \"width\"? allowed: width");
  CHECK(refusal(with(R"("window": {"zzzzzz": 1})")) ==
        "/window/zzzzzz: unknown key; allowed: size");
}

TEST_CASE("a nested object that has no types has no key \"type\"", "[config]") {
  CHECK_THAT(refusal(with(R"("window": {"type": "x"})")),
             Catch::Matchers::StartsWith("/window/type: unknown key"));
}

TEST_CASE("required keys must be there", "[config]") {
  CHECK(refusal(R"({"layers": []})") == "/name: this key is missing");
  CHECK(refusal(R"({"name": "x"})") == "/layers: this key is missing");
}

TEST_CASE("a value of another type is refused with what it is", "[config]") {
  CHECK(refusal(with(R"("steps": "7")")) == "/steps: expected integer, got \"7\"");
  CHECK(refusal(with(R"("steps": 7.5)")) == "/steps: expected integer, got 7.5");
  CHECK(refusal(with(R"("steps": true)")) == "/steps: expected integer, got true");
  CHECK(refusal(with(R"("steps": null)")) == "/steps: expected integer, got null");
  CHECK(refusal(with(R"("steps": 9223372036854775808)")) ==
        "/steps: expected integer, got 9223372036854775808");
  CHECK(refusal(with(R"("seed": -1)")) == "/seed: expected integer from 0, got -1");
  CHECK(refusal(with(R"("seed": 18446744073709551615)")) == "no error");
  CHECK(refusal(with(R"("rate": "0.1")")) == "/rate: expected number, got \"0.1\"");
  CHECK(refusal(with(R"("rate": 1)")) == "no error");  // an integer is a number
  CHECK(refusal(with(R"("fast": 1)")) == "/fast: expected boolean, got 1");
  CHECK(refusal(with(R"("mode": 3)")) == "/mode: expected string, got 3");
  CHECK(refusal(with(R"("lengths": 3)")) == "/lengths: expected a list, got 3");
  CHECK(refusal(with(R"("lengths": [1, "2"])")) == "/lengths/1: expected integer, got \"2\"");
  CHECK(refusal(with(R"("window": 3)")) == "/window: expected an object, got 3");
  CHECK(refusal("[1]") == "/: expected an object, got [1]");
  CHECK(refusal(R"({"name": "x", "layers": {}})") == "/layers: expected a list of objects, got {}");
}

TEST_CASE("numbers out of range are refused with the range", "[config]") {
  CHECK(refusal(with(R"("steps": 0)")) == "/steps: got 0, expected a number at least 1");
  CHECK(refusal(with(R"("rate": 1.5)")) == "/rate: got 1.5, expected a number from 0 to 1");
  CHECK(refusal(with(R"("rate": 0)")) == "no error");
  CHECK(refusal(with(R"("rate": 1.0)")) == "no error");
  CHECK(refusal(with(R"("lengths": [3, 0])")) == "/lengths/1: got 0, expected a number at least 1");
  CHECK(refusal(with(R"("window": {"size": 0})")) ==
        "/window/size: got 0, expected a number above 0");
  CHECK(refusal(with(R"("mode": "al")")) ==
        "/mode: got \"al\"; did you mean \"all\"? allowed: all, final");
}

TEST_CASE("variants are chosen by type and errors name the choices", "[config]") {
  Json json = parse_json(with(R"("gate": {"type": "scaled", "by": 2.5})"), "test");
  Sample sample;
  Fields::read(json, "", sample);
  REQUIRE(sample.gate);
  CHECK(sample.gate->describe() == "scaled by 2.5");

  CHECK(refusal(with(R"("gate": {"type": "scald"})")) ==
        "/gate/type: there is no gate \"scald\"; did you mean \"scaled\"? allowed: none, scaled");
  CHECK(refusal(with(R"("gate": {"by": 2})")) ==
        "/gate: expected an object with a \"type\" key (none, scaled), got {\"by\":2}");
  CHECK(refusal(with(R"("gate": "scaled")")) ==
        "/gate: expected an object with a \"type\" key (none, scaled), got \"scaled\"");
  CHECK(refusal(with(R"("gate": {"type": 3})")) ==
        "/gate: expected an object with a \"type\" key (none, scaled), got {\"type\":3}");
  CHECK(refusal(with(R"("gate": {"type": "none", "by": 2})")) ==
        "/gate/by: unknown key; allowed: ");
}

TEST_CASE("lists of variants nest", "[config]") {
  Json json = parse_json(R"({"name": "x", "layers": [
      {"type": "stack", "layers": [{"type": "linear", "width": 9}, {"type": "stack", "layers": []}]},
      {"type": "linear"}]})",
                         "test");
  Sample sample;
  Fields::read(json, "", sample);
  REQUIRE(sample.layers.size() == 2);
  CHECK(sample.layers[0]->describe() == "[linear 9, []]");
  CHECK(sample.layers[1]->describe() == "linear 4");
  CHECK(refusal(R"({"name": "x", "layers": [
      {"type": "stack", "layers": [{"type": "linear"}, {"type": "linear", "width": 0}]}]})") ==
        "/layers/0/layers/1/width: got 0, expected a number at least 1");
  CHECK(refusal(R"({"name": "x", "layers": [{"type": "stack"}]})") ==
        "/layers/0/layers: this key is missing");
}

TEST_CASE("checks between keys and by other code are reported at their key", "[config]") {
  CHECK(refusal(with(R"("steps": 13)")) == "/steps: 13 brings bad luck");
  CHECK(refusal(with(R"("mode": "final", "rate": 1)")) == "/rate: no rate of 1 with \"final\"");
}

TEST_CASE("JSON may have comments, but no key twice", "[config]") {
  const Json json = parse_json(R"({
    // the width of all
    "width": 3, /* and */ "list": [{"a": 1}, {"a": 2}], "deep": {"width": 4}})",
                               "file.json");
  CHECK(json["width"] == 3);
  CHECK(error_of([] { parse_json(R"({"a": 1, "b": {"c": 1, "c": 2}})", "file.json"); }) ==
        "file.json: the key \"c\" appears twice in one object");
  CHECK(error_of([] { parse_json(R"({"a": 1, "a": 1})", "file.json"); }) ==
        "file.json: the key \"a\" appears twice in one object");
}

// `depth` lists or objects, each in the one before.
std::string nested(int depth, bool objects) {
  std::string begin, end;
  for (int i = 0; i < depth; ++i) {
    begin += objects ? "{\"a\":" : "[";
    end += objects ? "}" : "]";
  }
  return begin + "1" + end;
}

TEST_CASE("JSON is nested at most 64 deep", "[config]") {
  for (const bool objects : {false, true}) {
    CHECK(parse_json(nested(64, objects), "file.json").dump() == nested(64, objects));
    for (const int depth : {65, 10000}) {
      CHECK(error_of([&] { parse_json(nested(depth, objects), "file.json"); }) ==
            "file.json: nested more than 64 deep");
      Json config;
      CHECK(error_of([&] { apply_override(config, "a=" + nested(depth, objects)); }) ==
            "--set a: nested more than 64 deep");
    }
  }
}

TEST_CASE("text that is no JSON is refused with the place", "[config]") {
  using Catch::Matchers::StartsWith;
  for (const char* bad : {"", "{", "{\"a\": }", "{\"a\": 1,}", "{} {}", "{a: 1}", "[1 2]",
                          "{\"a\": nan}", "{\"a\": 1e999}", "{\"a\": \"\xff\"}"}) {
    INFO(bad);
    const std::string message = error_of([&] { parse_json(bad, "file.json"); });
    CHECK_THAT(message, StartsWith("file.json: not valid JSON: "));
    CHECK(message.find("[json.exception") == std::string::npos);
  }
  CHECK_THAT(error_of([] { parse_json("{\n\"a\": 1,\n\"b\" 2}", "file.json"); }),
             Catch::Matchers::Contains("line 3"));
}

Json overridden(Json json, const std::string& assignment) {
  apply_override(json, assignment);
  return json;
}

TEST_CASE("overrides set keys, make objects and reach into lists", "[config]") {
  const Json base = {{"a", 1}, {"list", {10, {{"x", 1}}, 30}}, {"o", {{"p", true}}}};
  CHECK(overridden(base, "a=2")["a"] == 2);
  CHECK(overridden(base, "a=2.5e-3")["a"] == 2.5e-3);
  CHECK(overridden(base, "a=text")["a"] == "text");
  CHECK(overridden(base, "a=\"3\"")["a"] == "3");
  CHECK(overridden(base, "a=")["a"] == "");
  CHECK(overridden(base, "a=b=c")["a"] == "b=c");
  CHECK(overridden(base, "a=null")["a"].is_null());
  CHECK(overridden(base, "a=[1,2]")["a"] == Json({1, 2}));
  CHECK(overridden(base, "o.p=false") ==
        Json({{"a", 1}, {"list", {10, {{"x", 1}}, 30}}, {"o", {{"p", false}}}}));
  CHECK(overridden(base, "o.q.r=1")["o"] == Json({{"p", true}, {"q", {{"r", 1}}}}));
  CHECK(overridden(base, "list.0=11")["list"][0] == 11);
  CHECK(overridden(base, "list.1.x=5")["list"][1]["x"] == 5);
  CHECK(overridden(base, "list.1.y=5")["list"][1] == Json({{"x", 1}, {"y", 5}}));
  CHECK(overridden(Json(), "a.b=1") == Json({{"a", {{"b", 1}}}}));
}

TEST_CASE("overrides that make no sense are refused", "[config]") {
  const Json base = {{"a", 1}, {"list", {10, 20}}};
  const auto refused = [&](const std::string& assignment) {
    return error_of([&] { overridden(base, assignment); });
  };
  CHECK(refused("a") == "--set: got \"a\", expected a.b.c=value");
  CHECK(refused("=1") == "--set: got \"=1\", expected a.b.c=value");
  CHECK(refused("") == "--set: got \"\", expected a.b.c=value");
  CHECK(refused("list.2=1") == "--set list.2: \"2\" is no index of a list of 2");
  CHECK(refused("list.-1=1") == "--set list.-1: \"-1\" is no index of a list of 2");
  CHECK(refused("list.x=1") == "--set list.x: \"x\" is no index of a list of 2");
  CHECK(refused("list.99999999999999999999=1") ==
        "--set list.99999999999999999999: \"99999999999999999999\" is no index of a list of 2");
  CHECK(refused("a.b=1") == "--set a.b: \"b\" is inside a value that is no object");
  CHECK(refused("x..y=1") == "--set x..y: an empty key");
  CHECK(refused("x.=1") == "--set x.: an empty key");
  CHECK(refused("a={\"b\": 1, \"b\": 2}") == "--set a: the key \"b\" appears twice in one object");
  CHECK(refused("a=\xff") == "--set: not valid UTF-8: \"a=\ufffd\"");
  CHECK(refused("\xff=1") == "--set: not valid UTF-8: \"\ufffd=1\"");
  std::string path = "x";
  for (int i = 0; i < 10000; ++i) path += ".x";
  CHECK(refused(path + "=1") == "--set x.x.x.x.x.x.x.x....: nested more than 64 deep");
}

// FNV-1a, 64 bits, with the published constants, over the text of the JSON.
std::string fnv1a(const std::string& bytes) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : bytes) {
    hash ^= uint8_t(c);
    hash *= 1099511628211u;
  }
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[hash >> shift & 15];
  return digits;
}

TEST_CASE("the hash of a config depends on its content alone", "[config]") {
  CHECK(fnv1a("") == "cbf29ce484222325");  // published test vectors of FNV-1a
  CHECK(fnv1a("foobar") == "85944171f73967e8");
  const Json json = parse_json(R"({"b": [1, 2.5], "a": "x"})", "test");
  CHECK(config_hash(json) == fnv1a(R"({"a":"x","b":[1,2.5]})"));
  CHECK(config_hash(json) == config_hash(parse_json(R"({"a":"x",  "b": [1,2.5]})", "test")));
  CHECK(config_hash(json) != config_hash(parse_json(R"({"a":"x","b":[1,2.25]})", "test")));
}

}  // namespace
}  // namespace lssm
