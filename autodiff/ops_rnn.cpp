// SPDX-License-Identifier: Apache-2.0
#include "autodiff/ops.h"
#include "kernels/rnn.h"
#include "kernels/rows.h"

namespace lssm {

namespace {

using kernels::RnnCell;

void check_shapes(const char* op, RnnCell cell, Var gates, Var u, Var bias, Var h0,
                  const Tensor& reset, Var carried) {
  const Shape shape = gates.shape();
  const int64_t g = kernels::rnn_gates(cell), parts = kernels::rnn_parts(cell);
  LSSM_CHECK(shape.rank() == 4 && shape[2] == g, op, ": gates ", shape,
             ", expected [batch, length, ", g, ", width]");
  const int64_t width = shape[3];
  const Shape square = {width, g * width}, ends = {shape[0], parts, width};
  LSSM_CHECK(u.shape() == square, op, ": u ", u.shape(), ", expected ", square);
  LSSM_CHECK(!bias || bias.shape() == Shape({g * width}), op, ": bias ", bias.shape(),
             ", expected [", g * width, "]");
  LSSM_CHECK(h0.shape() == ends || h0.shape() == Shape({1, parts, width}), op, ": h0 ", h0.shape(),
             ", expected ", ends, " or one row of it");
  LSSM_CHECK(!reset || reset.shape() == Shape({shape[0], shape[1]}), op, ": reset ", reset.shape(),
             ", expected [", shape[0], ", ", shape[1], "]");
  LSSM_CHECK(!carried || carried.shape() == ends, op, ": carried ", carried.shape(), ", expected ",
             ends);
}

Var recurrence(const char* op, RnnCell cell, Var gates, Var u, Var bias, Var h0,
               const Tensor& reset, Var carried) {
  check_shapes(op, cell, gates, u, bias, h0, reset, carried);
  const Shape shape = gates.shape();
  const int64_t batch = shape[0], parts = kernels::rnn_parts(cell), width = shape[3];

  Tape& tape = *gates.tape;
  const kernels::RnnInputs in = {
      cell,  gates.value(),          u.value(), value_or_empty(bias), h0.value(),
      reset, value_or_empty(carried)};
  const DType dtype = in.gates.dtype();
  const Device device = in.gates.device();
  Tensor states({batch, shape[1], parts, width}, dtype, device), kept;
  bool wanted = false;
  for (Var x : {gates, u, bias, h0, carried}) wanted = wanted || (x && tape.needs_grad(x));
  if (wanted) kept = Tensor({batch, shape[1], kernels::kRnnKept, width}, dtype, device);
  kernels::rnn(in, states, kept);

  const auto backward = [&tape, gates, u, bias, h0, carried, in, states, kept](const Tensor& dy) {
    const Shape ends = {states.dim(0), states.dim(2), states.dim(3)};
    kernels::RnnGradients out = {Tensor::like(in.gates), Tensor::like(in.u), like_or_empty(in.bias),
                                 Tensor(ends, dy.dtype(), dy.device()), like_or_empty(in.carried)};
    kernels::rnn_backward(in, states, kept, dy, out);
    tape.add_grad(gates, out.gates);
    tape.add_grad(u, out.u);
    if (bias) tape.add_grad(bias, out.bias);
    if (carried) tape.add_grad(carried, out.carried);
    if (in.h0.shape() == ends) return tape.add_grad(h0, out.h0);
    Tensor sum({in.h0.numel()}, dy.dtype(), dy.device());
    kernels::sum_rows(out.h0.reshape({ends[0], in.h0.numel()}), sum);
    tape.add_grad(h0, sum.reshape(in.h0.shape()));
  };
  return tape.record(op, states, {gates, u, bias ? bias : u, h0, carried ? carried : h0}, backward);
}

}  // namespace

Var gru(Var gates, Var u, Var bias, Var h0, const Tensor& reset, Var carried) {
  return recurrence("gru", RnnCell::gru, gates, u, bias, h0, reset, carried);
}

Var lstm(Var gates, Var u, Var h0, const Tensor& reset, Var carried) {
  return recurrence("lstm", RnnCell::lstm, gates, u, Var(), h0, reset, carried);
}

}  // namespace lssm
