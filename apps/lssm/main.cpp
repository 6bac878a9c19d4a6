// SPDX-License-Identifier: Apache-2.0
// lssm: trains and compares state space models whose hidden state moves on a Lie group.
#include <charconv>
#include <csignal>
#include <cstdio>
#include <exception>

#include "apps/experiment/config_file.h"
#include "apps/lssm/commands.h"
#include "core/log.h"

namespace lssm {
namespace {
int exit_code = 0;
}  // namespace

void set_exit_code(int code) { exit_code = code; }

CLI::Validator at_least_number(int64_t min) {
  const auto check = [min](const std::string& word) -> std::string {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool good = error == std::errc() && end == word.data() + word.size() && value >= min;
    return good ? "" : text("got ", word, ", expected a whole number from ", min);
  };
  return CLI::Validator(check, text(">= ", min));
}

void Overrides::add_to(CLI::App& command) {
  command
      .add_option("--set", assignments,
                  "override a key: --set train.seed=7, --set model.layers.1.group=so2")
      ->take_all()
      ->expected(1)
      ->type_name("A.B=VALUE");
  command.add_option("--device", device, "the same as --set device=DEVICE")
      ->type_name("cpu|cuda|auto");
}

Json Overrides::apply(Json json) const {
  for (const std::string& assignment : assignments) apply_override(json, assignment);
  if (!device.empty()) apply_override(json, "device=\"" + device + "\"");
  return json;
}

void ConfigArguments::add_to(CLI::App& command, bool file_required) {
  CLI::Option* option = command.add_option("CONFIG", file, "experiment as a JSON file");
  if (file_required) option->required();
  overrides.add_to(command);
}

Json ConfigArguments::read() const { return overrides.apply(read_config(file)); }

namespace {

// What is wrong with the command line, in one line.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  const std::vector<std::string> unknown = command->remaining();
  const std::string help = "; see " + command->get_display_name() + " --help";
  if (unknown.empty()) return error.what() + help;
  const std::string& word = unknown.front();
  std::vector<std::string> names;
  if (word.starts_with('-')) {
    for (const CLI::Option* option : command->get_options())
      if (!option->get_lnames().empty()) names.push_back("--" + option->get_lnames().front());
    return "unknown option " + word + "; " + spelling_help(word, names);
  }
  for (const CLI::App* sub : command->get_subcommands({})) names.push_back(sub->get_name());
  if (names.empty()) return "unexpected argument " + word + help;
  return "there is no command " + word + "; " + spelling_help(word, names);
}

int run(int argc, char** argv) {
  CLI::App app("Trains and compares state space models whose hidden state moves on a Lie group.",
               "lssm");
  app.set_version_flag("--version", LSSM_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 2 usage or config, 3 files, 4 numbers, 130 interrupted (checkpoint "
      "saved).");
  add_train(app);
  add_eval(app);
  add_sweep(app);
  add_report(app);
  add_watch(app);
  add_gradcheck(app);
  add_list(app);
  add_group(app);
  add_verify(app);
  add_config(app);
  add_doctor(app);
  try {
    app.parse(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
      fail_file("cannot write to the standard output");
    return exit_code;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    std::fprintf(stderr, "lssm: %s\n", usage_error(app, error).c_str());
    return int(Error::Kind::usage);
  } catch (const Error& error) {
    std::fprintf(stderr, "lssm: %s\n", error.what());
    return int(error.kind());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "lssm: out of memory\n");
    return int(Error::Kind::file);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lssm: unexpected error: %s\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace lssm

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its size limit is an error like a full disk
  lssm::log_to_terminal();
  return lssm::run(argc, argv);
}
