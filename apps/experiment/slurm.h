// SPDX-License-Identifier: Apache-2.0
// A sweep through Slurm: its runs are the tasks of job arrays. In <sweep>/slurm/ lie, for the n-th
// submission, n.json (the sweep with all configs written out: what is edited later does not change
// what was submitted) and n.sh (the script); jobs.json lists what was submitted, and
// <job>_<run>.out is what a task wrote.
#pragma once

#include <string>
#include <vector>

#include "apps/experiment/slurm_client.h"
#include "apps/experiment/sweep_state.h"

namespace lssm {

struct SlurmOptions {
  int64_t jobs = 0;    // tasks at once; 0: as many as Slurm likes
  bool force = false;  // replace runs of other configs
};

// Numbers as sbatch's --array takes them: "1,4-8".
std::string array_text(const std::vector<size_t>& numbers);

// The script of the next submission, for these runs (indices into plan.runs). Throws if the sweep's
// "slurm" holds what cannot be an option of sbatch.
std::string slurm_script(const SweepPlan& plan, const SlurmOptions& options,
                         const std::vector<size_t>& runs);

// The runs that a submission would take: what is neither done, nor running, nor queued already.
std::vector<size_t> runs_to_submit(const SweepPlan& plan);

// Submits them, and says so on the standard output.
void submit_to_slurm(const SweepPlan& plan, const SlurmOptions& options);

// The task that each run of the plan has in Slurm's queue, if any. Asks Slurm only if the sweep was
// submitted.
std::vector<SlurmTask> slurm_tasks(const SweepPlan& plan);

// How far the runs are. One whose task has died without a word in its folder counts as failed; its
// message is what Slurm says and the last line of its output.
std::vector<RunStatus> slurm_statuses(const SweepPlan& plan, const std::vector<SlurmTask>& tasks);

// Waits until no run of the plan is queued or running; false if a signal comes first. Progress goes
// to stderr.
bool wait_for_slurm(const SweepPlan& plan);

// Writes <sweep>/results.json: each run with its variant, seed, state, and its summary or why there
// is none. Returns the path.
std::string collect_results(const SweepPlan& plan);

}  // namespace lssm
