// SPDX-License-Identifier: Apache-2.0
#include "layers/model.h"

namespace lssm {

void ModelConfig::fields(Fields& f) {
  f.add("width", width, "width of layers that do not say their own", between(1, 1 << 20));
  f.add_variants("layers", layers, layer_registry(), "layers, applied in this order");
  f.check(!layers.empty(), "layers", "a model needs at least one layer");
}

Model::Model(const ModelConfig& config, const ModelInterface& interface, uint64_t seed, DType dtype,
             Device device)
    : parameters_(seed, dtype, device),
      body_({ParamScope(parameters_, "layers"), "/model", 0, config.width, interface.vocabulary,
             interface.outputs, true},
            config.layers) {
  LSSM_CHECK(body_.out_width() == interface.outputs, "/model/layers: the last layer gives ",
             body_.out_width(), " numbers, the task asks for ", interface.outputs);
}

Var Model::forward(Context& context, const Tensor& tokens) const {
  const Sequence x = {tokens.dim(0), tokens.dim(1), Var(), tokens};
  return body_.forward(context, x).dense();
}

Var Model::loss(Context& context, const Tensor& tokens, const Tensor& target,
                const Tensor& mask) const {
  const Sequence x = {tokens.dim(0), tokens.dim(1), Var(), tokens};
  return body_.loss(context, x, target, mask);
}

}  // namespace lssm
