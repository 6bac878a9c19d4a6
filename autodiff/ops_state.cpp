// SPDX-License-Identifier: Apache-2.0
#include "autodiff/ops.h"
#include "core/lie/group.h"
#include "kernels/lie_map.h"
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

Var direction_radial(Var h) {
  const Shape shape = h.shape();
  LSSM_CHECK(shape.rank() == 3, "direction_radial: state ", shape, ", expected [rows, n, heads]");
  Tape& tape = *h.tape;
  const Tensor state = h.value();
  Tensor y({shape[0], shape[1] + 1, shape[2]}, state.dtype(), state.device());
  kernels::direction_radial(state, y);
  return tape.record("direction_radial", y, {h}, [&tape, h, state](const Tensor& dy) {
    Tensor dh = Tensor::like(state);
    kernels::direction_radial_backward(state, dy, dh);
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

Var group_matrix(const std::string& group, lie::SkewMap map, Var a) {
  const Shape shape = a.shape();
  int64_t k = 0, n = 0;
  lie::MatrixGroups::with(group, [&]<class G>(G) { k = G::algebra_dim, n = G::vector_dim; });
  LSSM_CHECK(shape.rank() == 3 && shape[1] == k, "group_matrix: a ", shape, ", expected [rows, ", k,
             ", heads] for ", group);
  Tape& tape = *a.tape;
  const Tensor coordinates = a.value();
  Tensor g({shape[0], n * n, shape[2]}, coordinates.dtype(), coordinates.device());
  kernels::group_matrix(group, map, coordinates, g);
  const auto backward = [&tape, group, map, a, coordinates, g](const Tensor& dg) {
    Tensor da = Tensor::like(coordinates);
    kernels::group_matrix_backward(group, map, coordinates, g, dg, da);
    tape.add_grad(a, da);
  };
  return tape.record("group_matrix", g, {a}, backward);
}

Var translation(Var omega, Var v) {
  const Shape shape = omega.shape();
  LSSM_CHECK(shape.rank() == 3 && shape[1] == 3 && v.shape() == shape, "translation: omega ", shape,
             " and v ", v.shape(), ", expected [rows, 3, heads] twice");
  Tape& tape = *omega.tape;
  const Tensor turn = omega.value(), shift = v.value();
  Tensor b = Tensor::like(shift);
  kernels::translation(turn, shift, b);
  return tape.record("translation", b, {omega, v}, [&tape, omega, v, turn, shift](const Tensor& d) {
    Tensor dturn = Tensor::like(turn), dshift = Tensor::like(shift);
    kernels::translation_backward(turn, shift, d, dturn, dshift);
    tape.add_grad(omega, dturn);
    tape.add_grad(v, dshift);
  });
}

Var scan(const std::string& group, Var a, Var b, Var h0, const Tensor& reset, Var carried) {
  const Shape shape = a.shape();
  LSSM_CHECK(shape.rank() == 4, "scan: a ", shape, ", expected [batch, length, k, heads]");
  const int64_t batch = shape[0], length = shape[1], heads = shape[3];
  int64_t k = 0, v = 0;
  lie::with_group(group, [&]<class G>(G) { k = G::algebra_dim, v = G::vector_dim; });
  const Shape states = {batch, length, v, heads}, ends = {batch, v, heads};
  LSSM_CHECK(shape[2] == k, "scan: a has ", shape[2], " components, ", group, " has ", k);
  LSSM_CHECK(!b || b.shape() == states, "scan: b ", b.shape(), ", expected ", states);
  LSSM_CHECK(h0.shape() == ends || h0.shape() == Shape({1, v, heads}), "scan: h0 ", h0.shape(),
             ", expected ", ends, " or one row of it");
  LSSM_CHECK(!reset || reset.shape() == Shape({batch, length}), "scan: reset ", reset.shape(),
             ", expected [", batch, ", ", length, "]");
  LSSM_CHECK(!carried || carried.shape() == ends, "scan: carried ", carried.shape(), ", expected ",
             ends);

  Tape& tape = *a.tape;
  const kernels::ScanInputs in = {group,      a.value(), value_or_empty(b),
                                  h0.value(), reset,     value_or_empty(carried)};
  Tensor h(states, in.a.dtype(), in.a.device());
  kernels::scan(in, h);
  const auto backward = [&tape, a, b, h0, carried, in, h](const Tensor& dh) {
    const Shape ends = {h.dim(0), h.dim(2), h.dim(3)};
    kernels::ScanGradients out = {like_or_empty(in.a), like_or_empty(in.b),
                                  Tensor(ends, h.dtype(), h.device()), like_or_empty(in.carried)};
    kernels::scan_backward(in, h, dh, out);
    tape.add_grad(a, out.da);
    if (b) tape.add_grad(b, out.db);
    if (carried) tape.add_grad(carried, out.dcarried);
    if (in.h0.shape() == ends) return tape.add_grad(h0, out.dh0);
    Tensor sum({in.h0.numel()}, h.dtype(), h.device());
    kernels::sum_rows(out.dh0.reshape({ends[0], in.h0.numel()}), sum);
    tape.add_grad(h0, sum.reshape(in.h0.shape()));
  };
  return tape.record("scan", h, {a, b ? b : a, h0, carried ? carried : h0}, backward);
}

Var final_state(Var h, Var h0, Var carried) {
  const Shape shape = h.shape();
  const int64_t batch = shape[0], length = shape[1], width = shape[2] * shape[3];
  if (length == 0 && carried) return carried;
  // Rows of a table: of all states, or of h0 where there is no step.
  const Var from = length > 0 ? h : h0;
  const int64_t rows = length > 0 ? batch * length : h0.shape()[0];
  Tensor index({batch}, DType::i32);
  for (int64_t i = 0; i < batch; ++i) {
    index.data<int32_t>()[i] = int32_t(rows == 1 ? 0 : (i + 1) * (rows / batch) - 1);
  }
  const Var ends = gather_rows(reshape(from, {rows, width}), index.to(h.value().device()));
  return reshape(ends, {batch, shape[2], shape[3]});
}

}  // namespace lssm
