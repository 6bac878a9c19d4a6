// SPDX-License-Identifier: Apache-2.0
// Layers one after the other. JSON: {"type": "sequential", "layers": [{"type": "linear"}, …]}
#include "layers/sequential.h"

namespace lssm {

Sequential::Sequential(const BuildContext& context,
                       const std::vector<std::unique_ptr<LayerConfig>>& configs)
    : out_width_(context.in_width) {
  for (size_t i = 0; i < configs.size(); ++i) {
    BuildContext inner = context;
    inner.params = context.params.child(std::to_string(i));
    inner.pointer = context.pointer + "/" + std::to_string(i);
    inner.in_width = out_width_;
    inner.last = context.last && i + 1 == configs.size();
    LSSM_CHECK(configs[i]->reads_tokens() == (inner.in_width == 0), inner.pointer,
               inner.in_width == 0
                   ? ": the model's input is tokens, so its first layer must be an embedding"
                   : ": an embedding reads tokens, so it can only be the first layer");
    layers_.push_back(configs[i]->build(inner));
    out_width_ = layers_.back()->out_width();
  }
}

Sequence Sequential::forward(Context& context, const Sequence& x) const {
  Sequence y = x;
  for (const LayerPtr& layer : layers_) y = layer->forward(context, y);
  return y;
}

Var Sequential::loss(Context& context, const Sequence& x, const Tensor& target,
                     const Tensor& mask) const {
  Sequence y = x;
  for (size_t i = 0; i + 1 < layers_.size(); ++i) y = layers_[i]->forward(context, y);
  return layers_.back()->loss(context, y, target, mask);
}

int64_t Sequential::state_size() const {
  int64_t total = 0;
  for (const LayerPtr& layer : layers_) total += layer->state_size();
  return total;
}

void LayerListConfig::fields(Fields& f) {
  f.add_variants("layers", layers_, layer_registry(), "layers, applied in this order");
  f.check(!layers_.empty(), "layers", "expected at least one layer");
}

namespace {

class SequentialConfig final : public LayerListConfig {
 public:
  LayerPtr build(const BuildContext& context) const override {
    BuildContext inner = context;
    inner.pointer += "/layers";
    return std::make_unique<Sequential>(inner, layers_);
  }
};

}  // namespace

std::unique_ptr<LayerConfig> make_sequential() { return std::make_unique<SequentialConfig>(); }

}  // namespace lssm
