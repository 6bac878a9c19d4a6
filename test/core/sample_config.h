// SPDX-License-Identifier: Apache-2.0
// A config with every kind of key, for the tests of core/config.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/config.h"

namespace lssm::testing {

struct GateConfig : Configurable {
  virtual std::string describe() const = 0;
};
const Registry<GateConfig>& gate_registry();

struct LayerConfig : Configurable {
  virtual std::string describe() const = 0;
};
const Registry<LayerConfig>& layer_registry();  // linear, and stack, which holds layers

struct WindowConfig final : Configurable {
  double size = 3;
  void fields(Fields& f) override { f.add("size", size, "its size", above(0)); }
};

struct Sample final : Configurable {
  std::string name;
  int64_t steps = 100;
  double rate = 0.5;
  uint64_t seed = 1;
  bool fast = false;
  std::string mode = "all";
  std::vector<int64_t> lengths = {1, 2};
  Json extra;
  WindowConfig window;
  std::unique_ptr<GateConfig> gate;
  std::vector<std::unique_ptr<LayerConfig>> layers;

  void fields(Fields& f) override;
};

}  // namespace lssm::testing
