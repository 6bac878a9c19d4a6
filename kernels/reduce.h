// SPDX-License-Identifier: Apache-2.0
// Reductions to one number on the host. Sums run in f64 over fixed partitions, in order.
#pragma once

#include "core/tensor.h"
#include "kernels/kernel.h"

namespace lssm::kernels {

double sum_of_squares(const Tensor& x);
// The position of the first number that is infinite or not a number, or -1.
int64_t first_not_finite(const Tensor& x);

extern Kernel<double(const Tensor&)> sum_of_squares_kernel;
extern Kernel<int64_t(const Tensor&)> first_not_finite_kernel;

}  // namespace lssm::kernels
