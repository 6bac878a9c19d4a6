// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>

#include "apps/experiment/explain.h"

namespace lssm {
namespace {

template <class... Numbers>
std::string print(const char* format, Numbers... numbers) {
  char line[200];
  std::snprintf(line, sizeof line, format, numbers...);
  return line;
}

int64_t representations(const LayerExplanation& layer) {
  int64_t count = 0;
  for (const HeadExplanation& head : layer.heads) count += head.representation ? head.count : 0;
  return count;
}

int64_t heads(const LayerExplanation& layer) {
  int64_t count = 0;
  for (const HeadExplanation& head : layer.heads) count += head.count;
  return count;
}

// "1b + 2 x 4a"; "-" where it is not known, "~" before what is only near.
std::string sum_of_characters(const algebra::CharacterTable& table, const HeadExplanation& head) {
  std::string sum;
  for (size_t i = 0; i < head.multiplicities.size(); ++i) {
    const int times = head.multiplicities[i];
    if (times == 0) continue;
    if (!sum.empty()) sum += " + ";
    sum += times > 1 ? text(times, " x ", table.characters[i].name) : table.characters[i].name;
  }
  if (sum.empty()) return "-";
  return head.representation ? sum : "~ " + sum;
}

std::string head_line(const algebra::CharacterTable& table, const HeadExplanation& head) {
  const std::string number =
      head.count > 1 ? text(head.head, "-", head.head + head.count - 1) : text(head.head);
  const std::string kernel = head.kernel_order > 0 ? std::to_string(head.kernel_order) : "-";
  std::string line = print("%7s  %10s  %10.1e  %8.1e  %8.2f  %-20s  %6s", number.c_str(),
                           head.representation ? "yes" : "no", head.error_max, head.error_mean,
                           head.norm, sum_of_characters(table, head).c_str(), kernel.c_str());
  line +=
      head.share ? print("  %7.2f  %7.2f", *head.readout, 100 * *head.share) : "        -        -";
  return line + "\n";
}

std::string layer_text(const Explanation& e, const LayerExplanation& layer) {
  const std::string seen = layer.readout == "bloch"       ? ", as rotations of the Bloch vector"
                           : layer.readout == "direction" ? ", without lengths"
                                                          : "";
  std::string lines = text("\n", layer.pointer, " (", layer.type, ", ", layer.dimension,
                           " dimensions", seen, ")\n");
  lines +=
      "   head  represents  error: max      mean   |chi|^2  characters            kernel  readout  "
      "share %\n";
  double share = 0;
  bool known = false;
  for (const HeadExplanation& head : layer.heads) {
    lines += head_line(e.table, head);
    if (head.representation) share += head.share.value_or(0);
    known = known || head.share;
  }
  lines += text(representations(layer), " of ", heads(layer), " heads are representations of ",
                e.group.name());
  if (known) lines += print("; they have %.2f %% of the squared readout weights", 100 * share);
  return lines + "\n";
}

// The irreducible characters that occur, told apart by their values at the group's generators.
std::string legend(const Explanation& e) {
  std::vector<bool> occurs(e.table.characters.size());
  for (const LayerExplanation& layer : e.layers)
    for (const HeadExplanation& head : layer.heads)
      for (size_t i = 0; i < head.multiplicities.size(); ++i)
        occurs[i] = occurs[i] || head.multiplicities[i] > 0;
  std::string lines;
  for (size_t i = 0; i < occurs.size(); ++i) {
    if (!occurs[i]) continue;
    const algebra::Character& chi = e.table.characters[i];
    lines += print("  %-4s %-12s kernel %d;", chi.name.c_str(),
                   chi.indicator == 1   ? "real"
                   : chi.indicator == 0 ? "complex"
                                        : "quaternionic",
                   chi.kernel_order);
    for (const algebra::Generator& g : e.group.generators()) {
      const std::complex<double> x = chi.values[size_t(e.table.class_of[size_t(g.element)])];
      lines += text(" ", g.name, ": ", print("%.4g", x.real()));
      if (x.imag() != 0) lines += print("%+.4gi", x.imag());
    }
    lines += "\n";
  }
  if (lines.empty()) return lines;
  return text("irreducible characters of ", e.group.name(),
              " above, with their values at the generators:\n", lines);
}

Json head_json(const algebra::CharacterTable& table, const HeadExplanation& head) {
  Json times = head.multiplicities.empty() ? Json() : Json::object();
  for (size_t i = 0; i < head.multiplicities.size(); ++i)
    if (head.multiplicities[i] > 0) times[table.characters[i].name] = head.multiplicities[i];
  return {{"head", head.head},
          {"count", head.count},
          {"relation_error", {{"max", head.error_max}, {"mean", head.error_mean}}},
          {"representation", head.representation},
          {"character", head.character},
          {"norm", head.norm},
          {"multiplicities", times},
          {"kernel", head.kernel_order > 0 ? Json(head.kernel_order) : Json()},
          {"readout", head.readout ? Json(*head.readout) : Json()},
          {"share", head.share ? Json(*head.share) : Json()}};
}

}  // namespace

std::string explanation_text(const Explanation& e) {
  std::string lines =
      text("heads that represent ", e.group.name(), ": |M(gs) - A(s) M(g)| is below ",
           kRelationTolerance, " for all elements g and inputs s\n");
  for (const LayerExplanation& layer : e.layers) lines += layer_text(e, layer);
  for (const std::string& pointer : e.others)
    lines += text(pointer, ": not explained, its transitions are no function of a single token\n");
  if (e.layers.empty() && e.others.empty())
    lines += "not explained: the model has no layer with linear transitions\n";
  return lines + legend(e);
}

Json explanation_json(const Explanation& e) {
  Json classes = Json::array(), characters = Json::array(), layers = Json::array();
  for (const std::vector<int>& c : e.table.classes)
    classes.push_back({{"element", e.group.element_name(c[0])}, {"size", c.size()}});
  for (const algebra::Character& chi : e.table.characters) {
    Json values = Json::array();
    for (const std::complex<double>& x : chi.values) values.push_back({x.real(), x.imag()});
    characters.push_back({{"name", chi.name},
                          {"degree", chi.degree},
                          {"indicator", chi.indicator},
                          {"kernel", chi.kernel_order},
                          {"values", values}});
  }
  for (const LayerExplanation& layer : e.layers) {
    Json heads = Json::array();
    for (const HeadExplanation& head : layer.heads) heads.push_back(head_json(e.table, head));
    layers.push_back({{"pointer", layer.pointer},
                      {"type", layer.type},
                      {"dimension", layer.dimension},
                      {"representations", representations(layer)},
                      {"heads", heads}});
  }
  return {{"group", e.group.name()}, {"tolerance", kRelationTolerance},
          {"classes", classes},      {"characters", characters},
          {"layers", layers},        {"others", e.others}};
}

}  // namespace lssm
