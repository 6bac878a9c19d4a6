// SPDX-License-Identifier: Apache-2.0
// x w + b with its two parameters: the part that many layers are made of.
#pragma once

#include <cmath>

#include "layers/layer.h"

namespace lssm {

class Affine {
 public:
  // Weights and biases uniform in [-1, 1] / sqrt(in).
  Affine(const ParamScope& params, int64_t in, int64_t out)
      : Affine(params, in, out, init::uniform(1 / std::sqrt(double(in))),
               init::uniform(1 / std::sqrt(double(in)))) {}
  Affine(const ParamScope& params, int64_t in, int64_t out, const Init& weight, const Init& bias)
      : weight_(params.add("weight", {in, out}, weight)), bias_(params.add("bias", {out}, bias)) {}

  // rows: [n, in]; result: [n, out].
  Var operator()(Tape& tape, Var rows) const {
    return linear(rows, tape.parameter(weight_), tape.parameter(bias_));
  }
  // Mean cross-entropy of x w + b over the rows whose mask is not 0.
  Var loss(Tape& tape, Var rows, const Tensor& target, const Tensor& mask) const {
    return linear_cross_entropy(rows, tape.parameter(weight_), tape.parameter(bias_), target, mask);
  }
  int64_t out_width() const { return weight_.value.dim(1); }

 private:
  Parameter& weight_;
  Parameter& bias_;
};

}  // namespace lssm
