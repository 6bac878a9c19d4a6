// SPDX-License-Identifier: Apache-2.0
// States that move on the orbits of a Lie group: h_t = exp(a(x_t)) h_{t-1} (+ b(x_t)), a linear in
// x. JSON: {"type": "lie_ssm", "group": "so3", "heads": 16, "readout": "direction"}
#include "core/lie/group.h"
#include "layers/recurrence.h"

namespace lssm {
namespace {

struct LieSsmConfig final : LayerConfig {
  void fields(Fields& f) override;
  LayerPtr build(const BuildContext& context) const override;

  std::string group = "so3", map = "exp", readout = "direction";
  int64_t heads = 16;
  bool inject = false;
  double angle_std = 1;
};

class LieSsm final : public Layer {
 public:
  LieSsm(const BuildContext& context, const LieSsmConfig& config)
      : config_(config),
        recurrence_(context, {config.group, config.heads, config.inject, true}),
        algebra_(context.params.child("algebra"), context.in_width,
                 recurrence_.algebra_dim() * config.heads,
                 init::normal(config.angle_std / std::sqrt(double(context.in_width))),
                 init::constant(0)) {}

  Sequence forward(Context& context, const Sequence& x) const override {
    const Var h = recurrence_.states(context, x, algebra_(context.tape, x.rows));
    const Var seen = config_.readout == "bloch"       ? bloch(h)
                     : config_.readout == "direction" ? direction(h)
                                                      : h;
    return x.with(reshape(seen, {x.batch * x.length, out_width()}), true);
  }
  int64_t out_width() const override {
    return (config_.readout == "bloch" ? 3 : recurrence_.vector_dim()) * config_.heads;
  }
  int64_t state_size() const override { return recurrence_.state_size(); }

 private:
  LieSsmConfig config_;
  Recurrence recurrence_;
  Affine algebra_;
};

// The groups proper: not the monoids of the diagonal recurrences.
std::vector<std::string> lie_group_names() {
  std::vector<std::string> names;
  lie::Groups::for_each([&]<class G>(G) {
    if (G::is_group) names.push_back(G::name);
  });
  return names;
}

void LieSsmConfig::fields(Fields& f) {
  f.add("group", group, "Lie group of the transitions", one_of(lie_group_names()));
  f.add("map", map, "from the Lie algebra to the group", one_of({"exp"}));
  f.add("heads", heads, "independent states", at_least(1));
  f.add("angle_std", angle_std,
        "standard deviation of the algebra's coordinates at the start, for inputs of variance 1",
        at_least(0));
  f.add("inject", inject, "add b(x_t) to the state, linear in x_t");
  f.add("readout", readout,
        "what the next layer sees of h: h itself, its Hopf image (su2), or h / |h|",
        one_of({"raw", "bloch", "direction"}));
  f.check(readout != "bloch" || group == "su2", "readout",
          "bloch reads states of su2, the group is " + group);
}

LayerPtr LieSsmConfig::build(const BuildContext& context) const {
  return std::make_unique<LieSsm>(context, *this);
}

}  // namespace

std::unique_ptr<LayerConfig> make_lie_ssm() { return std::make_unique<LieSsmConfig>(); }

}  // namespace lssm
