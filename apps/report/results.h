// SPDX-License-Identifier: Apache-2.0
// Finished runs read back from their folders, in variants (runs of one name, a run per seed).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/config.h"

namespace lssm {

struct RunResult {
  std::filesystem::path folder;
  uint64_t seed = 0;
  Json summary;               // summary.json
  Json config;                // config.json: resolved
  std::vector<Json> metrics;  // the lines of metrics.jsonl
};

struct Variant {
  std::string name;
  std::vector<RunResult> runs;  // by seed, at least one
  std::string plain = name;     // of a sweep with a grid: the name without the grid's values
  const Json& config() const { return runs.front().config; }
};

struct Results {
  std::vector<Variant> variants;   // in the order found; names are unique
  std::vector<std::string> notes;  // what was left out and why, a line each
};

// Finds the runs in and below the given folders (a run folder, a variant's, a sweep's). A run that
// is not finished, failed, or lies in the folder of a sweep that does not list it any more, becomes
// a note. Errors: a path that is no folder, no finished run at all, a summary that is no summary or
// was written by a newer version, two runs of one variant and seed, runs of one variant whose
// configs differ in more than the seed.
Results read_results(const std::vector<std::filesystem::path>& paths);

// The baseline that the sweep.json of one of the folders names, else "".
std::string sweep_baseline(const std::vector<std::filesystem::path>& paths);

// The place of the variant that is to be the baseline; error: there is none of that name.
size_t find_baseline(const Results& results, const std::string& name);

// What all runs of a variant share: the config without train.seed and threads.
Json shared_config(Json config);

// json[keys[0]][keys[1]]..., null where there is no such thing.
const Json& json_at(const Json& json, const std::vector<std::string>& keys);
// The same if it is a finite number.
std::optional<double> number_at(const Json& json, const std::vector<std::string>& keys);

// The lengths that a run was tested on, in order.
std::vector<int64_t> test_lengths(const RunResult& run);

}  // namespace lssm
