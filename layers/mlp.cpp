// SPDX-License-Identifier: Apache-2.0
// One hidden layer at each position: y = f(x w1 + b1) w2 + b2.
// JSON: {"type": "mlp", "hidden": 128, "activation": "gelu"}
#include "layers/affine.h"

namespace lssm {
namespace {

using kernels::Activation;

class Mlp final : public Layer {
 public:
  Mlp(const BuildContext& context, int64_t hidden, int64_t width, Activation activation)
      : in_(context.params.child("in"), context.in_width, hidden),
        out_(context.params.child("out"), hidden, width),
        activation_(activation) {}

  Sequence forward(Context& context, const Sequence& x) const override {
    const Var hidden = activation(activation_, in_(context.tape, x.rows));
    return x.with(out_(context.tape, hidden));
  }
  Var loss(Context& context, const Sequence& x, const Tensor& target,
           const Tensor& mask) const override {
    if (x.index) return Layer::loss(context, x, target, mask);
    const Var hidden = activation(activation_, in_(context.tape, x.rows));
    return out_.loss(context.tape, hidden, target, mask);
  }
  int64_t out_width() const override { return out_.out_width(); }

 private:
  Affine in_, out_;
  Activation activation_;
};

class MlpConfig final : public LayerConfig {
 public:
  void fields(Fields& f) override {
    f.add("hidden", hidden, "width of the hidden layer; 0: four times the input", at_least(0));
    f.add("activation", name, "nonlinearity", one_of({"gelu", "silu"}));
    f.add("width", width,
          "outputs; 0: what the task asks for if it is the last layer, else the model's width",
          at_least(0));
  }
  LayerPtr build(const BuildContext& context) const override {
    return std::make_unique<Mlp>(context, hidden > 0 ? hidden : 4 * context.in_width,
                                 context.width_or(width),
                                 name == "gelu" ? Activation::gelu : Activation::silu);
  }
  int64_t hidden = 0, width = 0;
  std::string name = "gelu";
};

}  // namespace

std::unique_ptr<LayerConfig> make_mlp() { return std::make_unique<MlpConfig>(); }

}  // namespace lssm
