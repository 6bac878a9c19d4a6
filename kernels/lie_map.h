// SPDX-License-Identifier: Apache-2.0
// From coordinates of a Lie algebra to what a scan takes, head by head. One source for both
// devices.
#pragma once

#include <string>

#include "core/lie/skew_map.h"
#include "core/tensor.h"
#include "kernels/kernel.h"

namespace lssm::kernels {

// The matrix of each head, row by row, for a group of lie::MatrixGroups that moves R^n.
//   a: [rows, k, heads], g: [rows, n n, heads].
extern Kernel<void(const std::string& group, lie::SkewMap map, const Tensor& a, Tensor& g)>
    group_matrix;
// The gradient of a, given the result g and its gradient dg.
extern Kernel<void(const std::string& group, lie::SkewMap map, const Tensor& a, const Tensor& g,
                   const Tensor& dg, Tensor& da)>
    group_matrix_backward;

// The translation V(omega) v of the rigid motion with the coordinates (omega, v), core/lie/se3.h.
// All: [rows, 3, heads].
extern Kernel<void(const Tensor& omega, const Tensor& v, Tensor& b)> translation;
extern Kernel<void(const Tensor& omega, const Tensor& v, const Tensor& db, Tensor& domega,
                   Tensor& dv)>
    translation_backward;

}  // namespace lssm::kernels
