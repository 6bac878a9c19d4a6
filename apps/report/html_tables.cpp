// SPDX-License-Identifier: Apache-2.0
#include "apps/report/html_tables.h"

#include <algorithm>
#include <map>
#include <set>

#include "apps/report/comparison.h"
#include "apps/report/format.h"
#include "apps/report/html_text.h"
#include "core/check.h"

namespace lssm {
namespace {

std::string head(const std::string& words, const std::string& more = "") {
  return element("th", words, "scope=\"col\"" + more);
}
std::string words_head(const std::string& words) { return head(words, " class=\"words\""); }

// The name at the beginning of a row.
std::string row_head(const Report& report, const std::string& variant) {
  std::string cell = "<th scope=\"row\">" + escaped(variant);
  if (!report.baseline.empty() && variant == report.baseline)
    cell += " <span class=\"tag\">baseline</span>";
  return cell + "</th>";
}

// What is not there is a dash, so that the numbers stand out.
std::string number_cell(const std::string& number, const std::string& css = "") {
  if (number == "none") return "<td class=\"muted\">–</td>";
  return (css.empty() ? "<td>" : "<td class=\"" + css + "\">") + number_html(number) + "</td>";
}

std::string table_html(const std::string& caption, const std::string& heads,
                       const std::string& bodies, const std::string& css = "") {
  return "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" + escaped(caption) +
         "\">\n<table" + (css.empty() ? "" : " class=\"" + css + "\"") + ">\n" +
         element("caption", caption) + "\n<thead><tr>" + heads + "</tr></thead>\n" + bodies +
         "</table>\n</div>\n";
}

std::string ceiling_cell(const ReportTable* table, const std::string& name) {
  if (table)
    for (const CeilingLine& line : table->ceilings)
      if (line.name == name) return number_cell(value_text(table->metric, line.value));
  return number_cell("none");
}

// Beside a mean; also where there is none it takes its room, so that numbers stay in line.
std::string sign_html(Verdict verdict) {
  const auto sign = [](const std::string& css, const std::string& title, const std::string& shape) {
    return "<span class=\"sign " + css + "\" title=\"" + title + "\">" + shape + "</span>";
  };
  switch (verdict) {
    case Verdict::better:
      return sign("better", "significantly better", "▲");
    case Verdict::worse:
      return sign("worse", "significantly worse", "▼");
    case Verdict::always_better:
      return sign("better", "better by the same on every seed", "△");
    case Verdict::always_worse:
      return sign("worse", "worse by the same on every seed", "▽");
    case Verdict::open:
      break;
  }
  return "<span class=\"sign\"></span>";
}

Verdict finding_at(const ReportTable* table, const std::string& variant) {
  const ReportRow* row = table ? find_row(*table, variant) : nullptr;
  return row && row->comparison ? verdict(table->metric, *row->comparison) : Verdict::open;
}

std::string mean_cell(const ReportTable* table, const std::string& variant) {
  const ReportRow* row = table ? find_row(*table, variant) : nullptr;
  if (!row) return number_cell("none");
  std::string cell = "<td>" + number_html(value_text(table->metric, row->figures.mean));
  if (row->figures.n > 1)
    cell += "<span class=\"std\"> ± " + number_html(value_text(table->metric, row->figures.std)) +
            "</span>";
  return cell + sign_html(finding_at(table, variant)) + "</td>";
}

}  // namespace

bool is_significant(const Comparison& comparison) {
  return comparison.t_test.kind == TestCase::usual && comparison.p_holm < kSignificant;
}

Verdict verdict(const MetricInfo& metric, const Comparison& comparison) {
  const PairedTest& test = comparison.t_test;
  const bool better = (test.difference > 0) == metric.higher_is_better;
  if (test.kind == TestCase::zero_variance)
    return better ? Verdict::always_better : Verdict::always_worse;
  if (!is_significant(comparison)) return Verdict::open;
  return better ? Verdict::better : Verdict::worse;
}

std::string overview_html(const Report& report) {
  std::set<int64_t> lengths;
  for (const ReportTable& table : report.tables) lengths.insert(table.length);
  std::string heads = words_head("Mean ± std at length");
  for (const int64_t length : lengths) {
    const bool trained =
        std::count(report.train_lengths.begin(), report.train_lengths.end(), length);
    heads += trained ? "<th scope=\"col\">" + std::to_string(length) +
                           " <span class=\"tag\">trained</span></th>"
                     : head(std::to_string(length));
  }
  bool any_sign = false;
  std::string bodies;
  for (const auto& tables : tables_by_metric(report)) {
    std::map<int64_t, const ReportTable*> at;
    for (const ReportTable* table : tables) at[table->length] = table;
    bodies +=
        text("<tbody><tr class=\"group\"><th scope=\"rowgroup\" colspan=\"", lengths.size() + 1,
             "\">", escaped(metric_title(tables.front()->metric)), "</th></tr>\n");
    for (const CostRow& variant : report.costs) {
      bodies += "<tr>" + row_head(report, variant.variant);
      for (const int64_t length : lengths) {
        bodies += mean_cell(at[length], variant.variant);
        any_sign = any_sign || finding_at(at[length], variant.variant) != Verdict::open;
      }
      bodies += "</tr>\n";
    }
    for (const std::string& name : ceiling_names(tables)) {
      bodies += "<tr class=\"ceiling\">" + element("th", ceiling_title(name), "scope=\"row\"");
      for (const int64_t length : lengths) bodies += ceiling_cell(at[length], name);
      bodies += "</tr>\n";
    }
    bodies += "</tbody>\n";
  }
  std::string html = table_html("All results at a glance", heads, bodies, "overview");
  if (any_sign)
    html += element("p",
                    "▲ better, ▼ worse than " + report.baseline +
                        ", significant (Holm p < 0.05). △ ▽ better or worse by the same on every "
                        "seed: no test.",
                    "class=\"small\"") +
            "\n";
  return html;
}

std::string figures_table_html(const Report& report,
                               const std::vector<const ReportTable*>& tables) {
  const MetricInfo& metric = tables.front()->metric;
  std::string heads = head("length") + words_head("variant") + head("n") + head("mean ± std") +
                      head("95 % interval of the mean") + head("median") + head("min – max");
  if (metric.accuracy) heads += head("seeds ≥ 99 %");
  std::string bodies;
  for (const ReportTable* table : tables) {
    bodies += "<tbody>\n";
    std::string first =
        text("<th scope=\"rowgroup\" class=\"length\" rowspan=\"",
             table->rows.size() + table->ceilings.size(), "\">", table->length, "</th>");
    for (const ReportRow& row : table->rows) {
      const Description& d = row.figures;
      const auto value = [&](double x) { return value_text(metric, x); };
      bodies += "<tr>" + first + row_head(report, row.variant) + number_cell(std::to_string(d.n)) +
                number_cell(d.n < 2 ? value(d.mean) : mean_text(metric, d, "±")) +
                number_cell(d.n < 2 ? "none" : interval_text(metric, d)) +
                number_cell(value(d.median)) + number_cell(value(d.min) + " – " + value(d.max));
      if (metric.accuracy) bodies += number_cell(text(row.seeds_at_99, " of ", d.n));
      bodies += "</tr>\n";
      first.clear();
    }
    for (const CeilingLine& line : table->ceilings) {
      bodies += "<tr class=\"ceiling\">" + first +
                element("th", ceiling_title(line.name), "scope=\"row\"") + "<td></td>" +
                number_cell(value_text(metric, line.value)) +
                text("<td colspan=\"", metric.accuracy ? 4 : 3, "\"></td></tr>\n");
      first.clear();
    }
    bodies += "</tbody>\n";
  }
  return table_html("Over seeds: " + metric_title(metric), heads, bodies);
}

std::string tests_table_html(const Report& report, const std::vector<const ReportTable*>& tables) {
  const MetricInfo& metric = tables.front()->metric;
  std::string bodies;
  for (const ReportTable* table : tables) {
    std::vector<const ReportRow*> rows;
    for (const ReportRow& row : table->rows)
      if (row.comparison) rows.push_back(&row);
    if (rows.empty()) continue;
    std::string first = text("<th scope=\"rowgroup\" class=\"length\" rowspan=\"", rows.size(),
                             "\">", table->length, "</th>");
    bodies += "<tbody>\n";
    for (const ReportRow* row : rows) {
      const Comparison& c = *row->comparison;
      const ComparisonText words = comparison_text(metric, c);
      const std::string css = is_significant(c) ? "strong" : "";
      bodies += "<tr>" + first + row_head(report, row->variant) + number_cell(words.pairs) +
                number_cell(words.difference, css) + number_cell(words.t) + number_cell(words.p) +
                number_cell(words.p_holm, css) + number_cell(words.dz) +
                number_cell(words.wilcoxon) + element("td", c.words, "class=\"words\"") + "</tr>\n";
      first.clear();
    }
    bodies += "</tbody>\n";
  }
  if (bodies.empty()) return "";
  const std::string heads = head("length") + words_head("variant") + head("pairs") +
                            head("difference [95 % interval]") + head("t (df)") + head("p") +
                            head("Holm p") + "<th scope=\"col\">d<sub>z</sub></th>" +
                            head("Wilcoxon W (p)") + words_head("in words");
  return table_html("Against " + report.baseline + ", paired by seed: " + metric_title(metric),
                    heads, bodies);
}

std::string paper_html(const PaperTable& paper) {
  const auto cell = [](const char* css, const std::string& words) {
    return text("<td class=\"", css, "\">", escaped(words), "</td>");
  };
  std::string bodies = "<tbody>\n";
  for (const PaperRow& row : paper.rows) {
    const std::string ours = row.ours.n > 0 ? mean_text(row.metric, row.ours, "±") : "none";
    bodies += "<tr><th scope=\"row\">" + escaped(row.label) + "</th>" + cell("name", row.variant) +
              cell("name", metric_title(row.metric)) + number_cell(std::to_string(row.length)) +
              number_cell(published_text(row, "±")) + number_cell(ours) +
              number_cell(std::to_string(row.ours.n)) + cell("words", row.words) + "</tr>\n";
  }
  const std::string heads = words_head("in the paper") + words_head("ours") + words_head("figure") +
                            head("length") + head("paper") + head("ours") + head("our seeds") +
                            words_head("ours to the paper's");
  std::string html = element("p", paper.source + ".") + "\n" +
                     table_html("Published figures and ours", heads, bodies + "</tbody>\n") +
                     element("p", text(kPaperTest, "."), "class=\"small\"") + "\n";
  if (paper.remarks.empty()) return html;
  html += "<ul>\n";
  for (const std::string& line : paper.remarks) html += element("li", line) + "\n";
  return html + "</ul>\n";
}

std::string costs_html(const Report& report) {
  std::string bodies = "<tbody>\n";
  for (const CostRow& row : report.costs) {
    const std::string spread = row.cpu_s.n > 1 ? " ± " + decimals_text(row.cpu_s.std, 1) : "";
    bodies += "<tr>" + row_head(report, row.variant) + number_cell(std::to_string(row.parameters)) +
              number_cell(std::to_string(row.state_size)) + number_cell(std::to_string(row.steps)) +
              number_cell(decimals_text(row.cpu_s.mean, 1) + spread) +
              element("td", row.checkpoint) +
              number_cell(row.longest_99 > 0 ? std::to_string(row.longest_99) : "none") +
              number_cell(drift_text(row.largest_drift)) + "</tr>\n";
  }
  const std::string heads = words_head("variant") + head("parameters") + head("state size") +
                            head("steps") + head("CPU seconds a run") + head("tested parameters") +
                            head("longest length at ≥ 99 % on every seed") + head("largest drift");
  return table_html("What each variant costs", heads, bodies + "</tbody>\n");
}

std::string differences_html(const Report& report) {
  const std::string reference = difference_reference(report);
  if (report.differences.empty())
    return element("p", "Nothing but names and seeds differs from " + reference + ".");
  const auto code = [](const std::string& json) {
    return "<td class=\"words\">" +
           (json.empty() ? "<span class=\"muted\">absent</span>" : element("code", json)) + "</td>";
  };
  std::string bodies;
  for (size_t i = 0; i < report.differences.size();) {
    const std::string& variant = report.differences[i].variant;
    size_t end = i;
    while (end < report.differences.size() && report.differences[end].variant == variant) ++end;
    std::string first = text("<th scope=\"rowgroup\" class=\"variant\" rowspan=\"", end - i, "\">",
                             escaped(variant), "</th>");
    bodies += "<tbody>\n";
    for (; i < end; ++i) {
      const ConfigDifference& d = report.differences[i];
      bodies += "<tr>" + first + "<td class=\"words\">" + element("code", d.key) + "</td>" +
                code(d.baseline_value) + code(d.value) + "</tr>\n";
      first.clear();
    }
    bodies += "</tbody>\n";
  }
  return table_html(
      "What differs from " + reference + " in the configs",
      words_head("variant") + words_head("key") + words_head(reference) + words_head("the variant"),
      bodies);
}

}  // namespace lssm
