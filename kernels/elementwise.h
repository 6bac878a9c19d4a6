// SPDX-License-Identifier: Apache-2.0
// Map kernels: every output number depends on the same place of the inputs. One source for both
// devices. Outputs are given, have the shape of the inputs and may be one of them.
#pragma once

#include "core/tensor.h"

namespace lssm::kernels {

void fill(Tensor& y, double value);
void add(const Tensor& a, const Tensor& b, Tensor& y);
void add_into(Tensor& y, const Tensor& x);  // y += x
// y = s x for a factor that is a tensor of one number (it stays on the device).
void scale(const Tensor& x, const Tensor& factor, Tensor& y);

enum class Activation {
  sigmoid,  // 1 / (1 + exp(-x))
  tanh,
  gelu,  // x Phi(x), the exact form by erf (Hendrycks & Gimpel 2016)
  silu,  // x sigmoid(x)
};
void activation(Activation kind, const Tensor& x, Tensor& y);
void activation_backward(Activation kind, const Tensor& x, const Tensor& dy, Tensor& dx);

// Which numbers dropout keeps: a coin for each place, a function of (seed, draw, site, place).
struct DropoutCoins {
  double rate;
  uint64_t seed;
  uint32_t draw;  // which pass through the model
  uint32_t site;  // which dropout in the model
};
// y = x / (1 - rate) where the coin says keep, else 0. Its own backward pass: dx is the same
// function of dy.
void dropout(const DropoutCoins& coins, const Tensor& x, Tensor& y);

}  // namespace lssm::kernels
