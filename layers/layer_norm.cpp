// SPDX-License-Identifier: Apache-2.0
// Layer normalisation (Ba et al. 2016) at each position. JSON: {"type": "layer_norm", "eps": 1e-5}
#include "layers/layer.h"

namespace lssm {
namespace {

class LayerNorm final : public Layer {
 public:
  LayerNorm(const BuildContext& context, double eps)
      : gain_(context.params.add("gain", {context.in_width}, init::constant(1))),
        bias_(context.params.add("bias", {context.in_width}, init::constant(0))),
        eps_(eps) {}

  Sequence forward(Context& context, const Sequence& x) const override {
    return x.with(
        layer_norm(x.rows, context.tape.parameter(gain_), context.tape.parameter(bias_), eps_));
  }
  int64_t out_width() const override { return gain_.value.numel(); }

 private:
  Parameter& gain_;
  Parameter& bias_;
  double eps_;
};

class LayerNormConfig final : public LayerConfig {
 public:
  void fields(Fields& f) override { f.add("eps", eps, "added to the variance", above(0)); }
  LayerPtr build(const BuildContext& context) const override {
    return std::make_unique<LayerNorm>(context, eps);
  }
  double eps = 1e-5;
};

}  // namespace

std::unique_ptr<LayerConfig> make_layer_norm() { return std::make_unique<LayerNormConfig>(); }

}  // namespace lssm
