// SPDX-License-Identifier: Apache-2.0
// `lssm config schema`: a JSON Schema that agrees with the program. Python's jsonschema judges,
// where it is installed; a few things are checked without it.
#include "test/apps/program.h"

namespace lssm {
namespace {

TEST_CASE("the schema describes every key and type", "[schema]") {
  const Workplace place;
  const Json schema = Json::parse(place.good({"config", "schema"}));
  CHECK(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema");
  CHECK(schema["additionalProperties"] == false);
  const Json resolved =
      Json::parse(place.good({"config", "show", LSSM_SOURCE "/configs/quickstart.json"}));
  for (const auto& [key, value] : resolved.items()) CHECK(schema["properties"].contains(key));
  for (const auto& [key, value] : resolved["train"].items())
    CHECK(schema["properties"]["train"]["properties"].contains(key));

  // Every reference leads somewhere, and every registry is there.
  for (const char* kind : {"task", "layer", "optimizer", "schedule"}) {
    INFO(kind);
    REQUIRE(schema["$defs"].contains(kind));
    for (const Json& choice : schema["$defs"][kind]["oneOf"]) {
      CHECK(choice["properties"]["type"]["const"].is_string());
      CHECK(choice["additionalProperties"] == false);
    }
  }
}

TEST_CASE("the schema accepts and refuses what the program does", "[schema]") {
  if (!python_has("jsonschema")) return;
  const Workplace place;
  place.write("schema.json", place.good({"config", "schema"}));
  const std::string script = R"(
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
errors = list(jsonschema.Draft202012Validator(schema).iter_errors(json.load(open(sys.argv[2]))))
sys.exit(10 if errors else 0)
)";
  const auto accepts = [&](const Json& config) {
    place.write("config.json", config);
    const ProcessResult python =
        run({"python3", "-c", script, "schema.json", "config.json"}, place.options());
    INFO(python.err);
    REQUIRE((python.code == 0 || python.code == 10));
    const bool program = place.lssm({"config", "check", "config.json"}).code == 0;
    CHECK(program == (python.code == 0));
    return python.code == 0;
  };
  const Json good = read_json(LSSM_SOURCE "/configs/quickstart.json");
  CHECK(accepts(good));
  CHECK(accepts(Json::parse(place.good({"config", "show", "config.json"}))));
  CHECK(accepts(tiny_config()));

  const auto refuses = [&](const char* pointer, const Json& value) {
    INFO(pointer);
    Json bad = good;
    bad[Json::json_pointer(pointer)] = value;
    CHECK_FALSE(accepts(bad));
  };
  refuses("/train/stpes", 3);
  refuses("/model/layers/1/haeds", 3);
  refuses("/train/steps", "many");
  refuses("/train/steps", -1);
  refuses("/train/optimizer/lr", 0);
  refuses("/model/layers/1/type", "lie_smm");
  refuses("/model/layers/1/group", "so33");
  refuses("/task/action", "up");
  refuses("/eval/lengths", {8, 0});
  refuses("/threads", 0);
  refuses("/train/seed", -1);
  Json missing = good;
  missing.erase("task");
  CHECK_FALSE(accepts(missing));
}

}  // namespace
}  // namespace lssm
