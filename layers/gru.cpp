// SPDX-License-Identifier: Apache-2.0
// A gated recurrent unit (Cho et al. 2014; the equations are in kernels/rnn.h): transitions depend
// on the state itself, so no scan can run it in parallel.
// JSON: {"type": "gru", "width": 128}
#include "layers/rnn.h"

namespace lssm {
namespace {

class GruConfig final : public LayerConfig {
 public:
  void fields(Fields& f) override {
    f.add("width", width, "units; 0: the model's width", at_least(0));
  }
  LayerPtr build(const BuildContext& context) const override {
    const int64_t units = width > 0 ? width : context.model_width;
    return std::make_unique<Rnn>(context, kernels::RnnCell::gru, units, 0);
  }
  int64_t width = 0;
};

}  // namespace

std::unique_ptr<LayerConfig> make_gru() { return std::make_unique<GruConfig>(); }

}  // namespace lssm
