// SPDX-License-Identifier: Apache-2.0
// A model: layers from JSON, and their parameters.
// JSON: {"width": 64, "layers": [{"type": "embedding"}, {"type": "lie_ssm"}, {"type": "linear"}]}
#pragma once

#include "layers/sequential.h"

namespace lssm {

class ModelConfig final : public Configurable {
 public:
  void fields(Fields& f) override;

  int64_t width = 64;
  std::vector<std::unique_ptr<LayerConfig>> layers;
};

// What a model must fit: the task's tokens and the numbers asked for at each position.
struct ModelInterface {
  int64_t vocabulary;
  int64_t outputs;
  std::vector<std::vector<int>> class_factors = {};  // as Task::class_factors()
};

class Model {
 public:
  Model(const ModelConfig& config, const ModelInterface& interface, uint64_t seed, DType dtype,
        Device device);

  // tokens: i32 [batch, length]; result: [batch * length, outputs]. Tokens, targets and masks come
  // from the host: they are checked there and then moved to the model's device.
  Var forward(Context& context, const Tensor& tokens) const;
  // The mean cross-entropy of forward() over the positions whose mask is not 0, all if it is empty.
  // target, mask: i32 with a number for each token.
  Var loss(Context& context, const Tensor& tokens, const Tensor& target, const Tensor& mask) const;

  ParameterStore& parameters() { return parameters_; }
  const ParameterStore& parameters() const { return parameters_; }
  int64_t state_size() const { return body_.state_size(); }

 private:
  Tensor checked(const char* what, const Tensor& values, int64_t choices) const;

  ModelInterface interface_;
  ParameterStore parameters_;
  Sequential body_;
};

}  // namespace lssm
