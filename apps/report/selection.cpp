// SPDX-License-Identifier: Apache-2.0
#include "apps/report/selection.h"

#include <algorithm>
#include <map>
#include <set>

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

// The seeds that all of them have.
std::vector<uint64_t> shared_seeds(const std::vector<const Variant*>& candidates) {
  std::map<uint64_t, size_t> count;
  for (const Variant* candidate : candidates)
    for (const RunResult& run : candidate->runs) ++count[run.seed];
  std::vector<uint64_t> shared;
  for (const auto& [seed, times] : count)
    if (times == candidates.size()) shared.push_back(seed);
  return shared;
}

double mean_of(const Variant& variant, const std::vector<uint64_t>& seeds, const std::string& key) {
  double sum = 0;
  for (const RunResult& run : variant.runs) {
    if (std::find(seeds.begin(), seeds.end(), run.seed) == seeds.end()) continue;
    const std::optional<double> value = number_at(run.summary, {"valid", key});
    LSSM_CHECK(value, "--select: ", variant.name, " seed ", run.seed, " has no valid.", key);
    sum += *value;
  }
  return sum / double(seeds.size());
}

struct Choice {
  const Variant* chosen = nullptr;
  std::string rule, left_out;  // "so2: so2_lr=0.1, the best of 2 (70.00 % on seeds 1, 2)"
};

Choice choose(const std::string& plain, const std::vector<const Variant*>& candidates,
              const std::string& figure) {
  const std::string key = figure.substr(figure.find('.') + 1);
  const MetricInfo metric = metric_info(key);
  const std::vector<uint64_t> seeds = shared_seeds(candidates);
  LSSM_CHECK(!seeds.empty(), "--select: the ", candidates.size(), " configs of ", plain,
             " have no seed in common");
  const auto shown = [&metric](double mean) {
    return value_text(metric, metric.scale * mean) + (metric.unit.empty() ? "" : " " + metric.unit);
  };
  std::vector<double> means;
  for (const Variant* candidate : candidates) means.push_back(mean_of(*candidate, seeds, key));
  const auto best = metric.higher_is_better ? std::max_element(means.begin(), means.end())
                                            : std::min_element(means.begin(), means.end());
  const size_t at = size_t(best - means.begin());
  Choice choice = {candidates[at], "", ""};
  choice.rule =
      text(plain, ": ", candidates[at]->name, ", the best of ", candidates.size(), " (",
           shown(*best), " on ", seeds.size() == 1 ? "seed " : "seeds ", seeds_text(seeds), ")");
  std::vector<std::string> others;
  for (size_t i = 0; i < candidates.size(); ++i)
    if (i != at) others.push_back(candidates[i]->name + " (" + shown(means[i]) + ")");
  choice.left_out = comma_list(others);
  return choice;
}

}  // namespace

std::vector<std::string> configs_named(const Results& results, const std::string& name) {
  std::vector<std::string> names;
  for (const Variant& variant : results.variants) {
    if (variant.name == name) return {name};
    if (variant.plain == name) names.push_back(variant.name);
  }
  return names;
}

std::string select_configs(Results& results, const std::string& baseline,
                           const std::string& figure) {
  check_figure(figure);
  std::vector<std::pair<std::string, std::vector<const Variant*>>> groups;
  for (const Variant& variant : results.variants) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&variant](const auto& g) { return g.first == variant.plain; });
    if (group == groups.end()) group = groups.insert(group, {variant.plain, {}});
    group->second.push_back(&variant);
  }
  std::set<std::string> kept;
  std::vector<std::string> rules, left_out;
  bool any = false;
  for (const auto& [plain, candidates] : groups) {
    const auto named = std::find_if(candidates.begin(), candidates.end(), [&](const Variant* v) {
      return v->name == baseline || candidates.size() == 1;
    });
    if (named != candidates.end()) {
      const bool only = candidates.size() == 1;
      any = any || !only;
      kept.insert((*named)->name);
      rules.push_back(
          only ? plain + ": its only config"
               : text(plain, ": ", baseline, ", named as the baseline, of ", candidates.size()));
      for (const Variant* other : candidates)
        if (other != *named) left_out.push_back(other->name);
      continue;
    }
    any = true;
    const Choice choice = choose(plain, candidates, figure);
    kept.insert(choice.chosen->name);
    rules.push_back(choice.rule);
    left_out.push_back(choice.left_out);
  }
  if (!any) return "Nothing was selected by " + figure + ": every variant has one config.";
  results.notes.push_back("left out by --select " + figure + ": " + comma_list(left_out));
  std::erase_if(results.variants, [&](const Variant& v) { return !kept.count(v.name); });
  std::string rule = "Of each variant's configs the one with the best mean " + figure +
                     " was chosen, over the seeds that all of them have: ";
  for (size_t i = 0; i < rules.size(); ++i) rule += (i ? "; " : "") + rules[i];
  return rule + ".";
}

void keep_seeds(Results& results, const std::vector<uint64_t>& seeds) {
  for (Variant& variant : results.variants) {
    std::erase_if(variant.runs, [&seeds](const RunResult& run) {
      return std::find(seeds.begin(), seeds.end(), run.seed) == seeds.end();
    });
  }
  std::erase_if(results.variants, [](const Variant& variant) { return variant.runs.empty(); });
  LSSM_CHECK(!results.variants.empty(), "report: --seeds: no finished run has one of these seeds");
}

void put_first(Results& results, const std::string& baseline) {
  if (baseline.empty()) return;
  const size_t at = find_baseline(results, baseline);
  std::rotate(results.variants.begin(), results.variants.begin() + int64_t(at),
              results.variants.begin() + int64_t(at) + 1);
}

}  // namespace lssm
