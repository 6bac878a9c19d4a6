// SPDX-License-Identifier: Apache-2.0
#include "layers/recurrence.h"

#include <algorithm>
#include <cmath>

#include "core/lie/group.h"

namespace lssm {
namespace {

// The largest | |h| - 1 | over the heads of h [batch, v, heads].
double largest_norm_error(const Tensor& h) {
  const int64_t v = h.dim(1), heads = h.dim(2);
  const std::vector<double> values = h.to_host();
  double worst = 0;
  for (int64_t row = 0; row < h.dim(0); ++row) {
    for (int64_t head = 0; head < heads; ++head) {
      double squares = 0;
      for (int64_t i = 0; i < v; ++i) {
        const double x = values[size_t((row * v + i) * heads + head)];
        squares += x * x;
      }
      const double error = std::abs(std::sqrt(squares) - 1);
      if (!(error <= worst)) worst = error;  // also takes a NaN
    }
  }
  return worst;
}

}  // namespace

Recurrence::Recurrence(const BuildContext& context, const Options& options)
    : options_(options), pointer_(context.pointer) {
  lie::with_group(options.group, [this]<class G>(G) {
    algebra_dim_ = G::algebra_dim;
    vector_dim_ = G::vector_dim;
    orthogonal_ = G::orthogonal || options_.keeps_length;
  });
  if (!options.start.empty()) {
    fixed_start_ = Tensor::from_host({1, vector_dim_, options.heads}, options.start,
                                     context.params.dtype(), context.params.device());
  } else {
    // An injected state fills itself, so it starts from 0.
    const bool from_zero = options.inject && !options.unit_start;
    h0_ = &context.params.add("h0", {vector_dim_, options.heads},
                              from_zero ? init::constant(0) : init::unit_columns(vector_dim_));
  }
  if (options.inject) {
    inject_.emplace(context.params.child("inject"), context.in_width, vector_dim_ * options.heads);
  }
}

Recurrence::Transitions Recurrence::transitions(Context& context, const Sequence& x, Var a) const {
  Transitions used = {options_.group, a, algebra_dim_};
  const Replacement* others = context.replacement;
  if (others && others->count(pointer_) > 0) {
    const Tensor& matrices = others->at(pointer_);
    const int64_t v = vector_dim_, tokens = a.shape()[0];
    LSSM_CHECK(x.index && matrices.shape() == Shape({tokens, v, v, options_.heads}), pointer_,
               ": transitions to replace: got matrices of shape ", matrices.shape(), ", expected ",
               Shape({tokens, v, v, options_.heads}), " and inputs that are tokens");
    used = {
        text("matrix", v),
        context.tape.leaf(Tensor::from_host({tokens, v * v * options_.heads}, matrices.to_host(),
                                            a.value().dtype(), a.value().device())),
        v * v};
  }
  if (context.inspection && x.index) {
    context.inspection->layers.push_back(
        {pointer_, transition_matrices(used.group, used.a.value(), options_.heads)});
  } else if (context.inspection) {
    context.inspection->others.push_back(pointer_);
  }
  return used;
}

Recurrence::States Recurrence::states(Context& context, const Sequence& x, Var a, Var shift) const {
  Tape& tape = context.tape;
  const int64_t heads = options_.heads;
  const auto by_component = [&](Var rows, int64_t n) {
    return reshape(x.with(rows).dense(), {x.batch, x.length, n, heads});
  };
  Var start =
      h0_ ? reshape(tape.parameter(*h0_), {1, vector_dim_, heads}) : tape.leaf(fixed_start_);
  if (h0_ && options_.unit_start) start = direction(start);
  const Var carried = context.carried_state();

  if (inject_) {
    const Var injected = (*inject_)(tape, x.rows);
    shift = shift ? add(shift, injected) : injected;
  }
  const Var b = shift ? by_component(shift, vector_dim_) : Var();
  const auto [group, steps, k] = transitions(context, x, a);
  const Var h = scan(group, by_component(steps, k), b, start, context.reset, carried);
  const bool on_sphere = orthogonal_ && options_.unit_start && !b;
  if (context.carry || (context.drift && on_sphere)) {
    const Var end = final_state(h, start, carried);
    if (context.carry) context.carry->out.push_back(end);
    if (context.drift && on_sphere)
      *context.drift = std::max(*context.drift, largest_norm_error(end.value()));
  }
  return {h, start, carried};
}

namespace {

// y: [batch * length, v, heads] or [batch, length, v, heads].
Sequence as_rows(const Sequence& x, Var y) {
  const Shape shape = y.shape();
  const int64_t width = shape[shape.rank() - 2] * shape[shape.rank() - 1];
  return x.with(reshape(y, {x.batch * x.length, width}), true);
}

}  // namespace

Sequence after_each_step(const Sequence& x, const Recurrence::States& states,
                         const std::function<Var(Var)>& readout) {
  const Shape shape = states.h.shape();
  return as_rows(x, readout(reshape(states.h, {shape[0] * shape[1], shape[2], shape[3]})));
}

// The readout of the state before a step is that of the step before it: nothing is computed twice.
RecurrentLayer::Views views_of(const Context& context, const Sequence& x,
                               const Recurrence::States& states,
                               const std::function<Var(Var)>& readout) {
  const Shape shape = states.h.shape();
  const Var seen = readout(reshape(states.h, {shape[0] * shape[1], shape[2], shape[3]}));
  const Var by_step = reshape(seen, {shape[0], shape[1], seen.shape()[1], shape[3]});
  const Var before = previous_states(by_step, readout(states.start), context.reset,
                                     states.carried ? readout(states.carried) : Var());
  return {as_rows(x, seen), as_rows(x, before)};
}

}  // namespace lssm
