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

class OptimizerConfig : public Configurable {
 public:
  virtual double lr() const = 0;  // the peak learning rate; a schedule scales it
  virtual std::unique_ptr<Optimizer> build(const ParameterStore& parameters) const = 0;
};

const Registry<OptimizerConfig>& optimizer_registry();

// Euclidean norm of all gradients together.
double grad_norm(const ParameterStore& parameters);

}  // namespace lssm
