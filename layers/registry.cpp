// SPDX-License-Identifier: Apache-2.0
// Every layer by its JSON type, which is also the name of its file and of its make_ function.
#include "layers/layer.h"

#define LSSM_LAYERS(X) \
  X(cascade)           \
  X(causal_conv)       \
  X(delta_product)     \
  X(diagonal_ssm)      \
  X(dropout)           \
  X(embedding)         \
  X(factored_readout)  \
  X(gru)               \
  X(layer_norm)        \
  X(lie_ssm)           \
  X(linear)            \
  X(lstm)              \
  X(mlp)               \
  X(residual)          \
  X(rms_norm)          \
  X(sequential)        \
  X(swiglu)

namespace lssm {

#define LSSM_DECLARE(name) std::unique_ptr<LayerConfig> make_##name();
LSSM_LAYERS(LSSM_DECLARE)
#undef LSSM_DECLARE

const Registry<LayerConfig>& layer_registry() {
#define LSSM_ENTRY(name) {#name, &make_##name},
  static const Registry<LayerConfig> registry = {"layer", {LSSM_LAYERS(LSSM_ENTRY)}};
#undef LSSM_ENTRY
  return registry;
}

}  // namespace lssm
