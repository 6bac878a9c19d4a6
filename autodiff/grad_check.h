// SPDX-License-Identifier: Apache-2.0
// Gradients against finite differences, in f64.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autodiff/tape.h"

namespace lssm {

// The place where a gradient differs most from its finite difference. `error` is relative to the
// largest entry of that tensor's gradient (numeric or from the tape), so it is scale-free.
struct GradError {
  std::string name;
  int64_t position = 0;
  double tape = 0;
  double numeric = 0;
  double error = 0;
};

struct GradTarget {
  std::string name;
  Tensor value;  // f64 on the CPU; changed in place and restored
  Tensor grad;   // what the tape says
};

// Compares grad with five-point central differences of `loss` (error O(step^4)), at `samples`
// positions of each target spread evenly, or at all if samples is 0. One result for each target.
std::vector<GradError> check_gradients(const std::vector<GradTarget>& targets,
                                       const std::function<double()>& loss, int64_t samples = 0,
                                       double step = 1e-3);

// Checks one operation: `f` maps leaves to outputs, the loss weighs every output number with a
// fixed random weight (a plain sum would hide errors that cancel). Integer inputs stay as they are.
using OpFunction = std::function<std::vector<Var>(Tape& tape, const std::vector<Var>& inputs)>;
GradError check_operation(const OpFunction& f, const std::vector<Tensor>& inputs);

// Fixed random numbers in (-1, 1), a function of the position alone; like `x` in shape and dtype.
Tensor loss_weights(const Tensor& x);

}  // namespace lssm
