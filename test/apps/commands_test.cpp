// SPDX-License-Identifier: Apache-2.0
// The commands other than train, as a user calls them.
#include "core/algebra/named_groups.h"
#include "core/lie/group.h"
#include "core/lie/se3.h"
#include "layers/layer.h"
#include "tasks/task.h"
#include "test/apps/program.h"

namespace lssm {
namespace {

TEST_CASE("eval repeats the numbers of the run", "[eval]") {
  const Workplace place;
  place.write("tiny.json", tiny_config());
  place.good({"train", "tiny.json"});
  const Json summary = read_json(place.tiny_run("runs") / "summary.json");
  const std::string checkpoint = (place.tiny_run("runs") / "checkpoint.safetensors").string();
  const auto eval = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"eval", checkpoint, "--json"});
    return Json::parse(place.good(more));
  };
  const Json same = eval({});
  for (const char* key :
       {"test", "ceilings", "drift", "longest_90", "longest_99", "name", "seed", "steps"}) {
    INFO(key);
    CHECK(same[key] == summary[key]);
  }
  CHECK(eval({"--set", "threads=2"})["test"] == summary["test"]);

  const Json other = eval({"--lengths", "20,3,1", "--sequences", "50"});
  CHECK(other["test"].size() == 3);
  CHECK(other["test"]["1"]["sequences"] == 50);
  CHECK(other["ceilings"]["1"]["parikh"]["final"] == 1.0);
  // A length is tested on the same sequences, whatever the others are.
  CHECK(eval({"--lengths", "20"})["test"]["20"] == summary["test"]["20"]);

  const std::string table = place.good({"eval", checkpoint});
  char percent[16];
  std::snprintf(percent, sizeof percent, "%.2f",
                100 * summary["test"]["20"]["prefix"].get<double>());
  CHECK(has(table, percent));
  CHECK(has(table, "tiny, step 40"));
  // Nothing was written.
  CHECK(read_json(place.tiny_run("runs") / "summary.json") == summary);
  CHECK(files_below(place.tiny_run("runs")).size() == 6);

  // The file alone is enough.
  place.write("alone.safetensors", read_file(checkpoint));
  std::filesystem::remove_all(place.path("runs"));
  CHECK(Json::parse(place.good({"eval", "alone.safetensors", "--json"})) == same);
}

TEST_CASE("gradcheck passes where gradients are right", "[gradcheck]") {
  const Workplace place;
  Json config = tiny_config();
  config["model"]["layers"] = Json::parse(R"([
    {"type": "embedding"}, {"type": "residual", "layers": [{"type": "rms_norm"}, {"type": "mlp"}]},
    {"type": "lie_ssm", "group": "su2", "heads": 3, "readout": "bloch"}, {"type": "layer_norm"},
    {"type": "diagonal_ssm", "heads": 3}, {"type": "dropout"}, {"type": "linear"}])");
  place.write("deep.json", config);
  place.write("tiny.json", tiny_config());
  for (const char* file : {"tiny.json", "deep.json"}) {
    const Json report = Json::parse(place.good({"gradcheck", file, "--json", "--length", "5"}));
    CHECK(report.size() >= 5);
    for (const Json& parameter : report) {
      INFO(parameter.dump());
      CHECK(parameter["passed"] == true);
      CHECK(parameter["error"] <= 1e-6);
    }
  }
  const ProcessResult strict = place.lssm({"gradcheck", "tiny.json", "--tolerance", "1e-30"});
  CHECK(strict.code == 4);
  CHECK(has(strict.out, "WRONG"));
  CHECK(has(strict.err, "lssm: gradcheck"));
  CHECK(files_below(place.root()) == std::set<std::string>{"deep.json", "tiny.json"});
}

TEST_CASE("list names everything that a config can name", "[list]") {
  const Workplace place;
  const auto check_registry = [&](const char* what, const std::vector<std::string>& names) {
    const std::string text = "\n" + place.good({"list", what});
    const Json json = Json::parse(place.good({"list", what, "--json"}));
    CHECK(json.size() == names.size());
    for (const std::string& name : names) {
      INFO(name);
      CHECK(has(text, "\n" + name + "\n"));
      REQUIRE(json.contains(name));
      for (const auto& [key, property] : json[name].items()) CHECK(has(text, "    " + key));
    }
  };
  check_registry("tasks", task_registry().names());
  check_registry("layers", layer_registry().names());

  const std::string text = place.good({"list", "groups"});
  const Json json = Json::parse(place.good({"list", "groups", "--json"}));
  std::set<std::string> lie, finite;
  for (const Json& group : json["lie"]) lie.insert(group["name"].get<std::string>());
  for (const Json& group : json["finite"]) finite.insert(group["pattern"].get<std::string>());
  size_t groups = 0;
  const auto check_group = [&]<class G>(G) {
    ++groups;
    CHECK(lie.count(G::name) == 1);
    CHECK(has(text, G::name));
  };
  lie::Groups::for_each(check_group);
  lie::MatrixGroups::for_each(check_group);
  check_group(lie::SE3{});
  CHECK(lie.size() == groups);
  CHECK(!has(text, "; \n"));
  for (const algebra::GroupFamily& family : algebra::group_families()) {
    CHECK(finite.count(family.pattern) == 1);
    CHECK(has(text, family.pattern));
  }
}

// The best final and mean accuracy in percent, as printed, of a model that sees something.
void check_ceiling(const Workplace& place, std::vector<std::string> arguments,
                   const std::string& sees, const std::string& numbers) {
  arguments.insert(arguments.begin(), "group");
  const std::string text = place.good(arguments);
  INFO(text);
  bool found = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    found = found || (line.starts_with("  sees " + sees) && line.ends_with("  " + numbers));
  CHECK(found);
}

TEST_CASE("group prints the published ceilings", "[group]") {
  const Workplace place;
  const std::string counts = "token counts";
  check_ceiling(place, {"A5"}, counts, "2.64 /  18.81");
  check_ceiling(place, {"S5"}, counts, "5.83 /  25.40");
  check_ceiling(place, {"D4", "--inputs", "generators"}, counts, "50.00 /  54.69");
  check_ceiling(place, {"Q8", "--inputs", R"(["i", "j"])"}, counts, "50.00 /  54.69");
  check_ceiling(place, {"Q8", "--inputs", R"(["i", "j"])"}, "G/N of order 4, |N| = 2",
                "50.00 /  54.69");
  check_ceiling(place, {"D16", "--inputs", "generators"}, counts, "25.02 /  33.53");
  check_ceiling(place, {"S3", "--inputs", "generators"}, counts, "33.34 /  40.14");
  // Of order 8 and abelian: counting tokens is all there is to do.
  check_ceiling(place, {"C8"}, counts, "100.00 / 100.00");
}

TEST_CASE("group knows the facts", "[group]") {
  const Workplace place;
  const Json a5 = Json::parse(place.good({"group", "A5", "--json"}));
  CHECK(a5["order"] == 60);
  CHECK(a5["simple"] == true);
  CHECK(a5["solvable"] == false);
  CHECK(a5["derived_length"].is_null());
  CHECK(a5["length"] == 32);
  CHECK(a5["ceilings"][0]["final"].get<double>() == Approx(0.0264).margin(5e-5));
  CHECK(a5["ceilings"][0]["prefix"].get<double>() == Approx(0.1881).margin(5e-5));

  const std::string text = place.good({"group", "S5"});
  CHECK(has(text, "order 120"));
  CHECK(has(text, "derived series 120 60"));

  // Two of the three subgroups of order 4 are alike.
  check_ceiling(place, {"D8"}, "G/N of order 2, |N| = 4 (2 subgroups)", "50.00 /  50.78");
  check_ceiling(place, {"D8"}, "G/N of order 2, |N| = 4 ", "25.00 /  25.59");

  const std::string trivial = place.good({"group", R"({"cayley": [[0]]})", "--inputs", "all"});
  CHECK(has(trivial, "abelianization trivial"));
  CHECK(has(trivial, "Sylow subgroups: none"));
}

TEST_CASE("group reads JSON from the command line and from a file", "[group]") {
  const Workplace place;
  const std::string spec = R"x({"name": "mine", "permutations": ["(1 2 3)", "(1 2)"]})x";
  place.write("mine.json", spec);
  const Json from_text = Json::parse(place.good({"group", spec, "--json"}));
  CHECK(from_text == Json::parse(place.good({"group", "mine.json", "--json"})));
  CHECK(from_text["name"] == "mine");
  CHECK(from_text["order"] == 6);
  Json s3 = Json::parse(place.good({"group", "S3", "--json"}));
  CHECK(from_text["class_sizes"] == s3["class_sizes"]);

  const Json z3 =
      Json::parse(place.good({"group", R"({"cayley": [[0,1,2],[1,2,0],[2,0,1]]})", "--json"}));
  CHECK(z3["order"] == 3);
  CHECK(z3["abelian"] == true);

  // The example of --help.
  const std::string example =
      place.good({"group", "S5", "--inputs", R"x(["(1 2 3 4 5)", "(1 2)"])x"});
  CHECK(has(example, "with 2 inputs (1 2 3 4 5) (1 2)"));

  CHECK(place.lssm({"group", "none.json"}).code == 3);
  for (const char* bad : {"{\"permutations\": [\"(1 1)\"]}", "{\"cayley\": [[0, 1], [0, 1]]}",
                          "{\"permutation\": []}", "{\"cayley\": "}) {
    INFO(bad);
    CHECK(place.lssm({"group", bad}).code == 2);
  }
}

TEST_CASE("config check and show", "[config]") {
  const Workplace place;
  place.write("tiny.json", tiny_config());
  const std::string verdict = place.good({"config", "check", "tiny.json"});
  CHECK(has(verdict, "tiny.json: good"));
  CHECK(has(verdict, "state of 12 numbers"));

  const Json shown = Json::parse(place.good({"config", "show", "tiny.json"}));
  CHECK(shown["train"]["optimizer"]["beta2"] == 0.999);
  Json expected = shown;
  expected["train"]["steps"] = 5;
  expected["name"] = "other";
  expected["eval"]["lengths"] = {3, 4};
  CHECK(Json::parse(place.good({"config", "show", "tiny.json", "--set", "train.steps=5", "--set",
                                "name=other", "--set", "eval.lengths=[3,4]"})) == expected);
  CHECK(files_below(place.root()) == std::set<std::string>{"tiny.json"});
}

TEST_CASE("every config of the repository can run", "[config]") {
  const Workplace place;
  size_t configs = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(LSSM_SOURCE "/configs")) {
    if (entry.path().extension() != ".json") continue;
    ++configs;
    const std::string folder = entry.path().parent_path().filename().string();
    if (folder == "sweeps" || folder == "papers") {
      place.good({"sweep", entry.path().string(), "--dry-run"});
    } else {
      CHECK(has(place.good({"config", "check", entry.path().string()}), "good"));
    }
  }
  CHECK(configs > 0);
}

TEST_CASE("doctor", "[doctor]") {
  const Workplace place;
  const Json report = Json::parse(place.good({"doctor", "--json"}));
  CHECK(report["version"] == LSSM_VERSION);
  CHECK(report["cpu"] == true);
  CHECK(report["cuda"].is_boolean());
  CHECK(report["cores"] >= 1);
  CHECK(report["memory_gib"] > 0);
  CHECK(has(place.good({"doctor"}), std::string("lssm ") + LSSM_VERSION));
}

TEST_CASE("--help and --version", "[help]") {
  const Workplace place;
  CHECK(has(place.good({"--version"}), LSSM_VERSION));
  const std::map<std::string, std::vector<std::string>> options = {
      {"train",
       {"CONFIG", "--set", "--resume", "--runs", "--force", "--until", "--json", "--quiet"}},
      {"eval", {"CHECKPOINT", "--lengths", "--sequences", "--set", "--json"}},
      {"gradcheck", {"CONFIG", "--set", "--samples", "--sequences", "--length", "--tolerance"}},
      {"list", {"WHAT", "tasks", "layers", "groups", "--json"}},
      {"group", {"GROUP", "--inputs", "--length", "--json"}},
      {"config", {"check", "show", "diff", "schema"}},
      {"sweep", {"SWEEP", "--jobs", "--runs", "--dry-run", "--seeds", "--only", "--on", "--wait"}},
      {"report", {"RUNS", "--baseline", "--metric", "--select", "--paper", "--format", "--out"}},
      {"watch", {"RUN", "--once"}},
      {"doctor", {"--json"}}};
  const std::string all = place.good({"--help"});
  CHECK(has(all, "130 interrupted"));
  for (const auto& [command, words] : options) {
    CHECK(has(all, "\n  " + command + " "));
    const std::string help = place.good({command, "--help"});
    for (const std::string& word : words) {
      INFO(command << " " << word);
      CHECK(has(help, word));
    }
  }
  CHECK(has(place.good({"config", "show", "--help"}), "--set"));
}

}  // namespace
}  // namespace lssm
