// SPDX-License-Identifier: Apache-2.0
// The state before each step, given those after each step. One source for both devices.
#pragma once

#include <tuple>

#include "core/tensor.h"
#include "kernels/kernel.h"

namespace lssm::kernels {

// States are rows of `width` numbers here, in tensors of any rank.
struct PreviousStates {
  Tensor h;        // [batch, length, …]
  Tensor h0;       // [batch, …], or one row for all
  Tensor reset;    // i32 [batch, length], or empty: not 0 where the state before the step is h0
  Tensor carried;  // [batch, …], or empty: the state before step 0, if that is not h0

  auto tensors() const { return std::tie(h, h0, reset, carried); }
};

// y: like h.
extern Kernel<void(const PreviousStates& in, Tensor& y)> previous_states;
// dh0: [batch, …], a row for each row of the batch also if h0 is shared, summed over time in order;
// dcarried: empty where carried is.
extern Kernel<void(const PreviousStates& in, const Tensor& dy, Tensor& dh, Tensor& dh0,
                   Tensor& dcarried)>
    previous_states_backward;

}  // namespace lssm::kernels
