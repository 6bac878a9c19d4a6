// SPDX-License-Identifier: Apache-2.0
#include "apps/report/paper_table.h"

#include <algorithm>

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
    f.require("mean", mean, "as printed");
    f.add("std", std, "as printed; -1: not given");
    f.add("n", n, "seeds; 0: not given", at_least(0));
    f.check(std >= 0 || std == -1, "std", "expected a number from 0, or -1");
  }

  std::string label, variant, metric;
  int64_t length = 0, n = 0;
  double mean = 0, std = -1;
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

PaperRow read_row(Json& json, const std::string& pointer) {
  RowConfig config;
  Fields::read(json, pointer, config);
  PaperRow row;
  row.label = config.label;
  row.variant = config.variant;
  row.metric = metric_info(config.metric);
  row.length = config.length;
  row.published.n = config.n;
  row.published.mean = config.mean;
  row.published.std = std::max(config.std, 0.0);
  row.spread_known = config.n >= 2 && config.std >= 0;
  return row;
}

std::string verdict(const PaperRow& row) {
  if (row.ours.n == 0) return "no run of ours";
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
  const bool significant = row.test.p < 0.05;
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
    for (size_t i = 0; i < config.rows.size(); ++i)
      file.table.rows.push_back(read_row(config.rows[i], text("/rows/", i)));
    file.table.remarks = config.remarks.get<std::vector<std::string>>();
    const auto sweep = std::filesystem::path(file.path).parent_path() / config.sweep;
    file.sweep = parse_json(read_file(sweep), sweep.string()).value("name", "");
  } catch (const Error& error) {
    fail(file.path, ": ", error.what());
  }
  return file;
}

void compare_with_paper(PaperTable& table, const Results& results) {
  for (PaperRow& row : table.rows) {
    std::vector<double> values;
    for (const Variant& variant : results.variants) {
      if (variant.name != row.variant) continue;
      for (const RunResult& run : variant.runs) {
        const Json& test = run.summary["test"];
        const auto at_length = test.find(std::to_string(row.length));
        if (at_length == test.end()) continue;
        const auto value = at_length->find(row.metric.key);
        if (value != at_length->end() && value->is_number())
          values.push_back(row.metric.scale * value->get<double>());
      }
    }
    row.ours = describe(values);
    if (row.spread_known && row.ours.n > 0) row.test = welch_t_test(row.ours, row.published);
    row.words = verdict(row);
  }
}

}  // namespace lssm
