// SPDX-License-Identifier: Apache-2.0
// The folder of a run: <root>/<name>/seed-<seed>/ with config.json, metrics.jsonl, log.txt,
// checkpoint.safetensors, best.safetensors, summary.json, and failure.json if it failed.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "apps/experiment/config.h"
#include "apps/experiment/folder_lock.h"
#include "apps/experiment/tensorboard.h"

namespace lssm {

// Seconds that a run has taken, over all its sessions.
struct SpentTime {
  double wall = 0;
  double cpu = 0;
};

// Only one process at a time works in a run folder: a second one is refused.
class RunFolder {
 public:
  static std::filesystem::path path_of(const std::filesystem::path& root,
                                       const Experiment& experiment);

  // Makes the folder for a new run. A folder that holds a run is refused, unless `force`: then the
  // files of the old run, and nothing else, are removed.
  static RunFolder create(const std::filesystem::path& path, const Json& resolved, bool force);
  // An existing run.
  static RunFolder open(const std::filesystem::path& path);

  std::string checkpoint() const { return (path_ / "checkpoint.safetensors").string(); }
  std::string best() const { return (path_ / "best.safetensors").string(); }
  std::string config() const { return (path_ / "config.json").string(); }
  std::string log() const { return (path_ / "log.txt").string(); }
  const std::filesystem::path& path() const { return path_; }

  // From now on metrics also go to a new event file for TensorBoard.
  void write_events() { events_ = std::make_unique<EventFile>(path_); }
  // Appends one object to metrics.jsonl and flushes it.
  void append_metrics(const Json& line);
  // Drops the lines of steps after `step`: they were logged after the checkpoint that a run resumes
  // from. `validates_again`: also the validation at `step`. Returns what the run had taken by then.
  SpentTime rewind_metrics(int64_t step, bool validates_again);
  // Removes the halves of files that a killed program left.
  void remove_temporary_files() const;
  void write_summary(const Json& summary) const;
  // Why the run ended without a result: failure.json, which whoever reads the folder finds.
  void write_failure(const std::string& error, int exit_code) const;
  void remove_failure() const;

 private:
  // Locks the folder, which exists.
  explicit RunFolder(std::filesystem::path path);
  std::string metrics() const { return (path_ / "metrics.jsonl").string(); }

  std::filesystem::path path_;
  FolderLock lock_;
  std::ofstream metrics_;
  std::unique_ptr<EventFile> events_;  // null: none is asked for
};

}  // namespace lssm
