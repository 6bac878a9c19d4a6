// SPDX-License-Identifier: Apache-2.0
// In training, sets a share of the numbers to 0 and scales the rest up. JSON: {"type": "dropout",
// "rate": 0.1}
#include "layers/layer.h"

namespace lssm {
namespace {

class Dropout final : public Layer {
 public:
  Dropout(int64_t width, double rate) : width_(width), rate_(rate) {}

  Sequence forward(Context& context, const Sequence& x) const override {
    const uint32_t site = context.sites++;
    if (!context.training || rate_ == 0) return x;
    // Each position has coins of its own, so the rows must be written out.
    return x.with(dropout(x.dense(), rate_, context.seed, context.draw, site), true);
  }
  int64_t out_width() const override { return width_; }

 private:
  int64_t width_;
  double rate_;
};

class DropoutConfig final : public LayerConfig {
 public:
  void fields(Fields& f) override {
    f.add("rate", rate, "share of the numbers that are set to 0", between(0, 1));
    f.check(rate < 1, "rate", "expected a number below 1");
  }
  LayerPtr build(const BuildContext& context) const override {
    return std::make_unique<Dropout>(context.in_width, rate);
  }
  double rate = 0.1;
};

}  // namespace

std::unique_ptr<LayerConfig> make_dropout() { return std::make_unique<DropoutConfig>(); }

}  // namespace lssm
