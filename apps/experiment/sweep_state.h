// SPDX-License-Identifier: Apache-2.0
// How far the runs of a sweep are, read from their folders, and what would take them further.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/experiment/sweep.h"

namespace lssm {

enum class RunState {
  absent,       // nothing is there
  running,      // another process works in the folder
  interrupted,  // begun, to be resumed
  failed,       // the same, and it says why it ended
  done,         // its summary is that of the plan's config
  foreign       // a run of another config
};
const char* state_name(RunState state);

struct RunStatus {
  RunState state = RunState::absent;
  std::string message = {};  // why it failed, or why it is foreign
  int exit_code = 0;         // of a failed run
  Json summary = {};         // of a run that is done
};
RunStatus run_status(const SweepPlan& plan, const SweepRun& run);
// Of all runs of the plan, in its order.
std::vector<RunStatus> run_statuses(const SweepPlan& plan);

// "1 run", "2 runs".
std::string runs_text(size_t count);

// The last step in metrics.jsonl, 0 if there is none. Reads the end of the file only.
int64_t logged_step(const SweepRun& run);

// The arguments of lssm that start or resume a run; a foreign one is replaced. `threads`: for a new
// run, instead of those of its config; 0: those of its config.
std::vector<std::string> run_arguments(const SweepPlan& plan, const SweepRun& run, RunState state,
                                       int64_t threads);

// "lssm train …", as a shell takes it.
std::string shell_command(const std::vector<std::string>& arguments);

// Throws an error that names all foreign runs.
void refuse_foreign(const SweepPlan& plan, const std::vector<RunStatus>& statuses);

// "final 100.00 % at 32, 98.20 % at 4096": the shortest and the longest tested length.
std::string result_text(const Json& summary);

}  // namespace lssm
