// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "apps/experiment/folder_lock.h"
#include "apps/experiment/local_runner.h"
#include "apps/experiment/slurm.h"
#include "apps/lssm/commands.h"

namespace lssm {
namespace {

struct SweepArguments {
  std::string file;
  SweepOptions options;
  std::string on = "here";
  int64_t jobs = 0, run = 0;
  bool dry_run = false, force = false, json = false, status = false, wait = false, collect = false;
};

size_t count(const std::vector<RunStatus>& statuses, RunState state) {
  return size_t(std::count_if(statuses.begin(), statuses.end(),
                              [state](const RunStatus& s) { return s.state == state; }));
}

// "3 done, 1 failed": the states that occur.
std::string state_counts(const std::vector<RunStatus>& statuses) {
  std::string line;
  for (const RunState state : {RunState::done, RunState::running, RunState::interrupted,
                               RunState::failed, RunState::absent, RunState::foreign}) {
    if (const size_t n = count(statuses, state))
      line += text(line.empty() ? "" : ", ", n, " ", state_name(state));
  }
  return line;
}

// The command line that plans the same runs.
std::vector<std::string> again(const SweepArguments& arguments) {
  std::vector<std::string> words = {"sweep", arguments.file};
  const SweepOptions& options = arguments.options;
  const auto add = [&words](const char* option, const auto& values) {
    std::string list;
    for (const auto& value : values) list += text(list.empty() ? "" : ",", value);
    if (!list.empty()) words.insert(words.end(), {option, list});
  };
  if (options.runs != SweepOptions().runs) words.insert(words.end(), {"--runs", options.runs});
  add("--seeds", options.seeds);
  add("--only", options.only);
  return words;
}

// The command that takes run `number` further; empty if there is none to do.
std::vector<std::string> command_of(const SweepArguments& arguments, size_t number,
                                    RunState state) {
  if (state == RunState::done || state == RunState::running) return {};
  std::vector<std::string> words = again(arguments);
  words.insert(words.end(), {"--run", std::to_string(number)});
  if (state == RunState::foreign) words.push_back("--force");
  return words;
}

Json report_json(const SweepPlan& plan, const std::vector<RunStatus>& statuses,
                 const SweepArguments& arguments, const std::vector<SlurmTask>& tasks = {}) {
  Json runs = Json::array();
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const SweepRun& run = plan.runs[i];
    const RunStatus& status = statuses[i];
    Json entry = {{"number", i + 1},
                  {"variant", plan.variant_of(run).name},
                  {"seed", run.seed},
                  {"folder", run.folder.string()},
                  {"state", state_name(status.state)},
                  {"step", logged_step(run)},
                  {"steps", plan.variant_of(run).steps}};
    if (!status.message.empty()) entry["message"] = status.message;
    if (status.state == RunState::failed) entry["exit_code"] = status.exit_code;
    if (i < tasks.size() && tasks[i].active()) entry["slurm"] = tasks[i].about();
    const std::vector<std::string> command = command_of(arguments, i + 1, status.state);
    if (!command.empty()) entry["command"] = shell_command(command);
    runs.push_back(std::move(entry));
  }
  return {{"name", plan.sweep["name"]},
          {"folder", plan.folder.string()},
          {"notes", plan.notes},
          {"runs", runs}};
}

// Each run with its state, and with what would be run.
void print_runs(const SweepPlan& plan, const std::vector<RunStatus>& statuses,
                const SweepArguments& arguments, const std::vector<SlurmTask>& tasks) {
  size_t width = 0;
  for (const SweepRun& run : plan.runs) width = std::max(width, plan.name_of(run).size());
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const SweepRun& run = plan.runs[i];
    const RunStatus& status = statuses[i];
    std::string about = status.message;
    if (status.state == RunState::done) about = result_text(status.summary);
    if (status.state == RunState::running || status.state == RunState::interrupted)
      about = text("step ", logged_step(run), " of ", plan.variant_of(run).steps);
    if (i < tasks.size() && tasks[i].active())
      about += (about.empty() ? "" : "; ") + tasks[i].about();
    const std::string state = state_name(status.state);
    std::printf("%4zu  %-*s  %s\n", i + 1, int(width), plan.name_of(run).c_str(),
                about.empty() ? state.c_str() : (state + "  " + about).c_str());
    const std::vector<std::string> command = command_of(arguments, i + 1, status.state);
    if (arguments.dry_run && !command.empty())
      std::printf("      %s\n", shell_command(command).c_str());
  }
  std::printf("%zu runs: %s\n", plan.runs.size(), state_counts(statuses).c_str());
}

// What has become of each variant, and why runs failed.
void print_end(const SweepPlan& plan, const std::vector<RunStatus>& statuses) {
  size_t width = 0;
  for (const SweepVariant& v : plan.variants) width = std::max(width, v.name.size());
  for (size_t v = 0; v < plan.variants.size(); ++v) {
    std::vector<RunStatus> own;
    for (size_t i = 0; i < plan.runs.size(); ++i)
      if (plan.runs[i].variant == v) own.push_back(statuses[i]);
    if (own.empty()) continue;
    std::printf("%-*s  %s\n", int(width), plan.variants[v].name.c_str(), state_counts(own).c_str());
  }
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    if (statuses[i].state == RunState::failed)
      std::printf("%s: %s\n", plan.name_of(plan.runs[i]).c_str(), statuses[i].message.c_str());
  }
  std::printf("%s\n", plan.folder.c_str());
}

// 0: all is done; else numbers before everything else, then the first failure.
int exit_code_of(const std::vector<RunStatus>& statuses) {
  int code = 0;
  for (const RunStatus& status : statuses) {
    if (status.state != RunState::failed) continue;
    if (status.exit_code == int(Error::Kind::numeric)) return status.exit_code;
    if (code == 0) code = status.exit_code;
  }
  const bool all_done = count(statuses, RunState::done) == statuses.size();
  return code == 0 && !all_done ? kExitInterrupted : code;
}

void sweep_here(const SweepPlan& plan, const SweepArguments& arguments, const CoreShare& share) {
  if (!arguments.force) refuse_foreign(plan, run_statuses(plan));  // before anything is made
  make_sweep_folder(plan);
  const FolderLock lock(plan.folder, "sweep's folder");
  std::vector<RunStatus> statuses = run_statuses(plan);  // another sweep may have just ended
  if (!arguments.force) refuse_foreign(plan, statuses);
  write_plan(plan);
  const size_t done = count(statuses, RunState::done);
  if (done > 0) std::fprintf(stderr, "%zu of %zu runs were done already\n", done, statuses.size());
  if (!share.note.empty() && done < statuses.size())
    std::fprintf(stderr, "%s\n", share.note.c_str());
  const LocalResult result = run_locally(plan, std::move(statuses), share);
  if (arguments.json) {
    std::printf("%s\n", report_json(plan, result.statuses, arguments).dump(2).c_str());
  } else {
    print_end(plan, result.statuses);
  }
  const bool left = count(result.statuses, RunState::done) < result.statuses.size();
  if (result.stopped && left) {
    std::vector<std::string> words = again(arguments);
    if (arguments.jobs > 0) words.insert(words.end(), {"--jobs", std::to_string(arguments.jobs)});
    std::fprintf(stderr, "lssm: stopped; go on with: %s\n", shell_command(words).c_str());
    set_exit_code(kExitInterrupted);
  } else {
    set_exit_code(exit_code_of(result.statuses));
  }
}

// Becomes the process of one run.
void run_number(const SweepPlan& plan, const SweepArguments& arguments) {
  LSSM_CHECK(arguments.run <= int64_t(plan.runs.size()), "sweep ", plan.file, ": --run ",
             arguments.run, ": there are ", plan.runs.size(), " runs");
  const SweepRun& run = plan.runs[size_t(arguments.run - 1)];
  const RunStatus status = run_status(plan, run);
  if (status.state == RunState::done) {
    std::fprintf(stderr, "%s: done already\n", plan.name_of(run).c_str());
    return;
  }
  if (status.state == RunState::running)
    fail_file(run.folder.string(), ": another process works in this run folder");
  LSSM_CHECK(status.state != RunState::foreign || arguments.force, "sweep ", plan.file, ": ",
             run.folder.string(), " holds a run of another config (", status.message,
             "); replace it by --force");
  write_config(plan, plan.variant_of(run));
  std::vector<std::string> words = run_arguments(plan, run, status.state, 0);
  words.insert(words.begin(), "lssm");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::fflush(nullptr);
  execv("/proc/self/exe", argv.data());
  fail_file("sweep ", plan.file, ": the run cannot be started: ", std::strerror(errno));
}

// Submits, waits and collects, as far as asked for.
void sweep_on_slurm(const SweepPlan& plan, const SweepArguments& arguments) {
  const SlurmOptions options = {arguments.jobs, arguments.force};
  const bool submits = arguments.on == "slurm";
  if (submits && arguments.dry_run) {
    std::printf("%s", slurm_script(plan, options, runs_to_submit(plan)).c_str());
    return;
  }
  if (submits) submit_to_slurm(plan, options);
  std::fflush(stdout);
  if (arguments.wait) {
    if (!wait_for_slurm(plan)) return set_exit_code(kExitInterrupted);
    const std::vector<RunStatus> statuses = slurm_statuses(plan, slurm_tasks(plan));
    print_end(plan, statuses);
    set_exit_code(exit_code_of(statuses));
  }
  if (arguments.collect) std::printf("%s\n", collect_results(plan).c_str());
}

// Slurm's tasks of the runs; none where Slurm cannot be asked, as on another machine.
std::vector<SlurmTask> tasks_to_show(const SweepPlan& plan) {
  try {
    return slurm_tasks(plan);
  } catch (const Error& error) {
    std::fprintf(stderr, "note: the states in Slurm's queue are not known: %s\n", error.what());
    return std::vector<SlurmTask>(plan.runs.size());
  }
}

void print_status(const SweepPlan& plan, const SweepArguments& arguments) {
  const std::vector<SlurmTask> tasks = tasks_to_show(plan);
  const std::vector<RunStatus> statuses = slurm_statuses(plan, tasks);
  if (arguments.json) {
    std::printf("%s\n", report_json(plan, statuses, arguments, tasks).dump(2).c_str());
  } else {
    print_runs(plan, statuses, arguments, tasks);
  }
}

void sweep(const SweepArguments& arguments) {
  const bool elsewhere = arguments.on == "slurm" || arguments.wait || arguments.collect;
  SweepOptions options = arguments.options;
  options.runs_here = !elsewhere && !arguments.status && arguments.run == 0;
  const SweepPlan plan = plan_sweep(arguments.file, options);
  for (const std::string& note : plan.notes) std::fprintf(stderr, "%s\n", note.c_str());
  if (arguments.run > 0) return run_number(plan, arguments);
  if (elsewhere && !arguments.status) return sweep_on_slurm(plan, arguments);
  if (arguments.dry_run || arguments.status) return print_status(plan, arguments);
  sweep_here(plan, arguments, share_cores(plan, arguments.jobs));
}

}  // namespace

void add_sweep(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("sweep", "train variants of an experiment over seeds, several at once");
  auto arguments = std::make_shared<SweepArguments>();
  command->add_option("SWEEP", arguments->file, "sweep as a JSON file")->required();
  command
      ->add_option("--jobs", arguments->jobs,
                   "runs at once; as many as the cores carry if not given")
      ->check(at_least_number(1));
  command->add_option("--runs", arguments->options.runs, "folder of all sweeps")
      ->capture_default_str();
  command
      ->add_option("--seeds", arguments->options.seeds, "instead of those of the file, e.g. 1,2,3")
      ->delimiter(',')
      ->check(at_least_number(0));
  command
      ->add_option("--only", arguments->options.only,
                   "run these variants and no others, e.g. so3,so2")
      ->delimiter(',')
      ->take_all()
      ->expected(1)
      ->type_name("VARIANT");
  CLI::Option* on =
      command
          ->add_option("--on", arguments->on,
                       "where the runs go: here, or to Slurm as a job array; a file's "
                       "\"slurm\" holds options for sbatch")
          ->check(CLI::IsMember({"here", "slurm"}))
          ->capture_default_str();
  CLI::Option* wait = command->add_flag(
      "--wait", arguments->wait, "wait until Slurm has no run of the sweep left, then say the end");
  CLI::Option* collect = command->add_flag(
      "--collect", arguments->collect,
      "write results.json into the sweep's folder: state and summary of every run");
  CLI::Option* dry = command->add_flag("--dry-run", arguments->dry_run,
                                       "print the state of each run and what would be run");
  CLI::Option* status =
      command->add_flag("--status", arguments->status, "print the state of each run");
  CLI::Option* run = command
                         ->add_option("--run", arguments->run,
                                      "do one run, by its number in --dry-run: start it, resume "
                                      "it, or nothing if it is done")
                         ->check(at_least_number(1));
  command->add_flag("--force", arguments->force,
                    "replace runs of other configs; what is done stays");
  command->add_flag("--json", arguments->json, "print the states as JSON");
  status->excludes(dry);
  run->excludes(dry)->excludes(status);
  wait->excludes(dry)->excludes(status)->excludes(run);
  collect->excludes(dry)->excludes(status)->excludes(run);
  on->excludes(run);
  command->footer(
      "A sweep that was stopped goes on by the same command; runs that are done are skipped.\n"
      "Example: lssm sweep configs/papers/groups-a5.json --jobs 2 --seeds 42,123,456\n"
      "Through Slurm: lssm sweep SWEEP.json --on slurm --wait --collect");
  command->callback([arguments] { sweep(*arguments); });
}

}  // namespace lssm
