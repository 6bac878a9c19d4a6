// SPDX-License-Identifier: Apache-2.0
// Causal depthwise convolution over time: each column has its own filter,
//   y_t = bias + sum over j = 0 … k - 1 of w_j x_{t-j}.
// Inputs from before the start or from before a reset count as 0. One source for both devices; sums
// run in a fixed order.
#pragma once

#include <tuple>

#include "core/tensor.h"
#include "kernels/kernel.h"

namespace lssm::kernels {

struct ConvInputs {
  Tensor x;        // [batch, length, width]
  Tensor reset;    // i32 [batch, length], or empty: not 0 where a sequence starts afresh
  Tensor carried;  // [batch, k - 1, width], or empty for zeros: the inputs before step 0

  auto tensors() const { return std::tie(x, reset, carried); }
};

// w: [k, width], bias: [width], y: like x.
extern Kernel<void(const ConvInputs& in, const Tensor& w, const Tensor& bias, Tensor& y)>
    causal_conv;

struct ConvGradients {
  Tensor dx;
  Tensor dcarried;  // empty where carried is
  // [batch, k + 1, width]: those of w and, last, of bias from each row of the batch.
  Tensor dparameters;

  auto tensors() const { return std::tie(dx, dcarried, dparameters); }
};
extern Kernel<void(const ConvInputs& in, const Tensor& w, const Tensor& dy, ConvGradients& out)>
    causal_conv_backward;

// The last k - 1 inputs, of the carried ones too where the chunk is shorter; 0 for those from
// before the last reset.   last: [batch, k - 1, width].
extern Kernel<void(const ConvInputs& in, Tensor& last)> last_inputs;
// dcarried: empty where carried is.
extern Kernel<void(const ConvInputs& in, const Tensor& dlast, Tensor& dx, Tensor& dcarried)>
    last_inputs_backward;

}  // namespace lssm::kernels
