// SPDX-License-Identifier: Apache-2.0
// `lssm train`: what a run leaves on the disk, and that it is a function of its config.
#include "apps/experiment/config.h"
#include "test/apps/program.h"

namespace lssm {
namespace {

const std::set<std::string> kRunFiles = {"config.json",  "metrics.jsonl",
                                         "log.txt",      "best.safetensors",
                                         "summary.json", "checkpoint.safetensors"};

// The keys of DESIGN.md section 6 and their JSON types.
void check_summary(const Json& s) {
  for (const char* key :
       {"name", "config_hash", "device", "precision", "version", "machine", "commit"}) {
    INFO(key);
    CHECK(s.at(key).is_string());
  }
  for (const char* key :
       {"seed", "threads", "steps", "parameters", "state_size", "peak_bytes", "train_length"}) {
    INFO(key);
    CHECK(s.at(key).is_number_unsigned());
  }
  for (const char* key : {"wall_s", "cpu_s", "drift"}) {
    INFO(key);
    CHECK(s.at(key).is_number_float());
    CHECK(s.at(key) >= 0);
  }
  CHECK(s.at("longest_99").is_number_integer());
  CHECK(s.at("config_hash").get<std::string>().size() == 16);
  for (const char* key : {"final", "prefix", "loss"}) CHECK(s.at("valid").at(key).is_number());
  for (const auto& [length, test] : s.at("test").items()) {
    INFO(length);
    for (const char* key : {"final", "prefix", "exact_prefix"}) {
      CHECK(test.at(key) >= 0.0);
      CHECK(test.at(key) <= 1.0);
    }
    CHECK(test.at("sequences") == 60);
    const Json& ceiling = s.at("ceilings").at(length);
    for (const char* who : {"chance", "parikh"}) {
      CHECK(ceiling.at(who).at("final") > 0.0);
      CHECK(ceiling.at(who).at("prefix") <= 1.0);
    }
  }
}

TEST_CASE("a run leaves the files of the contract", "[train]") {
  const Workplace place;
  place.write("tiny.json", tiny_config());
  const std::string printed = place.good({"train", "tiny.json", "--json"});
  const std::filesystem::path run = place.tiny_run("runs");
  CHECK(files_below(run) == kRunFiles);

  const Json summary = read_json(run / "summary.json");
  check_summary(summary);
  CHECK(Json::parse(printed) == summary);
  CHECK(summary["name"] == "tiny");
  CHECK(summary["seed"] == 7);
  CHECK(summary["steps"] == 40);
  CHECK(summary["threads"] == 1);
  CHECK(summary["device"] == "cpu");
  CHECK(summary["precision"] == "f32");
  CHECK(summary["version"] == LSSM_VERSION);
  CHECK(summary["state_size"] == 12);
  CHECK(summary["test"].size() == 2);
  CHECK(summary["test"].contains("8"));
  CHECK(summary["test"].contains("20"));
  CHECK(summary["drift"] < 1e-4);

  int64_t parameters = 0;
  const SafetensorsFile checkpoint = read_safetensors(run / "checkpoint.safetensors");
  for (const SafetensorsEntry& e : checkpoint.entries) {
    if (!e.name.starts_with("adam.")) parameters += int64_t(e.bytes.size() / sizeof(float));
  }
  CHECK(summary["parameters"] == parameters);
  CHECK(checkpoint.metadata.at("config") == read_json(run / "config.json").dump());
  CHECK(checkpoint_step(run / "checkpoint.safetensors") == 40);

  int64_t last = 0, validations = 0;
  for (const Json& line : timeless_metrics(run)) {
    CHECK(line.at("step") >= last);
    last = line.at("step");
    validations += line.contains("valid");
    if (!line.contains("valid")) {
      for (const char* key : {"loss", "grad_norm", "lr"}) CHECK(line.at(key).is_number());
      CHECK(last % 10 == 0);
    }
  }
  CHECK(last == 40);
  CHECK(validations == 1);
  CHECK_FALSE(read_file(run / "log.txt").empty());
}

TEST_CASE("training learns", "[train]") {
  const Workplace place;
  place.write("tiny.json", tiny_config_with({{"train", {{"steps", 300}}}}));
  const Json summary = Json::parse(place.good({"train", "tiny.json", "--json", "--quiet"}));
  CHECK(summary["test"]["8"]["prefix"] > summary["ceilings"]["8"]["parikh"]["prefix"]);
}

TEST_CASE("the resolved config gives the same run", "[train]") {
  const Workplace place;
  place.write("tiny.json", tiny_config());
  place.good({"train", "tiny.json", "--runs", "a"});
  const std::string config = (place.tiny_run("a") / "config.json").string();
  place.good({"train", config, "--runs", "b"});
  for (const char* file : {"config.json", "checkpoint.safetensors", "best.safetensors"}) {
    INFO(file);
    CHECK(same_bytes(place.tiny_run("a") / file, place.tiny_run("b") / file));
  }
  CHECK(timeless_summary(place.tiny_run("a")) == timeless_summary(place.tiny_run("b")));
  CHECK(timeless_metrics(place.tiny_run("a")) == timeless_metrics(place.tiny_run("b")));
  CHECK(place.good({"config", "show", "tiny.json"}) == read_file(config));

  // Nothing is left to defaults.
  const Json resolved = read_json(config);
  for (const char* pointer : {"/train/optimizer/beta1", "/train/schedule/type", "/eval/checkpoint",
                              "/model/layers/1/readout", "/task/action", "/threads"}) {
    INFO(pointer);
    CHECK(resolved.contains(Json::json_pointer(pointer)));
  }
}

TEST_CASE("results do not depend on the number of threads", "[train]") {
  const Workplace place;
  const Json config = tiny_config_with({{"task", {{"group", "A5"}}},
                                        {"model", {{"width", 32}}},
                                        {"train", {{"steps", 20}, {"batch", 64}}}});
  place.write("tiny.json", config);
  for (const char* threads : {"1", "2", "5"}) {
    place.good({"train", "tiny.json", "--runs", threads, "--set", text("threads=", threads)});
  }
  const auto one = arrays(place.tiny_run("1") / "checkpoint.safetensors");
  CHECK((one == arrays(place.tiny_run("2") / "checkpoint.safetensors")));
  CHECK((one == arrays(place.tiny_run("5") / "checkpoint.safetensors")));
  const Json summary = read_json(place.tiny_run("1") / "summary.json");
  const Json other = read_json(place.tiny_run("5") / "summary.json");
  for (const char* key : {"test", "valid", "drift"}) CHECK(summary[key] == other[key]);
  CHECK(other["threads"] == 5);
}

TEST_CASE("seeds change the run, and the hash of the config ignores them", "[train]") {
  const Workplace place;
  place.write("tiny.json", tiny_config());
  place.good({"train", "tiny.json"});
  place.good({"train", "tiny.json", "--set", "train.seed=8"});
  const std::filesystem::path other = place.path("runs/tiny/seed-8");
  CHECK((arrays(place.tiny_run("runs") / "checkpoint.safetensors") !=
         arrays(other / "checkpoint.safetensors")));
  const Json a = read_json(place.tiny_run("runs") / "summary.json");
  const Json b = read_json(other / "summary.json");
  CHECK(a["config_hash"] == b["config_hash"]);
  CHECK(a["test"] != b["test"]);

  place.good({"train", "tiny.json", "--runs", "two", "--set", "threads=2"});
  CHECK(read_json(place.tiny_run("two") / "summary.json")["config_hash"] == a["config_hash"]);
  place.good({"train", "tiny.json", "--runs", "c", "--set", "train.batch=9"});
  CHECK(read_json(place.tiny_run("c") / "summary.json")["config_hash"] != a["config_hash"]);
}

TEST_CASE("two models at one seed see the same data", "[train]") {
  const auto experiment = [](const std::string& group, uint64_t seed) {
    Json config = tiny_config();
    config["model"]["layers"][1]["group"] = group;
    config["train"]["seed"] = seed;
    return std::make_unique<Experiment>(config, "test");
  };
  const auto data = [](const Experiment& e, Split split, int64_t step) {
    const Batch batch = e.task->batch(split, e.config.train.seed, step, 16, 0);
    return std::pair(batch.tokens.to_host(), batch.targets.to_host());
  };
  const auto so2 = experiment("so2", 7), so3 = experiment("so3", 7), other = experiment("so3", 8);
  std::set<std::pair<std::vector<double>, std::vector<double>>> seen;
  for (const Split split : {Split::train, Split::valid, Split::test}) {
    for (const int64_t step : {0, 1, 1000}) {
      CHECK(data(*so2, split, step) == data(*so3, split, step));
      CHECK(data(*so3, split, step) != data(*other, split, step));
      seen.insert(data(*so3, split, step));
    }
  }
  CHECK(seen.size() == 9);
}

TEST_CASE("zero steps and no steps yet", "[train]") {
  const Workplace place;
  place.write("tiny.json", tiny_config_with({{"train", {{"steps", 0}}}}));
  place.good({"train", "tiny.json"});
  CHECK(files_below(place.tiny_run("runs")) == kRunFiles);
  check_summary(read_json(place.tiny_run("runs") / "summary.json"));

  // The first parameters are the same whatever follows.
  place.good({"train", "tiny.json", "--runs", "b", "--set", "train.steps=9", "--until", "0"});
  CHECK((arrays(place.tiny_run("runs") / "checkpoint.safetensors") ==
         arrays(place.tiny_run("b") / "checkpoint.safetensors")));
  CHECK(checkpoint_step(place.tiny_run("b") / "checkpoint.safetensors") == 0);
}

TEST_CASE("the best checkpoint is the best validation", "[train]") {
  const Workplace place;
  // A learning rate at which accuracy goes up and down.
  place.write("tiny.json",
              tiny_config_with(
                  {{"train", {{"steps", 120}, {"validate_every", 5}, {"optimizer", {{"lr", 0.3}}}}},
                   {"eval", {{"checkpoint", "best"}}}}));
  place.good({"train", "tiny.json"});
  const std::filesystem::path run = place.tiny_run("runs");
  double best = -1, loss = 0;
  int64_t step = 0, validations = 0;
  for (const Json& line : timeless_metrics(run)) {
    if (!line.contains("valid")) continue;
    ++validations;
    const double accuracy = line["valid"]["prefix"], here = line["valid"]["loss"];
    if (accuracy > best || (accuracy == best && here < loss)) {
      best = accuracy;
      loss = here;
      step = line["step"];
    }
  }
  CHECK(validations == 24);
  CHECK(step < 120);  // else best and last would be the same
  CHECK(checkpoint_step(run / "best.safetensors") == step);
  const Json summary = read_json(run / "summary.json");
  const auto test_of = [&](const char* file) {
    return Json::parse(place.good({"eval", (run / file).string(), "--json"}))["test"];
  };
  CHECK(summary["test"] == test_of("best.safetensors"));
  CHECK(summary["test"] != test_of("checkpoint.safetensors"));
}

TEST_CASE("Python's safetensors reads a checkpoint", "[train]") {
  if (!python_has("safetensors.numpy")) return;
  const Workplace place;
  place.write("tiny.json", tiny_config());
  place.good({"train", "tiny.json"});
  const std::string script = R"(
import sys, json
from safetensors import safe_open
with safe_open(sys.argv[1], "numpy") as f:
    shapes = {k: list(f.get_tensor(k).shape) for k in f.keys()}
    print(json.dumps({"shapes": shapes, "metadata": f.metadata()}))
)";
  const std::string path = (place.tiny_run("runs") / "checkpoint.safetensors").string();
  const ProcessResult python = run({"python3", "-c", script, path});
  INFO(python.err);
  REQUIRE(python.code == 0);
  const Json seen = Json::parse(python.out);
  const SafetensorsFile file = read_safetensors(path);
  CHECK(seen["shapes"].size() == file.entries.size());
  for (const SafetensorsEntry& e : file.entries) CHECK(seen["shapes"].at(e.name) == e.shape);
  CHECK(seen["metadata"].at("config") == file.metadata.at("config"));
}

}  // namespace
}  // namespace lssm
