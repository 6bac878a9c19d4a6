// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "apps/experiment/config.h"
#include "apps/lssm/commands.h"
#include "autodiff/grad_check.h"

namespace lssm {
namespace {

struct GradcheckArguments {
  ConfigArguments config;
  int64_t samples = 24, sequences = 2, length = 0;
  double tolerance = 1e-6;
  bool json = false;
};

// The gradient of every parameter of the config's model, in f64, on one batch of the task.
std::vector<GradError> check_model(Experiment& experiment, const GradcheckArguments& arguments) {
  const uint64_t seed = experiment.config.train.seed;
  const Batch batch =
      experiment.task->batch(Split::train, seed, 0, arguments.sequences, arguments.length);
  const auto loss_on = [&](Tape& tape) {
    Context context = experiment.context(tape);
    context.training = true;  // dropout too: its coins are a function of the seed
    return experiment.model.loss(context, batch.tokens, batch.targets, batch.trained);
  };
  ParameterStore& parameters = experiment.model.parameters();
  parameters.zero_grad();
  Tape tape;
  tape.backward(loss_on(tape));

  std::vector<GradTarget> targets;
  for (Parameter& p : parameters.all()) {
    targets.push_back({p.name, p.value, p.grad ? p.grad : Tensor::zeros_like(p.value)});
  }
  const auto loss = [&] {
    Tape forward(false);
    return loss_on(forward).value().item();
  };
  return check_gradients(targets, loss, arguments.samples);
}

void gradcheck(const GradcheckArguments& arguments) {
  Json json = arguments.config.read();
  if (json.is_object()) {
    json["precision"] = "f64";
    json["device"] = "cpu";  // the check changes parameters in the host's memory
  }
  Experiment experiment(std::move(json), arguments.config.file);
  const std::vector<GradError> errors = check_model(experiment, arguments);
  bool passed = true;
  Json report = Json::array();
  for (const GradError& e : errors) {
    const bool good = e.error <= arguments.tolerance;  // false for a NaN
    passed = passed && good;
    report.push_back({{"parameter", e.name},
                      {"position", e.position},
                      {"tape", e.tape},
                      {"numeric", e.numeric},
                      {"error", e.error},
                      {"passed", good}});
    if (!arguments.json) {
      std::printf("%-32s  relative error %8.1e  %s\n", e.name.c_str(), e.error,
                  good ? "ok" : "WRONG");
      if (!good) {
        std::printf("    at position %lld: tape %.10g, differences %.10g\n",
                    static_cast<long long>(e.position), e.tape, e.numeric);
      }
    }
  }
  if (arguments.json) std::printf("%s\n", report.dump(2).c_str());
  if (!passed) fail_numeric("gradcheck: a relative error is above ", arguments.tolerance);
}

CLI::Validator positive_number() {
  const auto check = [](const std::string& word) -> std::string {
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool good = error == std::errc() && end == word.data() + word.size() &&
                      std::isfinite(value) && value > 0;
    return good ? "" : text("got ", word, ", expected a finite number above 0");
  };
  return CLI::Validator(check, "> 0");
}

}  // namespace

void add_gradcheck(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "gradcheck", "compare a model's gradients with finite differences, in f64 on the CPU");
  auto arguments = std::make_shared<GradcheckArguments>();
  arguments->config.add_to(*command, true);
  command->add_option("--samples", arguments->samples, "numbers checked in each parameter; 0: all")
      ->capture_default_str()
      ->check(at_least_number(0));
  command->add_option("--sequences", arguments->sequences, "sequences in the batch")
      ->capture_default_str()
      ->check(at_least_number(1));
  command
      ->add_option("--length", arguments->length, "their length; the training length if not given")
      ->check(at_least_number(1));
  command->add_option("--tolerance", arguments->tolerance, "largest relative error that passes")
      ->capture_default_str()
      ->check(positive_number());
  command->add_flag("--json", arguments->json, "print the result as JSON");
  command->callback([arguments] { gradcheck(*arguments); });
}

}  // namespace lssm
