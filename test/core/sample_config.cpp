// SPDX-License-Identifier: Apache-2.0
#include "test/core/sample_config.h"

namespace lssm::testing {
namespace {

struct NoGate final : GateConfig {
  void fields(Fields&) override {}
  std::string describe() const override { return "none"; }
};

struct ScaledGate final : GateConfig {
  double by = 1;
  void fields(Fields& f) override { f.add("by", by, "the factor"); }
  std::string describe() const override { return text("scaled by ", by); }
};

struct Linear final : LayerConfig {
  int64_t width = 4;
  void fields(Fields& f) override { f.add("width", width, "its width", at_least(1)); }
  std::string describe() const override { return text("linear ", width); }
};

struct Stack final : LayerConfig {
  std::vector<std::unique_ptr<LayerConfig>> layers;
  void fields(Fields& f) override {
    f.add_variants("layers", layers, layer_registry(), "one after the other");
  }
  std::string describe() const override {
    std::vector<std::string> all;
    for (const auto& layer : layers) all.push_back(layer->describe());
    return "[" + comma_list(all) + "]";
  }
};

template <class Base, class T>
std::unique_ptr<Base> make() {
  return std::make_unique<T>();
}

}  // namespace

const Registry<GateConfig>& gate_registry() {
  static const Registry<GateConfig> registry = {
      "gate", {{"none", &make<GateConfig, NoGate>}, {"scaled", &make<GateConfig, ScaledGate>}}};
  return registry;
}

const Registry<LayerConfig>& layer_registry() {
  static const Registry<LayerConfig> registry = {
      "layer", {{"linear", &make<LayerConfig, Linear>}, {"stack", &make<LayerConfig, Stack>}}};
  return registry;
}

void Sample::fields(Fields& f) {
  f.require("name", name, "the name of the run");
  f.add("steps", steps, "how many", at_least(1));
  f.add("rate", rate, "a share", between(0, 1));
  f.add("seed", seed, "of all random numbers");
  f.add("fast", fast, "whether to hurry");
  f.add("mode", mode, "what counts", one_of({"all", "final"}));
  f.add("lengths", lengths, "of the sequences", at_least(1));
  f.add_json("extra", extra, "anything");
  f.add_object("window", window, "an object");
  f.add_variant("gate", gate, gate_registry(), "one of several", "none");
  f.add_variants("layers", layers, layer_registry(), "any number of several");
  f.check(!(mode == "final" && rate == 1), "rate", "no rate of 1 with \"final\"");
  f.check_with("steps", [&] { LSSM_CHECK(steps != 13, steps, " brings bad luck"); });
}

}  // namespace lssm::testing
