// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "apps/experiment/checkpoint.h"
#include "apps/experiment/evaluator.h"
#include "apps/experiment/explain.h"
#include "apps/experiment/snap.h"
#include "apps/lssm/commands.h"

namespace lssm {
namespace {

struct EvalArguments {
  std::string checkpoint;
  std::vector<int64_t> lengths;
  int64_t sequences = 0;
  Overrides overrides;
  bool explain = false, snap = false, json = false;
};

// The test of an experiment, and if wanted what its heads carry: for people and as JSON.
struct Report {
  std::string text;
  Json json;
};

Report report(const Experiment& experiment, bool explained) {
  Report out;
  out.json = test_summary(experiment);
  out.text = test_table(out.json);
  if (!explained) return out;
  const Explanation explanation = explain(experiment);
  out.json["explanation"] = explanation_json(explanation);
  out.text += explanation_text(explanation);
  return out;
}

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
  auto [table, summary] = report(experiment, arguments.explain);
  if (arguments.snap) {
    const Snapped snapped = snap(experiment);
    experiment.replacement = snapped.transitions;
    const Report after = report(experiment, arguments.explain);
    table += snapped_text(snapped) + after.text;
    summary["snapped"] = after.json;
    summary["snapped"].update(snapped_json(snapped));
  }
  summary["name"] = experiment.config.name;
  summary["seed"] = experiment.config.train.seed;
  summary["steps"] = state.step;
  if (arguments.json) {
    std::printf("%s\n", summary.dump(2).c_str());
  } else {
    std::printf("%s, step %lld\n%s", experiment.config.name.c_str(),
                static_cast<long long>(state.step), table.c_str());
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
  command->add_flag("--explain", arguments->explain,
                    "which heads carry which representation of the word problem's group");
  command->add_flag("--snap", arguments->snap,
                    "test again with transitions averaged over the model's own products of two "
                    "tokens (needs inputs that are closed under composition)");
  arguments->overrides.add_to(*command);
  command->add_flag("--json", arguments->json, "print the result as JSON");
  command->footer(
      "Example: lssm eval runs/a5_so3/seed-42/checkpoint.safetensors --lengths 32,4096");
  command->callback([arguments] { evaluate_checkpoint(*arguments); });
}

}  // namespace lssm
