// SPDX-License-Identifier: Apache-2.0
// Sweeps through Slurm: the script, errors, and a real Slurm on the loopback.
#include "apps/experiment/slurm.h"

#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "test/apps/program.h"
#include "test/apps/slurm_cluster.h"

namespace lssm {
namespace {

namespace fs = std::filesystem;

// Two groups and two seeds of the tiny experiment.
Json tiny_sweep(const Json& patch = Json::object()) {
  Json config = tiny_config();
  config.erase("name");
  config["train"].erase("seed");
  Json sweep = {
      {"name", "tiny"},
      {"config", config},
      {"variants",
       {{{"name", "so3"}}, {{"name", "so2"}, {"set", {{"model.layers.1.group", "so2"}}}}}},
      {"seeds", {1, 2}}};
  sweep.merge_patch(patch);
  return sweep;
}

bool has_line(const std::string& text, const std::string& line) {
  return has("\n" + text, "\n" + line + "\n");
}

void write_executable(const fs::path& path, const std::string& text) {
  write_file_atomically(path, "#!/bin/sh\n" + text);
  ::chmod(path.c_str(), 0755);
}

TEST_CASE("array tasks are listed by ranges", "[slurm]") {
  CHECK(array_text({}).empty());
  CHECK(array_text({4}) == "4");
  CHECK(array_text({1, 2}) == "1,2");
  CHECK(array_text({1, 4, 5, 6, 7, 8, 10}) == "1,4-8,10");
  CHECK(array_text({2, 3, 4, 7, 8}) == "2-4,7,8");
}

TEST_CASE("the script for Slurm says what is submitted", "[slurm]") {
  const Workplace work;
  const Json slurm = {{"partition", "long"}, {"mem", 2048},         {"time", "1-00:00:00"},
                      {"exclusive", true},   {"contiguous", false}, {"comment", "a \"b\" \\ #c"}};
  work.write("s.json", tiny_sweep({{"set", {{"threads", 3}}}, {"slurm", slurm}}));
  const std::string script = work.good({"sweep", "s.json", "--on", "slurm", "--dry-run"});
  CHECK(script.starts_with("#!/bin/bash\n"));
  for (const char* line :
       {"--array=1-4", "--job-name=lssm-tiny", "--cpus-per-task=3", "--signal=B:USR1@90",
        "--open-mode=append", "--requeue", "--partition=long", "--mem=2048", "--time=1-00:00:00",
        "--exclusive", "--comment=\"a \\\"b\\\" \\\\ #c\""}) {
    INFO(line << " in\n" << script);
    CHECK(has_line(script, std::string("#SBATCH ") + line));
  }
  CHECK(!has(script, "contiguous"));
  CHECK(has_line(script, "#SBATCH --output=" + work.path("runs/tiny/slurm/%A_%a.out").string()));
  CHECK(!fs::exists(work.path("runs")));

  work.good({"sweep", "s.json", "--only", "so3", "--seeds", "2"});  // task 2 is done
  CHECK(has_line(work.good({"sweep", "s.json", "--on", "slurm", "--dry-run", "--jobs", "2"}),
                 "#SBATCH --array=1,3,4%2"));
  CHECK(has_line(work.good({"sweep", "s.json", "--on", "slurm", "--dry-run", "--only", "so2"}),
                 "#SBATCH --array=3,4"));
}

TEST_CASE("the sweep's options for Slurm replace the defaults", "[slurm]") {
  const Workplace work;
  const Json slurm = {{"job-name", "mine"}, {"cpus-per-task", 8}, {"signal", "B:USR1@600"}};
  work.write("s.json", tiny_sweep({{"slurm", slurm}}));
  const std::string script = work.good({"sweep", "s.json", "--on", "slurm", "--dry-run"});
  for (const char* line : {"--job-name=mine", "--cpus-per-task=8", "--signal=B:USR1@600"})
    CHECK(has_line(script, std::string("#SBATCH ") + line));
  for (const char* line : {"lssm-tiny", "cpus-per-task=1", "USR1@90"}) CHECK(!has(script, line));
}

TEST_CASE("the script for Slurm survives odd names", "[slurm]") {
  const Workplace work;
  const std::string name = "it's-100%-\"$HOME\"-`date`-#1";
  work.write("s.json", tiny_sweep({{"name", name}}));
  const std::string script =
      work.good({"sweep", "s.json", "--runs", "a 'b' $x \"c\"", "--on", "slurm", "--dry-run"});
  // how bash reads it
  const fs::path folder = work.path("a 'b' $x \"c\"") / name / "slurm";
  work.write("s.sh", script);
  work.write("values.sh", script.substr(0, script.find("\n# Slurm may")) +
                              "\nprintf '%s|%s|%s|%s' \"$lssm\" \"$sweep\" \"$runs\" \"$force\"");
  CHECK(run({"bash", "-n", work.path("s.sh")}).code == 0);
  CHECK(run({"bash", work.path("values.sh")}).out ==
        fs::canonical(LSSM_PROGRAM).string() + "|" + (folder / "1.json").string() + "|" +
            folder.parent_path().parent_path().string() + "|");
}

TEST_CASE("options that are no options of sbatch are refused", "[slurm][bad]") {
  const Workplace work;
  const auto refuse = [&work](const Json& slurm, const std::vector<std::string>& parts) {
    work.write("s.json", tiny_sweep({{"slurm", slurm}}));
    check_error(work.lssm({"sweep", "s.json", "--on", "slurm"}), 2, parts);
    CHECK(!fs::exists(work.path("runs")));
  };
  refuse({{"array", "1-2"}}, {"/slurm/array", "belongs to the sweep"});
  refuse({{"output", "x"}}, {"/slurm/output"});
  refuse({{"--partition", "x"}}, {"/slurm", "without the dashes", "\"--partition\""});
  refuse({{"time limit", "x"}}, {"/slurm", "\"time limit\""});
  refuse({{"time", {1, 2}}}, {"/slurm/time", "expected a string, a number, true or false"});
  refuse({{"comment", "a\n#SBATCH --x"}}, {"/slurm/comment", "control character"});
  refuse({{"signal", "TERM@9"}}, {"/slurm/signal", "B:USR1@SECONDS", "TERM@9"});
  work.write("s.json", tiny_sweep());
  check_error(work.lssm({"sweep", "s.json", "--on", "slurm", "--runs", "a\\b"}), 2,
              {"backslash", "a\\\\b"});
  check_error(work.lssm({"sweep", "s.json", "--on", "pbs"}), 2, {"pbs", "slurm"});
}

TEST_CASE("errors of Slurm's commands are told", "[slurm][bad]") {
  const Workplace work;
  work.write("s.json", tiny_sweep());
  fs::create_directory(work.path("bin"));
  ProcessOptions options = work.options();
  options.environment = {{"PATH", work.path("bin").string()}};
  const auto submit = [&] { return work.lssm({"sweep", "s.json", "--on", "slurm"}, options); };
  check_error(submit(), 2, {"sweep --on slurm: sbatch was not found on PATH"});
  write_executable(work.path("bin/sbatch"), "echo 'sbatch: error: no such partition' >&2\nexit 1");
  check_error(submit(), 3, {"sbatch failed with exit code 1", "no such partition"});
  write_executable(work.path("bin/sbatch"), "echo Hello");
  check_error(submit(), 3, {"sbatch", "expected the id of a job", "Hello"});
  CHECK(!fs::exists(work.path("runs/tiny/slurm/jobs.json")));

  write_executable(work.path("bin/sbatch"), "echo '17;cluster'");
  CHECK(submit().code == 0);
  CHECK(read_json(work.path("runs/tiny/slurm/jobs.json"))[0]["id"] == "17");
  check_error(submit(), 2, {"squeue was not found on PATH"});
  write_executable(work.path("bin/squeue"), "echo 'slurm_load_jobs error' >&2\nexit 1");
  check_error(submit(), 3, {"squeue failed", "slurm_load_jobs error"});
  const ProcessResult status = work.lssm({"sweep", "s.json", "--status"}, options);
  CHECK(status.code == 0);
  CHECK(has(status.err, "note: the states in Slurm's queue are not known"));
  CHECK(has(status.out, "4 absent"));

  work.write("runs/tiny/slurm/jobs.json", std::string("{\"id\": 1}"));
  check_error(submit(), 3, {"jobs.json", "expected a list of jobs"});
}

// The parts that a real Slurm is asked for, in a folder whose name has all that needs quoting.
class SlurmWorkplace {
 public:
  explicit SlurmWorkplace(const SlurmCluster& cluster) : cluster_(cluster) {}

  ProcessOptions options() const {
    return {.folder = work.root(), .environment = cluster_.environment(), .timeout_s = 120};
  }
  ProcessResult sweep(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"sweep", "s.json", "--runs", kRuns});
    return work.lssm(std::move(arguments), options());
  }
  // What a good command prints.
  std::string good(const std::vector<std::string>& arguments) const {
    const ProcessResult result = sweep(arguments);
    INFO(result.err);
    REQUIRE(result.code == 0);
    return result.out;
  }
  fs::path run_folder(const std::string& name) const { return work.path(kRuns) / "tiny" / name; }
  std::string output(const std::string& task) const {
    return read_file(work.path(kRuns) / "tiny" / "slurm" / (task + ".out"));
  }
  // The same runs here, without Slurm.
  bool same_checkpoint(const std::string& run) const {
    const std::string file = run + "/checkpoint.safetensors";
    return same_bytes(run_folder(file), work.path("here") / "tiny" / file);
  }

  const Workplace work;

 private:
  static constexpr const char* kRuns = "it's 100% \"odd\" #1";
  const SlurmCluster& cluster_;
};

std::unique_ptr<SlurmCluster> start_cluster() {
  std::string why_not;
  std::unique_ptr<SlurmCluster> cluster = SlurmCluster::start(why_not);
  if (!cluster) WARN("skipped: no Slurm to test with: " << why_not);
  return cluster;
}

Json runs_by_name(const Json& results) {
  Json runs = Json::object();
  for (const Json& run : results["runs"])
    runs[run["variant"].get<std::string>() + "/seed-" + run["seed"].dump()] = run;
  return runs;
}

TEST_CASE("a sweep through Slurm gives what it gives here", "[slurm]") {
  const auto cluster = start_cluster();
  if (!cluster) return;
  const SlurmWorkplace place(*cluster);
  const Json broken = {
      {"name", "broken"},
      {"set", {{"train.optimizer", {{"type", "sgd"}, {"lr", 1e30}}}, {"train.clip_norm", 0}}}};
  Json sweep = tiny_sweep({{"slurm", {{"hold", true}, {"comment", "a \"b\" \\ #c"}}}});
  sweep["variants"].push_back(broken);
  place.work.write("s.json", sweep);
  CHECK(place.work.lssm({"sweep", "s.json", "--runs", "here"}).code == 4);

  CHECK(has(place.good({"--on", "slurm", "--jobs", "2"}), "submitted job 1: 6 runs"));
  CHECK(has(place.good({"--on", "slurm"}), "nothing to submit: of 6 runs, 0 done, 6 in Slurm"));
  CHECK(has(place.good({"--status"}), "pending (JobHeldUser) as 1_3\n"));
  CHECK(has(cluster->command({"scontrol", "show", "job", "1"}), "Comment=a \"b\" \\ #c"));

  Process wait({LSSM_PROGRAM, "sweep", "s.json", "--runs", "it's 100% \"odd\" #1", "--wait"},
               place.options());
  wait.wait_for_lines(1);
  wait.send(SIGINT);
  const ProcessResult stopped = wait.wait();
  CHECK(stopped.code == 130);
  CHECK(has(stopped.err, "6 runs: 0 done, 0 running, 6 pending (JobHeldUser), 0 failed\n"));
  CHECK(has(stopped.err, "stopped waiting; the jobs go on\n"));

  // What is edited after the submission does not count.
  Json edited = sweep;
  edited["variants"][0]["name"] = "other";
  edited["set"] = {{"train.steps", 7}};
  place.work.write("s.json", edited);
  cluster->command({"scontrol", "release", "1"});
  REQUIRE(cluster->wait_until_empty(60));
  place.work.write("s.json", sweep);

  const ProcessResult end = place.sweep({"--wait", "--collect"});
  INFO(end.out << end.err);
  CHECK(end.code == 4);
  CHECK(has(end.err, "6 runs: 4 done, 0 running, 0 pending, 2 failed\n"));
  Json runs = runs_by_name(read_json(place.run_folder("results.json")));
  CHECK(runs.size() == 6);
  for (const char* run : {"so3/seed-1", "so3/seed-2", "so2/seed-1", "so2/seed-2"}) {
    CHECK(place.same_checkpoint(run));
    CHECK(runs[run]["state"] == "done");
    CHECK(runs[run]["summary"] == read_json(place.run_folder(run) / "summary.json"));
  }
  for (const char* run : {"broken/seed-1", "broken/seed-2"}) {
    CHECK(runs[run]["state"] == "failed");
    CHECK(runs[run]["exit_code"] == 4);
    CHECK(runs[run]["message"] == read_json(place.run_folder(run) / "failure.json")["error"]);
  }
  CHECK(has(place.output("1_5"), "\nrun 5 ended with code 4\n"));
}

// Waits until the run has come so far.
void wait_for_step(const fs::path& run, int64_t step) {
  for (int i = 0; i < 600; ++i) {
    std::error_code error;
    if (fs::exists(run / "metrics.jsonl", error)) {
      for (const Json& line : timeless_metrics(run))
        if (line["step"] >= step) return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  FAIL("the run does not start: " << run);
}

// Kills the process that keeps the folder of a run open.
void kill_process_of(const fs::path& run) {
  for (const auto& process : fs::directory_iterator("/proc")) {
    std::error_code error;  // it may have ended, or be somebody else's
    for (fs::directory_iterator file(process.path() / "fd", error), end; !error && file != end;
         file.increment(error)) {
      if (fs::read_symlink(*file, error) == run)
        ::kill(pid_t(std::stoi(process.path().filename().string())), SIGKILL);
    }
  }
}

TEST_CASE("what Slurm interrupts goes on and ends with the same bytes", "[slurm]") {
  const auto cluster = start_cluster();
  if (!cluster) return;
  const SlurmWorkplace place(*cluster);
  constexpr int64_t kSteps = 60'000;  // some seconds
  Json sweep = tiny_sweep(
      {{"seeds", {1, 2, 3, 4}}, {"set", {{"train.steps", kSteps}, {"train.log_every", 1000}}}});
  sweep["variants"] = {{{"name", "so3"}}};
  place.work.write("s.json", sweep);
  place.good({"--on", "slurm"});
  const auto run = [](int seed) { return "so3/seed-" + std::to_string(seed); };
  for (int seed = 1; seed <= 4; ++seed) wait_for_step(place.run_folder(run(seed)), 1000);

  cluster->command({"scontrol", "requeue", "1_1"});
  cluster->command({"scancel", "--batch", "--signal=USR1", "1_2"});  // as before the time limit
  cluster->command({"scancel", "1_3"});
  kill_process_of(place.run_folder(run(4)));  // as if out of memory
  CHECK(place.sweep({"--wait", "--collect"}).code == 3);

  Json first = runs_by_name(read_json(place.run_folder("results.json")));
  for (const int seed : {1, 2}) CHECK(first[run(seed)]["state"] == "done");
  CHECK(first[run(3)]["state"] == "interrupted");
  const int64_t saved = checkpoint_step(place.run_folder(run(3)) / "checkpoint.safetensors");
  CHECK(saved >= 1000);
  CHECK(saved < kSteps);
  CHECK(first[run(4)]["state"] == "failed");
  CHECK(has(first[run(4)]["message"], "task 1_4 died: FAILED"));
  CHECK(first[run(4)]["output"].size() > 0);
  for (const int seed : {1, 2}) {
    const std::string output = place.output("1_" + std::to_string(seed));
    const std::string start = "run " + std::to_string(seed) + " starts";
    INFO(output);
    CHECK(output.starts_with(start));
    CHECK(has(output, "ended with code 130\n"));
    CHECK(has(output, "\n" + start));  // once more
  }

  CHECK(has(place.good({"--on", "slurm", "--wait"}), "submitted job "));
  const Json jobs = read_json(place.run_folder("slurm/jobs.json"));
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[1]["runs"] == Json{{"3", run(3)}, {"4", run(4)}});
  place.work.good({"sweep", "s.json", "--runs", "here"});
  for (int seed = 1; seed <= 4; ++seed) CHECK(place.same_checkpoint(run(seed)));
}

}  // namespace
}  // namespace lssm
