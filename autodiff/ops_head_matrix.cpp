// SPDX-License-Identifier: Apache-2.0
#include "autodiff/ops.h"
#include "kernels/head_matrix.h"
#include "kernels/rows.h"

namespace lssm {
namespace {

// Adds to x the gradient dx, given for each row, where x may have one row for all.
void add_row_grad(Tape& tape, Var x, const Shape& shape, const Tensor& dx) {
  if (dx.shape() == shape) return tape.add_grad(x, dx);
  Tensor sum({shape[1] * shape[2]}, dx.dtype(), dx.device());
  kernels::sum_rows(dx.reshape({dx.dim(0), shape[1] * shape[2]}), sum);
  tape.add_grad(x, sum.reshape(shape));
}

}  // namespace

Var householder_product(Var k, Var beta) {
  const Shape in = k.shape(), by = beta.shape();
  LSSM_CHECK(by.rank() == 3 && by[1] > 0, "householder_product: beta ", by,
             ", expected [rows, reflections, heads]");
  const int64_t count = by[1];
  LSSM_CHECK(
      in.rank() == 3 && in[1] % count == 0 && in[2] == by[2] && (in[0] == by[0] || in[0] == 1),
      "householder_product: k ", in, ", expected [", by[0], " or 1, ", count, " d, ", by[2], "]");
  const int64_t d = in[1] / count;
  LSSM_CHECK(d >= kernels::kLeastReflected && d <= kernels::kMostReflected,
             "householder_product: k ", in, " has vectors of ", d, " components, expected ",
             kernels::kLeastReflected, " to ", kernels::kMostReflected);
  Tape& tape = *k.tape;
  const Tensor vectors = k.value(), factors = beta.value();
  Tensor a({by[0], d * d, by[2]}, factors.dtype(), factors.device());
  kernels::householder_product(vectors, factors, a);
  const auto backward = [&tape, k, beta, vectors, factors](const Tensor& da) {
    const Shape rows = {factors.dim(0), vectors.dim(1), vectors.dim(2)};
    Tensor dk(rows, da.dtype(), da.device()), dbeta = Tensor::like(factors);
    kernels::householder_product_backward(vectors, factors, da, dk, dbeta);
    add_row_grad(tape, k, vectors.shape(), dk);
    tape.add_grad(beta, dbeta);
  };
  return tape.record("householder_product", a, {k, beta}, backward);
}

Var head_matmul(Var a, Var b) {
  const Shape left = a.shape(), right = b.shape();
  const auto is_square = [](int64_t numbers) {
    int64_t n = 1;
    while (n * n < numbers) ++n;
    return n * n == numbers;
  };
  LSSM_CHECK(left.rank() == 3 && right.rank() == 3 && left[1] == right[1] && is_square(left[1]) &&
                 left[2] == right[2] && (left[0] == right[0] || left[0] == 1 || right[0] == 1),
             "head_matmul: shapes ", left, " and ", right,
             ", expected [rows, n n, heads] twice, or one row of it");
  Tape& tape = *a.tape;
  const Tensor x = a.value(), z = b.value();
  const int64_t rows = left[0] == 1 ? right[0] : left[0];
  Tensor y({rows, left[1], left[2]}, x.dtype(), x.device());
  kernels::head_matmul(x, false, z, false, y);
  return tape.record("head_matmul", y, {a, b}, [&tape, a, b, x, z](const Tensor& dy) {
    Tensor d = Tensor::like(dy);
    if (tape.needs_grad(a)) {
      kernels::head_matmul(dy, false, z, true, d);
      add_row_grad(tape, a, x.shape(), d);
    }
    if (tape.needs_grad(b)) {
      d = Tensor::like(dy);
      kernels::head_matmul(x, true, dy, false, d);
      add_row_grad(tape, b, z.shape(), d);
    }
  });
}

Var polar(Var s, int64_t c) {
  const Shape shape = s.shape();
  LSSM_CHECK(shape.rank() == 3 && c > 0 && shape[1] % c == 0, "polar: s ", shape,
             ", expected [rows, ", c, " d, heads]");
  const int64_t d = shape[1] / c;
  LSSM_CHECK(c <= d && d <= kernels::kMostInFrame, "polar: ", c, " columns of ", d,
             " numbers, expected at most ", kernels::kMostInFrame,
             " numbers and as many columns at most");
  Tape& tape = *s.tape;
  const Tensor frames = s.value();
  Tensor q = Tensor::like(frames);
  kernels::polar(frames, c, q);
  return tape.record("polar", q, {s}, [&tape, s, c, frames](const Tensor& dq) {
    Tensor ds = Tensor::like(frames);
    kernels::polar_backward(frames, c, dq, ds);
    tape.add_grad(s, ds);
  });
}

}  // namespace lssm
