// SPDX-License-Identifier: Apache-2.0
#include "apps/report/latex.h"

#include <algorithm>

#include "apps/report/format.h"

namespace lssm {
namespace {

using Cells = std::vector<std::string>;

// A number in math mode: "-4.5e-07" as $-4.5\times10^{-7}$.
std::string math(const std::string& number) {
  const size_t e = number.find('e');
  if (e == std::string::npos) return "$" + number + "$";
  const std::string exponent = std::to_string(std::stoi(number.substr(e + 1)));
  return "$" + number.substr(0, e) + "\\times10^{" + exponent + "}$";
}

std::string number(const MetricInfo& metric, double value) {
  return math(value_text(metric, value));
}

std::string mean(const MetricInfo& metric, const Description& d) {
  if (d.n < 2) return number(metric, d.mean);
  return number(metric, d.mean) + " $\\pm$ " + number(metric, d.std);
}

class Table {
 public:
  Table(const std::string& columns, const Cells& head) {
    text_ = "\\begin{tabular}{" + columns + "}\n\\toprule\n";
    add(head);
    rule();
  }
  void add(const Cells& cells) {
    for (size_t i = 0; i < cells.size(); ++i) text_ += (i ? " & " : "") + cells[i];
    text_ += " \\\\\n";
  }
  void rule() { text_ += "\\midrule\n"; }
  std::string end() const { return text_ + "\\bottomrule\n\\end{tabular}\n"; }

 private:
  std::string text_;
};

std::string floating(const std::string& tabular, const std::string& caption) {
  return "\n\\begin{table}\n\\centering\n" + tabular + "\\caption{" + caption + "}\n\\end{table}\n";
}

std::string variant_name(const Report& report, const std::string& name) {
  return latex_escaped(name) + (name == report.baseline ? " (baseline)" : "");
}

// Variants below each other, lengths side by side; then the ceilings.
std::string figures(const Report& report, const std::vector<const ReportTable*>& tables) {
  const MetricInfo& metric = tables.front()->metric;
  Cells head = {"length"};
  for (const ReportTable* table : tables) head.push_back(math(std::to_string(table->length)));
  Table out("l" + std::string(tables.size(), 'r'), head);
  const auto add = [&](const std::string& title, auto cell) {
    Cells cells = {title};
    bool any = false;
    for (const ReportTable* table : tables) {
      const std::string words = cell(*table);
      any = any || !words.empty();
      cells.push_back(words.empty() ? "---" : words);
    }
    if (any) out.add(cells);
  };
  for (const CostRow& cost : report.costs) {
    add(variant_name(report, cost.variant), [&](const ReportTable& table) -> std::string {
      const ReportRow* row = find_row(table, cost.variant);
      return row ? mean(metric, row->figures) : "";
    });
  }
  const Cells ceilings = ceiling_names(tables);
  if (!ceilings.empty()) out.rule();
  for (const std::string& name : ceilings) {
    add(latex_escaped(ceiling_title(name)), [&](const ReportTable& table) -> std::string {
      for (const CeilingLine& c : table.ceilings)
        if (c.name == name) return number(metric, c.value);
      return "";
    });
  }
  return out.end();
}

// How many seeds the means are of: "5 seeds", "3 to 5 seeds".
std::string seed_counts(const std::vector<const ReportTable*>& tables) {
  int64_t least = INT64_MAX, most = 0;
  for (const ReportTable* table : tables) {
    for (const ReportRow& row : table->rows) {
      least = std::min(least, row.figures.n);
      most = std::max(most, row.figures.n);
    }
  }
  const std::string range = least == most ? "" : std::to_string(least) + " to ";
  return text(range, most, most == 1 ? " seed" : " seeds");
}

std::string tests(const Report& report, const std::vector<const ReportTable*>& tables) {
  const MetricInfo& metric = tables.front()->metric;
  Table out("llrrrrrrr", {"length", "variant", "pairs", "difference", "$t$", "$p$", "Holm $p$",
                          "$d_z$", "Wilcoxon $p$"});
  bool any = false;
  Cells untested;
  for (const ReportTable* table : tables) {
    for (const ReportRow& row : table->rows) {
      if (!row.comparison) continue;
      any = true;
      const PairedTest& test = row.comparison->t_test;
      const WilcoxonTest& wilcoxon = row.comparison->wilcoxon;
      const bool usual = test.kind == TestCase::usual;
      const auto known = [](bool is_known, const std::string& words) {
        return is_known ? words : std::string("---");
      };
      out.add({math(std::to_string(table->length)), latex_escaped(row.variant),
               math(std::to_string(test.n)), known(test.n > 0, number(metric, test.difference)),
               known(usual, math(decimals_text(test.t, 2))), known(usual, math(p_text(test.p))),
               known(usual, math(p_text(row.comparison->p_holm))),
               known(usual, math(decimals_text(test.cohens_dz, 2))),
               known(wilcoxon.kind == TestCase::usual, math(p_text(wilcoxon.p)))});
      if (!usual) {
        untested.push_back(text(latex_escaped(row.variant), " at length ", table->length, ": ",
                                latex_escaped(row.comparison->words), "."));
      }
    }
  }
  if (!any) return "";
  const int64_t family = tables.front()->family;
  std::string caption = latex_escaped(metric_title(metric)) + " against " +
                        latex_escaped(report.baseline) + ", paired by seed: two-sided $t$-tests";
  if (family > 0)
    caption += text(", $p$ also adjusted by Holm for ", family, family == 1 ? " test" : " tests",
                    " of this metric");
  caption += "; $d_z$: mean / standard deviation of the differences.";
  for (const std::string& words : untested) caption += " " + words;
  return floating(out.end(), caption);
}

std::string paper(const PaperTable& table) {
  Table out("llrrrl", {"paper's", "figure", "length", "paper", "ours", ""});
  for (const PaperRow& row : table.rows) {
    std::string published = number(row.metric, row.published.mean);
    if (row.spread_known) published += " $\\pm$ " + number(row.metric, row.published.std);
    out.add({latex_escaped(row.label), latex_escaped(metric_title(row.metric)),
             math(std::to_string(row.length)), published,
             row.ours.n > 0 ? mean(row.metric, row.ours) : "---", latex_escaped(row.words)});
  }
  return floating(out.end(), latex_escaped(table.title) + ". " + latex_escaped(table.source) +
                                 ". " + kPaperTest + ".");
}

std::string comment(const std::string& words) {
  std::string line = words;
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return "% " + line + "\n";
}

}  // namespace

std::string latex(const Report& report) {
  std::string out = comment(report.title) + "% needs \\usepackage{booktabs}\n";
  for (const std::string& sentence : introduction(report)) out += comment(sentence);
  for (const std::string& line : report.notes) out += comment("Note: " + line);
  for (const std::string& line : report.origin) out += comment(line);
  if (report.paper) out += paper(*report.paper);
  for (const auto& tables : tables_by_metric(report)) {
    const std::string caption = latex_escaped(metric_title(tables.front()->metric)) +
                                ", mean and standard deviation of " + seed_counts(tables) + ". " +
                                latex_escaped(report.selection_rule);
    out += floating(figures(report, tables), caption) + tests(report, tables);
  }
  return out;
}

std::string latex_escaped(const std::string& words) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i) {
    const char c = words[i];
    const std::string_view rest = std::string_view(words).substr(i);
    if (rest.starts_with("±")) {
      out += "$\\pm$";
      i += std::string_view("±").size() - 1;
    } else if (uint8_t(c) < ' ') {
      out += ' ';
    } else if (std::string("{}$&#%_").find(c) != std::string::npos) {
      out += std::string("\\") + c;
    } else if (c == '\\') {
      out += "\\textbackslash{}";
    } else if (c == '~') {
      out += "\\textasciitilde{}";
    } else if (c == '^') {
      out += "\\textasciicircum{}";
    } else if (c == '<' || c == '>' || c == '|') {
      out += std::string("$") + c + "$";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace lssm
