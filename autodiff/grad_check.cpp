// SPDX-License-Identifier: Apache-2.0
#include "autodiff/grad_check.h"

#include <algorithm>
#include <cmath>

#include "core/random.h"

namespace lssm {
namespace {

// (8 (f(x+h) - f(x-h)) - (f(x+2h) - f(x-2h))) / 12 h
double five_point(double& x, double h, const std::function<double()>& f) {
  const double x0 = x;
  const auto at = [&](double d) {
    x = x0 + d;
    return f();
  };
  const double near = at(h) - at(-h);
  const double far = at(2 * h) - at(-2 * h);
  x = x0;
  return (8 * near - far) / (12 * h);
}

GradError check_target(const GradTarget& target, const std::function<double()>& loss,
                       int64_t samples, double step) {
  const int64_t n = target.value.numel();
  const int64_t count = samples == 0 ? n : std::min(n, samples);
  const double* tape = target.grad.data<double>();
  double largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(tape[i]));

  GradError worst = {target.name};
  double worst_difference = -1;
  for (int64_t s = 0; s < count; ++s) {
    const int64_t i = s * n / count;
    const double numeric = five_point(target.value.data<double>()[i], step, loss);
    largest = std::max(largest, std::abs(numeric));
    const double difference = std::abs(numeric - tape[i]);
    if (!(difference <= worst_difference)) {  // also takes a NaN
      worst_difference = difference;
      worst = {target.name, i, tape[i], numeric, 0};
    }
  }
  // Below 1e-6 in all entries the gradient is zero as far as differences can tell.
  if (count > 0) worst.error = worst_difference / std::max(largest, 1e-6);
  return worst;
}

}  // namespace

std::vector<GradError> check_gradients(const std::vector<GradTarget>& targets,
                                       const std::function<double()>& loss, int64_t samples,
                                       double step) {
  std::vector<GradError> errors;
  for (const GradTarget& target : targets)
    errors.push_back(check_target(target, loss, samples, step));
  return errors;
}

Tensor loss_weights(const Tensor& x) {
  Random random(1, Stream::check, 0);
  std::vector<double> weights(size_t(x.numel()));
  for (double& w : weights) w = 2 * random.uniform() - 1;
  return Tensor::from_host(x.shape(), weights, x.dtype(), x.device());
}

GradError check_operation(const OpFunction& f, const std::vector<Tensor>& inputs) {
  const auto run = [&](Tape& tape, std::vector<Var>& leaves) {
    for (const Tensor& x : inputs) leaves.push_back(tape.leaf(x, x.dtype() == DType::f64));
    return f(tape, leaves);
  };
  const auto loss = [&] {
    Tape tape;
    std::vector<Var> leaves;
    double total = 0;
    for (const Var output : run(tape, leaves)) {
      const std::vector<double> y = output.value().to_host();
      const std::vector<double> w = loss_weights(output.value()).to_host();
      for (size_t i = 0; i < y.size(); ++i) total += w[i] * y[i];
    }
    return total;
  };

  Tape tape;
  std::vector<Var> leaves;
  const std::vector<Var> outputs = run(tape, leaves);
  std::vector<Tensor> seeds;
  for (const Var output : outputs) seeds.push_back(loss_weights(output.value()));
  tape.backward(outputs, seeds);

  std::vector<GradTarget> targets;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype() != DType::f64) continue;
    targets.push_back({"input " + std::to_string(i), inputs[i], tape.grad(leaves[i])});
  }
  const std::vector<GradError> errors = check_gradients(targets, loss);
  return *std::max_element(errors.begin(), errors.end(),
                           [](const GradError& a, const GradError& b) {
                             return !(a.error >= b.error);  // a NaN is the worst
                           });
}

}  // namespace lssm
