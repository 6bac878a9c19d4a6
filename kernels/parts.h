// SPDX-License-Identifier: Apache-2.0
// Map kernels that take rows apart, repeat their parts and multiply them with each other. Heads are
// component-major: [rows, component, head]. One source for both devices; sums run in a fixed order.
#pragma once

#include <vector>

#include "core/tensor.h"
#include "kernels/kernel.h"

namespace lssm::kernels {

// y_ij = a_i b_j.   a: [rows, p], b: [rows, q], y: [rows, p q] with a_i b_j at i q + j.
extern Kernel<void(const Tensor& a, const Tensor& b, Tensor& y)> outer_columns;
extern Kernel<void(const Tensor& a, const Tensor& b, const Tensor& dy, Tensor& da, Tensor& db)>
    outer_columns_backward;

// Columns begin, begin + 1, … of x, as many as y has.   x: [rows, width], y: [rows, count].
extern Kernel<void(const Tensor& x, int64_t begin, Tensor& y)> slice_columns;
// dx is dy at those columns and 0 elsewhere.
extern Kernel<void(const Tensor& dy, int64_t begin, Tensor& dx)> slice_columns_backward;

// y = s x, s the same for all components of a head.
//   x, y: [rows, n, heads], s: [rows, heads], or [1, heads]: one for all rows.
extern Kernel<void(const Tensor& x, const Tensor& s, Tensor& y)> scale_components;
// ds: [rows, heads], a row for each row of x also if s is shared.
extern Kernel<void(const Tensor& x, const Tensor& s, const Tensor& dy, Tensor& dx, Tensor& ds)>
    scale_components_backward;

// y[head c + j] = weights[j] x[head] for c weights, at most kMostCopies.
//   x: [rows, n, heads], y: [rows, n, heads c].
constexpr int64_t kMostCopies = 16;
extern Kernel<void(const Tensor& x, const std::vector<double>& weights, Tensor& y)> repeat_heads;
extern Kernel<void(const Tensor& dy, const std::vector<double>& weights, Tensor& dx)>
    repeat_heads_backward;

}  // namespace lssm::kernels
