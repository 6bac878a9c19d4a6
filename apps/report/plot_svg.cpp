// SPDX-License-Identifier: Apache-2.0
#include "apps/report/plot_svg.h"

#include <cstdio>
#include <string_view>

#include "apps/report/html_text.h"
#include "apps/report/plot_look.h"

namespace lssm {
namespace {

void replace_all(std::string& words, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = words.find(from, at)) != std::string::npos; at += to.size())
    words.replace(at, from.size(), to);
}

// Every 'rgb(  1,   2,   3)' that has a meaning in the page.
void replace_colours(std::string& tag) {
  for (size_t at = 0; (at = tag.find("rgb(", at)) != std::string::npos; ++at) {
    int red = 0, green = 0, blue = 0;
    if (std::sscanf(tag.c_str() + at, "rgb(%d,%d,%d)", &red, &green, &blue) != 3) continue;
    const std::string colour = page_colour(red, green, blue);
    if (!colour.empty()) tag.replace(at, tag.find(')', at) + 1 - at, colour);
  }
}

std::string page_tag(std::string tag, const std::string& id) {
  for (const char quote : {'"', '\''}) {
    const std::string q(1, quote);
    replace_all(tag, " id=" + q, " id=" + q + id + "-");
    replace_all(tag, "xlink:href=" + q + "#", "href=" + q + "#" + id + "-");
    for (const std::string attribute : {"stroke", "fill", "color"})
      replace_all(tag, " " + attribute + "=" + q + "black" + q,
                  " " + attribute + "=" + q + "currentColor" + q);
    // The page decides on the family of its text.
    replace_all(tag, " font-family=" + q + "sans-serif" + q, "");
  }
  replace_colours(tag);
  return tag;
}

// gnuplot writes many groups with nothing in them.
void drop_empty_groups(std::string& svg) {
  constexpr std::string_view kEnd = "</g>";
  for (size_t at = 0; (at = svg.find("<g ", at)) != std::string::npos;) {
    const size_t tag_end = svg.find('>', at);
    const size_t next = svg.find_first_not_of(" \t\n", tag_end + 1);
    if (next != std::string::npos && svg.compare(next, kEnd.size(), kEnd) == 0) {
      svg.erase(at, next + kEnd.size() - at);
      at = at == 0 ? 0 : svg.rfind("<g ", at - 1);  // the group around it may be empty now
      if (at == std::string::npos) at = 0;
    } else {
      at = tag_end;
    }
  }
}

void drop(std::string& svg, const std::string& from, const std::string& to) {
  const size_t begin = svg.find(from);
  if (begin == std::string::npos) return;
  const size_t end = svg.find(to, begin);
  if (end != std::string::npos) svg.erase(begin, end + to.size() - begin);
}

// What is between gnuplot's <svg …> and its end.
std::string inside(const std::string& svg) {
  const size_t begin = svg.find('>', svg.find("<svg")) + 1;
  return svg.substr(begin, svg.rfind("</svg>") - begin);
}

}  // namespace

std::string page_svg(const std::string& gnuplot_svg, const std::string& id,
                     const std::string& title, const std::vector<std::string>& labels) {
  const size_t box = gnuplot_svg.find("viewBox=\"");
  const std::string view = gnuplot_svg.substr(box, gnuplot_svg.find('"', box + 9) + 1 - box);
  std::string body = inside(gnuplot_svg);
  drop(body, "<title>", "</title>");
  drop(body, "<desc>", "</desc>");
  drop(body, "<filter id='textbox'", "</filter>");
  drop(body, "<filter id='greybox'", "</filter>");
  drop_empty_groups(body);

  // Tags change, texts do not: gnuplot escapes '<' in them.
  std::string page;
  for (size_t at = 0; at < body.size();) {
    const size_t tag = std::min(body.find('<', at), body.size());
    page += body.substr(at, tag - at);
    const size_t end = body.find('>', tag);
    if (end == std::string::npos) break;
    page += page_tag(body.substr(tag, end + 1 - tag), id);
    at = end + 1;
  }
  for (size_t i = 0; i < labels.size(); ++i)
    replace_all(page, "<title>gnuplot_plot_" + std::to_string(i + 1) + "</title>",
                "<title>" + escaped(labels[i]) + "</title>");
  return "<svg class=\"plot\" role=\"img\" aria-labelledby=\"" + id + "-title\" " + view +
         "><title id=\"" + id + "-title\">" + escaped(title) + "</title>" + page + "</svg>\n";
}

}  // namespace lssm
