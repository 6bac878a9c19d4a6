// SPDX-License-Identifier: Apache-2.0
// Curves drawn with characters.
#pragma once

#include <cmath>
#include <string>
#include <vector>

namespace lssm {

struct CurvePoint {
  double x, y;
};

// A curve is broken where a y is not finite (or not positive, on a log scale).
struct TerminalCurve {
  std::vector<CurvePoint> points;  // by x
  char mark = 0;                   // a letter at the end of the curve; 0: none
  int color = 0;                   // see color_code()
};

// NaN: as the points need it.
struct AxisRange {
  double min = NAN, max = NAN;
};

struct TerminalPlotOptions {
  std::string title;
  int columns = 60, rows = 9;  // of the area for curves, in characters
  AxisRange x, y;
  bool log_y = false;
  bool ascii = false;  // a letter for each point instead of Braille dots, eight in a character
  bool color = false;
};

// What a terminal gets to change to one of six colors (any number names one), and back.
std::string color_code(int color);
inline constexpr const char* kPlainColor = "\033[0m";

// The columns before the area for curves: the labels of the y axis and the axis.
inline constexpr int kPlotMargin = 9;

// The title, the rows with curves, the x axis and its labels: rows + 3 lines, each kPlotMargin +
// columns characters wide, without an end of line.
std::vector<std::string> terminal_plot(const std::vector<TerminalCurve>& curves,
                                       const TerminalPlotOptions& options);

// `text` in exactly so many columns: cut or filled up. UTF-8, a column a character.
std::string left_aligned(const std::string& text, int columns);
std::string right_aligned(const std::string& text, int columns);

}  // namespace lssm
