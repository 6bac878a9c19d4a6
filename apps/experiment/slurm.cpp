// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/slurm.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <optional>
#include <sstream>
#include <thread>

#include "apps/experiment/folder_lock.h"
#include "apps/experiment/interrupt.h"
#include "apps/experiment/slurm_script.h"
#include "core/file.h"

namespace lssm {
namespace {

namespace fs = std::filesystem;

constexpr size_t kOutputLines = 20;  // of a dead task, that are kept in results.json

std::string name_in(const SweepPlan& plan, const SweepRun& run) {
  return run.folder.lexically_relative(plan.folder).string();
}

// The last task that had a run: job and index.
struct LastTask {
  std::string job;
  size_t index;
};
std::optional<LastTask> last_task_of(const SweepPlan& plan, const SweepRun& run, const Json& jobs) {
  for (auto job = jobs.rbegin(); job != jobs.rend(); ++job) {
    for (const auto& [index, folder] : (*job)["runs"].items())
      if (folder == name_in(plan, run))
        return LastTask{(*job)["id"], std::strtoul(index.c_str(), nullptr, 10)};
  }
  return {};
}

std::string time_text() {
  const std::time_t now = std::time(nullptr);
  char line[32];
  std::strftime(line, sizeof line, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return line;
}

size_t count_active(const std::vector<SlurmTask>& tasks) {
  return size_t(std::count_if(tasks.begin(), tasks.end(),
                              [](const SlurmTask& task) { return task.active(); }));
}

// How a task ended, by its output. Each attempt writes "run 3 starts …" first and, if it can, "run
// 3 ended with code 0" at its end.
struct TaskOutput {
  bool started = false, ended = false;
  int code = 0;
  std::vector<std::string> lines = {};  // the last ones of the last attempt
};
TaskOutput read_output(const SweepPlan& plan, const LastTask& task) {
  const fs::path path = slurm_folder(plan) / text(task.job, "_", task.index, ".out");
  TaskOutput output;
  std::error_code error;
  if (!fs::exists(path, error)) return output;
  const std::string run = text("run ", task.index, " ");
  std::istringstream all(read_file(path));
  for (std::string line; std::getline(all, line);) {
    if (line.starts_with(run + "starts")) {
      output = {.started = true};
      continue;
    }
    const std::string end = run + "ended with code ";
    if (line.starts_with(end)) {
      output.ended = true;
      output.code = std::atoi(line.c_str() + end.size());
      continue;
    }
    output.lines.push_back(line);
    if (output.lines.size() > kOutputLines) output.lines.erase(output.lines.begin());
  }
  return output;
}

// The line of the output that says best what went wrong: the program's own, else the last one.
std::string telling_line(const std::vector<std::string>& lines) {
  const std::string who = "lssm: ";
  const auto own = std::find_if(lines.rbegin(), lines.rend(),
                                [&](const std::string& line) { return line.starts_with(who); });
  if (own != lines.rend()) return own->substr(who.size());
  return lines.empty() ? "" : lines.back();
}

// What has become of a run that left no result and no reason, and has no task any more.
RunStatus status_of_dead(const SweepPlan& plan, const LastTask& task, RunStatus status) {
  const TaskOutput output = read_output(plan, task);
  const bool stopped = output.ended && output.code > 128 && output.code != 128 + SIGKILL;
  if (!output.started || stopped) return status;  // to be submitted again
  const std::string line = telling_line(output.lines);
  if (output.ended && output.code <= 128)
    return {RunState::failed, line.empty() ? text("exit code ", output.code) : line,
            output.code == 0 ? 1 : output.code};
  const std::string end = slurm_end_of(task.job, task.index);
  if (end.starts_with("CANCELLED")) return status;
  std::string message = text("task ", task.job, "_", task.index, " died");
  if (!end.empty()) message += ": " + end;
  if (!line.empty()) message += "; its last words: " + line;
  return {RunState::failed, message, int(Error::Kind::file)};
}

}  // namespace

std::vector<SlurmTask> slurm_tasks(const SweepPlan& plan) {
  std::vector<SlurmTask> tasks(plan.runs.size());
  const Json jobs = submitted_jobs(plan);
  if (jobs.empty()) return tasks;
  for (const SlurmTask& task : slurm_queue()) {
    for (const Json& job : jobs) {
      const Json& runs = job["runs"];
      const auto found = runs.find(std::to_string(task.index));
      if (job["id"] != task.job || found == runs.end()) continue;
      for (size_t i = 0; i < tasks.size(); ++i)
        if (*found == name_in(plan, plan.runs[i])) tasks[i] = task;
    }
  }
  return tasks;
}

std::vector<RunStatus> slurm_statuses(const SweepPlan& plan, const std::vector<SlurmTask>& tasks) {
  const Json jobs = submitted_jobs(plan);
  std::vector<RunStatus> statuses;
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    RunStatus status = run_status(plan, plan.runs[i]);
    const bool ended = status.state == RunState::absent || status.state == RunState::interrupted;
    const std::optional<LastTask> task = last_task_of(plan, plan.runs[i], jobs);
    if (ended && task && !tasks[i].active()) status = status_of_dead(plan, *task, status);
    statuses.push_back(std::move(status));
  }
  return statuses;
}

namespace {

std::vector<size_t> choose_runs(const std::vector<RunStatus>& statuses,
                                const std::vector<SlurmTask>& tasks) {
  std::vector<size_t> runs;
  for (size_t i = 0; i < statuses.size(); ++i) {
    const RunState state = statuses[i].state;
    if (state != RunState::done && state != RunState::running && !tasks[i].active())
      runs.push_back(i);
  }
  return runs;
}

}  // namespace

std::vector<size_t> runs_to_submit(const SweepPlan& plan) {
  return choose_runs(run_statuses(plan), slurm_tasks(plan));
}

void submit_to_slurm(const SweepPlan& plan, const SlurmOptions& options) {
  const std::vector<RunStatus> statuses = run_statuses(plan);
  if (!options.force) refuse_foreign(plan, statuses);
  slurm_script(plan, options, {});  // whether the options are good, before anything is written
  std::error_code error;
  fs::create_directories(slurm_folder(plan), error);
  if (error) fail_file(slurm_folder(plan).string(), ": cannot be made: ", error.message());
  const FolderLock lock(plan.folder, "sweep's folder");
  const std::vector<SlurmTask> tasks = slurm_tasks(plan);
  const std::vector<size_t> runs = choose_runs(statuses, tasks);
  const size_t done =
      size_t(std::count_if(statuses.begin(), statuses.end(),
                           [](const RunStatus& s) { return s.state == RunState::done; }));
  if (runs.empty()) {
    std::printf("nothing to submit: of %s, %zu done, %zu in Slurm's queue\n",
                runs_text(plan.runs.size()).c_str(), done, count_active(tasks));
    return;
  }
  const std::string script = write_submission(plan, options, runs);
  const std::string id = slurm_submit(script);
  Json jobs = submitted_jobs(plan), members = Json::object();
  for (const size_t run : runs)
    members[std::to_string(task_number(plan, plan.runs[run]))] = name_in(plan, plan.runs[run]);
  jobs.push_back({{"id", id},
                  {"submitted", time_text()},
                  {"script", fs::path(script).filename().string()},
                  {"runs", members}});
  write_file_atomically(slurm_folder(plan) / "jobs.json", jobs.dump(2) + "\n");
  std::printf("submitted job %s: %s (%zu done, %zu in the queue before); %s\n", id.c_str(),
              runs_text(runs.size()).c_str(), done, count_active(tasks), script.c_str());
}

namespace {

// "4 runs: 1 done, 2 running, 1 pending (Resources), 0 failed"
std::string progress_text(const std::vector<RunStatus>& statuses,
                          const std::vector<SlurmTask>& tasks) {
  size_t done = 0, running = 0, pending = 0, failed = 0;
  std::string reason;
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (statuses[i].state == RunState::done) {
      ++done;
    } else if (tasks[i].active() && !tasks[i].is_running()) {
      ++pending;
      reason = tasks[i].reason;
    } else if (tasks[i].active() || statuses[i].state == RunState::running) {
      ++running;
    } else if (statuses[i].state == RunState::failed) {
      ++failed;
    }
  }
  if (!reason.empty() && reason != "None") reason = " (" + reason + ")";
  return text(runs_text(tasks.size()), ": ", done, " done, ", running, " running, ", pending,
              " pending", pending > 0 ? reason : "", ", ", failed, " failed");
}

// Sleeps, but not through a signal.
void pause(double seconds) {
  constexpr double kSlice = 0.1;
  for (double slept = 0; slept < seconds && !stop_requested; slept += kSlice)
    std::this_thread::sleep_for(std::chrono::duration<double>(kSlice));
}

}  // namespace

bool wait_for_slurm(const SweepPlan& plan) {
  constexpr double kFirstPause = 0.5, kLongestPause = 15;  // s; Slurm should not be asked often
  constexpr int kMaxFailures = 20;                         // a controller may be restarted
  catch_stop_signals([](int) { stop_requested = true; });
  const bool rewrites = ::isatty(STDERR_FILENO);
  std::string shown;
  int failures = 0;
  for (double wait = kFirstPause; !stop_requested; wait = std::min(wait * 1.4, kLongestPause)) {
    try {
      const std::vector<SlurmTask> tasks = slurm_tasks(plan);
      const std::string line = progress_text(slurm_statuses(plan, tasks), tasks);
      if (line != shown) std::fprintf(stderr, rewrites ? "\r%s\033[K" : "%s\n", line.c_str());
      shown = line;
      failures = 0;
      if (count_active(tasks) == 0) {
        if (rewrites) std::fputs("\n", stderr);
        return true;
      }
    } catch (const Error& error) {
      const bool passing = error.kind() == Error::Kind::file && ++failures < kMaxFailures;
      if (!passing && !stop_requested) throw;  // Ctrl-C reaches squeue too
    }
    pause(wait);
  }
  std::fprintf(stderr, "%slssm: stopped waiting; the jobs go on\n", rewrites ? "\n" : "");
  return false;
}

std::string collect_results(const SweepPlan& plan) {
  const std::vector<SlurmTask> tasks = slurm_tasks(plan);
  const std::vector<RunStatus> statuses = slurm_statuses(plan, tasks);
  const Json jobs = submitted_jobs(plan);
  Json runs = Json::array();
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const SweepRun& run = plan.runs[i];
    const RunStatus& status = statuses[i];
    Json entry = {{"variant", plan.variant_of(run).name},
                  {"seed", run.seed},
                  {"folder", run.folder.string()},
                  {"state", state_name(status.state)}};
    if (status.state == RunState::done) entry["summary"] = status.summary;
    if (!status.message.empty()) entry["message"] = status.message;
    if (status.state == RunState::failed) entry["exit_code"] = status.exit_code;
    if (tasks[i].active()) entry["slurm"] = tasks[i].about();
    const std::optional<LastTask> task = last_task_of(plan, run, jobs);
    if (status.state == RunState::failed && task) entry["output"] = read_output(plan, *task).lines;
    runs.push_back(std::move(entry));
  }
  const Json results = {
      {"name", plan.sweep["name"]}, {"baseline", plan.sweep["baseline"]}, {"runs", runs}};
  const fs::path path = plan.folder / "results.json";
  write_file_atomically(path, results.dump(2) + "\n");
  return path.string();
}

}  // namespace lssm
