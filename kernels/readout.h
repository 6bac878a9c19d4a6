// SPDX-License-Identifier: Apache-2.0
// What a readout sees of the states, head by head. States and features are component-major:
// [rows, component, head]. One source for both devices.
#pragma once

#include "core/tensor.h"
#include "kernels/kernel.h"

namespace lssm::kernels {

// y = h / |h|, the direction of each head's vector; 0 where h is 0. h, y: [rows, n, heads].
extern Kernel<void(const Tensor& h, Tensor& y)> direction;
// dh = (dy - y (y . dy)) / |h|.
extern Kernel<void(const Tensor& h, const Tensor& y, const Tensor& dy, Tensor& dh)>
    direction_backward;

// The direction and the size of each head's vector, y = (h / |h|, log(1 + |h|)); zeros where h is
// 0, and no gradient there.   h: [rows, n, heads], y: [rows, n + 1, heads].
extern Kernel<void(const Tensor& h, Tensor& y)> direction_radial;
extern Kernel<void(const Tensor& h, const Tensor& dy, Tensor& dh)> direction_radial_backward;

// The Hopf map S^3 -> S^2 of h = (w, x, y, z), read as z1 = w + i z, z2 = y + i x:
//   (2 Re z1 z2*, 2 Im z1 z2*, |z1|^2 - |z2|^2).   h: [rows, 4, heads], out: [rows, 3, heads].
// h and -h have the same image, so a readout of it alone cannot see the centre of SU(2).
extern Kernel<void(const Tensor& h, Tensor& out)> bloch;
extern Kernel<void(const Tensor& h, const Tensor& dout, Tensor& dh)> bloch_backward;

}  // namespace lssm::kernels
