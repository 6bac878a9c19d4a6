// SPDX-License-Identifier: Apache-2.0
#include "apps/report/json.h"

#include "apps/report/format.h"

namespace lssm {
namespace {

Json only_if(bool known, double value) { return known ? Json(value) : Json(); }

const char* case_name(TestCase kind) {
  switch (kind) {
    case TestCase::usual:
      return "usual";
    case TestCase::too_few:
      return "too_few";
    case TestCase::identical:
      return "identical";
    case TestCase::zero_variance:
      return "zero_variance";
  }
  return "usual";
}

Json description(const Description& d) {
  const bool several = d.n > 1;
  return {{"n", d.n},
          {"mean", d.mean},
          {"std", only_if(several, d.std)},
          {"ci95", several ? Json{d.mean - d.ci95, d.mean + d.ci95} : Json()},
          {"median", d.median},
          {"min", d.min},
          {"max", d.max}};
}

Json comparison(const Comparison& c) {
  const PairedTest& test = c.t_test;
  const WilcoxonTest& w = c.wilcoxon;
  const bool usual = test.kind == TestCase::usual, ranked = w.kind == TestCase::usual;
  return {
      {"case", case_name(test.kind)},
      {"pairs", test.n},
      {"difference", only_if(test.n > 0, test.difference)},
      {"difference_ci95",
       usual ? Json{test.difference - test.ci95, test.difference + test.ci95} : Json()},
      {"t", only_if(usual, test.t)},
      {"df", only_if(usual, test.df)},
      {"p", only_if(usual, test.p)},
      {"p_holm", only_if(usual, c.p_holm)},
      {"cohens_dz", only_if(usual, test.cohens_dz)},
      {"wilcoxon", {{"n", w.n}, {"w", only_if(ranked, w.w)}, {"p", only_if(ranked, w.p)}}},
      {"equivalence", c.margin > 0 ? Json{{"margin", c.margin}, {"p", c.p_equivalence}} : Json()},
      {"seeds_left_out", c.left_out},
      {"words", c.words}};
}

Json table_json(const ReportTable& table) {
  Json rows = Json::array(), ceilings = Json::object();
  for (const CeilingLine& ceiling : table.ceilings) ceilings[ceiling.name] = ceiling.value;
  for (const ReportRow& row : table.rows) {
    Json json = {{"variant", row.variant},
                 {"seeds", row.seeds},
                 {"values", row.values},
                 {"figures", description(row.figures)},
                 {"comparison", row.comparison ? comparison(*row.comparison) : Json()}};
    if (table.metric.accuracy) json["seeds_at_99"] = row.seeds_at_99;
    rows.push_back(json);
  }
  return {{"metric", table.metric.key},
          {"label", table.metric.label},
          {"unit", table.metric.unit},
          {"length", table.length},
          {"ceilings", ceilings},
          {"holm_tests", table.family},
          {"rows", rows}};
}

Json paper_json(const PaperTable& table) {
  Json rows = Json::array();
  for (const PaperRow& row : table.rows) {
    const WelchTest& test = row.test;
    const bool known = row.spread_known, usual = known && test.kind == TestCase::usual;
    rows.push_back({{"label", row.label},
                    {"variant", row.variant},
                    {"metric", row.metric.key},
                    {"length", row.length},
                    {"published",
                     {{"mean", only_if(row.printed, row.published.mean)},
                      {"std", only_if(known, row.published.std)},
                      {"n", known ? Json(row.published.n) : Json()}}},
                    {"ours", row.ours.n > 0 ? description(row.ours) : Json()},
                    {"case", known ? Json(case_name(test.kind)) : Json()},
                    {"t", only_if(usual, test.t)},
                    {"df", only_if(usual, test.df)},
                    {"p", only_if(usual, test.p)},
                    {"words", row.words}});
  }
  return {{"title", table.title},
          {"source", table.source},
          {"test", kPaperTest},
          {"rows", rows},
          {"remarks", table.remarks}};
}

}  // namespace

std::string json(const Report& report) {
  Json tables = Json::array(), costs = Json::array(), differences = Json::array();
  for (const ReportTable& table : report.tables) tables.push_back(table_json(table));
  for (const CostRow& row : report.costs) {
    costs.push_back({{"variant", row.variant},
                     {"parameters", row.parameters},
                     {"state_size", row.state_size},
                     {"steps", row.steps},
                     {"cpu_s", description(row.cpu_s)},
                     {"longest_99", row.longest_99},
                     {"largest_drift", only_if(row.largest_drift >= 0, row.largest_drift)},
                     {"checkpoint", row.checkpoint}});
  }
  const auto value = [](const std::string& json) { return json.empty() ? Json() : Json(json); };
  for (const ConfigDifference& d : report.differences) {
    differences.push_back({{"variant", d.variant},
                           {"key", d.key},
                           {"reference_json", value(d.baseline_value)},
                           {"variant_json", value(d.value)}});
  }
  const Json all = {{"title", report.title},
                    {"baseline", report.baseline.empty() ? Json() : Json(report.baseline)},
                    {"train_lengths", report.train_lengths},
                    {"selection_rule", report.selection_rule},
                    {"tables", tables},
                    {"costs", costs},
                    {"config_differences", differences},
                    {"paper", report.paper ? paper_json(*report.paper) : Json()},
                    {"notes", report.notes},
                    {"origin", report.origin}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lssm
