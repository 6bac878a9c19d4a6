// SPDX-License-Identifier: Apache-2.0
// Parameter updates. One source for both devices.
#pragma once

#include "core/tensor.h"
#include "kernels/kernel.h"

namespace lssm::kernels {

struct AdamStep {
  double lr;
  double beta1, beta2;
  double eps;
  double weight_decay;  // decoupled (Loshchilov & Hutter 2019): w -= lr * weight_decay * w
  double correction1, correction2;  // 1 - beta^t
  double grad_scale;                // the gradient is multiplied by this first (clipping)
};

// Adam (Kingma & Ba 2015): m, v are the running moments of the gradient, w the parameter.
extern Kernel<void(const AdamStep& step, const Tensor& grad, Tensor& m, Tensor& v, Tensor& w)> adam;

struct SgdStep {
  double lr;
  double momentum;
  double weight_decay;  // decoupled, as above
  double grad_scale;
};

// u = momentum u + g, w -= lr u.
extern Kernel<void(const SgdStep& step, const Tensor& grad, Tensor& u, Tensor& w)> sgd;

}  // namespace lssm::kernels
