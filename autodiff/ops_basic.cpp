// SPDX-License-Identifier: Apache-2.0
#include "autodiff/ops.h"

namespace lssm {

Var reshape(Var x, const Shape& shape) {
  Tape& tape = *x.tape;
  return tape.record("reshape", x.value().reshape(shape), {x},
                     [&tape, x](const Tensor& dy) { tape.add_grad(x, dy.reshape(x.shape())); });
}

Var add(Var a, Var b) {
  LSSM_CHECK(a.shape() == b.shape(), "add: shapes ", a.shape(), " and ", b.shape(), " differ");
  Tape& tape = *a.tape;
  Tensor y = Tensor::like(a.value());
  kernels::add(a.value(), b.value(), y);
  return tape.record("add", y, {a, b}, [&tape, a, b](const Tensor& dy) {
    tape.add_grad(a, dy);
    tape.add_grad(b, dy);
  });
}

Var mul(Var a, Var b) {
  LSSM_CHECK(a.shape() == b.shape(), "mul: shapes ", a.shape(), " and ", b.shape(), " differ");
  Tape& tape = *a.tape;
  const Tensor left = a.value(), right = b.value();
  Tensor y = Tensor::like(left);
  kernels::multiply(left, right, y);
  return tape.record("mul", y, {a, b}, [&tape, a, b, left, right](const Tensor& dy) {
    Tensor da = Tensor::like(dy), db = Tensor::like(dy);
    kernels::multiply(dy, right, da);
    kernels::multiply(dy, left, db);
    tape.add_grad(a, da);
    tape.add_grad(b, db);
  });
}

Var activation(kernels::Activation kind, Var x) {
  Tape& tape = *x.tape;
  const Tensor input = x.value();
  Tensor y = Tensor::like(input);
  kernels::activation(kind, input, y);
  return tape.record("activation", y, {x}, [&tape, kind, x, input](const Tensor& dy) {
    Tensor dx = Tensor::like(dy);
    kernels::activation_backward(kind, input, dy, dx);
    tape.add_grad(x, dx);
  });
}

Var dropout(Var x, double rate, uint64_t seed, uint32_t draw, uint32_t site) {
  LSSM_CHECK(rate >= 0 && rate < 1, "dropout: rate ", rate, " is not in [0, 1)");
  LSSM_CHECK(site < 65536, "dropout: site ", site, " is not below 65536");
  Tape& tape = *x.tape;
  const kernels::DropoutCoins coins = {rate, seed, draw, site};
  Tensor y = Tensor::like(x.value());
  kernels::dropout(coins, x.value(), y);
  return tape.record("dropout", y, {x}, [&tape, coins, x](const Tensor& dy) {
    Tensor dx = Tensor::like(dy);
    kernels::dropout(coins, dy, dx);
    tape.add_grad(x, dx);
  });
}

}  // namespace lssm
