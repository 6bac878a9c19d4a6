// SPDX-License-Identifier: Apache-2.0
// Gradient descent. JSON: {"type": "adam", "lr": 0.01}, {"type": "adamw", …}, {"type": "sgd", …}.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "autodiff/parameters.h"
#include "core/config.h"

namespace lssm {

// Updates parameters from their gradients. Its state (moments) is a list of named tensors, so that
// a checkpoint can hold it.
class Optimizer {
 public:
  struct State {
    std::string name;  // "adam.m." + the parameter's name
    Tensor value;
  };

  virtual ~Optimizer() = default;
  // Step number `step` counts from 1. The gradient of each parameter is multiplied by `grad_scale`
  // first. Parameters without a gradient stay as they are.
  virtual void step(ParameterStore& parameters, int64_t step, double lr, double grad_scale) = 0;
  std::vector<State>& state() { return state_; }

 protected:
  // Adds a zero tensor like each parameter; all of one kind, then all of the next.
  void add_state(const std::string& prefix, const ParameterStore& parameters);

  std::vector<State> state_;
};

// A learning rate of their own for some parameters. JSON: {"parameters": "layers.1", "factor": 0.1}
struct LearningRateGroup final : Configurable {
  void fields(Fields& f) override;
  // Whether it names the parameter itself or a part of the model that holds it.
  bool names(const std::string& parameter) const;

  std::string parameters;
  double factor = 1;
};

class OptimizerConfig : public Configurable {
 public:
  void fields(Fields& f) override;
  double lr() const { return lr_; }  // the peak learning rate; a schedule scales it
  virtual std::unique_ptr<Optimizer> build(const ParameterStore& parameters) const = 0;
  // The factor of each parameter's learning rate. Throws Error where a group names no parameter.
  std::vector<double> lr_factors(const ParameterStore& parameters) const;

 protected:
  explicit OptimizerConfig(double lr) : lr_(lr) {}

 private:
  double lr_;
  std::vector<LearningRateGroup> groups_;
};

const Registry<OptimizerConfig>& optimizer_registry();

// Euclidean norm of all gradients together.
double grad_norm(const ParameterStore& parameters);

}  // namespace lssm
