// SPDX-License-Identifier: Apache-2.0
// Reductions to one number on the host. Sums run in f64 over fixed partitions, in order.
#pragma once

#include "core/tensor.h"
#include "kernels/kernel.h"

namespace lssm::kernels {

extern Kernel<double(const Tensor& x)> sum_of_squares;
// The position of the first number that is infinite or not a number, or -1.
extern Kernel<int64_t(const Tensor& x)> first_not_finite;

}  // namespace lssm::kernels
