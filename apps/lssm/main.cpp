// SPDX-License-Identifier: Apache-2.0
// lssm: trains and compares state space models whose hidden state moves on a Lie group.
#include <cstdio>
#include <exception>

#include "apps/lssm/commands.h"
#include "core/file.h"
#include "core/log.h"

namespace lssm {
namespace {
int exit_code = 0;
}  // namespace

void set_exit_code(int code) { exit_code = code; }

void ConfigArguments::add_to(CLI::App& command, bool file_required) {
  CLI::Option* option = command.add_option("CONFIG", file, "experiment as a JSON file");
  if (file_required) option->required();
  command
      .add_option("--set", overrides,
                  "override a key: --set train.seed=7, --set model.layers.1.group=so2")
      ->take_all()
      ->expected(1)
      ->type_name("A.B=VALUE");
}

Json ConfigArguments::read() const {
  Json json = parse_json(read_file(file), file);
  for (const std::string& assignment : overrides) apply_override(json, assignment);
  return json;
}

namespace {

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
  add_gradcheck(app);
  add_list(app);
  add_group(app);
  add_config(app);
  add_doctor(app);
  try {
    app.parse(argc, argv);
    return exit_code;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : int(Error::Kind::usage);
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
  lssm::log_to_terminal();
  return lssm::run(argc, argv);
}
