// SPDX-License-Identifier: Apache-2.0
#include "apps/report/html_figures.h"

#include "apps/report/html_text.h"

namespace lssm {
namespace {

std::string legend_entry(const std::string& swatch, const std::string& label) {
  return "<li>" + swatch + element("span", label) + "</li>\n";
}

// Beside the plot, not in it: it covers no curve and may be as long as it likes.
std::string legend(const Plot& plot) {
  std::string all = "<ul class=\"legend\">\n";
  for (const PlotSeries& series : plot.series)
    all += legend_entry(series_swatch(series.look), series.label);
  for (size_t i = 0; i < plot.references.size(); ++i)
    all += legend_entry(reference_swatch(i), plot.references[i].label);
  if (!plot.marks.empty()) all += legend_entry(mark_swatch(), "training length");
  return all + "</ul>\n";
}

std::string figure_html(const Figure& figure, const std::string& drawing) {
  std::string html = "<figure>\n<figcaption>" + element("strong", figure.plot.title);
  if (!figure.caption.empty()) html += " " + element("span", figure.caption);
  return html + "</figcaption>\n" + drawing + legend(figure.plot) + "</figure>\n";
}

// What the lines and bands are, if there are such.
std::string reading_help(const std::vector<Figure>& figures) {
  bool bands = false, references = false;
  for (const Figure& figure : figures) {
    references = references || !figure.plot.references.empty();
    for (const PlotSeries& series : figure.plot.series)
      for (const PlotPoint& p : series.points) bands = bands || p.low < p.high;
  }
  std::string help;
  if (bands) help = "Lines are means over seeds; bands reach from the smallest to the largest. ";
  if (references) help += "Thin dashed lines without markers are ceilings.";
  return help.empty() ? "" : element("p", help, "class=\"small\"") + "\n";
}

}  // namespace

std::string figures_html(const std::vector<Figure>& figures) {
  std::string html = reading_help(figures);
  std::string section;
  for (size_t i = 0; i < figures.size(); ++i) {
    const Drawing drawing = draw(figures[i].plot, "fig" + std::to_string(i + 1));
    if (drawing.missing) return element("p", drawing.problem, "class=\"note\"");
    if (section != figures[i].section) {
      if (!section.empty()) html += "</div>\n";
      section = figures[i].section;
      html += element("h3", section) + "\n<div class=\"figures\">\n";
    }
    html += figure_html(figures[i], drawing.problem.empty()
                                        ? drawing.svg
                                        : element("p", drawing.problem, "class=\"note\""));
  }
  return section.empty() ? element("p", "There is nothing to plot.", "class=\"note\"")
                         : html + "</div>\n";
}

}  // namespace lssm
