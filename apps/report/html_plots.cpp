// SPDX-License-Identifier: Apache-2.0
#include "apps/report/html_plots.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "apps/report/format.h"
#include "apps/report/html_text.h"

namespace lssm {
namespace {

constexpr size_t kMostPoints = 300;  // more do not show in a plot, and make the page heavy
constexpr double kWideEnough = 8;    // axes that span more than this factor are logarithmic

// What one run says at each x.
using Curve = std::map<double, double>;
using CurveOf = std::function<Curve(const RunResult&)>;

// The object at a path; one without keys where there is none.
const Json& object_at(const Json& object, const std::vector<std::string>& path) {
  static const Json none = Json::object();
  const Json& json = json_at(object, path);
  return json.is_object() ? json : none;
}

// Neighbours put together, with all that their bands cover.
std::vector<PlotPoint> thinned(const std::vector<PlotPoint>& points) {
  const size_t group = (points.size() + kMostPoints - 1) / kMostPoints;
  if (group <= 1) return points;
  std::vector<PlotPoint> few;
  for (size_t begin = 0; begin < points.size(); begin += group) {
    const size_t end = std::min(begin + group, points.size());
    PlotPoint sum = {0, 0, points[begin].low, points[begin].high};
    for (size_t i = begin; i < end; ++i) {
      sum.x += points[i].x / double(end - begin);
      sum.y += points[i].y / double(end - begin);
      sum.low = std::min(sum.low, points[i].low);
      sum.high = std::max(sum.high, points[i].high);
    }
    few.push_back(sum);
  }
  return few;
}

// The mean over the runs that have an x, and the smallest and largest.
std::vector<PlotPoint> mean_curve(const std::vector<Curve>& runs) {
  std::map<double, std::vector<double>> by_x;
  for (const Curve& run : runs)
    for (const auto& [x, y] : run) by_x[x].push_back(y);
  std::vector<PlotPoint> points;
  for (const auto& [x, values] : by_x) {
    double sum = 0;
    for (const double y : values) sum += y;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    points.push_back({x, sum / double(values.size()), *low, *high});
  }
  return thinned(points);
}

std::vector<PlotSeries> series_of(const Results& results, const CurveOf& curve_of) {
  std::vector<PlotSeries> all;
  for (size_t i = 0; i < results.variants.size(); ++i) {
    std::vector<Curve> runs;
    for (const RunResult& run : results.variants[i].runs) runs.push_back(curve_of(run));
    std::vector<PlotPoint> points = mean_curve(runs);
    if (!points.empty()) all.push_back({results.variants[i].name, int64_t(i), std::move(points)});
  }
  return all;
}

// Fractions are drawn from 0 to 100.
void set_metric(Plot& plot, const MetricInfo& metric) {
  plot.y_label = metric_title(metric);
  if (metric.accuracy) {
    plot.y_min = 0;
    plot.y_max = metric.scale;
  }
}

bool spans_much(const Plot& plot) {
  double low = INFINITY, high = 0;
  for (const PlotSeries& series : plot.series) {
    for (const PlotPoint& p : series.points) {
      low = std::min(low, p.x);
      high = std::max(high, p.x);
    }
  }
  return low > 0 && high > kWideEnough * low;
}

void keep_positive(Curve& curve) {
  std::erase_if(curve, [](const auto& point) { return !(point.second > 0); });
}

// `curve` may be of many metrics' lines; `path` leads to the object that has the key.
Curve over_steps(const RunResult& run, const std::vector<std::string>& path, const std::string& key,
                 double scale) {
  Curve curve;
  for (const Json& line : run.metrics) {
    const auto step = number_at(line, {"step"}), value = number_at(json_at(line, path), {key});
    if (step && value) curve[*step] = scale * *value;
  }
  return curve;
}

// A list [{"position": 4, "accuracy": 0.5}, …] as a curve.
Curve over_list(const Json& list, const std::string& x_key, const std::string& y_key,
                double scale) {
  Curve curve;
  if (!list.is_array()) return curve;
  for (const Json& entry : list) {
    const auto x = number_at(entry, {x_key}), y = number_at(entry, {y_key});
    if (x && y) curve[*x] = scale * *y;
  }
  return curve;
}

// The accuracy of a curve's entry is that of one position, as "final" is of the last.
MetricInfo curve_metric(const std::string& key) {
  if (key != "accuracy") return metric_info(key);
  MetricInfo metric = metric_info("final");
  metric.key = key;
  metric.label = "accuracy";
  return metric;
}

std::string capitalised(std::string words) {
  if (!words.empty()) words[0] = char(std::toupper(static_cast<unsigned char>(words[0])));
  return words;
}

class Figures {
 public:
  Figures(const Report& report, const Results& results) : report_(report), results_(results) {
    for (const ReportTable& table : report.tables) lengths_.insert(table.length);
  }

  std::vector<Figure> make() {
    add_learning_curves();
    add_by_length();
    add_by_position();
    add_by_anything();
    add_drift();
    return std::move(figures_);
  }

 private:
  void add(const std::string& section, Plot plot, const std::string& caption = "") {
    const bool curves = std::any_of(plot.series.begin(), plot.series.end(),
                                    [](const PlotSeries& s) { return s.points.size() > 1; });
    if (curves) figures_.push_back({section, std::move(plot), caption});
  }

  void add_over_steps(const std::string& title, const std::vector<std::string>& path,
                      const std::string& key, const MetricInfo& metric) {
    Plot plot = {.title = title, .x_label = "step"};
    set_metric(plot, metric);
    plot.series = series_of(
        results_, [&](const RunResult& run) { return over_steps(run, path, key, metric.scale); });
    add("Learning curves", std::move(plot));
  }

  void add_learning_curves() {
    const MetricInfo loss = {.key = "loss", .label = "loss", .unit = ""};
    add_over_steps("Training loss", {}, "loss", loss);
    add_over_steps("Validation loss", {"valid"}, "loss", loss);
    std::set<std::string> keys;
    for (const Variant& variant : results_.variants)
      for (const RunResult& run : variant.runs)
        for (const Json& line : run.metrics)
          for (const auto& [key, value] : object_at(line, {"valid"}).items())
            if (value.is_number() && key != "loss" && key != "drift") keys.insert(key);
    for (const std::string& key : keys) {
      const MetricInfo metric = metric_info(key);
      add_over_steps("Validation: " + metric.label, {"valid"}, key, metric);
    }
  }

  void add_by_length() {
    for (const auto& tables : tables_by_metric(report_)) {
      if (tables.size() < 2) continue;
      const MetricInfo& metric = tables.front()->metric;
      Plot plot = {.title = capitalised(metric.label) + " by test length",
                   .x_label = "test length"};
      set_metric(plot, metric);
      std::map<std::string, PlotSeries> by_variant;
      std::map<std::string, PlotReference> by_ceiling;
      for (const ReportTable* table : tables) {
        const double x = double(table->length);
        plot.x_ticks.push_back(x);
        for (const ReportRow& row : table->rows)
          by_variant[row.variant].points.push_back(
              {x, row.figures.mean, row.figures.min, row.figures.max});
        for (const CeilingLine& line : table->ceilings)
          by_ceiling[line.name].points.push_back({x, line.value, line.value, line.value});
      }
      for (size_t i = 0; i < results_.variants.size(); ++i) {
        PlotSeries& series = by_variant[results_.variants[i].name];
        series.label = results_.variants[i].name;
        series.look = int64_t(i);
        if (!series.points.empty()) plot.series.push_back(std::move(series));
      }
      for (auto& [name, reference] : by_ceiling) {
        name_reference(reference, name, metric, "length");
        plot.references.push_back(std::move(reference));
      }
      finish_by_length(std::move(plot), "By test length");
    }
  }

  // Lengths and positions: the training length marked, powers of two where they span much.
  void finish_by_length(Plot plot, const std::string& section, const std::string& caption = "") {
    plot.log2_x = spans_much(plot);
    for (const int64_t length : report_.train_lengths)
      plot.marks.push_back({double(length), report_.train_lengths.size() == 1
                                                ? "training length " + std::to_string(length)
                                                : std::to_string(length)});
    if (plot.x_ticks.size() > 8) plot.x_ticks.clear();
    add(section, std::move(plot), caption);
  }

  static void name_reference(PlotReference& reference, const std::string& name,
                             const MetricInfo& metric, const std::string& where) {
    reference.label = ceiling_title(name);
    reference.short_label = name.starts_with("parikh") ? "commutative" : name;
    if (reference.points.size() != 1) return;
    reference.label += " at " + where + " " + decimals_text(reference.points[0].x, 0) + ": " +
                       value_text(metric, reference.points[0].y) + (metric.unit == "%" ? " %" : "");
  }

  // The ceilings of the last step at the greatest length that has them, whichever metrics the
  // report shows.
  std::vector<PlotReference> final_ceilings() const {
    std::map<std::string, PlotReference> by_name;
    const MetricInfo metric = metric_info("final");
    for (const int64_t length : lengths_) {
      for (const CeilingLine& line : ceilings_of(results_.variants, metric, length)) {
        by_name[line.name].points = {{double(length), line.value, line.value, line.value}};
        name_reference(by_name[line.name], line.name, metric, "position");
      }
    }
    std::vector<PlotReference> all;
    for (auto& [name, reference] : by_name) all.push_back(std::move(reference));
    return all;
  }

  void add_by_position() {
    if (lengths_.empty()) return;
    const std::string length = std::to_string(*lengths_.rbegin());
    for (const std::string& key : list_keys({"test", length, "curve"}, "position")) {
      const MetricInfo metric = curve_metric(key);
      Plot plot = {.title = capitalised(metric.label) + " by position", .x_label = "position"};
      set_metric(plot, metric);
      plot.series = series_of(results_, [&](const RunResult& run) {
        return over_list(json_at(run.summary, {"test", length, "curve"}), "position", key,
                         metric.scale);
      });
      if (key == "accuracy") plot.references = final_ceilings();
      finish_by_length(std::move(plot), "By position", "Test sequences of length " + length + ".");
    }
  }

  // The keys of a list's entries that are figures, over all runs.
  std::set<std::string> list_keys(const std::vector<std::string>& path,
                                  const std::string& x_key) const {
    std::set<std::string> keys;
    for (const Variant& variant : results_.variants)
      for (const RunResult& run : variant.runs)
        if (const Json& list = json_at(run.summary, path); list.is_array())
          for (const Json& entry : list)
            if (entry.is_object())
              for (const auto& [key, value] : entry.items())
                if (value.is_number() && key != x_key && key != "sequences") keys.insert(key);
    return keys;
  }

  // Lists named by_<x>: accuracy by depth, …
  void add_by_anything() {
    for (const int64_t length : lengths_) {
      const std::string length_key = std::to_string(length);
      std::set<std::string> lists;
      for (const Variant& variant : results_.variants)
        for (const RunResult& run : variant.runs)
          for (const auto& [key, value] : object_at(run.summary, {"test", length_key}).items())
            if (key.starts_with("by_") && value.is_array()) lists.insert(key);
      for (const std::string& list : lists) add_by(length_key, list);
    }
  }

  void add_by(const std::string& length, const std::string& list) {
    const std::string x_key = list.substr(3);
    for (const std::string& key : list_keys({"test", length, list}, x_key)) {
      const MetricInfo metric = curve_metric(key);
      Plot plot = {.title = capitalised(metric.label) + " by " + x_key + ", test length " + length,
                   .x_label = x_key};
      set_metric(plot, metric);
      plot.series = series_of(results_, [&](const RunResult& run) {
        return over_list(json_at(run.summary, {"test", length, list}), x_key, key, metric.scale);
      });
      plot.log2_x = spans_much(plot);
      add("By " + x_key, std::move(plot));
    }
  }

  void add_drift() {
    Plot steps = {.title = "Drift in validation",
                  .x_label = "step",
                  .y_label = "largest | |h| - 1 |",
                  .log10_y = true};
    steps.series = series_of(results_, [](const RunResult& run) {
      Curve curve = over_steps(run, {"valid"}, "drift", 1);
      keep_positive(curve);
      return curve;
    });
    add("Drift", std::move(steps));
    Plot by_length = {.title = "Drift by test length",
                      .x_label = "test length",
                      .y_label = "largest | |h| - 1 |",
                      .log10_y = true};
    by_length.series = series_of(results_, [&](const RunResult& run) {
      Curve curve;
      for (const int64_t length : lengths_) {
        const auto drift = number_at(run.summary, {"test", std::to_string(length), "drift"});
        if (drift) curve[double(length)] = *drift;
      }
      keep_positive(curve);
      return curve;
    });
    for (const int64_t length : lengths_) by_length.x_ticks.push_back(double(length));
    if (lengths_.size() > 1) finish_by_length(std::move(by_length), "Drift");
  }

  const Report& report_;
  const Results& results_;
  std::set<int64_t> lengths_;
  std::vector<Figure> figures_;
};

}  // namespace

std::vector<Figure> report_figures(const Report& report, const Results& results) {
  return Figures(report, results).make();
}

}  // namespace lssm
