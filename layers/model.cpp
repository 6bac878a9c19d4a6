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
    : interface_(interface),
      parameters_(seed, dtype, device),
      body_({ParamScope(parameters_, "layers"), "/model/layers", 0, config.width,
             interface.vocabulary, interface.outputs, &interface_.class_factors, true},
            config.layers) {
  LSSM_CHECK(body_.out_width() == interface.outputs, "/model/layers: the last layer gives ",
             body_.out_width(), " numbers, the task asks for ", interface.outputs);
}

// From another place than the host they are copied back, which waits for the device.
Tensor Model::checked(const char* what, const Tensor& values, int64_t choices) const {
  check_indices(what, values.to(Device::cpu), choices);
  return values.to(parameters_.device());
}

Var Model::forward(Context& context, const Tensor& tokens) const {
  const Sequence x = {tokens.dim(0), tokens.dim(1), Var(),
                      checked("tokens", tokens, interface_.vocabulary)};
  return body_.forward(context, x).dense();
}

Var Model::loss(Context& context, const Tensor& tokens, const Tensor& target,
                const Tensor& mask) const {
  const Sequence x = {tokens.dim(0), tokens.dim(1), Var(),
                      checked("tokens", tokens, interface_.vocabulary)};
  return body_.loss(context, x, checked("targets", target, interface_.outputs),
                    mask ? mask.to(parameters_.device()) : mask);
}

}  // namespace lssm
