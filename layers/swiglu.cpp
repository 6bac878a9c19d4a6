// SPDX-License-Identifier: Apache-2.0
// A gated hidden layer at each position: y = (silu(x w1) * (x w2)) w3, without biases (Shazeer
// 2020, "GLU Variants Improve Transformer", SwiGLU). As wide as its input, as in residual blocks.
// JSON: {"type": "swiglu", "hidden": 0}
#include <cmath>

#include "layers/layer.h"

namespace lssm {
namespace {

class SwiGlu final : public Layer {
 public:
  SwiGlu(const BuildContext& context, int64_t hidden)
      : gate_(weights(context.params, "gate", context.in_width, hidden)),
        in_(weights(context.params, "in", context.in_width, hidden)),
        out_(weights(context.params, "out", hidden, context.in_width)) {}

  Sequence forward(Context& context, const Sequence& x) const override {
    Tape& tape = context.tape;
    const auto times = [&tape](Var rows, Parameter& w) {
      return linear(rows, tape.parameter(w), Var());
    };
    const Var gate = activation(kernels::Activation::silu, times(x.rows, gate_));
    return x.with(times(mul(gate, times(x.rows, in_)), out_));
  }
  int64_t out_width() const override { return out_.value.dim(1); }

 private:
  // Uniform in [-1, 1] / sqrt(in), as in Affine.
  static Parameter& weights(const ParamScope& params, const char* name, int64_t in, int64_t out) {
    return params.child(name).add("weight", {in, out}, init::uniform(1 / std::sqrt(double(in))));
  }

  Parameter &gate_, &in_, &out_;
};

class SwiGluConfig final : public LayerConfig {
 public:
  void fields(Fields& f) override {
    f.add("hidden", hidden, "width of the hidden layer; 0: 8/3 of the input, rounded", at_least(0));
  }
  LayerPtr build(const BuildContext& context) const override {
    const int64_t usual = std::llround(8.0 / 3 * double(context.in_width));
    return std::make_unique<SwiGlu>(context, hidden > 0 ? hidden : usual);
  }
  int64_t hidden = 0;
};

}  // namespace

std::unique_ptr<LayerConfig> make_swiglu() { return std::make_unique<SwiGluConfig>(); }

}  // namespace lssm
