// SPDX-License-Identifier: Apache-2.0
// The one table of operation cases. Gradient checks, f32 against f64, determinism and the
// comparison of devices all walk it: an operation that has its rows here has all of them.
#pragma once

#include <string>
#include <vector>

#include "autodiff/grad_check.h"
#include "core/tensor.h"

namespace lssm::testing {

struct OpCase {
  std::string name;
  OpFunction op;
  // On the CPU. Real inputs are f64 numbers that f32 holds too; their gradient is wanted. i32
  // inputs are indices, labels and masks.
  std::vector<Tensor> inputs;
  // False where differences cannot serve: the point has no derivative (the gradient there is a
  // convention), or the case is large and only repeats the arithmetic of a small one.
  bool differences = true;
  // Largest difference between f32 and f64, relative to the largest entry of a tensor. 1e-5 for
  // maps, 1e-4 for scans.
  double f32_tolerance = 1e-5;
};

const std::vector<OpCase>& op_cases();

// What one run of a case gives: its outputs, then the gradients of its real inputs for a loss that
// weighs every output number (loss_weights).
struct OpResult {
  std::vector<Tensor> values;
  std::vector<Tensor> gradients;
};
// Real inputs are converted to `dtype`; everything runs on `device` and comes back to the CPU.
OpResult run_case(const OpCase& c, DType dtype, Device device = Device::cpu);

bool same_bits(const Tensor& a, const Tensor& b);
bool same_bits(const OpResult& a, const OpResult& b);
// The largest difference relative to the largest entry of `exact`; infinite if the shapes differ or
// an entry of either is not finite, so that a NaN cannot pass.
double relative_difference(const Tensor& exact, const Tensor& x);

// Seeded inputs that f32 holds exactly.
Tensor normal_numbers(const Shape& shape, uint32_t seed, double scale = 1);
Tensor integers(const Shape& shape, const std::vector<double>& values);
// i32 numbers from 0 to n - 1.
Tensor integers_below(uint32_t n, const Shape& shape, uint32_t seed);

// Rows of the table for the recurrence of every group (op_cases_scan.cpp).
void add_scan_cases(std::vector<OpCase>& cases);
// Rows of the table for the maps from Lie algebras (op_cases_lie.cpp).
void add_lie_cases(std::vector<OpCase>& cases);
// Rows of the table for the loss that is fused with its linear map (op_cases_loss.cpp).
void add_fused_loss_cases(std::vector<OpCase>& cases);
// Rows of the table for parts of rows and for what came before in a sequence
// (op_cases_sequence.cpp).
void add_sequence_cases(std::vector<OpCase>& cases);
// Rows of the table for recurrences with gates (op_cases_rnn.cpp).
void add_rnn_cases(std::vector<OpCase>& cases);
// Rows of the table for small matrices of each head (op_cases_head_matrix.cpp).
void add_head_matrix_cases(std::vector<OpCase>& cases);

}  // namespace lssm::testing
