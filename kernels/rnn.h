// SPDX-License-Identifier: Apache-2.0
// Recurrences with gates. One source for both devices: each step is a matrix product and a map.
//
// gru (Cho et al. 2014, with the reset gate after the product, as cuDNN and PyTorch have it); gates
// a = (a_r, a_z, a_n), products p = h_{t-1} u + bias = (p_r, p_z, p_n):
//   r = sigmoid(a_r + p_r), z = sigmoid(a_z + p_z), n = tanh(a_n + r p_n),
//   h_t = (1 - z) n + z h_{t-1}
// lstm (Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000); gates and
// products of (i, f, g, o), s = a + p:
//   c_t = sigmoid(s_f) c_{t-1} + sigmoid(s_i) tanh(s_g), h_t = sigmoid(s_o) tanh(c_t)
#pragma once

#include <tuple>

#include "core/tensor.h"
#include "kernels/kernel.h"

namespace lssm::kernels {

enum class RnnCell { gru, lstm };

// Gates of a cell, and vectors that its state is made of: h of gru, (h, c) of lstm.
constexpr int64_t rnn_gates(RnnCell cell) { return cell == RnnCell::gru ? 3 : 4; }
constexpr int64_t rnn_parts(RnnCell cell) { return cell == RnnCell::gru ? 1 : 2; }
// Numbers that the backward pass needs of each unit and step: r, z, n and p_n, or the four gates.
constexpr int64_t kRnnKept = 4;

struct RnnInputs {
  RnnCell cell;
  Tensor gates;    // a: [batch, length, gates, width]
  Tensor u;        // [width, gates width]
  Tensor bias;     // [gates width], or empty
  Tensor h0;       // [batch, parts, width], or one row for all
  Tensor reset;    // i32 [batch, length], or empty: not 0 where the state before the step is h0
  Tensor carried;  // [batch, parts, width], or empty: the state before step 0, if that is not h0

  auto tensors() const { return std::tie(gates, u, bias, h0, reset, carried); }
};

struct RnnGradients {
  Tensor gates, u, bias, h0, carried;  // like the inputs; h0 always has a row for each sequence

  auto tensors() const { return std::tie(gates, u, bias, h0, carried); }
};

// states: [batch, length, parts, width]; kept: [batch, length, kRnnKept, width], or empty if there
// will be no backward pass.
extern Kernel<void(const RnnInputs& in, Tensor& states, Tensor& kept)> rnn;
extern Kernel<void(const RnnInputs& in, const Tensor& states, const Tensor& kept,
                   const Tensor& dstates, RnnGradients& out)>
    rnn_backward;

}  // namespace lssm::kernels
