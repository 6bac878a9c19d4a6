// SPDX-License-Identifier: Apache-2.0
#include "autodiff/ops.h"
#include "kernels/parts.h"
#include "kernels/rows.h"

namespace lssm {

Var outer_columns(Var a, Var b) {
  LSSM_CHECK(a.shape().rank() == 2 && b.shape().rank() == 2 && a.shape()[0] == b.shape()[0],
             "outer_columns: shapes ", a.shape(), " and ", b.shape(), " do not fit");
  Tape& tape = *a.tape;
  const Tensor left = a.value(), right = b.value();
  Tensor y({left.dim(0), left.dim(1) * right.dim(1)}, left.dtype(), left.device());
  kernels::outer_columns(left, right, y);
  return tape.record("outer_columns", y, {a, b}, [&tape, a, b, left, right](const Tensor& dy) {
    Tensor da = Tensor::like(left), db = Tensor::like(right);
    kernels::outer_columns_backward(left, right, dy, da, db);
    tape.add_grad(a, da);
    tape.add_grad(b, db);
  });
}

Var slice_columns(Var x, int64_t begin, int64_t count) {
  const Shape shape = x.shape();
  LSSM_CHECK(shape.rank() == 2 && begin >= 0 && count >= 0 && begin <= shape[1] - count,
             "slice_columns: columns ", begin, " to ", begin + count, " of ", shape);
  Tape& tape = *x.tape;
  const Tensor all = x.value();
  Tensor y({shape[0], count}, all.dtype(), all.device());
  kernels::slice_columns(all, begin, y);
  return tape.record("slice_columns", y, {x}, [&tape, x, shape, begin](const Tensor& dy) {
    Tensor dx(shape, dy.dtype(), dy.device());
    kernels::slice_columns_backward(dy, begin, dx);
    tape.add_grad(x, dx);
  });
}

Var scale_components(Var x, Var s) {
  const Shape shape = x.shape();
  LSSM_CHECK(shape.rank() == 3, "scale_components: x ", shape, ", expected [rows, n, heads]");
  const Shape own = {shape[0], shape[2]};
  LSSM_CHECK(s.shape() == own || s.shape() == Shape({1, shape[2]}), "scale_components: s ",
             s.shape(), ", expected ", own, " or one row of it");
  Tape& tape = *x.tape;
  const Tensor numbers = x.value(), factors = s.value();
  Tensor y = Tensor::like(numbers);
  kernels::scale_components(numbers, factors, y);
  const auto backward = [&tape, x, s, numbers, factors](const Tensor& dy) {
    const Shape own = {numbers.dim(0), numbers.dim(2)};
    Tensor dx = Tensor::like(numbers), ds(own, dy.dtype(), dy.device());
    kernels::scale_components_backward(numbers, factors, dy, dx, ds);
    tape.add_grad(x, dx);
    if (factors.shape() == own) return tape.add_grad(s, ds);
    Tensor sum({own[1]}, dy.dtype(), dy.device());
    kernels::sum_rows(ds, sum);
    tape.add_grad(s, sum.reshape(factors.shape()));
  };
  return tape.record("scale_components", y, {x, s}, backward);
}

Var repeat_heads(Var x, const std::vector<double>& weights) {
  const Shape shape = x.shape();
  const int64_t copies = int64_t(weights.size());
  LSSM_CHECK(shape.rank() == 3, "repeat_heads: x ", shape, ", expected [rows, n, heads]");
  LSSM_CHECK(copies >= 1 && copies <= kernels::kMostCopies, "repeat_heads: ", copies,
             " weights, expected 1 to ", kernels::kMostCopies);
  Tape& tape = *x.tape;
  const Tensor heads = x.value();
  Tensor y({shape[0], shape[1], shape[2] * copies}, heads.dtype(), heads.device());
  kernels::repeat_heads(heads, weights, y);
  return tape.record("repeat_heads", y, {x}, [&tape, x, shape, weights](const Tensor& dy) {
    Tensor dx(shape, dy.dtype(), dy.device());
    kernels::repeat_heads_backward(dy, weights, dx);
    tape.add_grad(x, dx);
  });
}

}  // namespace lssm
