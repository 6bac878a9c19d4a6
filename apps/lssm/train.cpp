// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "apps/experiment/evaluator.h"
#include "apps/experiment/tracking_warning.h"
#include "apps/experiment/trainer.h"
#include "apps/lssm/commands.h"
#include "core/file.h"
#include "core/log.h"

namespace lssm {
namespace {

struct TrainArguments {
  ConfigArguments config;
  std::string runs = "runs", resume;
  bool has_resume = false, force = false, json = false, quiet = false, tensorboard = false;
  int64_t until = -1;
};

// The first Ctrl-C (or a scheduler's SIGTERM, or a closed terminal's SIGHUP) ends the run after its
// step; the second ends it at once. Signals that are ignored, as by nohup, stay ignored.
void stop_on_signal() {
  catch_stop_signals([](int signal) {
    stop_requested = true;
    std::signal(signal, SIG_DFL);
  });
}

// What `--resume` names: the folder given, else the one that the config names.
std::filesystem::path folder_to_resume(const TrainArguments& arguments) {
  if (!arguments.resume.empty()) return arguments.resume;
  LSSM_CHECK(!arguments.config.file.empty(), "train --resume: give a run folder or a config");
  const Experiment experiment(arguments.config.read(), arguments.config.file);
  return RunFolder::path_of(arguments.runs, experiment);
}

// A config beside --resume must be the one of the run: what changed would silently have no effect.
void check_same_config(const TrainArguments& arguments, const Json& run,
                       const std::string& source) {
  const Experiment asked(arguments.config.read(), arguments.config.file);
  std::string list;
  for (const Json& change : Json::diff(run, asked.resolved)) {
    list += (list.empty() ? "" : ", ") + change["path"].get<std::string>();
  }
  LSSM_CHECK(list.empty(), "train --resume: ", arguments.config.file,
             " is not the config of the run, ", source, "; they differ in ", list);
}

void print_result(const Experiment& experiment, const RunFolder& folder, const Json& summary,
                  bool json) {
  if (json) {
    std::printf("%s\n", summary.dump(2).c_str());
    return;
  }
  std::printf("%s, seed %llu: %lld parameters, state of %lld numbers, %lld steps in %.2f s\n",
              experiment.config.name.c_str(),
              static_cast<unsigned long long>(experiment.config.train.seed),
              static_cast<long long>(summary["parameters"].get<int64_t>()),
              static_cast<long long>(summary["state_size"].get<int64_t>()),
              static_cast<long long>(summary["steps"].get<int64_t>()),
              summary["train_wall_s"].get<double>());
  std::printf("%s%s\n", test_table(summary).c_str(), (folder.path() / "summary.json").c_str());
}

// The config that a run goes on with: that of its checkpoint, or of its folder if it has none yet.
Json config_to_resume(const TrainArguments& arguments, const RunFolder& folder) {
  // The device alone may change from session to session.
  const Overrides& overrides = arguments.config.overrides;
  const auto without_device = [](Json json) {
    json.erase("device");
    return json;
  };
  LSSM_CHECK(overrides.assignments.empty() && !arguments.force,
             "train --resume: a run goes on with what it has; --set and --force do not go with it");
  std::error_code error;
  Json run, written;
  if (std::filesystem::exists(folder.config(), error)) {
    run = written = parse_json(read_file(folder.config()), folder.config());
  }
  if (std::filesystem::exists(folder.checkpoint(), error)) {
    run = checkpoint_config(read_safetensors(folder.checkpoint()), folder.checkpoint());
    LSSM_CHECK(written.is_null() || without_device(written) == without_device(run), folder.config(),
               " differs from the config in ", folder.checkpoint(),
               ": it was changed after the run began");
  }
  run = overrides.apply(run);
  if (!arguments.config.file.empty()) check_same_config(arguments, run, folder.config());
  return run;
}

// Trains to the end, or until it is interrupted.
void train_and_test(Experiment& experiment, RunFolder& folder, const TrainArguments& arguments,
                    bool progress) {
  if (arguments.tensorboard || EventFile::any_in(folder.path())) folder.write_events();
  Trainer trainer(experiment, folder);
  if (arguments.has_resume) trainer.resume();
  stop_on_signal();
  try {
    if (trainer.run({arguments.until, progress})) {
      print_result(experiment, folder, trainer.finish(), arguments.json);
      return;
    }
  } catch (const Interrupted&) {  // in the test: training is done and saved
  }
  std::fprintf(stderr, "lssm: stopped; go on with: lssm train --resume %s\n",
               folder.path().c_str());
  if (stop_requested) set_exit_code(kExitInterrupted);
}

// Leaves the reason of a failure in the folder, if the disk still takes it.
void keep_failure(const RunFolder& folder, const std::string& error, int exit_code) {
  try {
    folder.write_failure(error, exit_code);
  } catch (const Error&) {  // the error itself is what the user must see
  }
}

void train_in(Experiment& experiment, RunFolder& folder, const TrainArguments& arguments) {
  const bool progress = !arguments.quiet && isatty(STDERR_FILENO);
  folder.remove_failure();
  log_to_file(folder.log());
  if (arguments.quiet || progress) quiet_terminal(!arguments.quiet);
  if (const auto warning = tracking_warning(experiment.resolved)) spdlog::warn(*warning);
  try {
    train_and_test(experiment, folder, arguments, progress);
  } catch (const Error& error) {
    keep_failure(folder, error.what(), int(error.kind()));
    throw;
  } catch (const std::bad_alloc&) {
    keep_failure(folder, "out of memory", int(Error::Kind::file));
    throw;
  }
}

void train(const TrainArguments& arguments) {
  if (arguments.has_resume) {
    RunFolder folder = RunFolder::open(folder_to_resume(arguments));
    Experiment experiment(config_to_resume(arguments, folder), folder.config());
    train_in(experiment, folder, arguments);
    return;
  }
  LSSM_CHECK(!arguments.config.file.empty(), "train: give a config, or a run folder with --resume");
  Experiment experiment(arguments.config.read(), arguments.config.file);
  RunFolder folder = RunFolder::create(RunFolder::path_of(arguments.runs, experiment),
                                       experiment.resolved, arguments.force);
  train_in(experiment, folder, arguments);
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* command = app.add_subcommand("train", "train a model and test it");
  auto arguments = std::make_shared<TrainArguments>();
  arguments->config.add_to(*command, false);
  CLI::Option* resume =
      command->add_option("--resume", arguments->resume,
                          "go on with the run in this folder, or with the one that CONFIG names");
  resume->expected(0, 1)->type_name("DIR");
  command->add_option("--runs", arguments->runs, "folder of all runs")->capture_default_str();
  command->add_flag("--force", arguments->force, "replace a run that exists");
  command
      ->add_option("--until", arguments->until,
                   "stop after this step, with a checkpoint to resume from")
      ->check(at_least_number(0));
  command->add_flag("--json", arguments->json, "print the summary as JSON");
  command->add_flag("--tensorboard", arguments->tensorboard,
                    "also write event files for TensorBoard; a resumed run goes on with them");
  command->add_flag("--quiet", arguments->quiet, "no lines but errors");
  command->footer("Example: lssm train configs/quickstart.json --set train.seed=123");
  command->callback([arguments, resume] {
    arguments->has_resume = resume->count() > 0;
    train(*arguments);
  });
}

}  // namespace lssm
