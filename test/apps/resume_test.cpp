// SPDX-License-Identifier: Apache-2.0
// A run that was stopped, interrupted or killed ends with the bytes of one that was not.
#include <unistd.h>

#include <csignal>

#include "core/random.h"
#include "test/apps/program.h"

namespace lssm {
namespace {

void check_same_run(const std::filesystem::path& a, const std::filesystem::path& b) {
  CHECK(files_below(a) == files_below(b));
  for (const char* file : {"config.json", "checkpoint.safetensors", "best.safetensors"}) {
    INFO(file);
    CHECK(same_bytes(a / file, b / file));
  }
  CHECK(timeless_summary(a) == timeless_summary(b));
  CHECK(timeless_metrics(a) == timeless_metrics(b));
}

TEST_CASE("stop and resume gives the bytes of an uninterrupted run", "[resume]") {
  const std::map<std::string, Json> variants = {
      {"adam", Json::object()},
      {"adamw", {{"train", {{"optimizer", {{"type", "adamw"}, {"weight_decay", 0.1}}}}}}},
      {"sgd", {{"train", {{"optimizer", {{"type", "sgd"}, {"momentum", 0.9}}}}}}},
      {"f64", {{"precision", "f64"}}},
      {"accumulate", {{"train", {{"accumulate", 3}}}}},
      {"schedule", {{"train", {{"schedule", {{"type", "cosine"}, {"warmup", 5}}}}}}},
      {"two threads", {{"threads", 2}}},
      {"validation", {{"train", {{"validate_every", 4}, {"checkpoint_every", 6}}}}},
      {"best is tested", {{"train", {{"validate_every", 5}}}, {"eval", {{"checkpoint", "best"}}}}},
      {"mixed lengths", {{"task", {{"lengths", {3, 5, 8}}}}}},
      {"curriculum",
       {{"train",
         {{"curriculum",
           {{{"length", 1}, {"loss_below", 1.5}, {"steps", 15}}, {{"length", 3}, {"steps", 10}}}},
          {"checkpoint_every", 8}}}}},
      {"fixed set", {{"task", {{"samples", 50}}}}}};
  for (const auto& [name, patch] : variants) {
    DYNAMIC_SECTION(name) {
      const Workplace place;
      place.write("tiny.json", tiny_config_with(patch));
      place.good({"train", "tiny.json", "--runs", "whole"});
      place.good({"train", "tiny.json", "--runs", "halves", "--until", "20"});
      CHECK(checkpoint_step(place.tiny_run("halves") / "checkpoint.safetensors") == 20);
      place.good({"train", "--resume", place.tiny_run("halves").string()});
      check_same_run(place.tiny_run("whole"), place.tiny_run("halves"));
    }
  }
}

TEST_CASE("dropout goes on with the coins of its step", "[resume]") {
  const Workplace place;
  Json config = tiny_config_with({{"train", {{"accumulate", 2}}}});
  const Json dropout = {{"type", "dropout"}, {"rate", 0.3}};
  config["model"]["layers"].insert(config["model"]["layers"].begin() + 2, dropout);
  place.write("tiny.json", config);
  place.good({"train", "tiny.json", "--runs", "whole"});
  place.good({"train", "tiny.json", "--runs", "parts", "--until", "13"});
  place.good({"train", "tiny.json", "--runs", "parts", "--resume"});
  check_same_run(place.tiny_run("whole"), place.tiny_run("parts"));
}

TEST_CASE("a run may be cut anywhere, and often", "[resume]") {
  const Workplace place;
  place.write("tiny.json", tiny_config_with({{"train", {{"validate_every", 10}}}}));
  place.good({"train", "tiny.json", "--runs", "whole"});
  place.good({"train", "tiny.json", "--runs", "parts", "--until", "0"});
  for (const char* until : {"1", "10", "10", "29", "39", "5"}) {  // 5 is behind: nothing to do
    place.good({"train", "--resume", place.tiny_run("parts").string(), "--until", until});
  }
  CHECK(checkpoint_step(place.tiny_run("parts") / "checkpoint.safetensors") == 39);
  CHECK_FALSE(std::filesystem::exists(place.tiny_run("parts") / "summary.json"));
  place.good({"train", "tiny.json", "--runs", "parts", "--resume"});
  check_same_run(place.tiny_run("whole"), place.tiny_run("parts"));

  // A finished run goes on to its end again, without a trace.
  place.good({"train", "tiny.json", "--runs", "parts", "--resume"});
  check_same_run(place.tiny_run("whole"), place.tiny_run("parts"));
}

TEST_CASE("resuming before the first checkpoint starts from step 0", "[resume]") {
  const Workplace place;
  place.write("tiny.json", tiny_config());
  place.good({"train", "tiny.json", "--runs", "a"});
  place.good({"train", "tiny.json", "--runs", "b", "--until", "15"});
  const std::filesystem::path run = place.tiny_run("b");
  std::filesystem::remove(run / "checkpoint.safetensors");
  // What a kill in the middle of two writes leaves.
  place.write("runs-b", read_file(run / "metrics.jsonl") + "{\"step\": 16, \"lo");
  std::filesystem::rename(place.path("runs-b"), run / "metrics.jsonl");
  write_file_atomically(run / "checkpoint.safetensors.tmp-123-0", "half");
  place.good({"train", "--resume", run.string()});
  check_same_run(place.tiny_run("a"), run);
}

// A run that no machine finishes during the test, with checkpoints and validations on the way.
Json endless_config() {
  return tiny_config_with({{"train",
                            {{"steps", 100000000},
                             {"checkpoint_every", 40},
                             {"validate_every", 60},
                             {"valid_sequences", 8},
                             {"log_every", 20}}}});
}

// Goes on from wherever `run` is for a few steps, and compares with a run that was never stopped.
// The steps reach past the next checkpoint: a killed run may have saved its best parameters up to
// there.
void check_goes_on(const Workplace& place, const std::filesystem::path& run) {
  const int64_t until = checkpoint_step(run / "checkpoint.safetensors") + 67;
  place.good({"train", "--resume", run.string(), "--until", std::to_string(until), "--quiet"});
  place.good({"train", "endless.json", "--runs", "reference", "--force", "--quiet", "--until",
              std::to_string(until)});
  const std::filesystem::path reference = place.tiny_run("reference");
  CHECK(files_below(run) == files_below(reference));
  CHECK(same_bytes(run / "checkpoint.safetensors", reference / "checkpoint.safetensors"));
  CHECK(same_bytes(run / "best.safetensors", reference / "best.safetensors"));
  CHECK(timeless_metrics(run) == timeless_metrics(reference));
}

TEST_CASE("an interrupted run saves and goes on", "[resume]") {
  for (const int signal : {SIGINT, SIGTERM}) {
    const Workplace place;
    Json config = endless_config();
    config["train"]["checkpoint_every"] = 0;  // so the only checkpoint is that of the interrupt
    place.write("endless.json", config);
    Process process({LSSM_PROGRAM, "train", "endless.json"}, place.options());
    process.wait_for_lines(6);
    process.send(signal);
    const ProcessResult result = process.wait();
    CHECK(result.code == 130);
    CHECK(result.err.find("train --resume runs/tiny/seed-7") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(place.tiny_run("runs") / "summary.json"));
    CHECK(checkpoint_step(place.tiny_run("runs") / "checkpoint.safetensors") >= 120);
    check_goes_on(place, place.tiny_run("runs"));
  }
}

TEST_CASE("kill -9 at any moment costs at most the steps since the last checkpoint", "[resume]") {
  const Workplace place;
  place.write("endless.json", endless_config());
  const std::filesystem::path run = place.tiny_run("runs");
  Random random(7, Stream::check, 0);
  std::vector<std::string> arguments = {LSSM_PROGRAM, "train", "endless.json"};
  int64_t step = 0;
  for (int kill = 0; kill < 10; ++kill) {
    Process process(arguments, place.options());
    process.wait_for_lines(1 + random.below(20));
    usleep(random.below(5000));
    process.send(SIGKILL);
    CHECK(process.wait().code == 128 + SIGKILL);
    if (std::filesystem::exists(run / "checkpoint.safetensors")) {
      const int64_t now = checkpoint_step(run / "checkpoint.safetensors");
      CHECK(now >= step);
      CHECK(now % 40 == 0);
      step = now;
    }
    arguments = {LSSM_PROGRAM, "train", "--resume", run.string()};
  }
  CHECK(step > 0);
  check_goes_on(place, run);
}

}  // namespace
}  // namespace lssm
