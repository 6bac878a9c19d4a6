// SPDX-License-Identifier: Apache-2.0
// DeltaProduct (Siems et al. 2025) on vector states: in each step a state goes through n
// reflections or partial ones, h_t = g_t H_n ... H_1 h_{t-1} (+ b(x_t)), H_j = I - beta_j u_j
// u_j^T, u_j = k_j / |k_j|, with k, beta and g functions of x_t. H_1 acts first. JSON: {"type":
// "delta_product", "reflections": 2, "dim": 3, "heads": 16, "range": [0, 2]}
//
// An eigenvalue of H_j is 1 - beta_j, so a range of [0, 1] has no reflections and cannot count
// modulo 2. At 1 it is 0: H_j deletes what the state has along u_j. Models that start there forget
// all within a few steps and do not learn (A5 by two reflections stays at chance), so the first
// beta is near the end of its range. A rotation of R^dim is a product of an even number of
// reflections, at most dim of them: two make any turn of a plane (A5 in dim 3), and four the
// 5-cycle of S5 in dim 5.
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
          "the first value of beta, as a share of the range's end, for inputs of 0", between(0, 1));
    f.check(beta_start > 0 && beta_start < 1, "beta_start", "a sigmoid lies between 0 and 1");
    f.add("gate", gate,
          "each head forgets by a factor in (0, 1) that depends on x_t (Gated DeltaProduct)");
    f.add("inject", inject, "add b(x_t) to the state, linear in x_t");
    f.add("readout", readout,
          "what the next layer sees of h: h itself, h / |h| (the papers' directional RMSNorm), or "
          "h / |h| and log(1 + |h|)",
          one_of({"raw", "direction", "direction_radial"}));
  }
  LayerPtr build(const BuildContext& context) const override;

  int64_t reflections = 2, dim = 3, heads = 16;
  std::vector<int64_t> range = {0, 2};
  double beta_start = 0.9;
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
                 config.reflections * config.dim * config.heads),
        beta_(context.params.child("beta"), context.in_width, config.reflections * config.heads,
              init::uniform(1 / std::sqrt(double(context.in_width))),
              init::constant(std::log(config.beta_start / (1 - config.beta_start)))) {
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
