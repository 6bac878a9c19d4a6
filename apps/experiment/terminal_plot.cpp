// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/terminal_plot.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>

namespace lssm {
namespace {

constexpr int kLabel = kPlotMargin - 1;

// In UTF-8: all its characters lie between U+0800 and U+FFFF.
std::string utf8(unsigned code) {
  return {char(0xe0 | code >> 12), char(0x80 | (code >> 6 & 0x3f)), char(0x80 | (code & 0x3f))};
}

// With as many digits as fit.
std::string label(double value) {
  char number[32];
  for (int digits = 4; digits > 0; --digits)
    if (std::snprintf(number, sizeof number, "%.*g", digits, value) <= kLabel) break;
  return number;
}

// Where `value` lies between the ends of a range: 0 to 1. Halves, because the difference of two
// large numbers may overflow.
double fraction(double value, const AxisRange& range) {
  const double place = (value / 2 - range.min / 2) / (range.max / 2 - range.min / 2);
  return std::clamp(place, 0.0, 1.0);
}

// The smallest range with all values, made wider if it is a point.
AxisRange fitted(AxisRange range, const std::vector<double>& values) {
  if (values.empty()) return range;
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  if (std::isnan(range.min)) range.min = *min;
  if (std::isnan(range.max)) range.max = *max;
  if (range.max / 2 - range.min / 2 > 0) return range;
  const double half = range.min == 0 ? 1 : std::max(std::abs(range.min) / 2, 1e-300);
  const double largest = std::numeric_limits<double>::max();
  return {std::max(range.min - half, -largest), std::min(range.max + half, largest)};
}

// Dots in a grid of characters.
class Canvas {
 public:
  explicit Canvas(const TerminalPlotOptions& options)
      : options_(options), cells_(size_t(options.rows) * size_t(options.columns)) {}

  int width() const { return options_.columns * dot_columns(); }
  int height() const { return options_.rows * dot_rows(); }

  void dot(int x, int y, const TerminalCurve& curve) {
    static constexpr uint8_t kBraille[4][2] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    Cell& cell = at(x, y);
    cell.dots |= kBraille[y % dot_rows()][x % dot_columns()];
    cell.color = curve.color;
    cell.letter = !options_.ascii ? 0 : curve.mark ? curve.mark : '*';
  }

  void line(int x0, int y0, int x1, int y1, const TerminalCurve& curve) {
    const int steps = std::max(std::abs(x1 - x0), std::abs(y1 - y0));
    for (int i = 0; i <= steps; ++i) {
      const double part = steps ? double(i) / steps : 0;
      dot(x0 + int(std::lround(part * (x1 - x0))), y0 + int(std::lround(part * (y1 - y0))), curve);
    }
  }

  void mark(int x, int y, const TerminalCurve& curve) {
    Cell& cell = at(x, y);
    cell.color = curve.color;
    if (curve.mark) cell.letter = curve.mark;
  }

  std::string row(int row) const {
    std::string text;
    int color = -1;
    for (int column = 0; column < options_.columns; ++column) {
      const Cell& cell = cells_[size_t(row * options_.columns + column)];
      const int wanted = cell.dots ? cell.color : -1;
      if (options_.color && wanted != color) {
        text += wanted < 0 ? kPlainColor : color_code(wanted);
        color = wanted;
      }
      text += cell.letter ? std::string(1, cell.letter)
              : cell.dots ? utf8(0x2800 + cell.dots)
                          : " ";
    }
    return text + (color >= 0 ? kPlainColor : "");
  }

 private:
  struct Cell {
    uint8_t dots = 0;
    char letter = 0;
    int color = 0;
  };
  int dot_columns() const { return options_.ascii ? 1 : 2; }
  int dot_rows() const { return options_.ascii ? 1 : 4; }
  Cell& at(int x, int y) {
    return cells_[size_t(y / dot_rows() * options_.columns + x / dot_columns())];
  }

  const TerminalPlotOptions& options_;
  std::vector<Cell> cells_;
};

bool drawable(const CurvePoint& p) { return std::isfinite(p.x) && std::isfinite(p.y); }

void draw(const TerminalCurve& curve, const AxisRange& x, const AxisRange& y, Canvas& canvas) {
  int last_column = 0, last_row = 0;
  bool connected = false, any = false;
  for (const CurvePoint& p : curve.points) {
    if (!drawable(p)) {
      connected = false;
      continue;
    }
    const int column = int(std::lround(fraction(p.x, x) * (canvas.width() - 1)));
    const int row = int(std::lround((1 - fraction(p.y, y)) * (canvas.height() - 1)));
    if (connected)
      canvas.line(last_column, last_row, column, row, curve);
    else
      canvas.dot(column, row, curve);
    last_column = column;
    last_row = row;
    connected = any = true;
  }
  if (any) canvas.mark(last_column, last_row, curve);
}

// The label of a row: at the top, in the middle and at the bottom.
std::string row_label(int row, const AxisRange& y, const TerminalPlotOptions& options) {
  const auto value = [&options](double v) { return label(options.log_y ? std::pow(10, v) : v); };
  if (row == 0) return value(y.max);
  if (row == options.rows - 1) return value(y.min);
  if (options.rows % 2 == 1 && row == options.rows / 2) return value(y.min / 2 + y.max / 2);
  return "";
}

std::string x_labels(const AxisRange& x, int columns) {
  const std::string left = label(x.min), right = label(x.max);
  const int free = columns - int(left.size());
  return left_aligned(left, columns - std::max(free, 0)) + right_aligned(right, std::max(free, 0));
}

}  // namespace

std::string left_aligned(const std::string& text, int columns) {
  std::string line;
  int used = 0;
  for (const char c : text) {
    const bool starts_character = (uint8_t(c) & 0xc0) != 0x80;
    if (starts_character && used++ == columns) return line;
    line += c;
  }
  return line + std::string(size_t(columns - used), ' ');
}

std::string right_aligned(const std::string& text, int columns) {
  const auto is_inside = [](char c) { return (uint8_t(c) & 0xc0) == 0x80; };
  const int used = int(text.size() - std::count_if(text.begin(), text.end(), is_inside));
  return used < columns ? std::string(size_t(columns - used), ' ') + text
                        : left_aligned(text, columns);
}

std::string color_code(int color) {
  static constexpr const char* kCodes[] = {"36", "33", "35", "32", "34", "31"};
  return std::string("\033[") + kCodes[color % 6] + "m";
}

std::vector<std::string> terminal_plot(const std::vector<TerminalCurve>& curves,
                                       const TerminalPlotOptions& options) {
  std::vector<TerminalCurve> scaled = curves;
  AxisRange y_range = options.y;
  if (options.log_y) {  // a logarithm of what is not positive is not finite, so not drawn
    for (TerminalCurve& curve : scaled)
      for (CurvePoint& p : curve.points) p.y = std::log10(p.y);
    y_range = {std::log10(y_range.min), std::log10(y_range.max)};
  }
  std::vector<double> xs, ys;
  for (const TerminalCurve& curve : scaled) {
    for (const CurvePoint& p : curve.points) {
      if (!drawable(p)) continue;
      xs.push_back(p.x);
      ys.push_back(p.y);
    }
  }
  const AxisRange x = fitted(options.x, xs), y = fitted(y_range, ys);
  const bool empty = xs.empty();
  Canvas canvas(options);
  if (!empty)
    for (const TerminalCurve& curve : scaled) draw(curve, x, y, canvas);

  const std::string margin(kLabel, ' '), horizontal = options.ascii ? "-" : "─";
  const auto axis = [&options](const char* ascii, const char* nice) {
    return options.ascii ? ascii : nice;
  };
  std::vector<std::string> lines = {margin +
                                    left_aligned(" " + options.title, options.columns + 1)};
  for (int row = 0; row < options.rows; ++row) {
    const std::string name = empty ? "" : row_label(row, y, options);
    const bool say_empty = empty && row == options.rows / 2;
    lines.push_back(right_aligned(name, kLabel) + (name.empty() ? axis("|", "│") : axis("+", "┤")) +
                    (say_empty ? left_aligned(" nothing yet", options.columns) : canvas.row(row)));
  }
  lines.push_back(margin + axis("+", "└"));
  for (int column = 0; column < options.columns; ++column) lines.back() += horizontal;
  lines.push_back(
      margin + " " +
      (empty ? std::string(size_t(options.columns), ' ') : x_labels(x, options.columns)));
  return lines;
}

}  // namespace lssm
