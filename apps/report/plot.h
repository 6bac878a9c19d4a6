// SPDX-License-Identifier: Apache-2.0
// Curves drawn by gnuplot as SVG that goes into a page: colours follow the page (dark mode, print),
// and every curve also differs by dashes and marker.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lssm {

struct PlotPoint {
  double x, y;
  double low, high;  // the band
};

struct PlotSeries {
  std::string label;
  int64_t look = 0;  // which colour, dashes and marker; any number >= 0
  std::vector<PlotPoint> points;
};

// A line to compare with, such as a ceiling. One point stands for a line across the plot.
struct PlotReference {
  std::string label;        // for the legend
  std::string short_label;  // beside the line, in the right margin
  std::vector<PlotPoint> points;
};

struct PlotMark {
  double x;
  std::string label;
};

struct Plot {
  std::string title, x_label = "", y_label = "";
  bool log2_x = false, log10_y = false;
  std::optional<double> y_min = {}, y_max = {};  // else from the data
  std::vector<double> x_ticks = {};              // empty: round numbers
  std::vector<PlotSeries> series = {};
  std::vector<PlotReference> references = {};
  std::vector<PlotMark> marks = {};  // vertical lines
};

// What gnuplot is told. Texts are data: nothing in them is obeyed.
std::string plot_script(const Plot& plot);

struct Drawing {
  bool missing = false;  // there is no gnuplot
  std::string svg;       // "" if there is a problem
  std::string problem;   // a line for the reader: gnuplot is missing, or what it said
};
// `id` begins the name of everything that has one in the SVG. Never throws for want of gnuplot.
Drawing draw(const Plot& plot, const std::string& id);

// The samples of a legend: as the curve, reference or mark of that number looks in the plot.
std::string series_swatch(int64_t look);
std::string reference_swatch(size_t index);
std::string mark_swatch();

}  // namespace lssm
