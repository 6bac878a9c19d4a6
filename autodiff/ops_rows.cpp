// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "autodiff/ops.h"
#include "kernels/linear_cross_entropy.h"
#include "kernels/matmul.h"
#include "kernels/rows.h"

namespace lssm {
namespace {

void check_linear(const char* op, Var x, Var w, Var bias) {
  LSSM_CHECK(x.shape().rank() == 2 && w.shape().rank() == 2 && x.shape()[1] == w.shape()[0], op,
             ": input ", x.shape(), " and weight ", w.shape(), " do not fit");
  LSSM_CHECK(!bias || bias.shape() == Shape({w.shape()[1]}), op, ": bias has a wrong shape");
}

void check_labels(const char* op, const Shape& logits, const Tensor& target, const Tensor& mask) {
  LSSM_CHECK(logits.rank() == 2 && target.numel() == logits[0], op, ": logits ", logits, " and ",
             target.numel(), " targets do not fit");
  LSSM_CHECK(!mask || mask.numel() == logits[0], op, ": ", mask.numel(), " mask values for ",
             logits[0], " rows");
  check_indices(op, target, logits[1]);
}

}  // namespace

void check_indices(const char* who, const Tensor& index, int64_t n) {
  LSSM_CHECK(index.dtype() == DType::i32, who, ": indices must be i32");
  if (index.device() != Device::cpu || index.numel() == 0) return;
  const int32_t* values = index.data<int32_t>();
  const auto [min, max] = std::minmax_element(values, values + index.numel());
  LSSM_CHECK(*min >= 0 && *max < n, who, ": index ", *min < 0 ? *min : *max, " is not in 0 … ",
             n - 1);
}

Var linear(Var x, Var w, Var bias) {
  check_linear("linear", x, w, bias);
  Tape& tape = *x.tape;
  const Tensor input = x.value(), weight = w.value();
  Tensor y({input.dim(0), weight.dim(1)}, input.dtype(), input.device());
  kernels::linear(input, weight, value_or_empty(bias), y);
  return tape.record(
      "linear", y, {x, w, bias ? bias : w}, [&tape, x, w, bias, input, weight](const Tensor& dy) {
        if (tape.needs_grad(x)) {
          Tensor dx = Tensor::like(input);
          kernels::linear_backward_input(dy, weight, dx);
          tape.add_grad(x, dx);
        }
        Tensor dw = Tensor::like(weight);
        Tensor dbias = bias ? Tensor({weight.dim(1)}, dy.dtype(), dy.device()) : Tensor();
        kernels::linear_backward_weight(input, dy, dw, dbias);
        tape.add_grad(w, dw);
        if (bias) tape.add_grad(bias, dbias);
      });
}

Var gather_rows(Var table, const Tensor& index) {
  const Shape shape = table.shape();
  LSSM_CHECK(shape.rank() == 2, "gather_rows: the table has shape ", shape,
             ", expected [entries, width]");
  check_indices("gather_rows", index, shape[0]);
  Tape& tape = *table.tape;
  Tensor y({index.numel(), shape[1]}, table.value().dtype(), table.value().device());
  kernels::gather_rows(table.value(), index, y);
  return tape.record("gather_rows", y, {table}, [&tape, table, index, shape](const Tensor& dy) {
    Tensor dtable(shape, dy.dtype(), dy.device());
    kernels::scatter_add_rows(dy, index, dtable);
    tape.add_grad(table, dtable);
  });
}

Var concat_columns(Var a, Var b) {
  LSSM_CHECK(a.shape().rank() == 2 && b.shape().rank() == 2 && a.shape()[0] == b.shape()[0],
             "concat_columns: shapes ", a.shape(), " and ", b.shape(), " do not fit");
  Tape& tape = *a.tape;
  const Tensor left = a.value(), right = b.value();
  Tensor y({left.dim(0), left.dim(1) + right.dim(1)}, left.dtype(), left.device());
  kernels::concat_columns(left, right, y);
  return tape.record("concat_columns", y, {a, b}, [&tape, a, b](const Tensor& dy) {
    Tensor da(a.shape(), dy.dtype(), dy.device()), db(b.shape(), dy.dtype(), dy.device());
    kernels::split_columns(dy, da, db);
    tape.add_grad(a, da);
    tape.add_grad(b, db);
  });
}

namespace {

// Both norms; without a bias it is the RMS norm.
Var normalise(const char* op, Var x, Var gain, Var bias, double eps) {
  LSSM_CHECK(x.shape().rank() == 2 && gain.shape() == Shape({x.shape()[1]}), op, ": input ",
             x.shape(), " and gain ", gain.shape(), " do not fit");
  LSSM_CHECK(!bias || bias.shape() == gain.shape(), op, ": bias ", bias.shape(),
             " is not like gain");
  Tape& tape = *x.tape;
  const Tensor input = x.value();
  const Shape rows = {input.dim(0)};
  kernels::NormRows norm = {.x = input,
                            .gain = gain.value(),
                            .bias = value_or_empty(bias),
                            .mean = bias ? Tensor(rows, input.dtype(), input.device()) : Tensor(),
                            .inverse = Tensor(rows, input.dtype(), input.device()),
                            .eps = eps};
  Tensor y = Tensor::like(input);
  kernels::norm_rows(norm, y);
  return tape.record(op, y, {x, gain, bias ? bias : gain},
                     [&tape, x, gain, bias, norm](const Tensor& dy) {
                       Tensor dx = Tensor::like(dy), dgain = Tensor::like(norm.gain);
                       Tensor dbias = like_or_empty(norm.bias);
                       kernels::norm_rows_backward(norm, dy, dx, dgain, dbias);
                       tape.add_grad(x, dx);
                       tape.add_grad(gain, dgain);
                       if (bias) tape.add_grad(bias, dbias);
                     });
}

}  // namespace

Var layer_norm(Var x, Var gain, Var bias, double eps) {
  return normalise("layer_norm", x, gain, bias, eps);
}

Var rms_norm(Var x, Var gain, double eps) { return normalise("rms_norm", x, gain, Var(), eps); }

Var cross_entropy(Var logits, const Tensor& target, const Tensor& mask) {
  check_labels("cross_entropy", logits.shape(), target, mask);
  Tape& tape = *logits.tape;
  const Tensor x = logits.value();
  Tensor loss({1}, x.dtype(), x.device());
  Tensor dlogits = tape.needs_grad(logits) ? Tensor::like(x) : Tensor();
  kernels::cross_entropy(x, target, mask, loss, dlogits);
  return tape.record("cross_entropy", loss, {logits},
                     [&tape, logits, dlogits](const Tensor& dloss) {
                       Tensor scaled = dlogits;  // this closure's own: nobody else holds it
                       kernels::scale(dlogits, dloss, scaled);
                       tape.add_grad(logits, scaled);
                     });
}

Var linear_cross_entropy(Var x, Var w, Var bias, const Tensor& target, const Tensor& mask) {
  const char* op = "linear_cross_entropy";
  check_linear(op, x, w, bias);
  check_labels(op, {x.shape()[0], w.shape()[1]}, target, mask);
  Tape& tape = *x.tape;
  const kernels::LinearCrossEntropy in = {
      .x = x.value(), .w = w.value(), .bias = value_or_empty(bias), .target = target, .mask = mask};
  // The logits are at hand in the forward pass only, so gradients of the loss are taken there.
  const bool wanted = tape.needs_grad(x) || tape.needs_grad(w) || (bias && tape.needs_grad(bias));
  Tensor loss({1}, in.x.dtype(), in.x.device());
  Tensor dx = tape.needs_grad(x) ? Tensor::like(in.x) : Tensor();
  Tensor dw = wanted ? Tensor::like(in.w) : Tensor();
  Tensor dbias = wanted && bias ? Tensor::like(in.bias) : Tensor();
  kernels::linear_cross_entropy(in, loss, dx, dw, dbias);
  return tape.record("linear_cross_entropy", loss, {x, w, bias ? bias : w},
                     [&tape, x, w, bias, dx, dw, dbias](const Tensor& dloss) {
                       const auto give = [&](Var input, Tensor gradient) {
                         if (!gradient) return;
                         // In place: nobody else holds what this closure made.
                         kernels::scale(gradient, dloss, gradient);
                         tape.add_grad(input, gradient);
                       };
                       give(x, dx);
                       give(w, dw);
                       give(bias, dbias);
                     });
}

}  // namespace lssm
