// SPDX-License-Identifier: Apache-2.0
// A cascade of depth 2: the state of the first layer steers the transitions of the second. The
// first tracks a quotient Q of a group G, the second the normal subgroup N, of which the element
// that x_t multiplies by depends on the coset that has been reached: on what the first layer's
// state was before the step, h_{t-1} (Lie-SSM paper, sections 3.3 and 4.4). JSON: {"type":
// "cascade", "first": {"type": "lie_ssm", "heads": 4}, "route": "concat",
//        "second": [{"type": "mlp"}, {"type": "lie_ssm"}]}
//
// The second list of layers reads, by "route",
//   concat      [x, h]             An affine map of it is the same change by h for every x. That
//                                  cannot twist: if c and its inverse are inputs, exp(W c + V h)
//                                  and exp(-W c + V h) would both have to be conjugated as h
//                                  changes. An MLP between can do it.
//   semidirect  x_i h_j            Linear in h with a matrix for each x: the action of Q on N.
//   schreier    x_i h_j and x      Affine in h for each x: the action and a factor set f(q, x), if
//                                  the values of h are affinely independent.
// What the layer gives is both: the first layer's state after the step, then the second's output.
// "readout" of the first decides whether its state is normalised ("direction", the papers'
// directional RMSNorm) or not ("raw"), which matters if it contracts.
#include "layers/recurrence.h"
#include "layers/sequential.h"

namespace lssm {
namespace {

struct CascadeConfig final : LayerConfig {
  void fields(Fields& f) override {
    f.add_variant("first", first, layer_registry(), "the layer that steers, one with states");
    f.add("route", route, "what the second layers read of x_t and the first's state h_{t-1}",
          one_of({"concat", "semidirect", "schreier"}));
    f.add_variants("second", second, layer_registry(), "layers that are steered");
    f.check(!second.empty(), "second", "expected at least one layer");
  }
  LayerPtr build(const BuildContext& context) const override;

  std::unique_ptr<LayerConfig> first;
  std::string route = "concat";
  std::vector<std::unique_ptr<LayerConfig>> second;
};

std::unique_ptr<RecurrentLayer> with_states(const BuildContext& context,
                                            const LayerConfig& config) {
  LayerPtr layer = config.reads_tokens() ? nullptr : config.build(context);
  auto* recurrent = dynamic_cast<RecurrentLayer*>(layer.get());
  LSSM_CHECK(recurrent, context.pointer,
             ": expected a layer with states: delta_product, diagonal_ssm or lie_ssm");
  layer.release();
  return std::unique_ptr<RecurrentLayer>(recurrent);
}

BuildContext inside(const BuildContext& context, const char* name) {
  BuildContext inner = context;
  inner.params = context.params.child(name);
  inner.pointer = context.pointer + "/" + name;
  inner.last = false;
  return inner;
}

class Cascade final : public Layer {
 public:
  Cascade(const BuildContext& context, const CascadeConfig& config)
      : route_(config.route),
        first_(with_states(inside(context, "first"), *config.first)),
        second_(steered(context), config.second) {}

  Sequence forward(Context& context, const Sequence& x) const override {
    const auto [after, before] = first_->views(context, x);
    const Var h = before.rows, input = x.dense();
    const Var routed = route_ == "concat" ? concat_columns(input, h) : outer_columns(input, h);
    const Sequence z = x.with(route_ == "schreier" ? concat_columns(routed, input) : routed, true);
    return z.with(concat_columns(after.rows, second_.forward(context, z).dense()), true);
  }
  int64_t out_width() const override { return first_->out_width() + second_.out_width(); }
  int64_t state_size() const override { return first_->state_size() + second_.state_size(); }

 private:
  BuildContext steered(const BuildContext& context) const {
    BuildContext inner = inside(context, "second");
    const int64_t x = context.in_width, h = first_->out_width();
    inner.in_width = route_ == "concat" ? x + h : route_ == "semidirect" ? x * h : x * h + x;
    return inner;
  }

  std::string route_;
  std::unique_ptr<RecurrentLayer> first_;
  Sequential second_;
};

LayerPtr CascadeConfig::build(const BuildContext& context) const {
  return std::make_unique<Cascade>(context, *this);
}

}  // namespace

std::unique_ptr<LayerConfig> make_cascade() { return std::make_unique<CascadeConfig>(); }

}  // namespace lssm
