// SPDX-License-Identifier: Apache-2.0
// States that move on the orbits of a Lie group: h_t = r R(a(x_t)) h_{t-1} (+ b(x_t)), a linear in
// x.
// JSON: {"type": "lie_ssm", "group": "so3", "heads": 16, "readout": "direction"}
//
// "gate": "head" multiplies a by g = sigmoid(w x_t), one number for each head: where g is 0 the
// state stays as it is (the Lie group paper, equation 16). "contraction" gives each head a rate r
// in (0, 1) that no input changes. "frames": c gives each head c orthonormal directions q_i = Q(S)
// of R^N, S learned and Q the polar projection, and gates g_i(x_t) that forget what lies along them
// before the rotation: h_t = R (I - sum_i g_i q_i q_i^T) h_{t-1} (the Lie-SSM paper, section 3.4).
#include <algorithm>
#include <optional>

#include "layers/lie_transitions.h"

namespace lssm {
namespace {

struct LieSsmConfig final : LayerConfig {
  void fields(Fields& f) override;
  LayerPtr build(const BuildContext& context) const override;

  LieTransitions::Options transitions;
  std::string state = "vector", readout = "direction";
  bool inject = false;
};

std::function<Var(Var)> readout_of(const std::string& name) {
  if (name == "bloch") return bloch;
  if (name == "direction") return direction;
  if (name == "direction_radial") return direction_radial;
  return [](Var h) { return h; };
}

// A head whose state is the product of all its transitions so far is some vector heads with the
// same transitions, one for each column of the product, which starts from the identity.
struct Columns {
  int64_t count;              // of vectors for each head
  std::vector<double> start;  // [v, heads * count]
};

Columns identity_columns(const LieTransitions& transitions, int64_t heads) {
  const int64_t v = transitions.vector_dim(), n = transitions.columns();
  Columns columns = {n, std::vector<double>(size_t(v * heads * n))};
  for (int64_t head = 0; head < heads; ++head) {
    // The last column of a rigid motion is its translation, which starts from 0.
    for (int64_t j = 0; j < std::min(n, v); ++j) {
      columns.start[size_t(j * heads * n + head * n + j)] = 1;
    }
  }
  return columns;
}

class LieSsm final : public RecurrentLayer {
 public:
  LieSsm(const BuildContext& context, const LieSsmConfig& config)
      : transitions_(context, config.transitions),
        readout_(readout_of(config.readout)),
        columns_(config.state == "element"
                     ? identity_columns(transitions_, config.transitions.heads)
                     : Columns{1, {}}),
        recurrence_(context, {.group = transitions_.scan_group(),
                              .heads = config.transitions.heads * columns_.count,
                              .inject = config.inject,
                              .unit_start = true,
                              .keeps_length = transitions_.keeps_length(),
                              .start = columns_.start}) {
    const int64_t v = recurrence_.vector_dim();
    const int64_t seen = config.readout == "bloch"              ? 3
                         : config.readout == "direction_radial" ? v + 1
                                                                : v;
    out_width_ = seen * config.transitions.heads * columns_.count;
  }

  Sequence forward(Context& context, const Sequence& x) const override {
    return after_each_step(x, states(context, x), readout_);
  }
  Views views(Context& context, const Sequence& x) const override {
    return views_of(context, x, states(context, x), readout_);
  }
  int64_t out_width() const override { return out_width_; }
  int64_t state_size() const override { return recurrence_.state_size(); }

 private:
  Recurrence::States states(Context& context, const Sequence& x) const {
    auto [a, shift] = transitions_(context.tape, x.rows);
    if (columns_.count > 1) {
      const std::vector<double> same(size_t(columns_.count), 1);
      a = repeat_heads(a, same);
      if (shift) {
        std::vector<double> last(size_t(columns_.count), 0);
        last.back() = 1;
        shift = repeat_heads(shift, last);
      }
    }
    const auto flat = [](Var y) { return reshape(y, {y.shape()[0], y.shape()[1] * y.shape()[2]}); };
    return recurrence_.states(context, x, flat(a), shift ? flat(shift) : shift);
  }

  LieTransitions transitions_;
  std::function<Var(Var)> readout_;
  Columns columns_;
  Recurrence recurrence_;
  int64_t out_width_ = 0;
};

void LieSsmConfig::fields(Fields& f) {
  transitions.fields(f);
  f.add("inject", inject, "add b(x_t) to the state, linear in x_t");
  f.add("state", state,
        "what a head remembers: a vector, or the element of the group that is the product of all "
        "transitions so far",
        one_of({"vector", "element"}));
  f.check(state == "vector" || !inject, "inject",
          "an element of the group is not a vector that something could be added to");
  f.add("readout", readout,
        "what the next layer sees of h: h itself, its Hopf image (su2), h / |h| (the papers' "
        "directional RMSNorm), h / |h| and log(1 + |h|), or the matrix of an element",
        one_of({"raw", "bloch", "direction", "direction_radial", "matrix"}));
  f.check(readout != "bloch" || transitions.group == "su2", "readout",
          "bloch reads states of su2, the group is " + transitions.group);
  f.check((readout == "matrix") == (state == "element"), "readout",
          state == "element" ? "an element of the group is read as a matrix, got " + readout
                             : "matrix reads elements of the group, the state is a vector");
}

LayerPtr LieSsmConfig::build(const BuildContext& context) const {
  return std::make_unique<LieSsm>(context, *this);
}

}  // namespace

std::unique_ptr<LayerConfig> make_lie_ssm() { return std::make_unique<LieSsmConfig>(); }

}  // namespace lssm
