// SPDX-License-Identifier: Apache-2.0
// The operations of the tape. Each is one function: it checks shapes, runs the kernel and records
// how its gradient is made. All tensors of one call have one dtype and one device.
#pragma once

#include <string>
#include <vector>

#include "autodiff/tape.h"
#include "core/lie/skew_map.h"
#include "kernels/elementwise.h"

namespace lssm {

// ---- ops_basic.cpp ----

// Same numbers, other sizes.
Var reshape(Var x, const Shape& shape);
// Sum of two values of one shape.
Var add(Var a, Var b);
// Product of two values of one shape, number by number.
Var mul(Var a, Var b);
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
// The unit vector of each head and log(1 + |h|).   h: [rows, n, heads]; result: [rows, n + 1,
// heads].
Var direction_radial(Var h);
// The Hopf map of each head (kernels/readout.h).   h: [rows, 4, heads]; result: [rows, 3, heads].
Var bloch(Var h);
// The matrices of a group of lie::MatrixGroups, as the parameters of scan() with the group
// "matrix<n>".   a: [rows, k, heads]; result: [rows, n n, heads].
Var group_matrix(const std::string& group, lie::SkewMap map, Var a);
// V(omega) v, the translation of the rigid motion exp(omega, v) (core/lie/se3.h).
//   omega, v: [rows, 3, heads]; result: the same shape.
Var translation(Var omega, Var v);
// All states of h_t = exp(a_t) h_{t-1} + b_t for a group by its name (kernels/scan.h).
//   a: [batch, length, k, heads], b: [batch, length, v, heads] or no Var, h0: [batch or 1, v,
//   heads], reset: i32 [batch, length] or empty: where a new sequence starts from h0; carried:
//   [batch, v, heads] or no Var: the state before step 0, if that is not h0.
// Result: [batch, length, v, heads].
Var scan(const std::string& group, Var a, Var b, Var h0, const Tensor& reset, Var carried = Var());
// The state after the last step of a scan (the state before it if length is 0).
//   h: [batch, length, v, heads]; h0, carried: as given to the scan; result: [batch, v, heads].
Var final_state(Var h, Var h0, Var carried = Var());

// ---- ops_parts.cpp ----

// The products a_i b_j of each row, at i q + j.   a: [rows, p], b: [rows, q]; result: [rows, p q].
Var outer_columns(Var a, Var b);
// Columns begin to begin + count - 1.   x: [rows, width]; result: [rows, count].
Var slice_columns(Var x, int64_t begin, int64_t count);
// s x, s the same for all components of a head.   x: [rows, n, heads], s: [rows, heads], or
// [1, heads]: one for all rows; result: like x.
Var scale_components(Var x, Var s);
// Each head c times in a row, times one of c constants (at most 16): y[head c + j] = weights[j]
// x[head].   x: [rows, n, heads]; result: [rows, n, heads c].
Var repeat_heads(Var x, const std::vector<double>& weights);

// ---- ops_head_matrix.cpp ----

// Products of reflections, A = (I - beta_m u_m u_m^T) ... (I - beta_1 u_1 u_1^T), u = k / |k|:
// reflection 1 acts first. Where k is 0 so is u, and there is no gradient. It is DeltaProduct's
// transition (Siems et al. 2025), row by row as the parameters of scan() with the group
// "matrix<d>".
//   k: [rows or 1, m d, heads], d from 3 to 8, beta: [rows, m, heads]; result: [rows, d d, heads].
Var householder_product(Var k, Var beta);
// The products a b of the matrices of each head.   a, b: [rows, n n, heads], or one with 1 row for
// all; result: [rows, n n, heads].
Var head_matmul(Var a, Var b);
// Q(S) = S (S^T S)^(-1/2), the orthonormal columns nearest to the c columns of S (what happens to
// dependent ones: kernels/head_matrix.h).   s: [rows, c d, heads], column by column, c <= d <= 8;
// result: the same shape.
Var polar(Var s, int64_t c);

// ---- ops_sequence.cpp ----

// The state before each step: that after the step before; h0 where the reset is not 0, and at step
// 0 if nothing was carried there.   h: [batch, length, v, heads], as scan() returns it; h0, reset,
// carried: as given to the scan; result: like h.
Var previous_states(Var h, Var h0, const Tensor& reset, Var carried = Var());
// Causal depthwise convolution, y_t = bias + sum_j w_j x_{t-j}. Inputs from before the start or a
// reset count as 0.
//   x: [batch, length, width], w: [k, width], bias: [width], reset: i32 [batch, length] or empty,
//   carried: [batch, k - 1, width], the inputs before step 0, or no Var for zeros; result: like x.
Var causal_conv(Var x, Var w, Var bias, const Tensor& reset, Var carried = Var());
// The last `count` inputs, what the next chunk's convolution carries; 0 for those from before the
// start or the last reset.   carried: [batch, count, width] or no Var; result: alike.
Var last_inputs(Var x, int64_t count, const Tensor& reset, Var carried = Var());

// ---- ops_rnn.cpp ----

// All states of recurrences with gates (equations and the order of the gates: kernels/rnn.h).
//   gates: [batch, length, 3 or 4, width], what x_t gives to the gates; u: [width, gates width],
//   bias: [gates width] or no Var, h0, reset, carried: as for scan(), with heads = width.
// Result of gru: h, [batch, length, 1, width]; of lstm: (h, c), [batch, length, 2, width].
Var gru(Var gates, Var u, Var bias, Var h0, const Tensor& reset, Var carried = Var());
Var lstm(Var gates, Var u, Var h0, const Tensor& reset, Var carried = Var());

}  // namespace lssm
