// SPDX-License-Identifier: Apache-2.0
// A run seen from another process.
#pragma once

#include <filesystem>
#include <vector>

#include "apps/experiment/metrics_follower.h"
#include "apps/experiment/run_finder.h"
#include "apps/experiment/watch_screen.h"

namespace lssm {

class WatchedRun {
 public:
  explicit WatchedRun(std::filesystem::path folder);

  // Reads what is new.
  void refresh();
  const RunView& view() const { return view_; }
  const std::filesystem::path& folder() const { return folder_; }
  void set_name(const std::string& name) { view_.name = name; }

 private:
  void read_config();
  void take(const Json& line);
  double seconds_left() const;

  std::filesystem::path folder_;
  MetricsFollower metrics_;
  RunView view_;
  std::vector<CurvePoint> wall_;  // by step: the seconds that the run has taken
};

// A name for each: the last two parts of its path, or all of it where these name two runs.
void name_runs(std::vector<WatchedRun>& runs);

}  // namespace lssm
