// SPDX-License-Identifier: Apache-2.0
// What a report says, free of how it is written down: every output format renders this.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/experiment/statistics.h"
#include "apps/report/results.h"

namespace lssm {

// How a figure of summary.json's "test" is shown and counted.
struct MetricInfo {
  std::string key;        // "final"
  std::string label;      // "final step"
  std::string unit;       // "%", or "" for plain numbers
  double scale = 1;       // shown value = scale * stored value
  bool accuracy = false;  // a fraction where 1 is perfect: seeds at >= 99 % are counted
  bool higher_is_better = true;
  bool known = true;  // false: a metric without a line of its own, of which only the key is known
};
// Known metrics have their own line in a table; others are plain numbers under their key.
MetricInfo metric_info(const std::string& key);
// The keys that have such a line.
std::vector<std::string> known_metrics();

// A variant against the baseline, paired by seed. Values are as shown (scaled).
struct Comparison {
  PairedTest t_test;
  WilcoxonTest wilcoxon;
  double p_holm = 1;               // of the t test, over all tests of the metric
  double p_equivalence = 1;        // of |difference| < margin, not adjusted
  double margin = 0;               // 0: equivalence was not tested
  std::vector<uint64_t> left_out;  // seeds that only one of both has
  std::string words;               // what it amounts to, in a sentence
};

struct ReportRow {
  std::string variant;
  std::vector<uint64_t> seeds;
  std::vector<double> values;  // shown values, by seed
  Description figures;
  int64_t seeds_at_99 = 0;               // accuracies only
  std::optional<Comparison> comparison;  // absent for the baseline, or without one
};

struct CeilingLine {
  std::string name;  // "chance", "parikh"
  double value;      // as shown
};

// One metric at one length, over all variants that have it.
struct ReportTable {
  MetricInfo metric;
  int64_t length = 0;
  std::vector<CeilingLine> ceilings;
  std::vector<ReportRow> rows;  // in the order of the variants
  int64_t family = 0;  // t tests of this metric, at all lengths: what Holm's correction counts
};
// Null where a variant has no row.
const ReportRow* find_row(const ReportTable& table, const std::string& variant);

// What a variant costs.
struct CostRow {
  std::string variant;
  int64_t parameters = 0, state_size = 0, steps = 0;
  Description cpu_s;
  int64_t longest_99 = 0;     // smallest over the seeds
  double largest_drift = -1;  // over the seeds; -1: there is none
  std::string checkpoint;     // "last" or "best": which parameters were tested
};

// A key in which a variant's config differs from the baseline's (from the first variant's without
// a baseline). Values are JSON text; "" where a config does not have the key.
struct ConfigDifference {
  std::string variant, key, baseline_value, value;
};

// A figure that a paper printed, beside ours: one row of configs/papers/<table>.json.
struct PaperRow {
  std::string label;    // as the paper calls the model
  std::string variant;  // ours
  MetricInfo metric;
  int64_t length = 0;
  Description published;      // n, mean and std, as shown
  bool printed = false;       // the paper has the figure
  bool spread_known = false;  // it gives std and n
  Description ours;           // n = 0: no run of ours has it
  double reach = 0;           // the figure that each seed should reach; 0: none
  WelchTest test;             // ours - published, if both spreads are known
  std::string words;          // how ours stands to the paper's
};

struct PaperTable {
  std::string title, source;  // source: which table of which paper
  std::vector<PaperRow> rows;
  std::vector<std::string> remarks;
};

struct ReportOptions {
  std::string baseline = {};              // "" for none
  std::vector<std::string> metrics = {};  // empty: all that every variant has, loss and drift aside
  std::vector<int64_t> lengths = {};      // empty: all
  std::optional<double> margin = {};  // of equivalence, as shown; absent: 1, for figures in % alone
  std::string title = {};             // "" for the names of the variants
  std::string selection = {};         // how variants were chosen, for the selection rule; "": not
  std::vector<std::string> origin = {};  // lines to begin the report's origin with
};

struct Report {
  std::string title, baseline;
  std::vector<int64_t> train_lengths;  // of the variants, without repeats
  std::string selection_rule;          // which parameters were tested, and how they were chosen
  std::vector<std::string> notes;
  std::vector<ReportTable> tables;  // by metric, then length
  std::vector<CostRow> costs;
  std::vector<ConfigDifference> differences;
  std::optional<PaperTable> paper;  // with --paper
  std::vector<std::string> origin;  // lines: command, commit, seeds, machine, CPU time
};

Report analyse(const Results& results, const ReportOptions& options);

// The ceilings of a metric at a length, as the runs' summaries have them.
std::vector<CeilingLine> ceilings_of(const std::vector<Variant>& variants, const MetricInfo& metric,
                                     int64_t length);

}  // namespace lssm
