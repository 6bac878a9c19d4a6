// SPDX-License-Identifier: Apache-2.0
#include "apps/lssm/group_lie.h"

#include <cmath>
#include <cstdio>

#include "core/algebra/faithful.h"
#include "core/algebra/sections.h"
#include "core/algebra/tracking.h"

namespace lssm {
namespace {

using algebra::FiniteGroup;

constexpr size_t kColumns = 100;
constexpr int kLargestPrinted = 8;  // matrices

Json verdicts_json(const FiniteGroup& group) {
  Json all = Json::array();
  for (const auto& [transition, verdict] : algebra::transition_verdicts(group)) {
    Json line = {{"transition", transition},
                 {"linear", algebra::to_string(verdict.linear)},
                 {"any", algebra::to_string(verdict.any)},
                 {"reason", verdict.reason}};
    if (const auto& words = verdict.witness) {
      line["witness"] = {{"left", words->left},
                         {"left_product", group.element_name(words->left_product)},
                         {"right", words->right},
                         {"right_product", group.element_name(words->right_product)},
                         {"length", words->length}};
    }
    all.push_back(line);
  }
  return all;
}

Json representation_json(const FiniteGroup& group) {
  const algebra::FaithfulRotations r = algebra::faithful_rotations(group);
  Json generators = Json::array();
  for (size_t k = 0; k < r.generators.size(); ++k) {
    Json rows = Json::array();
    for (int i = 0; i < r.n; ++i) {
      const auto row = r.generators[k].begin() + int64_t(i) * r.n;
      rows.push_back(std::vector<double>(row, row + r.n));
    }
    generators.push_back({{"name", group.generators()[k].name}, {"matrix", rows}});
  }
  return {{"n", r.n},
          {"at_least", r.at_least},
          {"how", r.how},
          {"error", r.error},
          {"generators", generators}};
}

// At blanks, so that no line is longer than it may be.
void print_wrapped(std::string line, size_t indent) {
  while (line.size() > kColumns) {
    size_t cut = line.rfind(' ', kColumns);
    if (cut == std::string::npos || cut <= indent) break;
    std::printf("%s\n", line.substr(0, cut).c_str());
    line = std::string(indent, ' ') + line.substr(cut + 1);
  }
  std::printf("%s\n", line.c_str());
}

std::string padded(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

void print_row(const std::string& transition, const std::string& linear, const std::string& any,
               const std::string& reason) {
  const std::string start = "  " + padded(transition, 27) + padded(linear, 9) + padded(any, 9);
  print_wrapped(start + reason, start.size());
}

// Those of one reason are printed once, with the transitions it is for.
void print_witnesses(const Json& verdicts) {
  std::vector<std::pair<Json, std::string>> seen;
  for (const Json& v : verdicts) {
    if (!v.contains("witness")) continue;
    const std::string name = v["transition"];
    auto known = seen.begin();
    while (known != seen.end() && known->first != v["witness"]) ++known;
    if (known == seen.end()) {
      seen.emplace_back(v["witness"], name);
    } else {
      known->second += "; " + name;
    }
  }
  for (const auto& [w, names] : seen) {
    print_wrapped("  One state, two products, in heads of any finite group (" + names + "):", 4);
    for (const char* side : {"left", "right"}) {
      print_wrapped("    " + w[side].get<std::string>() + " = " +
                        w[std::string(side) + "_product"].get<std::string>(),
                    6);
    }
  }
}

void print_representation(const Json& r) {
  const int n = r["n"], at_least = r["at_least"];
  std::string line = text("Faithful in SO(", n, "): ", r["how"].get<std::string>());
  line += n == at_least ? "; no smaller N" : text("; N is at least ", at_least);
  if (!r["generators"].empty()) {
    char error[32];
    std::snprintf(error, sizeof error, "; error %.1e", r["error"].get<double>());
    line += error;
  }
  print_wrapped(line, 2);
  if (n > kLargestPrinted) {
    if (!r["generators"].empty()) std::printf("  (--json has the matrices)\n");
    return;
  }
  for (const Json& generator : r["generators"]) {
    print_wrapped("  " + generator["name"].get<std::string>(), 4);
    for (const Json& row : generator["matrix"]) {
      std::printf("    ");
      for (const Json& x : row) {
        const double value = x.get<double>();
        std::printf(" %10.5g", std::abs(value) < 1e-12 ? 0.0 : value);
      }
      std::printf("\n");
    }
  }
}

}  // namespace

Json lie_json(const FiniteGroup& whole, const std::vector<int>& inputs, int length) {
  const algebra::Subgroup generated = algebra::generated_subgroup(whole, inputs);
  const bool all = int(generated.size()) == whole.order();
  const FiniteGroup group = all ? whole : algebra::subgroup_group(whole, generated, inputs);
  Json lie = {{"group", group.name()},
              {"verdicts", verdicts_json(group)},
              {"representation", representation_json(group)}};
  const algebra::Subgroup kernel = algebra::rotation_kernel(group);
  if (kernel.size() == 1) return lie;
  std::vector<int> letters;
  for (int input : inputs) {
    const auto at = std::lower_bound(generated.begin(), generated.end(), input);
    letters.push_back(int(at - generated.begin()));
  }
  const algebra::Ceiling ceiling = algebra::quotient_ceiling(group, letters, kernel, length);
  lie["rotation_quotient"] = {{"order", group.order() / int(kernel.size())},
                              {"final", ceiling.final},
                              {"prefix", ceiling.prefix}};
  return lie;
}

void print_lie(const Json& lie) {
  std::printf("Which transitions hold %s at every length, with a linear readout or with any\n",
              lie["group"].get<std::string>().c_str());
  print_row("transition", "linear", "any", "reason");
  for (const Json& v : lie["verdicts"])
    print_row(v["transition"], v["linear"], v["any"], v["reason"]);
  if (lie.contains("rotation_quotient")) {
    const Json& q = lie["rotation_quotient"];
    char line[160];
    std::snprintf(
        line, sizeof line,
        "so3 heads and Bloch vectors that represent it show a quotient of order %d alone: "
        "at most %.2f / %.2f %%",
        q["order"].get<int>(), 100 * q["final"].get<double>(), 100 * q["prefix"].get<double>());
    print_wrapped(std::string("  ") + line, 4);
  }
  print_witnesses(lie["verdicts"]);
  print_representation(lie["representation"]);
}

}  // namespace lssm
