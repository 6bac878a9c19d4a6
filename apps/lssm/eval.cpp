// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "apps/experiment/checkpoint.h"
#include "apps/experiment/evaluator.h"
#include "apps/lssm/commands.h"

namespace lssm {
namespace {

struct EvalArguments {
  std::string checkpoint;
  std::vector<int64_t> lengths;
  int64_t sequences = 0;
  Overrides overrides;
  bool json = false;
};

void evaluate_checkpoint(const EvalArguments& arguments) {
  const SafetensorsFile file = read_safetensors(arguments.checkpoint);
  Json json = checkpoint_config(file, arguments.checkpoint);
  if (!arguments.lengths.empty()) {
    apply_override(json, "eval.lengths=" + Json(arguments.lengths).dump());
  }
  if (arguments.sequences > 0) {
    apply_override(json, "eval.sequences=" + std::to_string(arguments.sequences));
  }
  Experiment experiment(arguments.overrides.apply(std::move(json)), arguments.checkpoint);
  const TrainState state = load_checkpoint(file, arguments.checkpoint, experiment, nullptr);
  Json summary = test_summary(experiment);
  summary["name"] = experiment.config.name;
  summary["seed"] = experiment.config.train.seed;
  summary["steps"] = state.step;
  if (arguments.json) {
    std::printf("%s\n", summary.dump(2).c_str());
  } else {
    std::printf("%s, step %lld\n%s", experiment.config.name.c_str(),
                static_cast<long long>(state.step), test_table(summary).c_str());
  }
}

}  // namespace

void add_eval(CLI::App& app) {
  CLI::App* command = app.add_subcommand("eval", "test a checkpoint, at other lengths if wanted");
  auto arguments = std::make_shared<EvalArguments>();
  command->add_option("CHECKPOINT", arguments->checkpoint, "checkpoint.safetensors of a run")
      ->required();
  command->add_option("--lengths", arguments->lengths, "sequence lengths, e.g. 32,1024")
      ->delimiter(',')
      ->check(at_least_number(1));
  command->add_option("--sequences", arguments->sequences, "test sequences of each length")
      ->check(at_least_number(1));
  arguments->overrides.add_to(*command);
  command->add_flag("--json", arguments->json, "print the result as JSON");
  command->footer(
      "Example: lssm eval runs/a5_so3/seed-42/checkpoint.safetensors --lengths 32,4096");
  command->callback([arguments] { evaluate_checkpoint(*arguments); });
}

}  // namespace lssm
