// SPDX-License-Identifier: Apache-2.0
// The commutative baselines: each head has its own eigenvalue lambda(x_t),
//   h_t = lambda(x_t) h_{t-1} (+ b(x_t)).
// JSON: {"type": "diagonal_ssm", "kind": "complex", "heads": 32, "range": [0, 1], "inject": true}
#include "layers/recurrence.h"

namespace lssm {
namespace {

using kernels::Activation;

struct DiagonalSsmConfig final : LayerConfig {
  void fields(Fields& f) override {
    f.add("kind", kind, "eigenvalues: real, complex (modulus and phase) or unit (phase alone)",
          one_of({"real", "complex", "unit"}));
    f.add("heads", heads, "independent states, real or complex numbers", at_least(1));
    f.add("range", range, "real eigenvalues, or moduli: [0, 1] by sigmoid, [-1, 1] by tanh");
    f.check(range == std::vector<int64_t>{0, 1} || range == std::vector<int64_t>{-1, 1}, "range",
            "expected [0, 1] or [-1, 1]");
    f.check(kind != "unit" || range[0] == 0, "range",
            "has no effect, since unit eigenvalues have modulus 1");
    f.add("angle_std", angle_std,
          "standard deviation of the phases at the start, for inputs of variance 1", at_least(0));
    f.check(kind != "real" || angle_std == 1, "angle_std",
            "has no effect, since real eigenvalues have no phase");
    f.add("inject", inject, "add b(x_t) to the state, linear in x_t");
  }
  LayerPtr build(const BuildContext& context) const override;

  std::string kind = "complex";
  int64_t heads = 32;
  std::vector<int64_t> range = {0, 1};
  bool inject = true;
  double angle_std = 1;
};

const char* scan_group(const std::string& kind) {
  return kind == "real" ? "real" : kind == "unit" ? "so2" : "scaled_so2";
}

class DiagonalSsm final : public RecurrentLayer {
 public:
  DiagonalSsm(const BuildContext& context, const DiagonalSsmConfig& config)
      : config_(config),
        recurrence_(context,
                    {scan_group(config.kind), config.heads, config.inject, !config.inject}) {
    if (config.kind != "unit")
      modulus_.emplace(context.params.child("modulus"), context.in_width, config.heads);
    if (config.kind != "real") {
      phase_.emplace(context.params.child("phase"), context.in_width, config.heads,
                     init::normal(config.angle_std / std::sqrt(double(context.in_width))),
                     init::constant(0));
    }
  }

  Sequence forward(Context& context, const Sequence& x) const override {
    return after_each_step(x, states(context, x), raw);
  }
  Views views(Context& context, const Sequence& x) const override {
    return views_of(context, x, states(context, x), raw);
  }
  int64_t out_width() const override { return recurrence_.vector_dim() * config_.heads; }
  int64_t state_size() const override { return recurrence_.state_size(); }

 private:
  static Var raw(Var h) { return h; }

  Recurrence::States states(Context& context, const Sequence& x) const {
    Var a;
    if (modulus_) {
      const Activation squash = config_.range[0] == 0 ? Activation::sigmoid : Activation::tanh;
      a = activation(squash, (*modulus_)(context.tape, x.rows));
    }
    if (phase_) {
      const Var phase = (*phase_)(context.tape, x.rows);
      a = a ? concat_columns(a, phase) : phase;
    }
    return recurrence_.states(context, x, a);
  }

  DiagonalSsmConfig config_;
  Recurrence recurrence_;
  std::optional<Affine> modulus_, phase_;
};

LayerPtr DiagonalSsmConfig::build(const BuildContext& context) const {
  return std::make_unique<DiagonalSsm>(context, *this);
}

}  // namespace

std::unique_ptr<LayerConfig> make_diagonal_ssm() { return std::make_unique<DiagonalSsmConfig>(); }

}  // namespace lssm
