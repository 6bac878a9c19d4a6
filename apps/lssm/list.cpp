// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "apps/lssm/commands.h"
#include "core/algebra/named_groups.h"
#include "core/lie/group.h"
#include "core/lie/se3.h"
#include "layers/layer.h"
#include "tasks/task.h"

namespace lssm {
namespace {

// One line for each key: name, type or choices, default, meaning.
void print_keys(const Json& schema) {
  for (const auto& [key, property] : schema["properties"].items()) {
    if (key == "type") continue;
    std::string kind = property.contains("type") ? property["type"].get<std::string>() : "any";
    if (property.contains("enum")) {
      kind = "";
      for (const Json& choice : property["enum"])
        kind += (kind.empty() ? "" : "|") + choice.get<std::string>();
    }
    const std::string value =
        property.contains("default") ? " = " + property["default"].dump() : "";
    std::printf("    %s (%s%s): %s\n", key.c_str(), kind.c_str(), value.c_str(),
                property.value("description", "").c_str());
  }
}

template <class Base>
void print_registry(const Registry<Base>& registry, bool json) {
  Json all = Json::object();
  for (const auto& entry : registry.entries) {
    const Json schema = Fields::schema(*entry.make());
    if (json) {
      all[entry.name] = schema["properties"];
    } else {
      std::printf("%s\n", entry.name);
      print_keys(schema);
    }
  }
  if (json) std::printf("%s\n", all.dump(2).c_str());
}

void print_groups(bool json) {
  Json all = {{"lie", Json::array()}, {"finite", Json::array()}};
  const auto add = [&]<class G>(G, const std::vector<std::string>& maps) {
    all["lie"].push_back({{"name", G::name},
                          {"algebra_dim", G::algebra_dim},
                          {"vector_dim", G::vector_dim},
                          {"group", !maps.empty()},
                          {"maps", maps}});
  };
  lie::Groups::for_each([&]<class G>(G group) {
    add(group, G::is_group ? std::vector<std::string>{"exp"} : std::vector<std::string>{});
  });
  lie::MatrixGroups::for_each([&](auto group) { add(group, {"exp", "cayley", "cayley2"}); });
  add(lie::SE3{}, {"exp"});
  for (const algebra::GroupFamily& family : algebra::group_families()) {
    all["finite"].push_back(
        {{"pattern", family.pattern}, {"rule", family.rule}, {"meaning", family.meaning}});
  }
  if (json) {
    std::printf("%s\n", all.dump(2).c_str());
    return;
  }
  std::printf(
      "Transitions of states (key \"group\" of lie_ssm; the monoids serve diagonal_ssm, and inside "
      "the groups with Cayley maps)\n");
  for (const Json& g : all["lie"]) {
    std::string maps;
    for (const Json& map : g["maps"]) maps += (maps.empty() ? "" : ", ") + map.get<std::string>();
    std::printf("  %-8s %2d parameters, moves %d numbers (%s)\n",
                g["name"].get<std::string>().c_str(), g["algebra_dim"].get<int>(),
                g["vector_dim"].get<int>(), maps.empty() ? "monoid" : maps.c_str());
  }
  std::printf("Finite groups (key \"group\" of group_word)\n");
  for (const Json& g : all["finite"]) {
    const std::string rule = g["rule"];
    std::printf("  %-8s %s%s%s\n", g["pattern"].get<std::string>().c_str(),
                g["meaning"].get<std::string>().c_str(), rule.empty() ? "" : "; ", rule.c_str());
  }
}

}  // namespace

void add_list(CLI::App& app) {
  CLI::App* command = app.add_subcommand("list", "what a config can name: tasks, layers, groups");
  auto what = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command->add_option("WHAT", *what, "tasks, layers or groups")
      ->required()
      ->check(CLI::IsMember({"tasks", "layers", "groups"}));
  command->add_flag("--json", *json, "print as JSON");
  command->callback([what, json] {
    if (*what == "tasks") print_registry(task_registry(), *json);
    if (*what == "layers") print_registry(layer_registry(), *json);
    if (*what == "groups") print_groups(*json);
  });
}

}  // namespace lssm
