// SPDX-License-Identifier: Apache-2.0
// Small matrices of each head: products of reflections, products of two, and frames made
// orthonormal. Arrays are component-major, [rows, component, heads]; square matrices are row by
// row. One source for both devices.
#pragma once

#include "core/tensor.h"
#include "kernels/kernel.h"

namespace lssm::kernels {

// Reflections have these sizes.
constexpr int64_t kLeastReflected = 3, kMostReflected = 8;

// a = H_m ... H_1, H_j = I - beta_j u_j u_j^T with u_j = k_j / |k_j|, and H_j = I where k_j is 0:
// H_1 acts first. With beta 2 a reflection, with 1 a projection.
//   k: [rows, m d, heads] with d from 3 to 8, reflection j in components j d to j d + d - 1; or
//   [1, m d, heads], the same for all rows; beta: [rows, m, heads], a: [rows, d d, heads].
// u is never made: H_j = I - (beta_j / v.v) v v^T with v = k_j / max |k_j|, so that matrices of
// integers (differences of two unit vectors, say) come out exact.
extern Kernel<void(const Tensor& k, const Tensor& beta, Tensor& a)> householder_product;
// The gradients, of k one for each row: dk [rows, m d, heads]. They are 0 where k_j is 0.
extern Kernel<void(const Tensor& k, const Tensor& beta, const Tensor& da, Tensor& dk,
                   Tensor& dbeta)>
    householder_product_backward;

// y = a b, or with a^T or b^T.   y: [rows, n n, heads], a, b: alike, or with one row for all.
extern Kernel<void(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b, Tensor& y)>
    head_matmul;

constexpr int64_t kMostInFrame = 8;

// Q = S (S^T S)^(-1/2), the matrix of orthonormal columns nearest to S (Lie-SSM paper, section
// 3.4).   s, q: [rows, c d, heads] as c columns of d <= 8 numbers, component j d + i = entry (i,
// j). Singular values below d eps of the largest count as 0. Their singular vectors get no part in
// Q: it then has orthonormal columns on the rest, Q^T Q is a projection, and S = 0 gives Q = 0.
extern Kernel<void(const Tensor& s, int64_t c, Tensor& q)> polar;
// With S = U P V^T, Y = dQ V and B = U^T Y:
//   dS V = (Y - U B) P^-1 + U Omega, Omega_ij = (B_ij - B_ji) / (p_i + p_j).
// Sums, never differences, of singular values: equal ones do no harm. Along lost singular vectors
// the gradient is 0.
extern Kernel<void(const Tensor& s, int64_t c, const Tensor& dq, Tensor& ds)> polar_backward;

}  // namespace lssm::kernels
