// SPDX-License-Identifier: Apache-2.0
// Where runs are: what `lssm report` and `lssm watch` both look for.
#pragma once

#include <filesystem>
#include <vector>

namespace lssm {

// Whether a path leads to something; false too where that cannot be known.
bool is_there(const std::filesystem::path& path);

// Whether a folder holds a run, finished or not. A config.json alone may be anything, unless the
// folder has the name of a run's.
bool is_run(const std::filesystem::path& folder);

// The run folders among and below `paths`, each once, in the order of the paths and by name below
// each, where numbers count as numbers: seed-42 comes before seed-123. Links to folders are
// followed, after the folders beside them. Errors: a path that is no folder, or with no run in it.
std::vector<std::filesystem::path> find_runs(const std::vector<std::filesystem::path>& paths);

}  // namespace lssm
