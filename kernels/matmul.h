// SPDX-License-Identifier: Apache-2.0
// Matrix products.
#pragma once

#include "core/tensor.h"
#include "kernels/kernel.h"

namespace lssm::kernels {

// y = x w + bias.   x: [rows, in], w: [in, out], bias: [out] or empty, y: [rows, out].
extern Kernel<void(const Tensor& x, const Tensor& w, const Tensor& bias, Tensor& y)> linear;

// dx = dy w^T.   dy: [rows, out], w: [in, out], dx: [rows, in].
extern Kernel<void(const Tensor& dy, const Tensor& w, Tensor& dx)> linear_backward_input;

// dw = x^T dy, dbias = sum of the rows of dy.   dbias may be empty. Sums over rows run partition by
// partition and are then added in order, so their bits do not depend on the number of threads.
extern Kernel<void(const Tensor& x, const Tensor& dy, Tensor& dw, Tensor& dbias)>
    linear_backward_weight;

}  // namespace lssm::kernels
