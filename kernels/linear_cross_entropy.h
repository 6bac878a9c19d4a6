// SPDX-License-Identifier: Apache-2.0
// The end of most models in one kernel: logits = x w + bias, then the loss of their softmax.
#pragma once

#include <tuple>

#include "core/tensor.h"
#include "kernels/kernel.h"

namespace lssm::kernels {

// As for linear (matmul.h) and cross_entropy (rows.h).
struct LinearCrossEntropy {
  Tensor x, w, bias, target, mask;

  auto tensors() const { return std::tie(x, w, bias, target, mask); }
};

// loss = cross_entropy(x w + bias) and its gradients. Logits are made for a block of rows at a
// time, and used while the cache has them. dw empty: no gradients are taken; dx, dbias may be
// empty.
extern Kernel<void(const LinearCrossEntropy& in, Tensor& loss, Tensor& dx, Tensor& dw,
                   Tensor& dbias)>
    linear_cross_entropy;

}  // namespace lssm::kernels
