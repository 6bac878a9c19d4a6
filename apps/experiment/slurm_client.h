// SPDX-License-Identifier: Apache-2.0
// What lssm asks of Slurm, by its own commands: sbatch, squeue, scontrol, sacct.
#pragma once

#include <string>
#include <vector>

namespace lssm {

struct CommandResult {
  int code;  // exit code, or 128 + the signal that ended it; 127: not found
  std::string out, err;
};
// Runs a command, looked up on PATH, without a shell.
CommandResult run_command(const std::vector<std::string>& arguments);

// Submits a script; returns the id of the job. Throws sbatch's message.
std::string slurm_submit(const std::string& script);

// A task of a job array that is queued or running.
struct SlurmTask {
  std::string job, state, reason;  // "12", "PENDING", "Resources"; no job: there is no task
  size_t index = 0;

  bool active() const { return !job.empty(); }
  bool is_running() const { return state == "RUNNING" || state == "COMPLETING"; }
  // "pending (Resources) as 12_3"
  std::string about() const;
};
// All of the user's array tasks. Throws if squeue fails.
std::vector<SlurmTask> slurm_queue();

// How a task ended, as "OUT_OF_MEMORY" or "FAILED NonZeroExitCode"; "" if Slurm does not know it
// any more: without accounting it forgets after some minutes.
std::string slurm_end_of(const std::string& job, size_t index);

}  // namespace lssm
