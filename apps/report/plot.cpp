// SPDX-License-Identifier: Apache-2.0
#include "apps/report/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "apps/report/gnuplot.h"
#include "apps/report/plot_look.h"
#include "apps/report/plot_svg.h"
#include "core/check.h"

namespace lssm {
namespace {

constexpr double kWidth = 540, kHeight = 340, kFont = 14;
constexpr size_t kFewPoints = 12;  // up to so many, each point has its marker

struct Range {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();

  void add(double x) {
    min = std::min(min, x);
    max = std::max(max, x);
  }
  bool empty() const { return min > max; }
};

std::string number(double x) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.9g", x);
  return digits;
}

// A text in gnuplot's single quotes, where only the quote itself has a meaning. A line cannot end
// within them. gnuplot takes a doubled quote at the start for an empty text, so quotes that a text
// begins with stand apart.
std::string quoted(const std::string& words) {
  const size_t leading = std::min(words.find_first_not_of('\''), words.size());
  std::string all = leading > 0 ? "\"" + words.substr(0, leading) + "\".'" : "'";
  for (const char c : words.substr(leading)) {
    if (c == '\'') {
      all += "''";
    } else {
      all += static_cast<unsigned char>(c) < ' ' || c == 0x7f ? ' ' : c;
    }
  }
  return all + "'";
}

bool drawable(const Plot& plot, const PlotPoint& p) {
  return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.low) &&
         std::isfinite(p.high) && (!plot.log2_x || p.x > 0) && (!plot.log10_y || p.low > 0);
}

Range x_range(const Plot& plot) {
  Range range;
  for (const PlotSeries& series : plot.series)
    for (const PlotPoint& p : series.points)
      if (drawable(plot, p)) range.add(p.x);
  for (const PlotReference& reference : plot.references)
    if (reference.points.size() > 1)
      for (const PlotPoint& p : reference.points) range.add(p.x);
  for (const PlotMark& mark : plot.marks) range.add(mark.x);
  if (range.empty()) range.min = range.max = 1;
  if (plot.log2_x) {
    if (range.min == range.max) return {range.min / 2, range.max * 2};
    const double pad = std::pow(range.max / range.min, 0.02);
    return {range.min / pad, range.max * pad};
  }
  if (range.min == range.max) return {range.min - 1, range.max + 1};
  const double pad = 0.02 * (range.max - range.min);
  return {range.min - pad, range.max + pad};
}

Range y_range(const Plot& plot) {
  Range range;
  for (const PlotSeries& series : plot.series) {
    for (const PlotPoint& p : series.points) {
      if (!drawable(plot, p)) continue;
      for (const double y : {p.y, p.low, p.high}) range.add(y);
    }
  }
  for (const PlotReference& reference : plot.references)
    for (const PlotPoint& p : reference.points)
      if (!plot.log10_y || p.y > 0) range.add(p.y);
  if (range.empty()) range.min = range.max = 1;
  if (plot.log10_y) {  // whole decades, so that there are numbers on the axis
    range.min = std::pow(10, std::floor(std::log10(range.min) + 1e-9));
    range.max = std::pow(10, std::ceil(std::log10(range.max) - 1e-9));
    if (range.min == range.max) return {range.min / 10, range.max * 10};
    return range;
  }
  range.min = plot.y_min.value_or(range.min);
  range.max = plot.y_max.value_or(range.max);
  double pad = 0.03 * (range.max - range.min);
  if (!(pad > 0)) pad = range.max == 0 ? 1 : 0.1 * std::abs(range.max);
  return {range.min - pad, range.max + pad};
}

// Where `x` is on its axis, from 0 to 1.
double place(double x, const Range& range, bool logarithmic) {
  return logarithmic ? std::log(x / range.min) / std::log(range.max / range.min)
                     : (x - range.min) / (range.max - range.min);
}

// The ticks wanted, less those too near the one before; on a logarithmic axis powers of two, few
// enough to be read.
std::vector<double> x_ticks(const Plot& plot, const Range& range) {
  std::vector<double> wanted = plot.x_ticks;
  if (wanted.empty() && plot.log2_x) {
    const int first = int(std::ceil(std::log2(range.min) - 1e-9));
    const int last = int(std::floor(std::log2(range.max) + 1e-9));
    const int stride = (last - first) / 9 + 1;
    for (int power = first; power <= last; power += stride) wanted.push_back(std::exp2(power));
  }
  std::vector<double> ticks;
  for (const double x : wanted) {
    const auto at = [&](double value) { return place(value, range, plot.log2_x); };
    if (ticks.empty() || at(x) - at(ticks.back()) > 0.07) ticks.push_back(x);
  }
  return ticks;
}

std::string axes(const Plot& plot, const Range& x, const Range& y) {
  std::string script = "set border 3 lc rgb " + quoted(kAxisColour) + "\n";
  script += "set grid lt 1 lw 0.7 lc rgb " + quoted(kGridColour) + "\n";
  script += "set tics nomirror out scale 0.5 textcolor rgb " + quoted(kTextColour) + "\n";
  if (plot.log2_x) script += "set logscale x 2\n";
  if (plot.log10_y) script += "set logscale y 10\nset format y '%.0e'\nset mytics 1\n";
  if (!plot.log10_y) script += "set format y '%g'\n";
  script += "set format x '%.10g'\nset mxtics 1\n";
  const std::vector<double> ticks = x_ticks(plot, x);
  std::string list;
  for (const double tick : ticks) list += (list.empty() ? "" : ", ") + number(tick);
  if (!list.empty()) script += "set xtics (" + list + ")\n";
  script += "set xrange [" + number(x.min) + ":" + number(x.max) + "]\n";
  script += "set yrange [" + number(y.min) + ":" + number(y.max) + "]\n";
  const std::string colour = " textcolor rgb " + quoted(kTextColour) + "\n";
  script += "set xlabel " + quoted(plot.x_label) + colour;
  script += "set ylabel " + quoted(plot.y_label) + colour;
  return script;
}

// Vertical lines, with their names above the plot.
std::string marks(const Plot& plot, const Range& x) {
  std::string script;
  for (const PlotMark& mark : plot.marks) {
    script += "set arrow from " + number(mark.x) + ", graph 0 to " + number(mark.x) +
              ", graph 1.02 nohead back lw 1.2 dt (6,4) lc rgb " + quoted(kMarkColour) + "\n";
    const double at = place(mark.x, x, plot.log2_x);
    const std::string side = at < 0.2 ? "left" : at > 0.8 ? "right" : "center";
    script += "set label " + quoted(mark.label) + " at " + number(mark.x) + ", graph 1.06 " + side +
              " textcolor rgb " + quoted(kTextColour) + "\n";
  }
  return script;
}

// The names of the references in the right margin, moved apart where they would touch.
std::string reference_labels(const Plot& plot, const Range& y) {
  struct Label {
    double height;
    std::string words;
  };
  std::vector<Label> labels;
  for (const PlotReference& reference : plot.references)
    labels.push_back({place(reference.points.back().y, y, plot.log10_y), reference.short_label});
  std::stable_sort(labels.begin(), labels.end(),
                   [](const Label& a, const Label& b) { return a.height < b.height; });
  constexpr double kLine = 1.25 * kFont / (0.72 * kHeight);
  for (size_t i = 0; i < labels.size(); ++i) {
    if (i > 0) labels[i].height = std::max(labels[i].height, labels[i - 1].height + kLine);
  }
  std::string script;
  for (const Label& label : labels)
    script += "set label " + quoted(label.words) + " at graph 1.015, graph " +
              number(label.height) + " left textcolor rgb " + quoted(kTextColour) + "\n";
  return script;
}

std::string margins(const Plot& plot) {
  size_t longest = 0;
  for (const PlotReference& r : plot.references) longest = std::max(longest, r.short_label.size());
  const double right = std::min(0.3, (12 + 0.56 * kFont * double(longest)) / kWidth);
  return "set rmargin at screen " + number(1 - std::max(right, 0.03)) + "\n" +
         "set tmargin at screen " + number(plot.marks.empty() ? 0.96 : 0.91) + "\n";
}

std::string reference_data(const PlotReference& reference, const Range& x, size_t index) {
  std::string script = "$r" + std::to_string(index) + " << EOD\n";
  const auto add = [&](double at, double y) { script += number(at) + " " + number(y) + "\n"; };
  if (reference.points.size() == 1) {
    add(x.min, reference.points[0].y);
    add(x.max, reference.points[0].y);
  } else {
    for (const PlotPoint& p : reference.points) add(p.x, p.y);
  }
  return script + "EOD\n";
}

// The labels go to the SVG as the titles of their curves, so they are returned apart.
struct Curves {
  std::string data, commands;
  std::vector<std::string> labels;

  void add(const std::string& command, const std::string& label) {
    labels.push_back(label);
    commands += (commands.empty() ? "plot " : ", ") + command + " notitle";
  }
};

Curves curves(const Plot& plot, const Range& x) {
  Curves all;
  std::vector<size_t> points(plot.series.size());
  std::vector<bool> wide(plot.series.size());  // whether there is a band to be seen
  for (size_t i = 0; i < plot.series.size(); ++i) {
    all.data += "$s" + std::to_string(i) + " << EOD\n";
    for (const PlotPoint& p : plot.series[i].points) {
      if (!drawable(plot, p)) continue;
      all.data +=
          number(p.x) + " " + number(p.y) + " " + number(p.low) + " " + number(p.high) + "\n";
      ++points[i];
      if (p.low < p.high) wide[i] = true;
    }
    all.data += "EOD\n";
  }
  for (size_t i = 0; i < plot.series.size(); ++i) {  // bands first: below all curves
    if (!wide[i] || points[i] < 2) continue;
    all.add("$s" + std::to_string(i) +
                " using 1:3:4 with filledcurves fs transparent solid 0.16 noborder lc rgb " +
                quoted(look_of(plot.series[i].look).sentinel),
            plot.series[i].label);
  }
  for (size_t i = 0; i < plot.references.size(); ++i) {
    all.data += reference_data(plot.references[i], x, i);
    all.add("$r" + std::to_string(i) + " using 1:2 with lines lw 1.4 dt (" + reference_dashes(i) +
                ") lc rgb " + quoted(kTextColour),
            plot.references[i].label);
  }
  for (size_t i = 0; i < plot.series.size(); ++i) {
    if (points[i] == 0) continue;
    const Look look = look_of(plot.series[i].look);
    const size_t every = points[i] > kFewPoints ? (points[i] + 7) / 8 : 1;
    all.add("$s" + std::to_string(i) + " using 1:2 with linespoints lw 1.8 pt " +
                std::to_string(look.gnuplot_marker) + " ps 0.6 pointinterval " +
                std::to_string(every) +
                (look.dashes.empty() ? " dt 1" : " dt (" + look.dashes + ")") + " lc rgb " +
                quoted(look.sentinel),
            plot.series[i].label);
  }
  return all;
}

std::string script_of(const Plot& plot, const Curves& curves, const Range& x, const Range& y) {
  std::string script = "set encoding utf8\nset terminal svg noenhanced size " + number(kWidth) +
                       "," + number(kHeight) + " font 'sans-serif," + number(kFont) +
                       "'\nset output\nunset key\n";
  script += margins(plot) + axes(plot, x, y) + marks(plot, x) + reference_labels(plot, y);
  return script + curves.data + curves.commands + "\n";
}

}  // namespace

std::string plot_script(const Plot& plot) {
  const Range x = x_range(plot);
  return script_of(plot, curves(plot, x), x, y_range(plot));
}

Drawing draw(const Plot& plot, const std::string& id) {
  const Range x = x_range(plot);
  const Curves drawn = curves(plot, x);
  LSSM_CHECK(!drawn.labels.empty(), "plot \"", plot.title, "\": there is nothing to draw");
  const GnuplotResult result = run_gnuplot(script_of(plot, drawn, x, y_range(plot)));
  if (!result.found) {
    return {true, "", "There are no plots here, as gnuplot was not found (Debian: gnuplot-nox)."};
  }
  if (result.code != 0 || result.out.find("</svg>") == std::string::npos) {
    const size_t at = result.err.find("line ");
    const std::string said = at == std::string::npos ? result.err : result.err.substr(at);
    return {false, "", text("gnuplot could not draw this: ", said.substr(0, said.find('\n')))};
  }
  return {false, page_svg(result.out, id, plot.title, drawn.labels), ""};
}

}  // namespace lssm
