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

Recurrence::Recurrence(const BuildContext& context, const Options& options) : options_(options) {
  lie::with_group(options.group, [this]<class G>(G) {
    algebra_dim_ = G::algebra_dim;
    vector_dim_ = G::vector_dim;
    orthogonal_ = G::orthogonal;
  });
  // An injected state fills itself, so it starts from 0.
  const bool from_zero = options.inject && !options.unit_start;
  h0_ = &context.params.add("h0", {vector_dim_, options.heads},
                            from_zero ? init::constant(0) : init::unit_columns(vector_dim_));
  if (options.inject) {
    inject_.emplace(context.params.child("inject"), context.in_width, vector_dim_ * options.heads);
  }
}

Var Recurrence::states(Context& context, const Sequence& x, Var a) const {
  Tape& tape = context.tape;
  const int64_t heads = options_.heads;
  const auto by_component = [&](Var rows, int64_t n) {
    return reshape(x.with(rows).dense(), {x.batch, x.length, n, heads});
  };
  Var start = reshape(tape.parameter(*h0_), {1, vector_dim_, heads});
  if (options_.unit_start) start = direction(start);
  const Var carried = context.carried_state();

  const Var b = inject_ ? by_component((*inject_)(tape, x.rows), vector_dim_) : Var();
  const Var h =
      scan(options_.group, by_component(a, algebra_dim_), b, start, context.reset, carried);
  const bool on_sphere = orthogonal_ && options_.unit_start && !options_.inject;
  if (context.carry || (context.drift && on_sphere)) {
    const Var end = final_state(h, start, carried);
    if (context.carry) context.carry->out.push_back(end);
    if (context.drift && on_sphere)
      *context.drift = std::max(*context.drift, largest_norm_error(end.value()));
  }
  return reshape(h, {x.batch * x.length, vector_dim_, heads});
}

}  // namespace lssm
