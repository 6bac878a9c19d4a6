// SPDX-License-Identifier: Apache-2.0
// Folders of runs made by hand, with the numbers that a test wants.
#pragma once

#include <fstream>
#include <vector>

#include "apps/report/analysis.h"
#include "test/apps/program.h"

namespace lssm {

struct MadeRun {
  std::string name;
  uint64_t seed;
  Json test;                      // of the summary: {"32": {"final": 0.5}}
  Json summary = Json::object();  // changes to it, as a merge patch
  Json config = Json::object();   // changes to the config
};

inline Json made_config(const std::string& name, uint64_t seed) {
  return {{"name", name},
          {"threads", 1},
          {"task", {{"type", "group_word"}, {"length", 32}}},
          {"train", {{"seed", seed}, {"steps", 600}}},
          {"eval", {{"checkpoint", "last"}}}};
}

// Without the wait for the disk that write_file_atomically() has.
inline void write_quickly(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path) << bytes;
}

// Writes <root>/<name>/seed-<seed>/ and returns it.
inline std::filesystem::path make_run(const std::filesystem::path& root, const MadeRun& run) {
  Json config = made_config(run.name, run.seed);
  config.merge_patch(run.config);
  Json summary = {{"name", run.name},
                  {"seed", run.seed},
                  {"version", LSSM_VERSION},
                  {"device", "cpu"},
                  {"precision", "f32"},
                  {"machine", "Abacus 3000"},
                  {"steps", 600},
                  {"parameters", 1000},
                  {"state_size", 48},
                  {"cpu_s", 2.5},
                  {"wall_s", 1.5},
                  {"longest_99", 32},
                  {"drift", nullptr},
                  {"valid", {{"final", 0.5}, {"prefix", 0.5}, {"loss", 1.0}, {"drift", nullptr}}},
                  {"test", run.test}};
  summary.merge_patch(run.summary);
  const std::filesystem::path folder = root / run.name / ("seed-" + std::to_string(run.seed));
  std::filesystem::create_directories(folder);
  write_quickly(folder / "config.json", config.dump());
  write_quickly(folder / "summary.json", summary.dump());
  write_quickly(folder / "metrics.jsonl", "{\"step\": 600, \"loss\": 0.5}\n");
  return folder;
}

// Runs of one variant with a metric at length 32, a seed each.
inline void make_runs(const std::filesystem::path& root, const std::string& name,
                      const std::map<uint64_t, double>& values,
                      const std::string& metric = "final") {
  for (const auto& [seed, value] : values)
    make_run(root, {name, seed, {{"32", {{metric, value}, {"sequences", 1000}}}}});
}

inline Report report_on(const std::filesystem::path& root, const ReportOptions& options = {}) {
  return analyse(read_results({root}), options);
}

// The row of a variant in the only table, or in the one of a metric and length.
inline const ReportRow& row_of(const Report& report, const std::string& variant,
                               const std::string& metric = "", int64_t length = 0) {
  for (const ReportTable& table : report.tables) {
    if (!metric.empty() && (table.metric.key != metric || table.length != length)) continue;
    for (const ReportRow& row : table.rows)
      if (row.variant == variant) return row;
  }
  throw std::runtime_error("no row of " + variant);
}

// Variants against "base" for which no test is possible, each for its own reason, and two that can
// be tested, one of them with a name that every format must escape.
inline Report degenerate_report(const std::filesystem::path& root) {
  make_runs(root, "base", {{1, 0.90}, {2, 0.91}, {3, 0.95}});
  make_runs(root, "same", {{1, 0.90}, {2, 0.91}, {3, 0.95}});
  make_runs(root, "shifted", {{1, 0.92}, {2, 0.93}, {3, 0.97}});
  make_runs(root, "one_pair", {{3, 0.96}, {4, 0.5}});
  make_runs(root, "no_pair", {{7, 0.25}});
  make_runs(root, "usual", {{1, 0.901}, {2, 0.912}, {3, 0.953}});
  make_runs(root, "a,\"b\"_|c&%$#{}~^\\<i>*", {{1, 0.93}, {2, 0.92}, {3, 0.99}});
  return report_on(root, {.baseline = "base"});
}

}  // namespace lssm
