// SPDX-License-Identifier: Apache-2.0
// States that move on the orbits of a Lie group: h_t = R(a(x_t)) h_{t-1} (+ b(x_t)), a linear in x.
// JSON: {"type": "lie_ssm", "group": "so3", "heads": 16, "readout": "direction"}
#include <optional>

#include "core/lie/group.h"
#include "core/lie/se3.h"
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

// What the scan moves states with. Groups without a compact form of their elements give it the
// matrices themselves; rigid motions are rotations with an injection.
struct Transitions {
  std::string scan_group;  // of lie::Groups
  int64_t algebra_dim;     // coordinates of a head that become scan_group's parameters
  bool as_matrix;          // they do so by group_matrix()
};

Transitions transitions_of(const std::string& name) {
  Transitions t = {name, 0, false};
  lie::MatrixGroups::for_each([&]<class G>(G) {
    if (name == G::name) t = {text("matrix", G::vector_dim), G::algebra_dim, true};
  });
  if (t.as_matrix) return t;
  // Coordinates (omega, v): h_t = exp(omega) h_{t-1} + V(omega) v.
  if (name == lie::SE3::name) t.scan_group = "so3";
  lie::with_group(t.scan_group, [&]<class G>(G) { t.algebra_dim = G::algebra_dim; });
  return t;
}

lie::SkewMap skew_map_of(const std::string& map) {
  return map == "exp"      ? lie::SkewMap::exp
         : map == "cayley" ? lie::SkewMap::cayley
                           : lie::SkewMap::cayley2;
}

class LieSsm final : public Layer {
 public:
  LieSsm(const BuildContext& context, const LieSsmConfig& config)
      : config_(config),
        transitions_(transitions_of(config.group)),
        recurrence_(context, {.group = transitions_.scan_group,
                              .heads = config.heads,
                              .inject = config.inject,
                              .unit_start = true,
                              .keeps_length = transitions_.as_matrix}),
        algebra_(coordinates(context, "algebra", transitions_.algebra_dim)) {
    if (config.group == lie::SE3::name) shift_.emplace(coordinates(context, "shift", 3));
  }

  Sequence forward(Context& context, const Sequence& x) const override {
    const Var h = states(context, x);
    const Var seen = config_.readout == "bloch"              ? bloch(h)
                     : config_.readout == "direction"        ? direction(h)
                     : config_.readout == "direction_radial" ? direction_radial(h)
                                                             : h;
    return x.with(reshape(seen, {x.batch * x.length, out_width()}), true);
  }
  int64_t out_width() const override {
    const int64_t v = recurrence_.vector_dim();
    return config_.heads * (config_.readout == "bloch"              ? 3
                            : config_.readout == "direction_radial" ? v + 1
                                                                    : v);
  }
  int64_t state_size() const override { return recurrence_.state_size(); }

 private:
  Affine coordinates(const BuildContext& context, const char* name, int64_t per_head) const {
    return {context.params.child(name), context.in_width, per_head * config_.heads,
            init::normal(config_.angle_std / std::sqrt(double(context.in_width))),
            init::constant(0)};
  }

  // Maps work on the rows of x, which are few where x comes from tokens.
  Var states(Context& context, const Sequence& x) const {
    const auto by_head = [&](Var rows, int64_t n) {
      return reshape(rows, {rows.shape()[0], n, config_.heads});
    };
    const auto flat = [](Var y) { return reshape(y, {y.shape()[0], y.shape()[1] * y.shape()[2]}); };
    Var a = algebra_(context.tape, x.rows), shift;
    if (shift_) {
      shift = flat(translation(by_head(a, 3), by_head((*shift_)(context.tape, x.rows), 3)));
    }
    if (transitions_.as_matrix) {
      a = flat(group_matrix(config_.group, skew_map_of(config_.map),
                            by_head(a, transitions_.algebra_dim)));
    }
    return recurrence_.states(context, x, a, shift);
  }

  LieSsmConfig config_;
  Transitions transitions_;
  Recurrence recurrence_;
  Affine algebra_;
  std::optional<Affine> shift_;
};

// The groups proper: not the monoids of the diagonal recurrences.
std::vector<std::string> lie_group_names() {
  std::vector<std::string> names;
  lie::Groups::for_each([&]<class G>(G) {
    if (G::is_group) names.push_back(G::name);
  });
  for (const std::string& name : lie::MatrixGroups::names()) names.push_back(name);
  names.push_back(lie::SE3::name);
  return names;
}

void LieSsmConfig::fields(Fields& f) {
  f.add("group", group, "Lie group of the transitions", one_of(lie_group_names()));
  f.add("map", map,
        "from the Lie algebra to the group: exp, or for matrix groups (so4 and up, su3, su4) the "
        "Cayley map, which cannot reach a half turn, or its square at half the argument, which can",
        one_of({"exp", "cayley", "cayley2"}));
  f.check(map == "exp" || transitions_of(group).as_matrix, "map",
          map + " is a map of matrix groups (so4 to so8, su3, su4), the group is " + group);
  f.add("heads", heads, "independent states", at_least(1));
  f.add("angle_std", angle_std,
        "standard deviation of the algebra's coordinates at the start, for inputs of variance 1",
        at_least(0));
  f.add("inject", inject, "add b(x_t) to the state, linear in x_t");
  f.add("readout", readout,
        "what the next layer sees of h: h itself, its Hopf image (su2), h / |h|, or h / |h| and "
        "log(1 + |h|)",
        one_of({"raw", "bloch", "direction", "direction_radial"}));
  f.check(readout != "bloch" || group == "su2", "readout",
          "bloch reads states of su2, the group is " + group);
}

LayerPtr LieSsmConfig::build(const BuildContext& context) const {
  return std::make_unique<LieSsm>(context, *this);
}

}  // namespace

std::unique_ptr<LayerConfig> make_lie_ssm() { return std::make_unique<LieSsmConfig>(); }

}  // namespace lssm
