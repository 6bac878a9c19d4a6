// SPDX-License-Identifier: Apache-2.0
// The operations of the tape. Each is one function: it checks shapes, runs the kernel and records
// how its gradient is made. All tensors of one call have one dtype and one device.
#pragma once

#include <string>

#include "autodiff/tape.h"
#include "kernels/elementwise.h"

namespace lssm {

// ---- ops_basic.cpp ----

// Same numbers, other sizes.
Var reshape(Var x, const Shape& shape);
// Sum of two values of one shape.
Var add(Var a, Var b);
Var activation(kernels::Activation kind, Var x);
// Sets a share `rate` of the numbers to 0 and divides the rest by 1 - rate. Which ones is a
// function of (seed, draw, site) alone; two sites of one model need two numbers.
Var dropout(Var x, double rate, uint64_t seed, uint32_t draw, uint32_t site);

// ---- ops_rows.cpp ----

// Labels and indices must lie in 0 … n - 1: a wrong one would be read out of bounds. The host can
// check only what it has; who moves indices to another device checks them before (layers/model.h).
void check_indices(const char* who, const Tensor& index, int64_t n);

// x w + bias.   x: [rows, in], w: [in, out], bias: [out] or no Var; result: [rows, out].
Var linear(Var x, Var w, Var bias);
// Rows of a table.   table: [entries, width], index: i32 of any shape, checked; result: [rows,
// width].
Var gather_rows(Var table, const Tensor& index);
// [a | b].   a: [rows, p], b: [rows, q]; result: [rows, p + q].
Var concat_columns(Var a, Var b);
// Layer normalisation over the columns.   x: [rows, width], gain, bias: [width].
Var layer_norm(Var x, Var gain, Var bias, double eps);
// RMS normalisation over the columns.
Var rms_norm(Var x, Var gain, double eps);
// Mean cross-entropy of softmax(logits) over the rows whose mask is not 0, all if it is empty; 0 if
// there are none.   logits: [rows, classes], target, mask: i32 [rows], targets checked; result:
// [1].
Var cross_entropy(Var logits, const Tensor& target, const Tensor& mask);
// cross_entropy(linear(x, w, bias), target, mask), but the logits of all rows never exist at once.
Var linear_cross_entropy(Var x, Var w, Var bias, const Tensor& target, const Tensor& mask);

// ---- ops_state.cpp ----

// The unit vector of each head.   h: [rows, n, heads]; result: the same shape.
Var direction(Var h);
// The Hopf map of each head (kernels/readout.h).   h: [rows, 4, heads]; result: [rows, 3, heads].
Var bloch(Var h);
// All states of h_t = exp(a_t) h_{t-1} + b_t for a group by its name (kernels/scan.h).
//   a: [batch, length, k, heads], b: [batch, length, v, heads] or no Var, h0: [batch or 1, v,
//   heads], reset: i32 [batch, length] or empty: where a new sequence starts from h0; carried:
//   [batch, v, heads] or no Var: the state before step 0, if that is not h0.
// Result: [batch, length, v, heads].
Var scan(const std::string& group, Var a, Var b, Var h0, const Tensor& reset, Var carried = Var());
// The state after the last step of a scan (the state before it if length is 0).
//   h: [batch, length, v, heads]; h0, carried: as given to the scan; result: [batch, v, heads].
Var final_state(Var h, Var h0, Var carried = Var());

}  // namespace lssm
