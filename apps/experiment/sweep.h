// SPDX-License-Identifier: Apache-2.0
// A sweep: variants of an experiment, each trained with each seed. Its file is JSON:
//
//   {"name": "groups-a5", "config": "quickstart.json",    // a path from the sweep file, or an
//   object
//    "set": {"train.steps": 600},                         // for all runs; keys as in --set
//    "variants": [{"name": "so3"}, {"name": "so2", "set": {"model.layers.1.group": "so2"}}],
//    "grid": {"train.optimizer.lr": [0.01, 0.003]},       // every combination
//    "list": [{"train.batch": 32, "train.steps": 1200}],  // each of these
//    "seeds": [42, 123], "baseline": "so2", "slurm": {"partition": "long"}}
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config.h"

namespace lssm {

struct SweepConfig final : Configurable {
  void fields(Fields& f) override;

  std::string name, baseline;
  Json config, set = Json::object(), variants, grid, list, slurm = Json::object();
  std::vector<int64_t> seeds = {42};
};

struct SweepOptions {
  std::string runs = "runs";      // folder of all sweeps
  std::vector<int64_t> seeds;     // instead of those of the file
  std::vector<std::string> only;  // names of variants, with or without grid values; empty: all
  bool runs_here = true;          // the devices of all configs must be on this machine
};

// One config of a sweep: a variant at one point of grid and list. It is trained with each seed.
struct SweepVariant {
  std::string name;       // of its folder: the variant's name and the values of grid and list
  std::string variant;    // the variant's name alone
  Json resolved = {};     // the config with every key, at the first seed
  std::string hash = {};  // of the config, as in summary.json
  int64_t steps = 0, threads = 1;
  bool on_cuda = false;                             // known if the runs are here
  std::vector<std::filesystem::path> folders = {};  // of its runs, seed by seed
};

struct SweepRun {
  size_t variant;  // index into SweepPlan::variants
  uint64_t seed;
  std::filesystem::path folder;  // <runs>/<sweep>/<variant>/seed-<seed>
};

struct SweepPlan {
  std::string file;              // the sweep file
  Json sweep;                    // what it says, with defaults
  std::filesystem::path folder;  // <runs>/<sweep>
  std::vector<SweepVariant> variants;
  std::vector<SweepRun> runs;      // of the chosen variants, variant by variant
  std::vector<std::string> notes;  // for the user, a line each

  // The hash is in the name: a plan that was changed since does not replace this one's configs.
  std::filesystem::path config_of(const SweepVariant& variant) const {
    return folder / "configs" / (variant.name + "-" + variant.hash + ".json");
  }
  const SweepVariant& variant_of(const SweepRun& run) const { return variants[run.variant]; }
  // "so2, seed 42"
  std::string name_of(const SweepRun& run) const;
};

// Reads a sweep file, or the one that a paper's table names (apps/report/paper_table.h), and builds
// the experiment of every variant. Throws one error that lists all that is wrong, a line each;
// writes nothing.
SweepPlan plan_sweep(const std::string& file, const SweepOptions& options);

void make_sweep_folder(const SweepPlan& plan);
// Writes what config_of() names, if it is not there.
void write_config(const SweepPlan& plan, const SweepVariant& variant);
// Writes all configs, and sweep.json for whoever reads the folder. Its "seeds" are those of all
// plans so far. The caller holds the lock of the folder.
void write_plan(const SweepPlan& plan);

}  // namespace lssm
