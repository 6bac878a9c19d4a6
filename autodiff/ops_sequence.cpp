// SPDX-License-Identifier: Apache-2.0
#include "autodiff/ops.h"
#include "kernels/conv.h"
#include "kernels/previous.h"
#include "kernels/rows.h"

namespace lssm {

namespace {}  // namespace

Var previous_states(Var h, Var h0, const Tensor& reset, Var carried) {
  const char* op = "previous_states";
  const Shape shape = h.shape();
  LSSM_CHECK(shape.rank() == 4, op, ": h ", shape, ", expected [batch, length, v, heads]");
  const Shape ends = {shape[0], shape[2], shape[3]}, steps = {shape[0], shape[1]};
  LSSM_CHECK(h0.shape() == ends || h0.shape() == Shape({1, shape[2], shape[3]}), op, ": h0 ",
             h0.shape(), ", expected ", ends, " or one row of it");
  LSSM_CHECK(!reset || reset.shape() == steps, op, ": reset ", reset.shape(), ", expected ", steps);
  LSSM_CHECK(!carried || carried.shape() == ends, op, ": carried ", carried.shape(), ", expected ",
             ends);

  Tape& tape = *h.tape;
  const kernels::PreviousStates in = {h.value(), h0.value(), reset, value_or_empty(carried)};
  Tensor y = Tensor::like(in.h);
  kernels::previous_states(in, y);
  const auto backward = [&tape, h, h0, carried, in, ends](const Tensor& dy) {
    Tensor dh = Tensor::like(in.h), dh0(ends, dy.dtype(), dy.device());
    Tensor dcarried = like_or_empty(in.carried);
    kernels::previous_states_backward(in, dy, dh, dh0, dcarried);
    tape.add_grad(h, dh);
    if (carried) tape.add_grad(carried, dcarried);
    if (in.h0.shape() == ends) return tape.add_grad(h0, dh0);
    Tensor sum({in.h0.numel()}, dy.dtype(), dy.device());
    kernels::sum_rows(dh0.reshape({ends[0], in.h0.numel()}), sum);
    tape.add_grad(h0, sum.reshape(in.h0.shape()));
  };
  return tape.record(op, y, {h, h0, carried ? carried : h0}, backward);
}

namespace {

// The inputs of a convolution that sees `past` earlier ones.
kernels::ConvInputs conv_inputs(const char* op, Var x, int64_t past, const Tensor& reset,
                                Var carried) {
  const Shape shape = x.shape();
  LSSM_CHECK(shape.rank() == 3, op, ": x ", shape, ", expected [batch, length, width]");
  const Shape steps = {shape[0], shape[1]}, before = {shape[0], past, shape[2]};
  LSSM_CHECK(!reset || reset.shape() == steps, op, ": reset ", reset.shape(), ", expected ", steps);
  LSSM_CHECK(!carried || carried.shape() == before, op, ": carried ", carried.shape(),
             ", expected ", before);
  return {x.value(), reset, value_or_empty(carried)};
}

}  // namespace

Var causal_conv(Var x, Var w, Var bias, const Tensor& reset, Var carried) {
  const char* op = "causal_conv";
  const Shape filter = w.shape();
  LSSM_CHECK(filter.rank() == 2 && filter[0] >= 1 && filter[1] == x.shape()[-1], op, ": w ", filter,
             ", expected [1 or more, ", x.shape()[-1], "]");
  LSSM_CHECK(bias.shape() == Shape({filter[1]}), op, ": bias ", bias.shape(), ", expected [",
             filter[1], "]");
  Tape& tape = *x.tape;
  const kernels::ConvInputs in = conv_inputs(op, x, filter[0] - 1, reset, carried);
  const Tensor weight = w.value();
  Tensor y = Tensor::like(in.x);
  kernels::causal_conv(in, weight, bias.value(), y);
  const auto backward = [&tape, x, w, bias, carried, in, weight](const Tensor& dy) {
    const int64_t batch = dy.dim(0), k = weight.dim(0), width = weight.dim(1);
    kernels::ConvGradients out = {Tensor::like(in.x), like_or_empty(in.carried),
                                  Tensor({batch, k + 1, width}, dy.dtype(), dy.device())};
    kernels::causal_conv_backward(in, weight, dy, out);
    tape.add_grad(x, out.dx);
    if (carried) tape.add_grad(carried, out.dcarried);
    Tensor sums({(k + 1) * width}, dy.dtype(), dy.device());
    kernels::sum_rows(out.dparameters.reshape({batch, (k + 1) * width}), sums);
    Tensor dw = Tensor::like(weight).reshape({1, k * width});
    Tensor dbias({1, width}, dy.dtype(), dy.device());
    kernels::split_columns(sums.reshape({1, (k + 1) * width}), dw, dbias);
    tape.add_grad(w, dw.reshape(weight.shape()));
    tape.add_grad(bias, dbias.reshape({width}));
  };
  return tape.record(op, y, {x, w, bias, carried ? carried : x}, backward);
}

Var last_inputs(Var x, int64_t count, const Tensor& reset, Var carried) {
  const char* op = "last_inputs";
  LSSM_CHECK(count >= 0, op, ": count ", count, ", expected at least 0");
  Tape& tape = *x.tape;
  const kernels::ConvInputs in = conv_inputs(op, x, count, reset, carried);
  Tensor last({in.x.dim(0), count, in.x.dim(2)}, in.x.dtype(), in.x.device());
  kernels::last_inputs(in, last);
  const auto backward = [&tape, x, carried, in](const Tensor& dlast) {
    Tensor dx = Tensor::like(in.x), dcarried = like_or_empty(in.carried);
    kernels::last_inputs_backward(in, dlast, dx, dcarried);
    tape.add_grad(x, dx);
    if (carried) tape.add_grad(carried, dcarried);
  };
  return tape.record(op, last, {x, carried ? carried : x}, backward);
}

}  // namespace lssm
