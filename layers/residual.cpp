// SPDX-License-Identifier: Apache-2.0
// y = x + f(x), f being layers one after the other. JSON: {"type": "residual", "layers": [{"type":
// "mlp"}, …]}
#include "layers/sequential.h"

namespace lssm {
namespace {

class Residual final : public Layer {
 public:
  Residual(const BuildContext& context, const std::vector<std::unique_ptr<LayerConfig>>& configs)
      : inner_(inside(context), configs) {
    LSSM_CHECK(inner_.out_width() == context.in_width, context.pointer,
               ": residual: the layers turn width ", context.in_width, " into ", inner_.out_width(),
               ", expected the same width");
  }

  Sequence forward(Context& context, const Sequence& x) const override {
    const Sequence y = inner_.forward(context, x);
    const bool same_rows = bool(x.index) == bool(y.index);
    return same_rows ? x.with(add(x.rows, y.rows)) : x.with(add(x.dense(), y.dense()), true);
  }
  int64_t out_width() const override { return inner_.out_width(); }
  int64_t state_size() const override { return inner_.state_size(); }

 private:
  static BuildContext inside(BuildContext context) {
    context.pointer += "/layers";
    context.last = false;  // its width is that of its input
    return context;
  }

  Sequential inner_;
};

class ResidualConfig final : public LayerListConfig {
 public:
  LayerPtr build(const BuildContext& context) const override {
    return std::make_unique<Residual>(context, layers_);
  }
};

}  // namespace

std::unique_ptr<LayerConfig> make_residual() { return std::make_unique<ResidualConfig>(); }

}  // namespace lssm
