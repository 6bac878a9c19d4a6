// SPDX-License-Identifier: Apache-2.0
// Long short-term memory with a forget gate (Hochreiter & Schmidhuber 1997, Gers et al. 2000; the
// equations are in kernels/rnn.h). The next layer sees h; the state is (h, c).
// JSON: {"type": "lstm", "width": 128, "forget_bias": 1}
#include "layers/rnn.h"

namespace lssm {
namespace {

class LstmConfig final : public LayerConfig {
 public:
  void fields(Fields& f) override {
    f.add("width", width, "units; 0: the model's width", at_least(0));
    f.add("forget_bias", forget_bias,
          "added to the biases of the forget gate at the start: 1 lets cells remember "
          "(Jozefowicz et al. 2015), 0 is PyTorch's start");
  }
  LayerPtr build(const BuildContext& context) const override {
    const int64_t units = width > 0 ? width : context.model_width;
    return std::make_unique<Rnn>(context, kernels::RnnCell::lstm, units, forget_bias);
  }
  int64_t width = 0;
  double forget_bias = 1;
};

}  // namespace

std::unique_ptr<LayerConfig> make_lstm() { return std::make_unique<LstmConfig>(); }

}  // namespace lssm
