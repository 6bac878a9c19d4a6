// SPDX-License-Identifier: Apache-2.0
// Rows of the table for the parts of deep blocks, and for one whole block.
#include "core/check.h"
#include "test/layers/layer_cases.h"

namespace lssm::test {
namespace {

// A block of the Lie group paper, section 3.8.
const char* kDeepLieBlock = R"(
    {"type": "residual", "layers": [
      {"type": "rms_norm"},
      {"type": "causal_conv", "kernel": 3},
      {"type": "lie_ssm", "group": "se3", "heads": 2, "gate": "head", "inject": true,
       "readout": "direction_radial"},
      {"type": "linear"}]},
    {"type": "residual", "layers": [{"type": "rms_norm"}, {"type": "swiglu"}]})";

}  // namespace

void add_deep_cases(std::vector<ModelCase>& cases) {
  for (int kernel : {1, 2, 3, 4}) {
    cases.push_back({text("causal_conv kernel ", kernel),
                     framed(text(R"({"type": "causal_conv", "kernel": )", kernel, "}"))});
  }
  const std::string conv = R"({"type": "causal_conv"})";
  const std::string lie = R"({"type": "lie_ssm", "group": "so3", "heads": 2, "readout": "raw"})";
  cases.push_back(
      {"causal_conv in residual",
       framed(R"({"type": "residual", "layers": [{"type": "rms_norm"}, )" + conv + "]}")});
  cases.push_back({"causal_conv twice", framed(conv + ", " + conv)});
  cases.push_back({"causal_conv before a recurrence", framed(conv + ", " + lie)});
  cases.push_back({"causal_conv after a recurrence", framed(lie + ", " + conv)});
  cases.push_back({"swiglu", framed(R"({"type": "swiglu"})")});
  cases.push_back({"swiglu hidden 5", framed(R"({"type": "swiglu", "hidden": 5})")});
  cases.push_back({"swiglu after a recurrence", framed(lie + R"(, {"type": "swiglu"})")});
  cases.push_back({"deep lie block", framed(kDeepLieBlock)});
}

}  // namespace lssm::test
