// SPDX-License-Identifier: Apache-2.0
#include "apps/report/paper_table.h"

#include <algorithm>

#include "apps/experiment/config_file.h"
#include "apps/report/comparison.h"
#include "apps/report/format.h"
#include "core/file.h"

namespace lssm {
namespace {

constexpr const char* kFolder = "configs/papers";

struct RowConfig final : Configurable {
  void fields(Fields& f) override {
    f.require("label", label, "what the paper calls the model");
    f.require("variant", variant, "the sweep's variant that repeats it");
    f.require("metric", metric, "a figure of summary.json's test: final, prefix, ...");
    f.require("length", length, "test length", at_least(1));
    f.add("mean", mean, "as printed; -1: the paper has no such figure");
    f.add("std", std, "as printed; -1: not given");
    f.add("n", n, "seeds; 0: not given", at_least(0));
    f.add("reach", reach, "counts our seeds at so much or more; 0: does not", at_least(0));
    f.check(mean >= 0 || mean == -1, "mean", "expected a number from 0, or -1");
    f.check(std >= 0 || std == -1, "std", "expected a number from 0, or -1");
    f.check(mean >= 0 || std == -1, "std", "there is no spread without a mean");
  }

  std::string label, variant, metric;
  int64_t length = 0, n = 0;
  double mean = -1, std = -1, reach = 0;
};

struct TableConfig final : Configurable {
  void fields(Fields& f) override {
    f.require("title", title, "of the report");
    f.require("source", source, "the paper, its table, its settings");
    f.require("sweep", sweep, "sweep file, from the folder of this file");
    f.add_json("rows", rows, "the figures");
    f.add_json("remarks", remarks, "what is to be known beside them");
    f.check(rows.is_array() && !rows.empty(), "rows", "expected a list of figures");
    const auto is_text = [](const Json& line) { return line.is_string(); };
    f.check(remarks.is_array() && std::all_of(remarks.begin(), remarks.end(), is_text), "remarks",
            "expected a list of lines");
  }

  std::string title, source, sweep;
  Json rows = Json::array(), remarks = Json::array();
};

// The file that `name` means; the error of a name that is none lists those there are.
std::string find_file(const std::string& name) {
  std::error_code error;
  if (std::filesystem::exists(name, error)) return name;
  const std::string path = text(kFolder, "/", name, ".json");
  if (std::filesystem::exists(path, error)) return path;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder, error))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  fail("there is no paper table \"", name, "\", neither as a file nor in ", kFolder,
       names.empty() ? "" : "; " + spelling_help(name, names));
}

// The variants of a sweep file. With a grid they have longer names, which begin like this.
struct SweepNames {
  std::string sweep;
  std::vector<std::string> variants;
  bool longer = false;
};

SweepNames read_sweep_names(const std::filesystem::path& path) {
  const Json json = parse_json(read_file(path), path.string());
  const auto name_of = [](const Json& object, const std::string& otherwise) {
    const Json& name = json_at(object, {"name"});
    return name.is_string() ? name.get<std::string>() : otherwise;
  };
  SweepNames names;
  names.sweep = name_of(json, "");
  names.longer = !json_at(json, {"grid"}).is_null() || !json_at(json, {"list"}).is_null();
  const Json& variants = json_at(json, {"variants"});
  if (!variants.is_null()) {
    for (const Json& variant : variants) names.variants.push_back(name_of(variant, ""));
    return names;
  }
  // A sweep of one config has its name.
  Json config = json_at(json, {"config"});
  if (config.is_string())
    config = read_config((path.parent_path() / config.get<std::string>()).string());
  names.variants = {name_of(config, names.sweep)};
  return names;
}

PaperRow read_row(Json& json, const std::string& pointer, const SweepNames& sweep) {
  RowConfig config;
  Fields::read(json, pointer, config);
  const auto is_this = [&](const std::string& name) {
    return config.variant == name || (sweep.longer && config.variant.starts_with(name + "_"));
  };
  LSSM_CHECK(std::any_of(sweep.variants.begin(), sweep.variants.end(), is_this), pointer,
             "/variant: the sweep has no variant \"", config.variant, "\"; ",
             spelling_help(config.variant, sweep.variants));
  const std::vector<std::string> metrics = known_metrics();
  LSSM_CHECK(std::find(metrics.begin(), metrics.end(), config.metric) != metrics.end(), pointer,
             "/metric: there is no metric \"", config.metric, "\"; ",
             spelling_help(config.metric, metrics));
  PaperRow row;
  row.label = config.label;
  row.variant = config.variant;
  row.metric = metric_info(config.metric);
  row.length = config.length;
  row.published.n = config.n;
  row.printed = config.mean >= 0;
  row.published.mean = std::max(config.mean, 0.0);
  row.published.std = std::max(config.std, 0.0);
  row.spread_known = config.n >= 2 && config.std >= 0;
  row.reach = config.reach;
  return row;
}

// How many seeds reach what they should.
std::string reached(const PaperRow& row, const std::vector<double>& values) {
  const auto enough = [&](double value) {
    return row.metric.higher_is_better ? value >= row.reach : value <= row.reach;
  };
  return text(std::count_if(values.begin(), values.end(), enough), " of ", values.size(),
              " seeds reach ", value_text(row.metric, row.reach));
}

std::string verdict(const PaperRow& row) {
  const std::string difference = difference_text(row.metric, row.ours.mean - row.published.mean);
  if (!row.spread_known) return difference + "; the paper gives no spread to test against";
  switch (row.test.kind) {
    case TestCase::too_few:
      return difference + "; one seed of ours is no test";
    case TestCase::identical:
      return "the same on every seed, here and there";
    case TestCase::zero_variance:
      return difference + "; neither varies over its seeds: no test";
    case TestCase::usual:
      break;
  }
  const bool significant = row.test.p < kSignificant;
  const bool better = (row.ours.mean > row.published.mean) == row.metric.higher_is_better;
  return text(difference, " (Welch p = ", p_text(row.test.p), "): ",
              !significant ? "no significant difference"
              : better     ? "significantly better"
                           : "significantly worse");
}

}  // namespace

PaperFile read_paper_file(const std::string& name) {
  PaperFile file;
  file.path = find_file(name);
  Json json = parse_json(read_file(file.path), file.path);
  try {
    TableConfig config;
    Fields::read(json, "", config);
    file.table.title = config.title;
    file.table.source = config.source;
    const SweepNames sweep =
        read_sweep_names(std::filesystem::path(file.path).parent_path() / config.sweep);
    file.sweep = sweep.sweep;
    for (size_t i = 0; i < config.rows.size(); ++i)
      file.table.rows.push_back(read_row(config.rows[i], text("/rows/", i), sweep));
    file.table.remarks = config.remarks.get<std::vector<std::string>>();
  } catch (const Error& error) {
    fail(file.path, ": ", error.what());
  }
  return file;
}

void compare_with_paper(PaperTable& table, const Results& results) {
  for (PaperRow& row : table.rows) {
    std::vector<double> values;
    std::string missing = "no run of ours";
    for (const Variant& variant : results.variants) {
      if (variant.name != row.variant) continue;
      missing = "not tested at this length";
      for (const RunResult& run : variant.runs) {
        const std::vector<std::string> at = {"test", std::to_string(row.length)};
        if (!json_at(run.summary, at).is_object()) continue;
        missing = "our runs have no such figure";
        if (const auto value = number_at(run.summary, {at[0], at[1], row.metric.key}))
          values.push_back(row.metric.scale * *value);
      }
    }
    row.ours = describe(values);
    if (row.spread_known && row.ours.n > 0) row.test = welch_t_test(row.ours, row.published);
    if (values.empty()) {
      row.words = missing;
      continue;
    }
    std::vector<std::string> words;
    if (row.reach > 0) words.push_back(reached(row, values));
    if (row.printed) words.push_back(verdict(row));
    row.words = words.empty() ? "" : words[0] + (words.size() > 1 ? "; " + words[1] : "");
  }
}

}  // namespace lssm
