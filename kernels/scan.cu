// SPDX-License-Identifier: Apache-2.0
#include "core/lie/group.h"
#include "kernels/scan.h"
#include "kernels/scan_cuda.h"

namespace lssm::kernels {
namespace {

void scan_cuda(const ScanInputs& in, Tensor& h) {
  with_real(h.dtype(), [&]<class T>(T) {
    lie::with_group(in.group, [&]<class G>(G) {
      const ScanForward<T> args = scan_forward_args<T>(in, h);
      if (args.b) {
        launch_scan<ForwardWalk<G, T, true>>(scan_shape(in), args);
      } else {
        launch_scan<ForwardWalk<G, T, false>>(scan_shape(in), args);
      }
    });
  });
}

void scan_backward_cuda(const ScanInputs& in, const Tensor& h, const Tensor& dh,
                        ScanGradients& out) {
  with_real(h.dtype(), [&]<class T>(T) {
    lie::with_group(in.group, [&]<class G>(G) {
      launch_scan<BackwardWalk<G, T>>(scan_shape(in), scan_backward_args<T>(in, h, dh, out));
    });
  });
}

}  // namespace

void register_scan() {
  scan.cuda = &scan_cuda;
  scan_backward.cuda = &scan_backward_cuda;
}

}  // namespace lssm::kernels
