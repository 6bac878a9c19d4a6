// SPDX-License-Identifier: Apache-2.0
// The subcommands of lssm, one file each. add_x() adds the subcommand x; its callback does the
// work, throws Error for what goes wrong, and calls set_exit_code() for an end that is no error.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/config.h"

namespace lssm {

constexpr int kExitInterrupted = 130;

void set_exit_code(int code);

void add_train(CLI::App& app);
void add_eval(CLI::App& app);
void add_gradcheck(CLI::App& app);
void add_list(CLI::App& app);
void add_group(CLI::App& app);
void add_config(CLI::App& app);
void add_doctor(CLI::App& app);
void add_sweep(CLI::App& app);
void add_report(CLI::App& app);
void add_watch(CLI::App& app);
void add_verify(CLI::App& app);

// For options: a whole number from `min`.
CLI::Validator at_least_number(int64_t min);

// The options that change a config: --set and --device.
struct Overrides {
  std::vector<std::string> assignments;
  std::string device;

  void add_to(CLI::App& command);
  // The config with the overrides applied.
  Json apply(Json json) const;
};

// The config file, and the overrides, that many commands take.
struct ConfigArguments {
  std::string file;
  Overrides overrides;

  void add_to(CLI::App& command, bool file_required);
  Json read() const;
};

}  // namespace lssm
