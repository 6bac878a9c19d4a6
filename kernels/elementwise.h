// SPDX-License-Identifier: Apache-2.0
// Map kernels: every output number depends on the same place of the inputs. One source for both
// devices. Outputs are given, have the shape of the inputs and may be one of them.
#pragma once

#include "core/tensor.h"
#include "kernels/kernel.h"

namespace lssm::kernels {

extern Kernel<void(Tensor& y, double value)> fill;
extern Kernel<void(const Tensor& a, const Tensor& b, Tensor& y)> add;
extern Kernel<void(const Tensor& a, const Tensor& b, Tensor& y)> multiply;
inline void add_into(Tensor& y, const Tensor& x) { add(y, x, y); }
// y = s x for a factor that is a tensor of one number (it stays on the device).
extern Kernel<void(const Tensor& x, const Tensor& factor, Tensor& y)> scale;

enum class Activation {
  sigmoid,  // 1 / (1 + exp(-x))
  tanh,
  gelu,  // x Phi(x), the exact form by erf (Hendrycks & Gimpel 2016)
  silu,  // x sigmoid(x)
};
extern Kernel<void(Activation kind, const Tensor& x, Tensor& y)> activation;
extern Kernel<void(Activation kind, const Tensor& x, const Tensor& dy, Tensor& dx)>
    activation_backward;

// Which numbers dropout keeps: a coin for each place, a function of (seed, draw, site, place).
struct DropoutCoins {
  double rate;
  uint64_t seed;
  uint32_t draw;  // which pass through the model
  uint32_t site;  // which dropout in the model
};
// y = x / (1 - rate) where the coin says keep, else 0. Its own backward pass: dx is the same
// function of dy.
extern Kernel<void(const DropoutCoins& coins, const Tensor& x, Tensor& y)> dropout;

}  // namespace lssm::kernels
