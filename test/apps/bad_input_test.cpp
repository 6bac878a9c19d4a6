// SPDX-License-Identifier: Apache-2.0
// What goes wrong ends with one clear line, the right exit code, and nothing written.
#include <sys/stat.h>
#include <unistd.h>

#include "test/apps/program.h"

namespace lssm {
namespace {

struct WrongConfig {
  std::string name;
  Json patch;  // merged into the tiny config
  std::vector<std::string> parts;
};

TEST_CASE("a wrong config starts nothing", "[bad]") {
  const Json no_layer = tiny_config()["model"]["layers"];
  const auto layers = [&](const char* pointer, const Json& value) {
    Json all = no_layer;
    all[Json::json_pointer(pointer)] = value;
    return Json{{"model", {{"layers", all}}}};
  };
  const std::vector<WrongConfig> cases = {
      {"unknown key", {{"train", {{"stpes", 3}}}}, {"/train/stpes", "\"steps\""}},
      {"unknown key in a layer", layers("/1/haeds", 3), {"/model/layers/1/haeds", "\"heads\""}},
      {"unknown key at the top", {{"traim", 1}}, {"/traim", "\"train\""}},
      {"wrong type", {{"train", {{"steps", "many"}}}}, {"/train/steps", "integer", "many"}},
      {"a fraction", {{"train", {{"batch", 2.5}}}}, {"/train/batch", "integer", "2.5"}},
      {"a number for an object", {{"train", 5}}, {"/train", "object"}},
      {"no task", {{"task", nullptr}}, {"/task", "missing"}},
      {"no layers", {{"model", {{"layers", Json::array()}}}}, {"/model/layers", "layer"}},
      {"length 0", {{"task", {{"length", 0}}}}, {"/task/length", "at least 1"}},
      {"negative seed", {{"train", {{"seed", -1}}}}, {"/train/seed", "-1"}},
      {"no such group", {{"task", {{"group", "A55"}}}}, {"/task/group", "A55", "nearest", "A5"}},
      {"no such input", {{"task", {{"inputs", {"x"}}}}}, {"/task/inputs", "x"}},
      {"no such Lie group", layers("/1/group", "so33"), {"/model/layers/1/group", "\"so3\""}},
      {"heads 0", layers("/1/heads", 0), {"/model/layers/1/heads", "0", "at least 1"}},
      {"heads -1", layers("/1/heads", -1), {"/model/layers/1/heads", "-1", "at least 1"}},
      {"layer misspelt", layers("/1/type", "lie_smm"), {"/model/layers/1/type", "\"lie_ssm\""}},
      {"task misspelt", {{"task", {{"type", "group_wrod"}}}}, {"/task/type", "\"group_word\""}},
      {"layers that do not fit", layers("/2", {{"type", "dropout"}}), {"/model/layers", "6"}},
      {"lr 0", {{"train", {{"optimizer", {{"lr", 0}}}}}}, {"/train/optimizer/lr", "above 0"}},
      {"precision", {{"precision", "f16"}}, {"/precision", "f32, f64"}},
      {"a name that leaves the folder", {{"name", "../x"}}, {"/name"}},
      {"eval length 0", {{"eval", {{"lengths", {8, 0}}}}}, {"/eval/lengths/1", "at least 1"}},
      {"threads 0", {{"threads", 0}}, {"/threads", "1"}}};
  const Workplace place;
  for (const WrongConfig& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Json config = tiny_config();
      config.merge_patch(c.patch);
      place.write("bad.json", config);
      std::vector<std::string> parts = c.parts;
      parts.push_back("bad.json: ");
      check_error(place.lssm({"train", "bad.json"}), 2, parts);
      check_error(place.lssm({"config", "check", "bad.json"}), 2, parts);
      CHECK(files_below(place.root()) == std::set<std::string>{"bad.json"});
    }
  }
}

TEST_CASE("a file that is no config", "[bad]") {
  const Workplace place;
  check_error(place.lssm({"train", "none.json"}), 3, {"none.json", "No such file"});
  check_error(place.lssm({"train", "."}), 3, {"directory"});
  const std::string text = tiny_config().dump();
  place.write("cut.json", text.substr(0, text.size() / 2));
  check_error(place.lssm({"train", "cut.json"}), 2, {"cut.json: not valid JSON"});
  place.write("cut.json", std::string());
  check_error(place.lssm({"train", "cut.json"}), 2, {"cut.json: not valid JSON"});
  place.write("cut.json", std::string("[1, 2]"));
  for (const char* command : {"train", "gradcheck"}) {
    check_error(place.lssm({command, "cut.json"}), 2, {"cut.json: ", "expected an object"});
  }
  place.write("cut.json", "{\"name\": \"twice\", " + text.substr(1));
  check_error(place.lssm({"train", "cut.json"}), 2, {"cut.json: ", "\"name\" appears twice"});
  CHECK(files_below(place.root()) == std::set<std::string>{"cut.json"});
}

TEST_CASE("a wrong command line", "[bad]") {
  const Workplace place;
  place.write("tiny.json", tiny_config());
  const auto wrong = [&](const std::vector<std::string>& arguments,
                         const std::vector<std::string>& parts) {
    check_error(place.lssm(arguments), 2, parts);
  };
  wrong({}, {"ubcommand", "--help"});
  wrong({"trian"}, {"no command trian", "\"train\""});
  wrong({"config", "chekc", "tiny.json"}, {"no command chekc", "\"check\""});
  wrong({"config"}, {"ubcommand"});
  wrong({"train", "tiny.json", "--quite"}, {"unknown option --quite", "\"--quiet\""});
  wrong({"train", "tiny.json", "b", "c"}, {"unexpected argument b"});
  wrong({"train"}, {"config"});
  wrong({"train", "tiny.json", "--until", "-1"}, {"--until", "-1", "from 0"});
  wrong({"train", "tiny.json", "--until", "soon"}, {"--until", "soon"});
  wrong({"eval"}, {"CHECKPOINT"});
  wrong({"eval", "x", "--lengths", "8,0"}, {"--lengths", "0", "from 1"});
  wrong({"eval", "x", "--sequences", "1e3"}, {"--sequences", "1e3"});
  wrong({"list"}, {"WHAT"});
  wrong({"list", "layer"}, {"layer", "layers"});
  wrong({"group"}, {"GROUP"});
  wrong({"group", "A55"}, {"A55", "nearest", "A5"});
  wrong({"group", "A5", "--length", "0"}, {"--length"});
  wrong({"group", "A5", "--inputs", "some"}, {"some", "generators"});
  for (const char* tolerance : {"small", "0", "-1", "nan", "inf"}) {
    wrong({"gradcheck", "tiny.json", "--tolerance", tolerance}, {"--tolerance", tolerance});
  }
  CHECK(files_below(place.root()) == std::set<std::string>{"tiny.json"});
}

TEST_CASE("--set of a bad path", "[bad]") {
  const Workplace place;
  place.write("tiny.json", tiny_config());
  const auto wrong = [&](const std::string& assignment, const std::vector<std::string>& parts) {
    INFO(assignment);
    check_error(place.lssm({"train", "tiny.json", "--set", assignment}), 2, parts);
  };
  wrong("train.stpes=3", {"/train/stpes", "\"steps\""});
  wrong("train.steps", {"train.steps", "expected a.b.c=value"});
  wrong("=3", {"expected a.b.c=value"});
  wrong("model.layers.9.heads=3", {"\"9\"", "list of 3"});
  wrong("model.layers.one.heads=3", {"\"one\"", "list of 3"});
  wrong("train.steps.more=3", {"\"more\""});
  wrong("train..steps=3", {"empty key"});
  wrong("train.steps=many", {"/train/steps", "many"});
  CHECK(files_below(place.root()) == std::set<std::string>{"tiny.json"});
}

TEST_CASE("a run folder that exists is refused, replaced or resumed", "[bad]") {
  const Workplace place;
  place.write("tiny.json", tiny_config());
  place.good({"train", "tiny.json"});
  const std::filesystem::path run = place.tiny_run("runs");
  write_file_atomically(run / "notes.txt", "mine");
  const std::string before = read_file(run / "summary.json") + read_file(run / "log.txt");
  check_error(place.lssm({"train", "tiny.json"}), 2, {"tiny/seed-7", "--resume", "--force"});
  CHECK(read_file(run / "summary.json") + read_file(run / "log.txt") == before);

  place.good({"train", "tiny.json", "--force", "--set", "train.steps=10"});
  CHECK(read_json(run / "summary.json")["steps"] == 10);
  CHECK(timeless_metrics(run).back()["step"] == 10);
  CHECK(read_file(run / "notes.txt") == "mine");  // not of lssm

  // The config has 40 steps, the run 10: going on would silently ignore one of them.
  check_error(place.lssm({"train", "tiny.json", "--resume"}), 2, {"tiny.json", "/train/steps"});
  check_error(place.lssm({"train", "--resume", run.string(), "--set", "train.steps=50"}), 2,
              {"--set"});
}

TEST_CASE("--resume of a folder without a run", "[bad]") {
  const Workplace place;
  std::filesystem::create_directory(place.path("empty"));
  check_error(place.lssm({"train", "--resume", "empty"}), 3, {"empty", "config.json"});
  check_error(place.lssm({"train", "--resume", "nowhere"}), 3, {"nowhere", "config.json"});
  place.write("tiny.json", tiny_config());
  check_error(place.lssm({"train", "tiny.json", "--resume"}), 3, {"seed-7", "config.json"});
  check_error(place.lssm({"train", "--resume"}), 2, {"config"});
  CHECK(files_below(place.root()) == std::set<std::string>{"empty", "tiny.json"});
}

TEST_CASE("a full disk leaves the last checkpoint", "[bad]") {
  const Workplace place;
  // A checkpoint of about 400 KB among files of a few.
  place.write("tiny.json", tiny_config_with({{"model", {{"width", 2000}}}}));
  place.good({"train", "tiny.json", "--until", "20"});
  const std::filesystem::path run = place.tiny_run("runs");
  const std::string before = read_file(run / "checkpoint.safetensors");
  const std::set<std::string> files = files_below(run);
  REQUIRE(before.size() > 200000);

  ProcessOptions small = place.options();
  small.file_size_limit = 100000;
  const ProcessResult result = place.lssm({"train", "--resume", run.string(), "--quiet"}, small);
  check_error(result, 3, {"safetensors", "File too large"});
  CHECK((read_file(run / "checkpoint.safetensors") == before));
  std::set<std::string> after = files;
  after.insert("failure.json");
  CHECK(files_below(run) == after);

  place.good({"train", "--resume", run.string()});
  CHECK_FALSE(std::filesystem::exists(run / "failure.json"));
  CHECK(checkpoint_step(run / "checkpoint.safetensors") == 40);

  ProcessOptions full = place.options();
  full.stdout_to = "/dev/full";
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"list", "layers"}, {"config", "schema"}, {"doctor", "--json"}}) {
    check_error(place.lssm(arguments, full), 3, {"standard output"});
  }
}

TEST_CASE("a folder that may not be written", "[bad]") {
  const Workplace place;
  place.write("tiny.json", tiny_config());
  check_error(place.lssm({"train", "tiny.json", "--runs", "tiny.json"}), 3, {"tiny.json/tiny"});

  std::filesystem::create_directory(place.path("locked"));
  chmod(place.path("locked").c_str(), 0555);
  chmod(place.path("tiny.json").c_str(), 0444);
  chmod(place.root().c_str(), 0755);
  ProcessOptions options = place.options();
  options.unprivileged = true;
  if (place.lssm({"--version"}, options).code != 0) {
    WARN("skipped: another user may not run " << LSSM_PROGRAM);
    return;
  }
  check_error(place.lssm({"train", "tiny.json", "--runs", "locked"}, options), 3,
              {"locked", "Permission denied"});
  CHECK(files_below(place.root()) == std::set<std::string>{"locked", "tiny.json"});
}

TEST_CASE("numbers that are not finite end the run", "[bad]") {
  const Workplace place;
  place.write("tiny.json", tiny_config());
  const auto diverge = [&](const char* name, std::vector<std::string> more) {
    more.insert(more.begin(), {"train", "tiny.json", "--quiet", "--runs", name});
    return place.lssm(more);
  };
  const auto checkpoint = [&](const char* name) {
    return place.tiny_run(name) / "checkpoint.safetensors";
  };
  check_error(diverge("a", {"--set", "train.optimizer.lr=1e30"}), 4,
              {"step 2", "operation", "shape [", "value of \"", "not a finite number"});
  CHECK(all_finite(checkpoint("a")));
  CHECK(checkpoint_step(checkpoint("a")) == 1);
  CHECK_FALSE(std::filesystem::exists(place.tiny_run("a") / "summary.json"));
  const Json failure = read_json(place.tiny_run("a") / "failure.json");
  CHECK(failure["exit_code"] == 4);
  CHECK(has(failure["error"], "step 2"));

  // The update itself leaves the range of f32.
  check_error(diverge("b", {"--set", "train.optimizer.lr=1e39"}), 4,
              {"step 1", "parameter \"layers.", "shape ["});
  CHECK_FALSE(std::filesystem::exists(checkpoint("b")));  // nothing good was ever there

  // The last step: only the validation can see it.
  check_error(diverge("c", {"--set", "train.optimizer.lr=1e30", "--set", "train.steps=1"}), 4,
              {"step 1", "validation"});
  CHECK(all_finite(checkpoint("c")));
  CHECK_FALSE(std::filesystem::exists(place.tiny_run("c") / "best.safetensors"));
}

}  // namespace
}  // namespace lssm
