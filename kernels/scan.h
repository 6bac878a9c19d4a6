// SPDX-License-Identifier: Apache-2.0
// The recurrence of every group: h_t = exp(a_t) h_{t-1} + b_t, from h_{-1} = h0.
//
// Arrays are component-major, [batch, length, component, heads]: neighbouring heads lie side by
// side, for SIMD lanes on the CPU and coalesced loads on the GPU. k and v are the group's
// algebra_dim and vector_dim (core/lie/group.h).
#pragma once

#include <string>
#include <tuple>

#include "core/tensor.h"
#include "kernels/kernel.h"

namespace lssm::kernels {

struct ScanInputs {
  std::string group;
  Tensor a;        // [batch, length, k, heads]
  Tensor b;        // [batch, length, v, heads], or empty: no injection
  Tensor h0;       // [batch, v, heads], or [1, v, heads]: one for all rows
  Tensor reset;    // i32 [batch, length], or empty: not 0 where the state before the step is h0
  Tensor carried;  // [batch, v, heads], or empty: the state before step 0, if that is not h0

  auto tensors() const { return std::tie(a, b, h0, reset, carried); }
};

// h: [batch, length, v, heads].
extern Kernel<void(const ScanInputs& in, Tensor& h)> scan;

struct ScanGradients {
  Tensor da;
  Tensor db;        // empty where b is
  Tensor dh0;       // [batch, v, heads], a row for each row of the batch even if h0 is shared
  Tensor dcarried;  // empty where carried is

  auto tensors() const { return std::tie(da, db, dh0, dcarried); }
};

// The gradients of the inputs, given the output h and its gradient dh.
extern Kernel<void(const ScanInputs& in, const Tensor& h, const Tensor& dh, ScanGradients& out)>
    scan_backward;

}  // namespace lssm::kernels
