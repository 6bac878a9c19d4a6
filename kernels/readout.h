// SPDX-License-Identifier: Apache-2.0
// What a readout sees of the states, head by head. States and features are component-major:
// [rows, component, head]. One source for both devices.
#pragma once

#include "core/tensor.h"

namespace lssm::kernels {

// y = h / |h|, the direction of each head's vector; 0 where h is 0. h, y: [rows, n, heads].
void direction(const Tensor& h, Tensor& y);
// dh = (dy - y (y . dy)) / |h|.
void direction_backward(const Tensor& h, const Tensor& y, const Tensor& dy, Tensor& dh);

// The Hopf map S^3 -> S^2 of h = (w, x, y, z), read as z1 = w + i z, z2 = y + i x:
//   (2 Re z1 z2*, 2 Im z1 z2*, |z1|^2 - |z2|^2).   h: [rows, 4, heads], out: [rows, 3, heads].
// h and -h have the same image, so a readout of it alone cannot see the centre of SU(2).
void bloch(const Tensor& h, Tensor& out);
void bloch_backward(const Tensor& h, const Tensor& dout, Tensor& dh);

}  // namespace lssm::kernels
