// SPDX-License-Identifier: Apache-2.0
// Rows of the table for delta_product.
#include "test/layers/layer_cases.h"

namespace lssm::test {
namespace {

void add(std::vector<ModelCase>& cases, const std::string& options) {
  cases.push_back(
      {"delta_product " + options, text(R"([{"type": "embedding"}, {"type": "delta_product", )",
                                        options, R"(}, {"type": "linear"}])")});
}

}  // namespace

void add_delta_cases(std::vector<ModelCase>& cases) {
  // Five dimensions: of three, two reflections that are nearly projections leave so little that no
  // difference follows its direction.
  for (const char* range : {"[0, 1]", "[0, 2]"}) {
    for (const bool gate : {false, true}) {
      for (const bool inject : {false, true}) {
        for (const std::string readout : {"raw", "direction", "direction_radial"}) {
          if (gate && !inject && readout == "direction") continue;  // no effect
          add(cases, text(R"("heads": 2, "dim": 5, "range": )", range, R"(, "gate": )",
                          gate ? "true" : "false", R"(, "inject": )", inject ? "true" : "false",
                          R"(, "readout": ")", readout, "\""));
        }
      }
    }
  }
  for (const char* range : {"[0, 1]", "[0, 2]"}) {
    add(cases, text(R"("heads": 2, "reflections": 1, "range": )", range));
    add(cases, text(R"("heads": 3, "readout": "raw", "range": )", range));
  }
  add(cases, R"("heads": 2, "dim": 5, "reflections": 4)");
  add(cases, R"("heads": 1, "dim": 8, "reflections": 3, "readout": "raw")");
  add(cases, R"("heads": 9, "dim": 4, "reflections": 1, "gate": true, "readout": "raw")");
  // Transitions made for each position instead of each token.
  cases.push_back({"delta_product after a recurrence",
                   R"([{"type": "embedding"},
                       {"type": "delta_product", "heads": 2, "reflections": 1, "inject": true},
                       {"type": "delta_product", "heads": 2, "dim": 4, "readout": "raw"},
                       {"type": "linear"}])"});
}

}  // namespace lssm::test
