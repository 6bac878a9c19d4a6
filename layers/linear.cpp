// SPDX-License-Identifier: Apache-2.0
// y = x w + b at each position. JSON: {"type": "linear", "width": 60}
#include "layers/affine.h"

namespace lssm {
namespace {

class Linear final : public Layer {
 public:
  Linear(const BuildContext& context, int64_t width)
      : affine_(context.params, context.in_width, width) {}

  Sequence forward(Context& context, const Sequence& x) const override {
    return x.with(affine_(context.tape, x.rows));
  }
  Var loss(Context& context, const Sequence& x, const Tensor& target,
           const Tensor& mask) const override {
    // Rows that many positions share are multiplied once.
    if (x.index) return Layer::loss(context, x, target, mask);
    return affine_.loss(context.tape, x.rows, target, mask);
  }
  int64_t out_width() const override { return affine_.out_width(); }

 private:
  Affine affine_;
};

class LinearConfig final : public LayerConfig {
 public:
  void fields(Fields& f) override {
    f.add("width", width,
          "outputs; 0: what the task asks for if it is the last layer, else the model's width",
          at_least(0));
  }
  LayerPtr build(const BuildContext& context) const override {
    return std::make_unique<Linear>(context, context.width_or(width));
  }
  int64_t width = 0;
};

}  // namespace

std::unique_ptr<LayerConfig> make_linear() { return std::make_unique<LinearConfig>(); }

}  // namespace lssm
