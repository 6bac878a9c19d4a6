// SPDX-License-Identifier: Apache-2.0
#include "apps/report/analysis.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "apps/experiment/config_file.h"
#include "apps/report/comparison.h"
#include "apps/report/format.h"

namespace lssm {
namespace {

// Known metrics in the order of a report; "loss" and "drift" are shown when they are asked for.
const std::vector<MetricInfo>& metric_table() {
  static const std::vector<MetricInfo> table = {
      {"final", "final step", "%", 100, true, true, true},
      {"prefix", "all prefixes", "%", 100, true, true, true},
      {"exact_prefix", "sequences without an error", "%", 100, true, true, true},
      {"loss", "loss", "", 1, false, false, true},
      {"drift", "drift", "", 1, false, false, true},
  };
  return table;
}

bool is_default(const std::string& key) { return key != "loss" && key != "drift"; }

// The figure of a run as it is stored; empty where there is none, or none that can be squared.
std::optional<double> figure(const RunResult& run, int64_t length, const std::string& metric) {
  const std::optional<double> value =
      number_at(run.summary, {"test", std::to_string(length), metric});
  constexpr double kLargest = 1e100;
  return value && std::abs(*value) <= kLargest ? value : std::nullopt;
}

// The metrics that a variant has at some length.
std::set<std::string> metrics_of(const Variant& variant) {
  std::set<std::string> metrics;
  for (const RunResult& run : variant.runs) {
    for (const auto& [length, figures] : run.summary["test"].items()) {
      for (const auto& [key, value] : figures.items())
        if (value.is_number() && key != "sequences") metrics.insert(key);
    }
  }
  return metrics;
}

std::vector<std::string> names_of(const std::vector<Variant>& variants) {
  std::vector<std::string> names;
  for (const Variant& variant : variants) names.push_back(variant.name);
  return names;
}

// Known metrics first, in the order of their table, then the others by name.
std::vector<std::string> in_order(std::set<std::string> keys) {
  std::vector<std::string> ordered;
  for (const std::string& known : known_metrics())
    if (keys.erase(known)) ordered.push_back(known);
  ordered.insert(ordered.end(), keys.begin(), keys.end());
  return ordered;
}

template <class T>
bool contains(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// What the report is about: its metrics and lengths, chosen or found, and its notes on the way.
class Analysis {
 public:
  Analysis(const Results& results, const ReportOptions& options)
      : variants_(results.variants), options_(options) {
    if (!options.baseline.empty()) baseline_ = &variants_[find_baseline(results, options.baseline)];
    report_.notes = results.notes;
  }

  Report run();

 private:
  void note(const std::string& words) {
    if (!contains(report_.notes, words)) report_.notes.push_back(words);
  }
  std::vector<std::string> choose_metrics();
  std::vector<int64_t> choose_lengths();
  SeedFigures figures(const Variant& variant, const ReportTable& table);
  void note_missing(const Variant& variant, const ReportTable& table, const SeedFigures& found);
  void add_table(const std::string& metric, int64_t length);
  Comparison compare_with_baseline(const std::string& variant, const MetricInfo& metric,
                                   const SeedFigures& ours, const SeedFigures& theirs);
  CostRow costs(const Variant& variant) const;
  void add_differences();
  std::string selection_rule() const;
  void add_origin();

  const std::vector<Variant>& variants_;
  const ReportOptions& options_;
  const Variant* baseline_ = nullptr;
  Report report_;
};

std::vector<std::string> Analysis::choose_metrics() {
  std::set<std::string> all, common = metrics_of(variants_.front());
  for (const Variant& variant : variants_) {
    const std::set<std::string> mine = metrics_of(variant);
    all.insert(mine.begin(), mine.end());
    std::erase_if(common, [&mine](const std::string& key) { return !mine.count(key); });
  }
  for (const std::string& metric : options_.metrics) {
    LSSM_CHECK(all.count(metric), "report: no run has the metric \"", metric, "\"; ",
               spelling_help(metric, in_order(all)));
  }
  std::vector<std::string> chosen;
  for (const std::string& metric : options_.metrics)
    if (!contains(chosen, metric)) chosen.push_back(metric);
  if (chosen.empty()) {
    for (const std::string& key : in_order(common))
      if (is_default(key)) chosen.push_back(key);
    if (chosen.empty()) chosen = in_order(common);
    std::string list;
    for (const Variant& variant : variants_) {
      list += (list.empty() ? "" : "; ") + variant.name + " has " +
              comma_list(in_order(metrics_of(variant)));
    }
    LSSM_CHECK(!chosen.empty(), "report: the variants have no metric in common: ", list);
  }
  for (const Variant& variant : variants_) {
    const std::set<std::string> mine = metrics_of(variant);
    for (const std::string& key : in_order(all)) {
      if (mine.count(key)) continue;
      if (contains(options_.metrics, key)) note(variant.name + " has no metric " + key);
      if (options_.metrics.empty() && is_default(key))
        note(variant.name + " has no metric " + key + ": it is left out for all variants");
    }
  }
  return chosen;
}

std::vector<int64_t> Analysis::choose_lengths() {
  std::set<int64_t> all;
  for (const Variant& variant : variants_) {
    for (const RunResult& run : variant.runs)
      for (const int64_t length : test_lengths(run)) all.insert(length);
  }
  std::vector<std::string> words;
  for (const int64_t length : all) words.push_back(std::to_string(length));
  for (const int64_t length : options_.lengths) {
    LSSM_CHECK(all.count(length), "report: no run was tested at length ", length,
               "; there are: ", comma_list(words));
  }
  if (options_.lengths.empty()) return {all.begin(), all.end()};
  const std::set<int64_t> chosen(options_.lengths.begin(), options_.lengths.end());
  return {chosen.begin(), chosen.end()};
}

SeedFigures Analysis::figures(const Variant& variant, const ReportTable& table) {
  SeedFigures found;
  for (const RunResult& run : variant.runs) {
    if (const auto value = figure(run, table.length, table.metric.key))
      found[run.seed] = table.metric.scale * *value;
  }
  note_missing(variant, table, found);
  return found;
}

void Analysis::note_missing(const Variant& variant, const ReportTable& table,
                            const SeedFigures& found) {
  if (found.size() == variant.runs.size() || !metrics_of(variant).count(table.metric.key)) return;
  std::vector<uint64_t> untested, without;
  for (const RunResult& run : variant.runs) {
    if (found.count(run.seed)) continue;
    (contains(test_lengths(run), table.length) ? without : untested).push_back(run.seed);
  }
  const auto who = [&variant](const std::vector<uint64_t>& seeds) {
    if (seeds.size() == variant.runs.size()) return variant.name;
    return variant.name + (seeds.size() == 1 ? " seed " : " seeds ") + seeds_text(seeds);
  };
  if (!untested.empty()) note(text(who(untested), ": not tested at length ", table.length));
  if (!without.empty())
    note(text(who(without), ": no ", table.metric.key, " at length ", table.length));
}

Comparison Analysis::compare_with_baseline(const std::string& variant, const MetricInfo& metric,
                                           const SeedFigures& ours, const SeedFigures& theirs) {
  const double margin = options_.margin.value_or(metric.unit == "%" ? 1 : 0);
  Comparison comparison = compare(ours, theirs, margin);
  if (!comparison.left_out.empty()) {
    const bool one = comparison.left_out.size() == 1;
    note(text(variant, " and ", options_.baseline, ": ", one ? "seed " : "seeds ",
              seeds_text(comparison.left_out), one ? " has" : " have",
              " no partner, left out of the tests"));
  }
  return comparison;
}

void Analysis::add_table(const std::string& metric, int64_t length) {
  ReportTable table;
  table.metric = metric_info(metric);
  table.length = length;
  const SeedFigures reference = baseline_ ? figures(*baseline_, table) : SeedFigures();
  for (const Variant& variant : variants_) {
    const SeedFigures found = figures(variant, table);
    if (found.empty()) continue;
    ReportRow row;
    row.variant = variant.name;
    for (const auto& [seed, value] : found) {
      row.seeds.push_back(seed);
      row.values.push_back(value);
    }
    row.figures = describe(row.values);
    if (table.metric.accuracy) {
      row.seeds_at_99 = std::count_if(row.values.begin(), row.values.end(),
                                      [](double value) { return value >= 99; });
    }
    if (!reference.empty() && &variant != baseline_)
      row.comparison = compare_with_baseline(variant.name, table.metric, found, reference);
    table.rows.push_back(row);
  }
  if (table.rows.empty()) return;
  table.ceilings = ceilings_of(variants_, table.metric, length);
  report_.tables.push_back(std::move(table));
}

CostRow Analysis::costs(const Variant& variant) const {
  CostRow row;
  const Json& first = variant.runs.front().summary;
  const auto whole = [](const Json& summary, const char* key) {
    return int64_t(number_at(summary, {key}).value_or(0));
  };
  row.variant = variant.name;
  row.parameters = whole(first, "parameters");
  row.state_size = whole(first, "state_size");
  row.steps = whole(first, "steps");
  row.longest_99 = whole(first, "longest_99");
  std::vector<double> cpu;
  for (const RunResult& run : variant.runs) {
    cpu.push_back(number_at(run.summary, {"cpu_s"}).value_or(0));
    row.longest_99 = std::min(row.longest_99, whole(run.summary, "longest_99"));
    row.largest_drift = std::max(row.largest_drift, number_at(run.summary, {"drift"}).value_or(-1));
  }
  row.cpu_s = describe(cpu);
  const Json& checkpoint = json_at(variant.config(), {"eval", "checkpoint"});
  row.checkpoint = checkpoint.is_string() ? checkpoint.get<std::string>() : "last";
  return row;
}

void Analysis::add_differences() {
  const auto comparable = [](const Variant& variant) {
    Json config = shared_config(variant.config());
    config.erase("name");
    return config;
  };
  const Variant& reference = baseline_ ? *baseline_ : variants_.front();
  for (const Variant& variant : variants_) {
    if (&variant == &reference) continue;
    for (const KeyDifference& d : config_differences(comparable(reference), comparable(variant)))
      report_.differences.push_back({variant.name, d.key, d.a, d.b});
  }
}

std::string Analysis::selection_rule() const {
  std::vector<std::string> last, best;
  for (const CostRow& row : report_.costs)
    (row.checkpoint == "best" ? best : last).push_back(row.variant);
  const std::string of_last = "the parameters after the last step";
  const std::string of_best = "the checkpoint best on valid.prefix";
  std::string rule = "Tested are " + of_last;
  if (last.empty()) rule = "Tested is " + of_best;
  if (!last.empty() && !best.empty())
    rule += " (" + comma_list(last) + ") and " + of_best + " (" + comma_list(best) + ")";
  rule += "; nothing was selected on the test stream.";
  return options_.selection.empty() ? rule : rule + " " + options_.selection;
}

void Analysis::add_origin() {
  std::set<std::string> versions, commits, machines;
  std::set<uint64_t> seeds;
  std::set<int64_t> sequences;
  double cpu = 0, wall = 0;
  size_t runs = 0;
  for (const Variant& variant : variants_) {
    for (const RunResult& run : variant.runs) {
      const auto word = [&run](const char* key) {
        const Json& json = json_at(run.summary, {key});
        return json.is_string() ? json.get<std::string>() : std::string("unknown");
      };
      ++runs;
      versions.insert(word("version"));
      commits.insert(word("commit"));
      machines.insert(word("machine") + " (" + word("device") + ", " + word("precision") + ")");
      seeds.insert(run.seed);
      cpu += number_at(run.summary, {"cpu_s"}).value_or(0);
      wall += number_at(run.summary, {"wall_s"}).value_or(0);
      for (const auto& [length, figures] : run.summary["test"].items())
        if (const auto n = number_at(figures, {"sequences"})) sequences.insert(int64_t(*n));
    }
  }
  const auto list = [](const auto& words) {
    std::string all;
    for (const auto& word : words) all += text(all.empty() ? "" : ", ", word);
    return all;
  };
  std::vector<std::string>& origin = report_.origin;
  origin = options_.origin;
  origin.push_back(text(runs, runs == 1 ? " run" : " runs", " by lssm ", list(versions)));
  origin.push_back((commits.size() == 1 ? "Commit: " : "Commits: ") + list(commits));
  origin.push_back("Seeds: " + list(seeds));
  if (!sequences.empty()) origin.push_back("Test sequences of each length: " + list(sequences));
  origin.push_back("Machine: " + list(machines));
  origin.push_back("CPU time " + decimals_text(cpu, 1) + " s, wall time " + decimals_text(wall, 1) +
                   " s, all runs together");
}

Report Analysis::run() {
  LSSM_CHECK(!variants_.empty(), "report: there is no run");
  report_.title = options_.title.empty() ? comma_list(names_of(variants_)) : options_.title;
  report_.baseline = options_.baseline;
  const std::vector<std::string> metrics = choose_metrics();
  const std::vector<int64_t> lengths = choose_lengths();
  for (const std::string& metric : metrics)
    for (const int64_t length : lengths) add_table(metric, length);
  LSSM_CHECK(!report_.tables.empty(), "report: no run has ", comma_list(metrics),
             " at the lengths asked for");
  finish_comparisons(report_);
  std::set<int64_t> train_lengths;
  for (const Variant& variant : variants_) {
    report_.costs.push_back(costs(variant));
    auto length = number_at(variant.runs.front().summary, {"train_length"});
    if (!length) length = number_at(variant.config(), {"task", "length"});
    if (length) train_lengths.insert(int64_t(*length));
  }
  report_.train_lengths.assign(train_lengths.begin(), train_lengths.end());
  report_.selection_rule = selection_rule();
  add_differences();
  add_origin();
  return report_;
}

}  // namespace

MetricInfo metric_info(const std::string& key) {
  for (const MetricInfo& info : metric_table())
    if (info.key == key) return info;
  MetricInfo info;
  info.key = info.label = key;
  info.known = false;
  return info;
}

std::vector<std::string> known_metrics() {
  std::vector<std::string> keys;
  for (const MetricInfo& info : metric_table()) keys.push_back(info.key);
  return keys;
}

const ReportRow* find_row(const ReportTable& table, const std::string& variant) {
  for (const ReportRow& row : table.rows)
    if (row.variant == variant) return &row;
  return nullptr;
}

std::vector<CeilingLine> ceilings_of(const std::vector<Variant>& variants, const MetricInfo& metric,
                                     int64_t length) {
  struct Found {
    std::string name, variant;
    double value;
  };
  std::vector<Found> found;
  std::set<std::string> ambiguous;  // variants of different tasks have different ceilings
  for (const Variant& variant : variants) {
    const Json& all = json_at(variant.runs.front().summary, {"ceilings", std::to_string(length)});
    if (!all.is_object()) continue;
    for (const auto& [name, ceiling] : all.items()) {
      const std::optional<double> stored = number_at(ceiling, {metric.key});
      if (!stored) continue;
      const double value = metric.scale * *stored;
      const auto same_name = [&name](const Found& f) { return f.name == name; };
      const bool known = std::any_of(found.begin(), found.end(), same_name);
      const bool repeated = std::any_of(found.begin(), found.end(), [&](const Found& f) {
        return f.name == name && f.value == value;
      });
      if (known && !repeated) ambiguous.insert(name);
      if (!repeated) found.push_back({name, variant.name, value});
    }
  }
  std::vector<CeilingLine> lines;
  for (const Found& f : found)
    lines.push_back({ambiguous.count(f.name) ? f.name + " of " + f.variant : f.name, f.value});
  return lines;
}

Report analyse(const Results& results, const ReportOptions& options) {
  return Analysis(results, options).run();
}

}  // namespace lssm
