// SPDX-License-Identifier: Apache-2.0
// Rows of the table for the layers gru and lstm.
#include "test/layers/layer_cases.h"

namespace lssm::test {

void add_rnn_cases(std::vector<ModelCase>& cases) {
  for (const std::string type : {"gru", "lstm"}) {
    const std::string layer = R"({"type": ")" + type + '"';
    cases.push_back({type, framed(layer + "}")});
    cases.push_back({type + " width 1", framed(layer + R"(, "width": 1})")});
    cases.push_back({type + " after " + type,
                     framed(layer + R"(, "width": 3}, )" + layer + R"(, "width": 5})")});
    cases.push_back(
        {type + " in a residual after a recurrence",
         framed(R"({"type": "diagonal_ssm", "heads": 2}, {"type": "residual", "layers": [
                              {"type": "layer_norm"}, )" +
                layer + "}]}")});
  }
  cases.push_back({"lstm forget_bias", R"([{"type": "embedding"}, {"type": "lstm", "width": 2,
      "forget_bias": -1}, {"type": "linear"}])"});
}

}  // namespace lssm::test
