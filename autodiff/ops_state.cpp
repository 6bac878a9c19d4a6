// SPDX-License-Identifier: Apache-2.0
#include "autodiff/ops.h"
#include "core/lie/group.h"
#include "kernels/readout.h"
#include "kernels/rows.h"
#include "kernels/scan.h"

namespace lssm {

Var direction(Var h) {
  LSSM_CHECK(h.shape().rank() == 3, "direction: state ", h.shape(), ", expected [rows, n, heads]");
  Tape& tape = *h.tape;
  const Tensor state = h.value();
  Tensor y = Tensor::like(state);
  kernels::direction(state, y);
  return tape.record("direction", y, {h}, [&tape, h, state, y](const Tensor& dy) {
    Tensor dh = Tensor::like(dy);
    kernels::direction_backward(state, y, dy, dh);
    tape.add_grad(h, dh);
  });
}

Var bloch(Var h) {
  const Shape shape = h.shape();
  LSSM_CHECK(shape.rank() == 3 && shape[1] == 4, "bloch: state ", shape,
             ", expected [rows, 4, heads]");
  Tape& tape = *h.tape;
  const Tensor state = h.value();
  Tensor y({shape[0], 3, shape[2]}, state.dtype(), state.device());
  kernels::bloch(state, y);
  return tape.record("bloch", y, {h}, [&tape, h, state](const Tensor& dy) {
    Tensor dh = Tensor::like(state);
    kernels::bloch_backward(state, dy, dh);
    tape.add_grad(h, dh);
  });
}

Var scan(const std::string& group, Var a, Var b, Var h0, const Tensor& reset) {
  const Shape shape = a.shape();
  LSSM_CHECK(shape.rank() == 4, "scan: a ", shape, ", expected [batch, length, k, heads]");
  const int64_t batch = shape[0], length = shape[1], heads = shape[3];
  int64_t k = 0, v = 0;
  lie::with_group(group, [&]<class G>(G) { k = G::algebra_dim, v = G::vector_dim; });
  const Shape states = {batch, length, v, heads};
  LSSM_CHECK(shape[2] == k, "scan: a has ", shape[2], " components, ", group, " has ", k);
  LSSM_CHECK(!b || b.shape() == states, "scan: b ", b.shape(), ", expected ", states);
  LSSM_CHECK(h0.shape() == Shape({batch, v, heads}) || h0.shape() == Shape({1, v, heads}),
             "scan: h0 ", h0.shape(), ", expected [", batch, " or 1, ", v, ", ", heads, "]");
  LSSM_CHECK(!reset || reset.shape() == Shape({batch, length}), "scan: reset ", reset.shape(),
             ", expected [", batch, ", ", length, "]");

  Tape& tape = *a.tape;
  const kernels::ScanInputs in = {group, a.value(), b ? b.value() : Tensor(), h0.value(), reset};
  Tensor h(states, in.a.dtype(), in.a.device());
  kernels::scan(in, h);
  return tape.record("scan", h, {a, b ? b : a, h0}, [&tape, a, b, h0, in, h](const Tensor& dh) {
    const bool shared = in.h0.dim(0) == 1;
    const Shape rows = {h.dim(0), h.dim(2), h.dim(3)};
    kernels::ScanGradients out = {Tensor::like(in.a), b ? Tensor::like(in.b) : Tensor(),
                                  Tensor(rows, h.dtype(), h.device())};
    kernels::scan_backward(in, h, dh, out);
    tape.add_grad(a, out.da);
    if (b) tape.add_grad(b, out.db);
    if (!shared) return tape.add_grad(h0, out.dh0);
    Tensor sum({in.h0.numel()}, h.dtype(), h.device());
    kernels::sum_rows(out.dh0.reshape({rows[0], in.h0.numel()}), sum);
    tape.add_grad(h0, sum.reshape(in.h0.shape()));
  });
}

Var final_state(Var h, Var h0) {
  const Shape shape = h.shape();
  const int64_t batch = shape[0], length = shape[1], width = shape[2] * shape[3];
  // Rows of a table again: of all states, or of h0 where there is no step.
  const Var table =
      length > 0 ? reshape(h, {batch * length, width}) : reshape(h0, {h0.shape()[0], width});
  std::vector<double> rows;
  for (int64_t i = 0; i < batch; ++i) {
    rows.push_back(double(length > 0 ? (i + 1) * length - 1 : (h0.shape()[0] == 1 ? 0 : i)));
  }
  const Tensor index = Tensor::from_host({batch}, rows, DType::i32, h.value().device());
  return reshape(gather_rows(table, index), {batch, shape[2], shape[3]});
}

}  // namespace lssm
