// SPDX-License-Identifier: Apache-2.0
// RMS normalisation (Zhang & Sennrich 2019) at each position. JSON: {"type": "rms_norm", "eps":
// 1e-5}
#include "layers/layer.h"

namespace lssm {
namespace {

class RmsNorm final : public Layer {
 public:
  RmsNorm(const BuildContext& context, double eps)
      : gain_(context.params.add("gain", {context.in_width}, init::constant(1))), eps_(eps) {}

  Sequence forward(Context& context, const Sequence& x) const override {
    return x.with(rms_norm(x.rows, context.tape.parameter(gain_), eps_));
  }
  int64_t out_width() const override { return gain_.value.numel(); }

 private:
  Parameter& gain_;
  double eps_;
};

class RmsNormConfig final : public LayerConfig {
 public:
  void fields(Fields& f) override { f.add("eps", eps, "added to the mean square", above(0)); }
  LayerPtr build(const BuildContext& context) const override {
    return std::make_unique<RmsNorm>(context, eps);
  }
  double eps = 1e-5;
};

}  // namespace

std::unique_ptr<LayerConfig> make_rms_norm() { return std::make_unique<RmsNormConfig>(); }

}  // namespace lssm
