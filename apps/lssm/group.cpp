// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>

#include "apps/lssm/commands.h"
#include "apps/lssm/group_lie.h"
#include "core/algebra/ceilings.h"
#include "core/algebra/facts.h"
#include "core/algebra/group_json.h"
#include "core/algebra/subgroups.h"
#include "core/file.h"
#include "tasks/group_word.h"

namespace lssm {
namespace {

using algebra::FiniteGroup;

struct GroupArguments {
  std::string group, inputs = "generators_inverses";
  int64_t length = 32;
  bool json = false, lie = false;
};

Json facts_json(const FiniteGroup& group) {
  const algebra::GroupFacts f = algebra::group_facts(group);
  Json orders = Json::array(), sylow = Json::array();
  for (const auto& [order, count] : f.element_orders)
    orders.push_back({{"order", order}, {"count", count}});
  for (const algebra::SylowFact& s : f.sylow) {
    sylow.push_back({{"prime", s.prime}, {"order", s.order}, {"abelian", s.abelian}});
  }
  return {{"name", f.name},
          {"description", f.description},
          {"order", f.order},
          {"exponent", f.exponent},
          {"element_orders", orders},
          {"abelian", f.abelian},
          {"simple", f.simple},
          {"perfect", f.perfect},
          {"solvable", f.solvable},
          {"derived_series", f.derived_series},
          {"derived_length", f.derived_length ? Json(*f.derived_length) : Json()},
          {"nilpotency_class", f.nilpotency_class ? Json(*f.nilpotency_class) : Json()},
          {"centre", f.centre_order},
          {"abelianization", f.abelianization},
          {"class_sizes", f.class_sizes},
          {"sylow", sylow}};
}

Json ceiling_json(const std::string& sees, const algebra::Ceiling& c) {
  return {{"sees", sees}, {"final", c.final}, {"prefix", c.prefix}};
}

// The best accuracy of a model that counts tokens, and of one that sees a quotient, for each of
// them.
Json ceilings_json(const FiniteGroup& group, const std::vector<int>& inputs, int length) {
  Json all = Json::array();
  if (const auto parikh = algebra::parikh_ceiling(group, inputs, length)) {
    all.push_back(ceiling_json("token counts (every commutative transition)", *parikh));
  } else {
    all.push_back({{"sees", "token counts"}, {"final", nullptr}, {"prefix", nullptr}});
  }
  for (const algebra::Subgroup& normal : algebra::normal_subgroups(group)) {
    if (normal.size() == 1) continue;  // G / 1 sees everything
    const int quotient = group.order() / int(normal.size());
    const std::string sees = quotient == 1 ? "nothing (chance)"
                                           : "G/N of order " + std::to_string(quotient) +
                                                 ", |N| = " + std::to_string(normal.size());
    all.push_back(ceiling_json(sees, algebra::quotient_ceiling(group, inputs, normal, length)));
  }
  return all;
}

std::string numbers(const Json& list) {
  std::string line;
  for (const Json& number : list) line += (line.empty() ? "" : " ") + number.dump();
  return line;
}

void print_facts(const Json& f) {
  const auto yes_no = [&](const char* key) { return f[key].get<bool>() ? "yes" : "no"; };
  const auto or_none = [&](const char* key) { return f[key].is_null() ? "none" : f[key].dump(); };
  const std::string abelian =
      f["abelianization"].empty() ? "trivial" : "C(" + numbers(f["abelianization"]) + ")";
  std::string orders, sylow;
  for (const Json& o : f["element_orders"]) {
    orders += (orders.empty() ? "" : ", ") + o["count"].dump() + " of order " + o["order"].dump();
  }
  for (const Json& s : f["sylow"]) {
    sylow += (sylow.empty() ? "" : ", ") + s["order"].dump() +
             (s["abelian"].get<bool>() ? " abelian" : " not abelian");
  }
  std::printf("%s: %s\n", f["name"].get<std::string>().c_str(),
              f["description"].get<std::string>().c_str());
  std::printf("  order %s, exponent %s, elements: %s\n", f["order"].dump().c_str(),
              f["exponent"].dump().c_str(), orders.c_str());
  std::printf("  abelian %s, simple %s, perfect %s, solvable %s\n", yes_no("abelian"),
              yes_no("simple"), yes_no("perfect"), yes_no("solvable"));
  std::printf("  derived series %s, derived length %s, nilpotency class %s\n",
              numbers(f["derived_series"]).c_str(), or_none("derived_length").c_str(),
              or_none("nilpotency_class").c_str());
  std::printf("  centre of order %s, abelianization %s, %zu conjugacy classes of sizes %s\n",
              f["centre"].dump().c_str(), abelian.c_str(), f["class_sizes"].size(),
              numbers(f["class_sizes"]).c_str());
  std::printf("  Sylow subgroups%s\n", sylow.empty() ? ": none" : (" of order " + sylow).c_str());
}

// Lines that are the same, of different subgroups, are one with their count.
void print_ceilings(const Json& ceilings) {
  std::vector<std::pair<std::string, std::string>> lines;  // what is seen, the accuracies
  for (const Json& c : ceilings) {
    char numbers[64] = "too many counts to compute";
    if (!c["final"].is_null()) {
      std::snprintf(numbers, sizeof numbers, "%6.2f / %6.2f", 100 * c["final"].get<double>(),
                    100 * c["prefix"].get<double>());
    }
    lines.emplace_back(c["sees"], numbers);
  }
  for (auto line = lines.begin(); line != lines.end(); ++line) {
    if (std::find(lines.begin(), line, *line) != line) continue;
    const auto same = std::count(line, lines.end(), *line);
    const std::string count = same > 1 ? " (" + std::to_string(same) + " subgroups)" : "";
    std::printf("  sees %-44s %s\n", (line->first + count).c_str(), line->second.c_str());
  }
}

void print_group(const GroupArguments& arguments) {
  // A name, a file with a JSON description, or the description itself.
  const bool is_file = arguments.group.ends_with(".json");
  const bool is_json = arguments.group.starts_with("{");
  const Json spec = is_file   ? parse_json(read_file(arguments.group), arguments.group)
                    : is_json ? parse_json(arguments.group, "group")
                              : Json(arguments.group);
  const FiniteGroup group = algebra::group_from_json(spec);
  const bool is_list = arguments.inputs.starts_with("[") || arguments.inputs.starts_with("{");
  const std::vector<int> inputs = input_elements(
      group, is_list ? parse_json(arguments.inputs, "--inputs") : Json(arguments.inputs));
  Json report = facts_json(group);
  for (const int element : inputs) report["inputs"].push_back(group.element_name(element));
  report["length"] = arguments.length;
  report["ceilings"] = ceilings_json(group, inputs, int(arguments.length));
  if (arguments.lie) report["lie"] = lie_json(group, inputs, int(arguments.length));
  if (arguments.json) {
    std::printf("%s\n", report.dump(2).c_str());
    return;
  }
  print_facts(report);
  std::printf("Best accuracy at length %lld with %zu inputs",
              static_cast<long long>(arguments.length), inputs.size());
  if (inputs.size() <= 8) {
    for (const Json& name : report["inputs"]) std::printf(" %s", name.get<std::string>().c_str());
  }
  std::printf(" (final %% / mean over prefixes %%)\n");
  print_ceilings(report["ceilings"]);
  if (arguments.lie) print_lie(report["lie"]);
}

}  // namespace

void add_group(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "group", "facts of a finite group, and what limited models can reach on it");
  auto arguments = std::make_shared<GroupArguments>();
  command
      ->add_option("GROUP", arguments->group,
                   "a name such as A5, D16 or A4xZ5, a .json file, or JSON")
      ->required();
  command
      ->add_option("--inputs", arguments->inputs,
                   "elements that are read, as in the task group_word")
      ->capture_default_str();
  command->add_option("--length", arguments->length, "length of the words")
      ->capture_default_str()
      ->check(CLI::Range(int64_t(1), int64_t(1) << 20));
  command->add_flag("--lie", arguments->lie,
                    "which transitions can hold it and why, and its smallest rotation matrices");
  command->add_flag("--json", arguments->json, "print as JSON");
  command->footer("Example: lssm group S5 --inputs '[\"(1 2 3 4 5)\", \"(1 2)\"]'");
  command->callback([arguments] { print_group(*arguments); });
}

}  // namespace lssm
