// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/config.h"

#include <cstdio>

#include "apps/lssm/commands.h"

namespace lssm {

void add_config(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "config", "check a config, show it with all defaults, or print the schema");
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

  CLI::App* schema =
      command->add_subcommand("schema", "print the JSON Schema of configs, for editors");
  schema->callback([] {
    ExperimentConfig config;
    std::printf("%s\n", Fields::schema(config).dump(2).c_str());
  });
}

}  // namespace lssm
