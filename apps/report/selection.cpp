// SPDX-License-Identifier: Apache-2.0
#include "apps/report/selection.h"

#include <algorithm>

#include "apps/report/format.h"

namespace lssm {
namespace {

const std::vector<std::string> kFigures = {"valid.prefix", "valid.final", "valid.loss"};

void check_figure(const std::string& figure) {
  if (std::find(kFigures.begin(), kFigures.end(), figure) != kFigures.end()) return;
  const std::string valid = "valid.", test = "test.";
  const std::string metric = figure.starts_with(test) ? figure.substr(test.size()) : figure;
  const std::vector<std::string> known = known_metrics();
  const bool of_test =
      figure.starts_with(test) || std::find(known.begin(), known.end(), metric) != known.end();
  LSSM_CHECK(!of_test, "--select: got ", figure,
             ", a figure of the test: models are selected on valid alone; allowed: ",
             comma_list(kFigures));
  fail("--select: got ", figure, "; ", spelling_help(figure, kFigures));
}

double mean_of(const Variant& variant, const std::string& key) {
  double sum = 0;
  for (const RunResult& run : variant.runs) {
    const std::optional<double> value = number_at(run.summary, {"valid", key});
    LSSM_CHECK(value, "--select: ", variant.name, " seed ", run.seed, " has no valid.", key);
    sum += *value;
  }
  return sum / double(variant.runs.size());
}

}  // namespace

std::string select_variant(Results& results, const std::string& baseline,
                           const std::string& figure) {
  check_figure(figure);
  const std::string key = figure.substr(figure.find('.') + 1);
  const MetricInfo metric = metric_info(key);
  const auto shown = [&metric](double mean) {
    const std::string unit = metric.unit.empty() ? "" : " " + metric.unit;
    return value_text(metric, metric.scale * mean) + unit;
  };
  const Variant* best = nullptr;
  double best_mean = 0;
  std::vector<std::pair<const Variant*, double>> candidates;
  for (const Variant& variant : results.variants) {
    if (variant.name == baseline) continue;
    const double mean = mean_of(variant, key);
    candidates.emplace_back(&variant, mean);
    if (best && !(metric.higher_is_better ? mean > best_mean : mean < best_mean)) continue;
    best = &variant;
    best_mean = mean;
  }
  LSSM_CHECK(best, "--select: there is no variant beside the baseline to choose from");
  std::vector<std::string> others;
  for (const auto& [variant, mean] : candidates)
    if (variant != best) others.push_back(variant->name + " (" + shown(mean) + ")");
  const std::string name = best->name;
  if (!others.empty()) {
    results.notes.push_back("left out by --select " + figure + ": " + comma_list(others));
  }
  std::erase_if(results.variants, [&](const Variant& variant) {
    return variant.name != name && variant.name != baseline;
  });
  return text(name, " was chosen among ", candidates.size(),
              candidates.size() == 1 ? " variant" : " variants", " for the best mean ", figure,
              ", ", shown(best_mean), ".");
}

void put_first(Results& results, const std::string& baseline) {
  if (baseline.empty()) return;
  const size_t at = find_baseline(results, baseline);
  std::rotate(results.variants.begin(), results.variants.begin() + int64_t(at),
              results.variants.begin() + int64_t(at) + 1);
}

}  // namespace lssm
