// SPDX-License-Identifier: Apache-2.0
// DeltaProduct (Siems et al. 2025) on vector states: in each step a state goes through reflections
// H_1, H_2 … H_n, or partial ones, one after the other:
//   h_t = g_t H_n ... H_1 h_{t-1} (+ b(x_t)), H_j = I - beta_j u_j u_j^T, u_j = k_j / |k_j|
// with k, beta and g functions of x_t.
// JSON: {"type": "delta_product", "reflections": 2, "dim": 3, "heads": 16, "range": [0, 2]}
//
// The eigenvalues of H_j are 1 - beta_j and 1. So a range of [0, 1] has no reflections and cannot
// count modulo 2. Where beta is 1, H_j deletes what the state has along u_j: models whose beta
// starts there forget all within a few steps and may stay at chance (A5 by two reflections does),
// so it starts far from there. A rotation of R^dim is a product of an even number of
// reflections, at most dim of them: any rotation of R^3 (A5) of two, and the 5-cycle of S5, which
// permutes the axes of R^5, of four.
#include "layers/recurrence.h"

namespace lssm {
namespace {

using kernels::Activation;

struct DeltaProductConfig final : LayerConfig {
  void fields(Fields& f) override {
    f.add("reflections", reflections, "of each step, one after the other", at_least(1));
    f.add("dim", dim, "numbers of a head's state, 3 to 8", between(3, 8));
    f.add("heads", heads, "independent states", at_least(1));
    f.add("range", range,
          "of beta: [0, 2] by 2 sigmoid, up to reflections, or [0, 1] by sigmoid, up to "
          "projections");
    f.check(range == std::vector<int64_t>{0, 2} || range == std::vector<int64_t>{0, 1}, "range",
            "expected [0, 2] or [0, 1]");
    f.add("beta_start", beta_start,
          "about the first value of beta; 0: where a state keeps its length, 1.96 of "
          "[0, 2] or 0.04 of [0, 1]",
          at_least(0));
    f.check(beta_start < double(range[1]), "beta_start", "lies outside of the range");
    f.add("gate", gate,
          "each head forgets by a factor in (0, 1) that depends on x_t (Gated DeltaProduct)");
    f.add("inject", inject, "add b(x_t) to the state, linear in x_t");
    f.add("readout", readout,
          "what the next layer sees of h: h itself, h / |h| (the papers' directional RMSNorm), or "
          "h / |h| and log(1 + |h|)",
          one_of({"raw", "direction", "direction_radial"}));
    f.check(!gate || inject || readout != "direction", "gate",
            "has no effect, since directions do not see the length of a state to which nothing is "
            "added");
  }
  LayerPtr build(const BuildContext& context) const override;

  // Of the sigmoid that makes beta, spread as biases are.
  Init first_logits(int64_t in) const {
    const double end = double(range[1]);
    const double first = beta_start > 0 ? beta_start : end == 2 ? 1.96 : 0.04;
    return
        [logit = std::log(first / (end - first)), in](std::vector<double>& values, Random& random) {
          init::uniform(1 / std::sqrt(double(in)))(values, random);
          for (double& x : values) x += logit;
        };
  }

  int64_t reflections = 2, dim = 3, heads = 16;
  std::vector<int64_t> range = {0, 2};
  double beta_start = 0;
  bool gate = false, inject = false;
  std::string readout = "direction";
};

std::function<Var(Var)> readout_of(const std::string& name) {
  if (name == "direction") return direction;
  if (name == "direction_radial") return direction_radial;
  return [](Var h) { return h; };
}

class DeltaProduct final : public RecurrentLayer {
 public:
  DeltaProduct(const BuildContext& context, const DeltaProductConfig& config)
      : config_(config),
        readout_(readout_of(config.readout)),
        recurrence_(context, {.group = text("matrix", config.dim),
                              .heads = config.heads,
                              .inject = config.inject,
                              .unit_start = true}),
        vectors_(context.params.child("vectors"), context.in_width,
                 config.reflections * config.dim * config.heads,
                 init::normal(1 / std::sqrt(double(context.in_width))), init::constant(0)),
        beta_(context.params.child("beta"), context.in_width, config.reflections * config.heads,
              init::uniform(1 / std::sqrt(double(context.in_width))),
              config.first_logits(context.in_width)) {
    if (config.gate) gate_.emplace(context.params.child("gate"), context.in_width, config.heads);
  }

  Sequence forward(Context& context, const Sequence& x) const override {
    return after_each_step(x, states(context, x), readout_);
  }
  Views views(Context& context, const Sequence& x) const override {
    return views_of(context, x, states(context, x), readout_);
  }
  int64_t out_width() const override {
    return (config_.dim + (config_.readout == "direction_radial")) * config_.heads;
  }
  int64_t state_size() const override { return recurrence_.state_size(); }

 private:
  // Transitions are made of the rows of x, which are few where x comes from tokens.
  Recurrence::States states(Context& context, const Sequence& x) const {
    Tape& tape = context.tape;
    const int64_t rows = x.rows.shape()[0], heads = config_.heads;
    const auto by_head = [&](Var y) { return reshape(y, {rows, y.shape()[1] / heads, heads}); };
    Var beta = activation(Activation::sigmoid, beta_(tape, x.rows));
    if (config_.range[1] == 2) beta = add(beta, beta);
    Var a = householder_product(by_head(vectors_(tape, x.rows)), by_head(beta));
    if (gate_) a = scale_components(a, activation(Activation::sigmoid, (*gate_)(tape, x.rows)));
    return recurrence_.states(context, x, reshape(a, {rows, a.shape()[1] * heads}));
  }

  DeltaProductConfig config_;
  std::function<Var(Var)> readout_;
  Recurrence recurrence_;
  Affine vectors_, beta_;
  std::optional<Affine> gate_;
};

LayerPtr DeltaProductConfig::build(const BuildContext& context) const {
  return std::make_unique<DeltaProduct>(context, *this);
}

}  // namespace

std::unique_ptr<LayerConfig> make_delta_product() { return std::make_unique<DeltaProductConfig>(); }

}  // namespace lssm
