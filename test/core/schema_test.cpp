// SPDX-License-Identifier: Apache-2.0
// The JSON Schema that a config describes itself with.
#include <cstdlib>
#include <fstream>

#include "core/config.h"
#include "test/core/sample_config.h"
#include "test/core/temporary_folder.h"
#include "test/test.h"

namespace lssm {
namespace {

using testing::Sample;

Json sample_schema() {
  Sample sample;
  return Fields::schema(sample);
}

TEST_CASE("the schema lists keys with type, default, range and description", "[config]") {
  const Json schema = sample_schema();
  CHECK(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema");
  CHECK(schema["type"] == "object");
  CHECK(schema["additionalProperties"] == false);
  CHECK(schema["required"] == Json({"name", "layers"}));
  const Json& keys = schema["properties"];
  CHECK(keys.size() == 11);
  CHECK(keys["name"] == Json({{"type", "string"}, {"description", "the name of the run"}}));
  CHECK(keys["steps"] ==
        Json({{"type", "integer"}, {"default", 100}, {"minimum", 1}, {"description", "how many"}}));
  CHECK(keys["rate"] == Json({{"type", "number"},
                              {"default", 0.5},
                              {"minimum", 0},
                              {"maximum", 1},
                              {"description", "a share"}}));
  CHECK(keys["seed"]["minimum"] == 0);
  CHECK(keys["fast"]["type"] == "boolean");
  CHECK(keys["mode"]["enum"] == Json({"all", "final"}));
  CHECK(keys["mode"]["default"] == "all");
  CHECK(keys["lengths"] == Json({{"type", "array"},
                                 {"items", {{"type", "integer"}, {"minimum", 1}}},
                                 {"default", {1, 2}},
                                 {"description", "of the sequences"}}));
  CHECK(keys["window"]["properties"]["size"]["exclusiveMinimum"] == 0);
  CHECK(keys["window"]["additionalProperties"] == false);
}

TEST_CASE("the schema refers to each registry once, also where it contains itself", "[config]") {
  const Json schema = sample_schema();
  CHECK(schema["properties"]["gate"]["$ref"] == "#/$defs/gate");
  CHECK(schema["properties"]["layers"]["items"]["$ref"] == "#/$defs/layer");
  CHECK(schema["$defs"].size() == 2);
  const Json& layers = schema["$defs"]["layer"]["oneOf"];
  REQUIRE(layers.size() == 2);
  CHECK(layers[0]["properties"]["type"]["const"] == "linear");
  CHECK(layers[0]["required"] == Json({"type"}));
  CHECK(layers[0]["additionalProperties"] == false);
  CHECK(layers[1]["properties"]["type"]["const"] == "stack");
  CHECK(layers[1]["required"] == Json({"type", "layers"}));
  CHECK(layers[1]["properties"]["layers"]["items"]["$ref"] == "#/$defs/layer");
}

bool accepted(Json json) {
  Sample sample;
  return error_of([&] { Fields::read(json, "", sample); }) == "no error";
}

// Configs on which the reader and any JSON Schema validator must agree.
const char* const kConfigs[] = {
    R"({"name": "x", "layers": []})",
    R"({"name": "x", "layers": [{"type": "linear"}, {"type": "stack", "layers": [{"type": "linear",
        "width": 2}]}], "gate": {"type": "scaled", "by": -1.5}, "lengths": [], "extra": [1, "a"],
        "seed": 18446744073709551615, "rate": 1.0, "window": {}, "fast": true, "mode": "all"})",
    R"({"layers": []})",
    R"({"name": "x"})",
    R"({"name": 3, "layers": []})",
    R"({"name": "x", "layers": [], "steps": 0})",
    R"({"name": "x", "layers": [], "steps": 1.5})",
    R"({"name": "x", "layers": [], "rate": 1.01})",
    R"({"name": "x", "layers": [], "seed": -1})",
    R"({"name": "x", "layers": [], "mode": "some"})",
    R"({"name": "x", "layers": [], "lengths": [1, 0]})",
    R"({"name": "x", "layers": [], "unknown": 1})",
    R"({"name": "x", "layers": [], "window": {"size": 0}})",
    R"({"name": "x", "layers": [], "window": {"type": "y"}})",
    R"({"name": "x", "layers": [], "gate": {"type": "some"}})",
    R"({"name": "x", "layers": [], "gate": {}})",
    R"({"name": "x", "layers": [], "gate": {"type": "none", "by": 1}})",
    R"({"name": "x", "layers": [{"type": "stack", "layers": [{"type": "linear", "width": 0}]}]})",
    R"({"name": "x", "layers": [{"type": "stack"}]})"};

TEST_CASE("Python's jsonschema agrees with the reader", "[config]") {
  if (std::system("python3 -c 'import jsonschema' > /dev/null 2>&1") != 0) {
    WARN("python3 has no jsonschema: nothing is compared");
    return;
  }
  Json cases = Json::array();
  for (const char* config : kConfigs) {
    const Json json = parse_json(config, "test");
    cases.push_back({{"config", json}, {"valid", accepted(json)}});
  }
  Json resolved = parse_json(kConfigs[1], "test");  // and what the reader writes back
  Sample sample;
  Fields::read(resolved, "", sample);
  cases.push_back({{"config", resolved}, {"valid", true}});

  const TemporaryFolder folder;
  const std::string path = (folder.path() / "cases.json").string();
  std::ofstream(path) << Json({{"schema", sample_schema()}, {"cases", cases}});
  const std::string script = (folder.path() / "check.py").string();
  std::ofstream(script) << R"(
import json, sys
from jsonschema import Draft202012Validator as Validator
data = json.load(open(sys.argv[1]))
Validator.check_schema(data['schema'])
validator = Validator(data['schema'])
wrong = [c for c in data['cases'] if validator.is_valid(c['config']) != c['valid']]
for c in wrong:
    print('the reader says', c['valid'], 'of', json.dumps(c['config']))
sys.exit(1 if wrong or len(data['cases']) < 10 else 0)
)";
  const std::string command = "python3 '" + script + "' '" + path + "'";
  CHECK(std::system(command.c_str()) == 0);
  CHECK(accepted(parse_json(kConfigs[0], "test")));
  CHECK(accepted(parse_json(kConfigs[1], "test")));
  for (size_t i = 2; i < std::size(kConfigs); ++i) {
    INFO(kConfigs[i]);
    CHECK(!accepted(parse_json(kConfigs[i], "test")));
  }
}

}  // namespace
}  // namespace lssm
