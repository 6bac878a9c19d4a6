// SPDX-License-Identifier: Apache-2.0
#include "apps/report/markdown.h"

#include <cctype>

#include "apps/report/format.h"

namespace lssm {
namespace {

using Cells = std::vector<std::string>;

// A table whose first `left` columns are words and whose others are numbers.
class Table {
 public:
  Table(const Cells& head, size_t left) {
    add(head);
    text_ += "|";
    for (size_t i = 0; i < head.size(); ++i) text_ += i < left ? "---|" : "---:|";
    text_ += "\n";
  }
  void add(const Cells& cells) {
    for (const std::string& cell : cells) text_ += "| " + cell + " ";
    text_ += "|\n";
  }
  const std::string& str() const { return text_; }

 private:
  std::string text_;
};

// JSON text as code; in a table a bar must be escaped also there.
std::string code(const std::string& json) {
  if (json.empty()) return "absent";
  if (json.find('`') != std::string::npos) return markdown_escaped(json);
  std::string words;
  for (const char c : json) words += c == '|' ? "\\|" : std::string(1, c);
  return "`" + words + "`";
}

std::string variant_name(const Report& report, const std::string& variant) {
  return markdown_escaped(variant) + (variant == report.baseline ? " (baseline)" : "");
}

std::string mean_cell(const ReportTable& table, const std::string& variant) {
  const ReportRow* row = find_row(table, variant);
  return row ? mean_text(table.metric, row->figures, "±") : "none";
}

std::string ceiling_cell(const ReportTable& table, const std::string& name) {
  for (const CeilingLine& ceiling : table.ceilings)
    if (ceiling.name == name) return value_text(table.metric, ceiling.value);
  return "unknown";
}

Cells variant_names(const Report& report, const std::vector<const ReportTable*>& tables) {
  Cells names;
  for (const CostRow& cost : report.costs) {
    for (const ReportTable* table : tables) {
      if (!find_row(*table, cost.variant)) continue;
      names.push_back(cost.variant);
      break;
    }
  }
  return names;
}

// Means over lengths: variants side by side while they fit a screen, else below each other.
std::string overview(const Report& report, const std::vector<const ReportTable*>& tables) {
  constexpr size_t kSideBySide = 6;
  const Cells variants = variant_names(report, tables), ceilings = ceiling_names(tables);
  if (variants.size() + ceilings.size() <= kSideBySide) {
    Cells head = {"length"};
    for (const std::string& name : variants) head.push_back(variant_name(report, name));
    for (const std::string& name : ceilings) head.push_back(markdown_escaped(ceiling_title(name)));
    Table out(head, 0);
    for (const ReportTable* table : tables) {
      Cells cells = {std::to_string(table->length)};
      for (const std::string& name : variants) cells.push_back(mean_cell(*table, name));
      for (const std::string& name : ceilings) cells.push_back(ceiling_cell(*table, name));
      out.add(cells);
    }
    return out.str();
  }
  Cells head = {"mean ± std at length"};
  for (const ReportTable* table : tables) head.push_back(std::to_string(table->length));
  Table out(head, 1);
  const auto add = [&](const std::string& title, auto cell) {
    Cells cells = {title};
    for (const ReportTable* table : tables) cells.push_back(cell(*table));
    out.add(cells);
  };
  for (const std::string& name : variants)
    add(variant_name(report, name), [&](const ReportTable& t) { return mean_cell(t, name); });
  for (const std::string& name : ceilings) {
    add("*" + markdown_escaped(ceiling_title(name)) + "*",
        [&](const ReportTable& t) { return ceiling_cell(t, name); });
  }
  return out.str();
}

std::string details(const Report& report, const std::vector<const ReportTable*>& tables) {
  const bool accuracy = tables.front()->metric.accuracy;
  Cells head = {"length", "variant", "n",  "mean ± std", "95 % interval of the mean",
                "median", "min",     "max"};
  if (accuracy) head.push_back("seeds at ≥ 99 %");
  Table out(head, 2);
  for (const ReportTable* table : tables) {
    const MetricInfo& metric = table->metric;
    for (const ReportRow& row : table->rows) {
      const Description& d = row.figures;
      Cells cells = {std::to_string(table->length), variant_name(report, row.variant),
                     std::to_string(d.n),           mean_text(metric, d, "±"),
                     interval_text(metric, d),      value_text(metric, d.median),
                     value_text(metric, d.min),     value_text(metric, d.max)};
      if (accuracy) cells.push_back(text(row.seeds_at_99, " of ", d.n));
      out.add(cells);
    }
  }
  return out.str();
}

std::string tests(const Report& report, const std::vector<const ReportTable*>& tables) {
  Table out({"length", "variant", "in words", "pairs", "difference [95 % interval]", "t (df)", "p",
             "Holm p", "d_z", "Wilcoxon W (p)"},
            3);
  bool any = false;
  for (const ReportTable* table : tables) {
    for (const ReportRow& row : table->rows) {
      if (!row.comparison) continue;
      any = true;
      const ComparisonText words = comparison_text(table->metric, *row.comparison);
      out.add({std::to_string(table->length), markdown_escaped(row.variant), row.comparison->words,
               words.pairs, words.difference, words.t, words.p, words.p_holm, words.dz,
               words.wilcoxon});
    }
  }
  if (!any) return "";
  return "\nAgainst " + markdown_escaped(report.baseline) + ", paired by seed:\n\n" + out.str();
}

std::string paper(const PaperTable& table) {
  Table out(
      {"in the paper", "ours", "figure", "length", "paper", "ours", "seeds", "ours to the paper's"},
      3);
  for (const PaperRow& row : table.rows) {
    out.add({markdown_escaped(row.label), markdown_escaped(row.variant),
             markdown_escaped(metric_title(row.metric)), std::to_string(row.length),
             published_text(row, "±"),
             row.ours.n > 0 ? mean_text(row.metric, row.ours, "±") : "none",
             std::to_string(row.ours.n), markdown_escaped(row.words)});
  }
  std::string remarks;
  for (const std::string& line : table.remarks) remarks += "- " + markdown_escaped(line) + "\n";
  return "\n## Beside the paper\n\n" + markdown_escaped(table.source) + ".\n\n" + out.str() + "\n" +
         kPaperTest + ".\n" + (remarks.empty() ? "" : "\n" + remarks);
}

std::string costs(const Report& report) {
  Table out({"variant", "parameters", "state", "steps", "CPU s a run", "tested parameters",
             "longest length at ≥ 99 % on every seed", "largest drift"},
            1);
  for (const CostRow& row : report.costs) {
    const std::string std_s = row.cpu_s.n > 1 ? " ± " + decimals_text(row.cpu_s.std, 1) : "";
    out.add({variant_name(report, row.variant), std::to_string(row.parameters),
             std::to_string(row.state_size), std::to_string(row.steps),
             decimals_text(row.cpu_s.mean, 1) + std_s, row.checkpoint,
             row.longest_99 > 0 ? std::to_string(row.longest_99) : "none",
             drift_text(row.largest_drift)});
  }
  return out.str();
}

std::string differences(const Report& report) {
  const std::string reference = difference_reference(report);
  if (report.costs.size() < 2) return "";
  const std::string heading = "\n## Configs\n\nWhat differs from " + markdown_escaped(reference);
  if (report.differences.empty()) return heading + ": nothing but names and seeds.\n";
  Table out({"variant", "key", markdown_escaped(reference), "variant's"}, 4);
  for (const ConfigDifference& d : report.differences) {
    out.add(
        {markdown_escaped(d.variant), "`" + d.key + "`", code(d.baseline_value), code(d.value)});
  }
  return heading + ":\n\n" + out.str();
}

std::string list(const std::string& heading, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string out = "\n## " + heading + "\n\n";
  for (const std::string& line : lines) out += "- " + markdown_escaped(line) + "\n";
  return out;
}

}  // namespace

std::string markdown(const Report& report) {
  std::string out = "# " + markdown_escaped(report.title) + "\n\n";
  for (const std::string& sentence : introduction(report)) out += markdown_escaped(sentence) + "\n";
  if (report.paper) out += paper(*report.paper);
  for (const auto& tables : tables_by_metric(report)) {
    out += "\n## " + markdown_escaped(metric_title(tables.front()->metric)) + "\n\n";
    // With one length the details say it all, but for the ceilings.
    if (tables.size() > 1) {
      out += "Mean ± standard deviation over seeds:\n\n" + overview(report, tables) + "\n";
    }
    out += details(report, tables);
    if (tables.size() == 1) {
      for (const CeilingLine& c : tables.front()->ceilings) {
        out += "\n" + markdown_escaped(ceiling_title(c.name)) + ": " +
               value_text(tables.front()->metric, c.value) + "\n";
      }
    }
    out += tests(report, tables);
  }
  for (const std::string& legend : {figures_legend(report), tests_legend(report)})
    if (!legend.empty()) out += "\n" + markdown_escaped(legend) + "\n";
  out += "\n## Costs\n\n" + costs(report) + differences(report);
  return out + list("Notes", report.notes) + list("Origin", report.origin);
}

std::string markdown_escaped(const std::string& words) {
  const auto is_word = [&](size_t i) {
    return i < words.size() && (std::isalnum(uint8_t(words[i])) || uint8_t(words[i]) >= 0x80);
  };
  std::string out;
  for (size_t i = 0; i < words.size(); ++i) {
    const char c = words[i];
    const bool inside_word = i > 0 && is_word(i - 1) && is_word(i + 1);
    if (uint8_t(c) < ' ') {
      out += ' ';
    } else {
      const bool special = std::string("\\`*|<~[]#").find(c) != std::string::npos;
      if (special || (c == '_' && !inside_word)) out += '\\';
      out += c;
    }
  }
  return out;
}

}  // namespace lssm
