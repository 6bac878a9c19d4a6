// SPDX-License-Identifier: Apache-2.0
#include "layers/rnn.h"

namespace lssm {

using kernels::RnnCell;

namespace {

Init uniform_of(int64_t width) { return init::uniform(1 / std::sqrt(double(width))); }

Init gate_biases(int64_t width, double second) {
  return [width, second](std::vector<double>& values, Random& random) {
    uniform_of(width)(values, random);
    for (int64_t i = width; i < 2 * width; ++i) values[size_t(i)] += second;
  };
}

}  // namespace

Rnn::Rnn(const BuildContext& context, RnnCell cell, int64_t width, double gate_bias)
    : cell_(cell),
      width_(width),
      gates_(context.params.child("gates"), context.in_width, kernels::rnn_gates(cell) * width,
             uniform_of(width), gate_biases(width, gate_bias)),
      u_(context.params.add("u", {width, kernels::rnn_gates(cell) * width}, uniform_of(width))),
      bias_(cell == RnnCell::gru
                ? &context.params.add("bias", {kernels::rnn_gates(cell) * width}, uniform_of(width))
                : nullptr),
      h0_(context.params.add("h0", {1, width}, init::constant(0))),
      c0_(cell == RnnCell::lstm ? &context.params.add("c0", {1, width}, init::constant(0))
                                : nullptr) {}

Var Rnn::hidden(Var states) const {
  if (cell_ == RnnCell::gru) return states;
  const int64_t rows = states.shape()[0];
  const Var flat = reshape(states, {rows, state_size()});
  return reshape(slice_columns(flat, 0, width_), {rows, 1, width_});
}

Recurrence::States Rnn::states(Context& context, const Sequence& x) const {
  Tape& tape = context.tape;
  const Shape by_gate = {x.batch, x.length, kernels::rnn_gates(cell_), width_};
  const Var gates = reshape(x.with(gates_(tape, x.rows)).dense(), by_gate);
  const Var u = tape.parameter(u_);
  Var start = tape.parameter(h0_);
  if (c0_) start = concat_columns(start, tape.parameter(*c0_));
  start = reshape(start, {1, kernels::rnn_parts(cell_), width_});
  const Var carried = context.carried_state();
  const Var h = cell_ == RnnCell::gru
                    ? gru(gates, u, tape.parameter(*bias_), start, context.reset, carried)
                    : lstm(gates, u, start, context.reset, carried);
  if (context.carry) context.carry->out.push_back(final_state(h, start, carried));
  return {h, start, carried};
}

Sequence Rnn::forward(Context& context, const Sequence& x) const {
  return after_each_step(x, states(context, x), [this](Var h) { return hidden(h); });
}

RecurrentLayer::Views Rnn::views(Context& context, const Sequence& x) const {
  return views_of(context, x, states(context, x), [this](Var h) { return hidden(h); });
}

}  // namespace lssm
