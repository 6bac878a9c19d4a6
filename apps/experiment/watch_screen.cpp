// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/watch_screen.h"

#include <algorithm>
#include <cstdio>

namespace lssm {
namespace {

constexpr int kWide = 100;  // columns from which two plots stand side by side
constexpr int kGap = 2;     // columns between them
constexpr int kLeastPlot = 3, kMostPlot = 15, kFreePlot = 9;  // rows of a plot's area
constexpr int kAroundPlot = 3;                                // rows of its title and x axis
constexpr int kFewRuns = 4;  // so many lines of the table are worth more than a plot

const char* name_of(WatchState state) {
  static constexpr const char* kNames[] = {"running", "testing", "finished", "stopped", "failed"};
  return kNames[int(state)];
}

template <class... Numbers>
std::string formatted(const char* format, Numbers... numbers) {
  char text[64];
  std::snprintf(text, sizeof text, format, numbers...);
  return text;
}

std::string duration(double seconds) {
  if (!std::isfinite(seconds)) return "";
  if (seconds < 99.5) return formatted("%.0f s", seconds);
  if (seconds < 99.5 * 60) return formatted("%.0f min", seconds / 60);
  if (seconds < 48 * 3600) return formatted("%.1f h", seconds / 3600);
  return formatted("%.1f d", seconds / 86400);
}

std::string rate(double number) {
  if (!std::isfinite(number)) return "";
  if (number < 1e3) return formatted("%.0f", number);
  if (number < 1e6) return formatted("%.1f k", number / 1e3);
  return formatted("%.2f M", number / 1e6);
}

std::string last_of(const std::vector<CurvePoint>& curve, const char* format, double unit) {
  return curve.empty() ? "" : formatted(format, unit * curve.back().y);
}

std::string step_of(const RunView& run) {
  return std::to_string(run.step) + (run.steps > 0 ? "/" + std::to_string(run.steps) : "");
}

// Names of folders and messages as a terminal may get them.
std::string printable(const std::string& text, bool ascii) {
  std::string line;
  for (const char c : text) {
    const bool control = uint8_t(c) < ' ' || c == 127;
    line += control || (ascii && uint8_t(c) > 127) ? '?' : c;
  }
  return line;
}

std::string in_color(const std::string& text, int color, const ScreenOptions& options) {
  return options.color ? color_code(color) + text + kPlainColor : text;
}

// Cut to so many columns, without spaces at the end.
std::string shortened(const std::string& line, int columns) {
  const std::string whole = left_aligned(line, columns);
  return whole.substr(0, whole.find_last_not_of(' ') + 1);
}

// The letter that stands for a run in plots.
char mark_of(size_t run, size_t runs) {
  return runs > 1 ? "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[run % 52] : 0;
}

// ---- the table ----

// The columns after the name, right-aligned, with two spaces before each.
std::string columns_of(const std::vector<std::string>& words, int step_width) {
  const int widths[] = {step_width, 8, 7, 8, 7};
  std::string line;
  for (size_t i = 0; i < words.size(); ++i) line += "  " + right_aligned(words[i], widths[i]);
  return line + "  ";
}

class Table {
 public:
  Table(const std::vector<RunView>& runs, const ScreenOptions& options)
      : runs_(runs), options_(options) {
    for (const RunView& run : runs) {
      step_width_ = std::max(step_width_, int(step_of(run).size()));
      name_width_ = std::max(name_width_, 2 + int(run.name.size()));
    }
    const int others = int(columns_of({"", "", "", "", ""}, step_width_).size()) + kState;
    name_width_ = std::min(name_width_, std::max(options.columns - others, 12));
  }

  // The lines of all runs in at most `rows` lines; 0: no limit.
  std::vector<std::string> lines(int rows) const {
    std::vector<std::string> all = {shortened(
        left_aligned("  run", name_width_) +
            columns_of({"step", "loss", "valid %", "tokens/s", "left"}, step_width_) + "state",
        options_.columns)};
    std::vector<size_t> order;
    for (size_t i = 0; i < runs_.size(); ++i) order.push_back(i);
    int wanted = 1;
    for (const RunView& run : runs_) wanted += run.error.empty() ? 1 : 2;
    const bool crowded = rows > 0 && wanted > rows;
    if (crowded)
      std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
        return urgency(runs_[a]) < urgency(runs_[b]);
      });
    const auto room = [&] { return !crowded || int(all.size()) + 1 < rows; };
    std::vector<RunView> left_out;
    for (const size_t run : order) {
      if (!room()) {
        left_out.push_back(runs_[run]);
        continue;
      }
      all.push_back(line(run));
      const std::string error = "    " + printable(runs_[run].error, options_.ascii);
      if (!runs_[run].error.empty() && room()) all.push_back(shortened(error, options_.columns));
    }
    if (!left_out.empty())
      all.push_back(shortened("  and " + count_states(left_out), options_.columns));
    return all;
  }

 private:
  static constexpr int kState = 8;

  static int urgency(const RunView& run) {
    return !has_ended(run) ? 0 : run.state == WatchState::finished ? 2 : 1;
  }

  std::string line(size_t i) const {
    const RunView& run = runs_[i];
    const char mark = mark_of(i, runs_.size());
    const std::string name = left_aligned(
        std::string(1, mark ? mark : ' ') + " " + printable(run.name, options_.ascii), name_width_);
    const std::string numbers =
        columns_of({step_of(run), last_of(run.loss, "%.4f", 1),
                    last_of(run.valid_accuracy, "%.2f", 100), rate(run.tokens_per_s),
                    run.state == WatchState::running ? duration(run.seconds_left) : ""},
                   step_width_);
    const std::string state = name_of(run.state);
    const bool narrow = name_width_ + int(numbers.size()) + kState > options_.columns;
    if (narrow) return shortened(name + numbers + state, options_.columns);  // and without colors
    constexpr int kRed = 5;
    return in_color(name, int(i), options_) + numbers +
           (run.state == WatchState::failed ? in_color(state, kRed, options_) : state);
  }

  const std::vector<RunView>& runs_;
  const ScreenOptions& options_;
  int step_width_ = 4, name_width_ = 12;
};

// ---- the plots ----

using Curve = std::vector<CurvePoint> RunView::*;

bool any_points(const std::vector<RunView>& runs, Curve curve) {
  return std::any_of(runs.begin(), runs.end(),
                     [curve](const RunView& run) { return !(run.*curve).empty(); });
}

// Whether all values are positive and span so much that a linear scale hides the small ones.
bool spans_decades(const std::vector<RunView>& runs, Curve curve) {
  double min = INFINITY, max = 0;
  for (const RunView& run : runs) {
    for (const CurvePoint& p : run.*curve) {
      if (!std::isfinite(p.y)) continue;
      min = std::min(min, p.y);
      max = std::max(max, p.y);
    }
  }
  return min > 0 && max / min >= 50;
}

std::vector<std::string> plot(const std::vector<RunView>& runs, Curve curve,
                              TerminalPlotOptions options, const std::string& title) {
  const bool percent = curve == &RunView::valid_accuracy;
  std::vector<TerminalCurve> curves;
  double last_step = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    curves.push_back({runs[i].*curve, mark_of(i, runs.size()), int(i)});
    for (CurvePoint& p : curves.back().points)
      if (percent) p.y *= 100;
    last_step = std::max(last_step, double(runs[i].step));
  }
  options.x = {0, last_step};  // the same in all plots
  if (percent) options.y = {0, 100};
  options.log_y = !percent && spans_decades(runs, curve);
  options.title = title + (options.log_y ? " (log scale), by step" : ", by step");
  return terminal_plot(curves, options);
}

// The plots in at most `rows` rows (0: no limit); fewer of them, or none, where they do not fit.
std::vector<std::string> plots(const std::vector<RunView>& runs, int rows,
                               const ScreenOptions& screen) {
  const bool beside = screen.columns >= kWide;
  int stacked = beside ? 1 : 2;
  if (rows > 0 && rows < stacked * (kLeastPlot + kAroundPlot)) stacked = 1;
  if (rows > 0 && rows < kLeastPlot + kAroundPlot) return {};
  TerminalPlotOptions options;
  options.ascii = screen.ascii;
  options.color = screen.color;
  options.columns = (beside ? (screen.columns - kGap) / 2 : screen.columns) - kPlotMargin;
  options.rows =
      rows > 0 ? std::clamp(rows / stacked - kAroundPlot, kLeastPlot, kMostPlot) : kFreePlot;
  options.rows -= 1 - options.rows % 2;  // odd: with a label in the middle
  if (options.columns < 8) return {};

  std::vector<std::string> lines = plot(runs, &RunView::loss, options, "training loss");
  const bool accuracy =
      any_points(runs, &RunView::valid_accuracy) || !any_points(runs, &RunView::valid_loss);
  const std::vector<std::string> second =
      accuracy ? plot(runs, &RunView::valid_accuracy, options, "validation accuracy (%)")
               : plot(runs, &RunView::valid_loss, options, "validation loss");
  if (beside) {
    for (size_t i = 0; i < lines.size(); ++i) lines[i] += std::string(kGap, ' ') + second[i];
  } else if (stacked == 2) {
    lines.insert(lines.end(), second.begin(), second.end());
  }
  return lines;
}

}  // namespace

std::string count_states(const std::vector<RunView>& runs) {
  std::string text = std::to_string(runs.size()) + (runs.size() == 1 ? " run: " : " runs: ");
  bool first = true;
  for (const WatchState state : {WatchState::running, WatchState::testing, WatchState::finished,
                                 WatchState::stopped, WatchState::failed}) {
    const auto count = std::count_if(runs.begin(), runs.end(),
                                     [state](const RunView& run) { return run.state == state; });
    if (count == 0) continue;
    text += (first ? "" : ", ") + std::to_string(count) + " " + name_of(state);
    first = false;
  }
  return text;
}

std::vector<std::string> watch_screen(const std::vector<RunView>& runs,
                                      const ScreenOptions& options) {
  std::string first = count_states(runs);
  if (const int free = options.columns - int(first.size()); !options.hint.empty() && free > 0)
    first += right_aligned(options.hint, free);
  std::vector<std::string> lines = {shortened(first, options.columns)};
  const Table table(runs, options);
  if (options.rows > 0) {
    const int in_table = int(table.lines(0).size());
    const int spared = std::min(in_table, 1 + kFewRuns);
    // Plots get what the table leaves, and a small one at the table's cost.
    const int least = (options.columns >= kWide ? 1 : 2) * (kLeastPlot + kAroundPlot);
    const int rows = options.rows - 1;
    const int for_plots = std::max(rows - in_table, std::min(rows - spared, least));
    std::vector<std::string> drawn;
    if (for_plots > 0) drawn = plots(runs, for_plots, options);
    lines.insert(lines.end(), drawn.begin(), drawn.end());
    const int left = options.rows - int(lines.size());
    if (left > 0) {
      const std::vector<std::string> rest = table.lines(left);
      lines.insert(lines.end(), rest.begin(), rest.begin() + std::min(left, int(rest.size())));
    }
    return lines;
  }
  for (const auto& part : {plots(runs, 0, options), table.lines(0)})
    lines.insert(lines.end(), part.begin(), part.end());
  return lines;
}

}  // namespace lssm
