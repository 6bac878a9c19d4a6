// SPDX-License-Identifier: Apache-2.0
#include "autodiff/optimizer.h"

#include <cmath>

#include "core/spelling.h"
#include "kernels/optimizer.h"
#include "kernels/reduce.h"

namespace lssm {
namespace {

class AdamConfig : public OptimizerConfig {
 public:
  AdamConfig() : OptimizerConfig(1e-3) {}
  void fields(Fields& f) override {
    OptimizerConfig::fields(f);
    f.add("beta1", beta1, "decay of the mean of the gradient", between(0, 1));
    f.add("beta2", beta2, "decay of the mean of the squared gradient", between(0, 1));
    f.add("eps", eps, "added to the root of the mean squared gradient", above(0));
    f.check(beta1 < 1 && beta2 < 1, beta1 < 1 ? "beta2" : "beta1", "expected a number below 1");
  }
  std::unique_ptr<Optimizer> build(const ParameterStore& parameters) const override;

  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
};

class AdamWConfig final : public AdamConfig {
 public:
  AdamWConfig() { weight_decay = 0.01; }
  void fields(Fields& f) override {
    AdamConfig::fields(f);
    f.add("weight_decay", weight_decay, "decoupled decay: w -= lr * weight_decay * w", at_least(0));
  }
};

class SgdConfig final : public OptimizerConfig {
 public:
  SgdConfig() : OptimizerConfig(0.1) {}
  void fields(Fields& f) override {
    OptimizerConfig::fields(f);
    f.add("momentum", momentum, "share of the last update that is kept", between(0, 1));
    f.add("weight_decay", weight_decay, "decoupled decay: w -= lr * weight_decay * w", at_least(0));
  }
  std::unique_ptr<Optimizer> build(const ParameterStore& parameters) const override;

  double momentum = 0.9, weight_decay = 0;
};

class Adam final : public Optimizer {
 public:
  Adam(const AdamConfig& config, const ParameterStore& parameters)
      : config_(config), lr_factors_(config.lr_factors(parameters)) {
    add_state("adam.m.", parameters);
    add_state("adam.v.", parameters);
  }

  void step(ParameterStore& parameters, int64_t step, double lr, double grad_scale) override {
    kernels::AdamStep update = {lr,
                                config_.beta1,
                                config_.beta2,
                                config_.eps,
                                config_.weight_decay,
                                1 - std::pow(config_.beta1, double(step)),
                                1 - std::pow(config_.beta2, double(step)),
                                grad_scale};
    const size_t count = parameters.all().size();
    for (size_t i = 0; i < count; ++i) {
      Parameter& p = parameters.all()[i];
      update.lr = lr * lr_factors_[i];
      if (p.grad) kernels::adam(update, p.grad, state_[i].value, state_[count + i].value, p.value);
    }
  }

 private:
  AdamConfig config_;
  std::vector<double> lr_factors_;
};

class Sgd final : public Optimizer {
 public:
  Sgd(const SgdConfig& config, const ParameterStore& parameters)
      : config_(config), lr_factors_(config.lr_factors(parameters)) {
    add_state("sgd.u.", parameters);
  }

  void step(ParameterStore& parameters, int64_t, double lr, double grad_scale) override {
    kernels::SgdStep update = {lr, config_.momentum, config_.weight_decay, grad_scale};
    for (size_t i = 0; i < parameters.all().size(); ++i) {
      Parameter& p = parameters.all()[i];
      update.lr = lr * lr_factors_[i];
      if (p.grad) kernels::sgd(update, p.grad, state_[i].value, p.value);
    }
  }

 private:
  SgdConfig config_;
  std::vector<double> lr_factors_;
};

std::unique_ptr<Optimizer> AdamConfig::build(const ParameterStore& parameters) const {
  return std::make_unique<Adam>(*this, parameters);
}

std::unique_ptr<Optimizer> SgdConfig::build(const ParameterStore& parameters) const {
  return std::make_unique<Sgd>(*this, parameters);
}

template <class Config>
std::unique_ptr<OptimizerConfig> make() {
  return std::make_unique<Config>();
}

}  // namespace

void LearningRateGroup::fields(Fields& f) {
  f.require("parameters", parameters,
            "a parameter, or a part of the model by the path of its names");
  f.require("factor", factor, "multiplies the learning rate", at_least(0));
}

bool LearningRateGroup::names(const std::string& parameter) const {
  return parameter == parameters || parameter.starts_with(parameters + ".");
}

void OptimizerConfig::fields(Fields& f) {
  f.add("lr", lr_, "peak learning rate", above(0));
  f.add_objects("groups", groups_,
                "learning rates of their own; where two name one parameter, the later counts");
}

std::vector<double> OptimizerConfig::lr_factors(const ParameterStore& parameters) const {
  std::vector<double> factors(parameters.all().size(), 1);
  for (const LearningRateGroup& group : groups_) {
    bool found = false;
    for (size_t i = 0; i < factors.size(); ++i) {
      if (!group.names(parameters.all()[i].name)) continue;
      factors[i] = group.factor;
      found = true;
    }
    if (found) continue;
    std::vector<std::string> names;
    for (const Parameter& p : parameters.all()) names.push_back(p.name);
    fail("/train/optimizer/groups: no parameter of the model is called \"", group.parameters,
         "\" or lies in it; ", spelling_help(group.parameters, names));
  }
  return factors;
}

void Optimizer::add_state(const std::string& prefix, const ParameterStore& parameters) {
  for (const Parameter& p : parameters.all()) {
    state_.push_back({prefix + p.name, Tensor::zeros_like(p.value)});
  }
}

const Registry<OptimizerConfig>& optimizer_registry() {
  static const Registry<OptimizerConfig> registry = {
      "optimizer",
      {{"adam", &make<AdamConfig>}, {"adamw", &make<AdamWConfig>}, {"sgd", &make<SgdConfig>}}};
  return registry;
}

double grad_norm(const ParameterStore& parameters) {
  double squares = 0;
  for (const Parameter& p : parameters.all()) {
    if (p.grad) squares += kernels::sum_of_squares(p.grad);
  }
  return std::sqrt(squares);
}

}  // namespace lssm
