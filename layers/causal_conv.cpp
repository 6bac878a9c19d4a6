// SPDX-License-Identifier: Apache-2.0
// Mixes each number with its own last few values, by a learned filter for each column:
//   y_t = bias + sum over j = 0 … kernel - 1 of w_j x_{t-j}   (a causal depthwise convolution).
// The last kernel - 1 inputs are the layer's state. Before the start, and before a reset, they are
// 0. JSON: {"type": "causal_conv", "kernel": 3}
#include <cmath>

#include "layers/layer.h"

namespace lssm {
namespace {

class CausalConv final : public Layer {
 public:
  CausalConv(const BuildContext& context, int64_t kernel)
      : kernel_(kernel), width_(context.in_width) {
    const Init uniform = init::uniform(1 / std::sqrt(double(kernel)));
    weight_ = &context.params.add("weight", {kernel, width_}, uniform);
    bias_ = &context.params.add("bias", {width_}, uniform);
  }

  Sequence forward(Context& context, const Sequence& x) const override {
    Tape& tape = context.tape;
    const Var input = reshape(x.dense(), {x.batch, x.length, width_});
    const Var carried = context.carried_state();
    if (context.carry) {
      context.carry->out.push_back(last_inputs(input, kernel_ - 1, context.reset, carried));
    }
    const Var y = causal_conv(input, tape.parameter(*weight_), tape.parameter(*bias_),
                              context.reset, carried);
    return x.with(reshape(y, {x.batch * x.length, width_}), true);
  }
  int64_t out_width() const override { return width_; }
  int64_t state_size() const override { return (kernel_ - 1) * width_; }

 private:
  int64_t kernel_, width_;
  Parameter* weight_;  // [kernel, width]
  Parameter* bias_;    // [width]
};

class CausalConvConfig final : public LayerConfig {
 public:
  void fields(Fields& f) override {
    f.add("kernel", kernel, "steps that a number is mixed from, the present one included",
          at_least(1));
  }
  LayerPtr build(const BuildContext& context) const override {
    return std::make_unique<CausalConv>(context, kernel);
  }
  int64_t kernel = 3;
};

}  // namespace

std::unique_ptr<LayerConfig> make_causal_conv() { return std::make_unique<CausalConvConfig>(); }

}  // namespace lssm
