// SPDX-License-Identifier: Apache-2.0
// lssm sweep, as a user runs it: whole sweeps, and sweeps that are stopped, killed or fail.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>

#include "test/apps/program.h"

namespace lssm {
namespace {

namespace fs = std::filesystem;

Json sweep_of(const Json& variants, const Json& seeds, const Json& set = Json::object()) {
  return {{"name", "sweep"},
          {"config", tiny_config()},
          {"set", set},
          {"variants", variants},
          {"seeds", seeds}};
}

const Json kTwo = {{{"name", "so3"}},
                   {{"name", "so2"}, {"set", {{"model.layers.1.group", "so2"}}}}};

// Its first step overflows.
const Json kExploding = {
    {"name", "bad"},
    {"set", {{"train.optimizer", {{"type", "sgd"}, {"lr", 1e30}}}, {"train.clip_norm", 0}}}};

void wait_until(const std::function<bool()>& holds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(60);
  while (!holds()) {
    REQUIRE(Clock::now() < end);
    usleep(2000);
  }
}

std::string bytes_of(const fs::path& path) { return fs::exists(path) ? read_file(path) : ""; }

// Processes that have `word` in their command line.
std::vector<pid_t> processes_with(const std::string& word) {
  std::vector<pid_t> all;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    try {
      if (read_file(entry.path() / "cmdline").find(word) != std::string::npos)
        all.push_back(std::stoi(name));
    } catch (const Error&) {  // it has ended
    }
  }
  return all;
}

// Bytes and time of each file below a folder.
std::map<std::string, std::string> snapshot(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const auto time = fs::last_write_time(entry.path()).time_since_epoch().count();
    all[entry.path().string()] = std::to_string(time) + read_file(entry.path());
  }
  return all;
}

std::vector<std::string> states(const Workplace& place, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "sweep");
  arguments.insert(arguments.end(), {"--status", "--json"});
  std::vector<std::string> all;
  const Json report = Json::parse(place.good(arguments));
  for (const Json& run : report["runs"]) all.push_back(run["state"]);
  return all;
}

using States = std::vector<std::string>;

void check_same_result(const fs::path& a, const fs::path& b) {
  CHECK(same_bytes(a / "checkpoint.safetensors", b / "checkpoint.safetensors"));
  CHECK(same_bytes(a / "best.safetensors", b / "best.safetensors"));
  CHECK(timeless_summary(a) == timeless_summary(b));
  CHECK(timeless_metrics(a) == timeless_metrics(b));
}

TEST_CASE("a whole sweep, and nothing to do after it", "[sweep]") {
  const Workplace place;
  place.write("sweep.json", sweep_of(kTwo, {1, 2}));
  const ProcessResult first = place.lssm({"sweep", "sweep.json"});
  INFO(first.err);
  REQUIRE(first.code == 0);
  CHECK(first.out == "so3  2 done\nso2  2 done\nruns/sweep\n");
  CHECK(std::count(first.err.begin(), first.err.end(), '\n') == 4);
  const fs::path sweep = place.path("runs/sweep");
  const Json plan = read_json(sweep / "sweep.json");
  const std::string config = plan["variants"][1]["config"];
  CHECK(config == "configs/so2-" + plan["variants"][1]["config_hash"].get<std::string>() + ".json");
  CHECK(files_below(sweep / "configs").size() == 2);
  CHECK(files_below(sweep).contains(config));
  CHECK(plan["seeds"] == Json({1, 2}));
  CHECK(plan["variants"][0]["name"] == "so3");
  CHECK(plan["variants"][1]["name"] == "so2");
  CHECK(read_json(sweep / "so2" / "seed-2" / "summary.json")["config_hash"] ==
        plan["variants"][1]["config_hash"]);

  // Each run is the run that lssm train makes of that config and seed.
  place.good({"train", "runs/sweep/" + config, "--set", "train.seed=2", "--runs", "alone"});
  check_same_result(sweep / "so2" / "seed-2", place.path("alone/so2/seed-2"));

  const auto before = snapshot(place.path("runs"));
  const ProcessResult second = place.lssm({"sweep", "sweep.json"});
  CHECK(second.code == 0);
  CHECK(second.err == "4 of 4 runs were done already\n");
  CHECK(second.out == first.out);
  CHECK(place.lssm({"sweep", "sweep.json", "--force", "--only", "so3"}).code == 0);
  CHECK(place.lssm({"sweep", "sweep.json", "--run", "3"}).err == "so2, seed 1: done already\n");
  CHECK(snapshot(place.path("runs")) == before);

  // A new seed is the only one that is run.
  const ProcessResult third =
      place.lssm({"sweep", "sweep.json", "--seeds", "2,3", "--only", "so2"});
  CHECK(third.code == 0);
  CHECK(third.err.starts_with("1 of 2 runs were done already\ndone  so2, seed 3: final "));
  CHECK_FALSE(fs::exists(sweep / "so3" / "seed-3"));
  CHECK(read_json(sweep / "sweep.json")["seeds"] == Json({1, 2, 3}));  // all that are its own
}

TEST_CASE("--dry-run and --status write nothing", "[sweep]") {
  const Workplace place;
  place.write("sweep.json", sweep_of(kTwo, {1, 2}));
  const std::string out = place.good({"sweep", "sweep.json", "--dry-run"});
  place.good({"sweep", "sweep.json", "--status"});
  CHECK(files_below(place.root()) == std::set<std::string>{"sweep.json"});
  CHECK(has(out, "   3  so2, seed 1  absent\n      lssm sweep sweep.json --run 3\n"));
  CHECK(out.ends_with("4 runs: 4 absent\n"));
  CHECK(states(place, {"sweep.json"}) == States(4, "absent"));

  // One run by its number, then what is left.
  place.good({"sweep", "sweep.json", "--run", "3"});
  CHECK(states(place, {"sweep.json"}) == States{"absent", "absent", "done", "absent"});
  CHECK(fs::exists(place.path("runs/sweep/so2/seed-1/summary.json")));
  const std::string after = place.good({"sweep", "sweep.json", "--dry-run"});
  CHECK_FALSE(has(after, "--run 3"));
  CHECK(after.ends_with("4 runs: 1 done, 3 absent\n"));
  const ProcessResult bad = place.lssm({"sweep", "sweep.json", "--run", "5"});
  CHECK(bad.code == 2);
  CHECK(bad.err == "lssm: sweep sweep.json: --run 5: there are 4 runs\n");
}

TEST_CASE("a failed run keeps its message while the rest goes on", "[sweep]") {
  const Workplace place;
  place.write("sweep.json", sweep_of({kExploding, kTwo[0]}, {1, 2}));
  for (const char* again : {"", "again"}) {
    INFO(again);
    const ProcessResult result = place.lssm({"sweep", "sweep.json", "--jobs", "1"});
    CHECK(result.code == 4);
    CHECK(result.out.starts_with("bad  2 failed\nso3  2 done\nbad, seed 1: step "));
    CHECK(result.out.find("not a finite number") != std::string::npos);
  }
  CHECK(states(place, {"sweep.json"}) == States{"failed", "failed", "done", "done"});

  // Another config in its place: told apart, and replaced when asked to; what is done stays.
  Json mended = kExploding;
  mended["set"]["train.optimizer"]["lr"] = 0.01;
  place.write("sweep.json", sweep_of({mended, kTwo[0]}, {1, 2}));
  const auto before = snapshot(place.path("runs"));
  const ProcessResult refused = place.lssm({"sweep", "sweep.json"});
  CHECK(refused.code == 2);
  CHECK(refused.err.find("--force") != std::string::npos);
  for (const char* run : {"bad/seed-1", "bad/seed-2"}) {
    const std::string line =
        std::string("runs/sweep/") + run + ": train.optimizer.lr is 1e+30, not 0.01\n";
    CHECK(refused.err.find(line) != std::string::npos);
  }
  CHECK(refused.err.find("so3") == std::string::npos);
  CHECK(place.lssm({"sweep", "sweep.json", "--run", "1"}).code == 2);
  CHECK(snapshot(place.path("runs")) == before);
  const ProcessResult forced = place.lssm({"sweep", "sweep.json", "--force"});
  CHECK(forced.code == 0);
  CHECK(forced.err.starts_with("2 of 4 runs were done already\n"));
  for (const auto& [path, bytes] : snapshot(place.path("runs/sweep/so3")))
    CHECK(before.at(path) == bytes);
  CHECK_FALSE(fs::exists(place.path("runs/sweep/bad/seed-1/failure.json")));
}

TEST_CASE("a sweep that is wrong writes nothing", "[sweep]") {
  const Workplace place;
  place.write("sweep.json", sweep_of(kTwo, {1, 2}, {{"model.widht", 8}}));
  const ProcessResult result = place.lssm({"sweep", "sweep.json"});
  CHECK(result.code == 2);
  CHECK(result.err.starts_with(
      "lssm: sweep sweep.json: variants so3, so2: /model/widht: unknown key"));
  CHECK(place.lssm({"sweep", "none.json"}).code == 3);
  CHECK(files_below(place.root()) == std::set<std::string>{"sweep.json"});
}

constexpr int64_t kLongSteps = 20000;  // half a second

Json long_sweep(int64_t checkpoint_every) {
  return sweep_of(kTwo, {1},
                  {{"train.steps", kLongSteps},
                   {"train.checkpoint_every", checkpoint_every},
                   {"train.log_every", 100},
                   {"train.schedule", {{"type", "cosine"}}}});
}

// Both runs have logged something, and so run at once: neither is at its end.
bool both_run(const fs::path& sweep) {
  for (const char* run : {"so3/seed-1", "so2/seed-1"}) {
    if (bytes_of(sweep / run / "metrics.jsonl").find('\n') == std::string::npos) return false;
  }
  return true;
}

TEST_CASE("SIGTERM lets two parallel runs save; the sweep then ends as if never stopped",
          "[sweep]") {
  const Workplace place;
  place.write("sweep.json", long_sweep(0));  // so the only checkpoint is that of the signal
  place.good({"sweep", "sweep.json", "--runs", "whole", "--jobs", "1"});

  const fs::path sweep = place.path("runs/sweep");
  Process process(
      {LSSM_PROGRAM, "sweep", "sweep.json", "--jobs", "2", "--seeds", "1", "--only", "so3,so2"},
      place.options());
  wait_until([&] { return both_run(sweep); });
  for (const char* run : {"so3/seed-1", "so2/seed-1"})
    CHECK_FALSE(fs::exists(sweep / run / "summary.json"));
  process.send(SIGTERM);
  const ProcessResult stopped = process.wait();
  CHECK(stopped.code == 130);
  CHECK(stopped.err.ends_with(
      "lssm: stopped; go on with: lssm sweep sweep.json --seeds 1 --only so3,so2 --jobs 2\n"));
  CHECK(states(place, {"sweep.json"}) == States(2, "interrupted"));
  for (const char* run : {"so3/seed-1", "so2/seed-1"}) {
    const int64_t step = checkpoint_step(sweep / run / "checkpoint.safetensors");
    CHECK((step >= 100 && step < kLongSteps));
  }

  place.good({"sweep", "sweep.json"});
  for (const char* run : {"so3/seed-1", "so2/seed-1"})
    check_same_result(sweep / run, place.path("whole/sweep") / run);
}

TEST_CASE("killing a sweep ends its runs; started again at once it completes", "[sweep]") {
  const Workplace place;
  place.write("sweep.json", long_sweep(1000));
  const std::string runs = place.path("runs").string();
  Process process({LSSM_PROGRAM, "sweep", "sweep.json", "--jobs", "2", "--runs", runs},
                  place.options());
  wait_until([&] { return both_run(place.path("runs/sweep")); });
  CHECK(processes_with(runs).size() == 3);
  process.send(SIGKILL);
  CHECK(process.wait().code == 128 + SIGKILL);
  place.good({"sweep", "sweep.json", "--runs", runs});  // waits for those that still save
  CHECK(processes_with(runs).empty());
  CHECK(states(place, {"sweep.json"}) == States(2, "done"));
  place.good({"sweep", "sweep.json", "--runs", "whole"});
  for (const char* run : {"so3/seed-1", "so2/seed-1"})
    check_same_result(place.path("runs/sweep") / run, place.path("whole/sweep") / run);
}

TEST_CASE("a run that is killed fails alone, and loses at most a checkpoint interval", "[sweep]") {
  const Workplace place;
  place.write("sweep.json", long_sweep(1000));
  const std::string runs = place.path("runs").string();
  const fs::path killed = place.path("runs/sweep/so2/seed-1");
  Process process({LSSM_PROGRAM, "sweep", "sweep.json", "--jobs", "2", "--runs", runs},
                  place.options());
  wait_until([&] { return fs::exists(killed / "checkpoint.safetensors"); });
  const std::vector<pid_t> victims = processes_with(runs + "/sweep/configs/so2-");
  REQUIRE(victims.size() == 1);
  kill(victims[0], SIGKILL);
  const ProcessResult result = process.wait();
  CHECK(result.code == 128 + SIGKILL);
  CHECK(result.out.find("so3  1 done\nso2  1 failed\nso2, seed 1: killed by signal 9\n") == 0);
  CHECK(states(place, {"sweep.json"}) == States{"done", "failed"});

  const int64_t reached = timeless_metrics(killed).back()["step"];
  CHECK(reached < kLongSteps);
  place.good({"sweep", "sweep.json"});
  const std::string log = read_file(killed / "log.txt");
  const size_t at = log.find("resumed at step ");
  REQUIRE(at != std::string::npos);
  const int64_t step = std::stoll(log.substr(at + 16));
  CHECK(step % 1000 == 0);
  CHECK(step >= reached - 1000);
  place.good({"sweep", "sweep.json", "--runs", "whole"});
  check_same_result(killed, place.path("whole/sweep/so2/seed-1"));
}

TEST_CASE("one sweep at a time works in a folder", "[sweep]") {
  const Workplace place;
  place.write("sweep.json", sweep_of(kTwo, {1}, {{"train.steps", 100000000}}));
  Process process({LSSM_PROGRAM, "sweep", "sweep.json", "--jobs", "1"}, place.options());
  const fs::path run = place.path("runs/sweep/so3/seed-1");
  wait_until([&] { return fs::exists(run / "config.json"); });
  CHECK(states(place, {"sweep.json"}) == States{"running", "absent"});
  // Not even a plan that was changed meanwhile gets into the folder.
  const auto snapshot_of_plan = [&place] {
    return files_below(place.path("runs/sweep/configs")).size() +
           read_file(place.path("runs/sweep/sweep.json")).size();
  };
  const size_t before = snapshot_of_plan();
  place.write("other.json", sweep_of(kTwo, {1, 2, 3}, {{"train.steps", 100000000}}));
  const ProcessResult second = place.lssm({"sweep", "other.json"});
  CHECK(second.code == 3);
  CHECK(snapshot_of_plan() == before);
  CHECK(second.err == "lssm: runs/sweep: another process works in this sweep's folder\n");
  CHECK(place.lssm({"sweep", "sweep.json", "--run", "1"}).code == 3);
  process.send(SIGINT);
  CHECK(process.wait().code == 130);
  CHECK_FALSE(fs::exists(place.path("runs/sweep/so2")));  // one job at a time
}

TEST_CASE("a second Ctrl-C kills a run that does not save", "[sweep]") {
  const Workplace place;
  place.write("sweep.json", sweep_of(kTwo, {1}, {{"train.steps", 100000000}}));
  const std::string runs = place.path("runs").string();
  Process process({LSSM_PROGRAM, "sweep", "sweep.json", "--jobs", "1", "--runs", runs},
                  place.options());
  wait_until([&] { return processes_with(runs + "/sweep/configs/so3-").size() == 1; });
  const pid_t child = processes_with(runs + "/sweep/configs/so3-").front();
  kill(child, SIGSTOP);
  const fs::path status = fs::path("/proc") / std::to_string(child) / "status";
  wait_until([&] { return read_file(status).find("State:\tT") != std::string::npos; });
  process.send(SIGINT);
  process.wait_for_lines(1);  // "stopping: …": the first has been seen
  CHECK(processes_with(runs).size() == 2);
  process.send(SIGINT);
  CHECK(process.wait().code == 130);
  CHECK(processes_with(runs).empty());
}

}  // namespace
}  // namespace lssm
