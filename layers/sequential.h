// SPDX-License-Identifier: Apache-2.0
// Layers one after the other: the layer "sequential", and the body of every model.
#pragma once

#include "layers/layer.h"

namespace lssm {

class Sequential final : public Layer {
 public:
  // Parameters are named by position: "<scope>.0.weight". The context's pointer is that of the
  // list.
  Sequential(const BuildContext& context, const std::vector<std::unique_ptr<LayerConfig>>& configs);

  Sequence forward(Context& context, const Sequence& x) const override;
  Var loss(Context& context, const Sequence& x, const Tensor& target,
           const Tensor& mask) const override;
  int64_t out_width() const override { return out_width_; }
  int64_t state_size() const override;

 private:
  std::vector<LayerPtr> layers_;
  int64_t out_width_;
};

// Common to the layers that contain layers.
class LayerListConfig : public LayerConfig {
 public:
  void fields(Fields& f) override;
  bool reads_tokens() const override { return !layers_.empty() && layers_.front()->reads_tokens(); }

 protected:
  std::vector<std::unique_ptr<LayerConfig>> layers_;
};

}  // namespace lssm
