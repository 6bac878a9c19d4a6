// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/config.h"

#include <cstdio>

#include "apps/experiment/config_file.h"
#include "apps/lssm/commands.h"

namespace lssm {
namespace {

void print_differences(const std::string& a, const std::string& b, bool json) {
  // Resolved, but not built: the device of a config need not be here.
  Json first = read_config(a), second = read_config(b);
  ExperimentConfig::read(first, a);
  ExperimentConfig::read(second, b);
  Json list = Json::array();
  for (const KeyDifference& d : config_differences(first, second)) {
    list.push_back({{"key", d.key}, {"a", d.a}, {"b", d.b}});
    const auto value = [](const std::string& text) {
      return text.empty() ? "(none)" : text.c_str();
    };
    if (!json) std::printf("%s: %s -> %s\n", d.key.c_str(), value(d.a), value(d.b));
  }
  if (json) {
    std::printf("%s\n", list.dump(2).c_str());
  } else if (list.empty()) {
    std::printf("no difference\n");
  }
}

}  // namespace

void add_config(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "config", "check a config, show it with all defaults, compare two, or print the schema");
  command->require_subcommand(1);
  auto arguments = std::make_shared<ConfigArguments>();

  CLI::App* check =
      command->add_subcommand("check", "say whether a config can run, and how large its model is");
  arguments->add_to(*check, true);
  check->callback([arguments] {
    const Experiment experiment(arguments->read(), arguments->file);
    std::printf("%s: good; %lld parameters, state of %lld numbers\n", arguments->file.c_str(),
                static_cast<long long>(experiment.model.parameters().count()),
                static_cast<long long>(experiment.model.state_size()));
  });

  CLI::App* show =
      command->add_subcommand("show", "print the config with every default written out");
  arguments->add_to(*show, true);
  show->callback([arguments] {
    std::printf("%s\n", Experiment(arguments->read(), arguments->file).resolved.dump(2).c_str());
  });

  struct DiffArguments {
    std::string a, b;
    bool json = false;
  };
  auto two = std::make_shared<DiffArguments>();
  CLI::App* diff =
      command->add_subcommand("diff", "print the keys in which two configs differ, with defaults");
  diff->add_option("A", two->a, "a config, or config.json of a run")->required();
  diff->add_option("B", two->b, "another one")->required();
  diff->add_flag("--json", two->json, "print as JSON");
  diff->callback([two] { print_differences(two->a, two->b, two->json); });

  CLI::App* schema =
      command->add_subcommand("schema", "print the JSON Schema of configs, for editors");
  schema->callback([] {
    ExperimentConfig config;
    std::printf("%s\n", Fields::schema(config).dump(2).c_str());
  });
}

}  // namespace lssm
