// SPDX-License-Identifier: Apache-2.0
#include "kernels/scan.h"

#include "core/lie/group.h"
#include "core/parallel.h"
#include "kernels/scan_cpu.h"

namespace lssm::kernels {
namespace {

void scan_cpu(const ScanInputs& in, Tensor& h) {
  with_real(h.dtype(), [&]<class T>(T) {
    lie::with_group(in.group, [&]<class G>(G) {
      cpu::scan_forward<G>(scan_shape(in), scan_forward_args<T>(in, h), thread_count());
    });
  });
}

void scan_backward_cpu(const ScanInputs& in, const Tensor& h, const Tensor& dh,
                       ScanGradients& out) {
  with_real(h.dtype(), [&]<class T>(T) {
    lie::with_group(in.group, [&]<class G>(G) {
      cpu::scan_backward<G>(scan_shape(in), scan_backward_args<T>(in, h, dh, out), thread_count());
    });
  });
}

}  // namespace

decltype(scan) scan = {"scan", &scan_cpu};
decltype(scan_backward) scan_backward = {"scan_backward", &scan_backward_cpu};

}  // namespace lssm::kernels
