// SPDX-License-Identifier: Apache-2.0
// What `lssm watch` shows: curves of all runs and a line for each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/experiment/terminal_plot.h"

namespace lssm {

enum class WatchState { running, testing, finished, stopped, failed };

struct RunView {
  std::string name;
  WatchState state = WatchState::stopped;
  std::string error;            // why it failed
  int64_t step = 0, steps = 0;  // the last one logged, and where it ends (0: not known)
  double tokens_per_s = NAN, seconds_left = NAN;
  std::vector<CurvePoint> loss, valid_accuracy, valid_loss;  // by step; accuracy as a fraction
};

struct ScreenOptions {
  int columns = 80;
  int rows = 0;  // 0: as many as it takes
  bool ascii = false, color = false;
  std::string hint = {};  // at the right end of the first line
};

// Lines, without an end of line; none has more than `columns` characters on the screen. Where there
// are more runs than rows, those that run come first, and the last line counts the others.
std::vector<std::string> watch_screen(const std::vector<RunView>& runs,
                                      const ScreenOptions& options);

// "4 runs: 1 running, 3 finished"
std::string count_states(const std::vector<RunView>& runs);

// Whether a run has come to its end, whatever end.
inline bool has_ended(const RunView& run) {
  return run.state != WatchState::running && run.state != WatchState::testing;
}

}  // namespace lssm
