// SPDX-License-Identifier: Apache-2.0
// Runs of a sweep on this machine: a process for each, several at once.
#pragma once

#include <string>
#include <vector>

#include "apps/experiment/sweep_state.h"

namespace lssm {

// How the cores are divided.
struct CoreShare {
  int64_t jobs;           // processes at once
  int64_t threads;        // of each at most
  std::string note = {};  // if runs get fewer threads than their configs ask for
};
// `jobs`: as asked for; 0: as many as the cores carry, one on a GPU.
CoreShare share_cores(const SweepPlan& plan, int64_t jobs);

// The threads that a new run of the variant is told to use; 0: those of its config.
int64_t threads_of(const SweepVariant& variant, const CoreShare& share);

struct LocalResult {
  std::vector<RunStatus> statuses;  // of each run of the plan, at the end
  bool stopped = false;             // by a signal
};

// Starts what is absent, resumes what was interrupted or failed, replaces what is foreign, waits
// for what other processes run; skips what is done. `statuses`: what the runs are now. SIGINT,
// SIGTERM and SIGHUP let the running ones save and end; a SIGINT after that kills them. Messages
// and progress go to stderr.
LocalResult run_locally(const SweepPlan& plan, std::vector<RunStatus> statuses,
                        const CoreShare& share);

}  // namespace lssm
