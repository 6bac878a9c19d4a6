// SPDX-License-Identifier: Apache-2.0
// The files that a sweep gives to Slurm.
#pragma once

#include "apps/experiment/slurm.h"

namespace lssm {

// <sweep>/slurm
std::filesystem::path slurm_folder(const SweepPlan& plan);

// What was submitted, as jobs.json lists it: [{"id": "12", "submitted": "2026-…Z",
// "script": "1.sh", "runs": {"3": "so2/seed-42", …}}, …], where 3 is the index of the task.
Json submitted_jobs(const SweepPlan& plan);

// The index of a run's task: its number, from 1, among all runs of the sweep, chosen or not.
size_t task_number(const SweepPlan& plan, const SweepRun& run);

// Writes the plan, n.json and n.sh; returns the path of the script.
std::string write_submission(const SweepPlan& plan, const SlurmOptions& options,
                             const std::vector<size_t>& runs);

}  // namespace lssm
