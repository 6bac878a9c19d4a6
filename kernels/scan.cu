// SPDX-License-Identifier: Apache-2.0
#include "core/lie/group.h"
#include "kernels/scan.h"
#include "kernels/scan_cuda.h"

namespace lssm::kernels {
namespace {

template <class T>
T* data_or_null(const Tensor& x) {
  return x ? x.data<T>() : nullptr;
}

cpu::ScanShape shape_of(const ScanInputs& in) { return {in.a.dim(0), in.a.dim(1), in.a.dim(3)}; }

template <class T>
cpu::ScanStart<T> start_of(const ScanInputs& in) {
  const bool shared = in.h0.dim(0) == 1;
  return {in.h0.data<T>(), shared ? 0 : in.h0.dim(1) * in.h0.dim(2),
          data_or_null<int32_t>(in.reset), data_or_null<T>(in.carried)};
}

void scan_cuda(const ScanInputs& in, Tensor& h) {
  with_real(h.dtype(), [&]<class T>(T) {
    lie::with_group(in.group, [&]<class G>(G) {
      const cpu::ScanForward<T> args = {in.a.data<T>(), data_or_null<T>(in.b), start_of<T>(in),
                                        h.data<T>()};
      if (args.b) {
        launch_scan<ForwardWalk<G, T, true>>(shape_of(in), args);
      } else {
        launch_scan<ForwardWalk<G, T, false>>(shape_of(in), args);
      }
    });
  });
}

void scan_backward_cuda(const ScanInputs& in, const Tensor& h, const Tensor& dh,
                        ScanGradients& out) {
  with_real(h.dtype(), [&]<class T>(T) {
    lie::with_group(in.group, [&]<class G>(G) {
      const cpu::ScanBackward<T> args = {in.a.data<T>(),    data_or_null<T>(in.b),
                                         start_of<T>(in),   h.data<T>(),
                                         dh.data<T>(),      nullptr,
                                         out.da.data<T>(),  data_or_null<T>(out.db),
                                         out.dh0.data<T>(), data_or_null<T>(out.dcarried)};
      launch_scan<BackwardWalk<G, T>>(shape_of(in), args);
    });
  });
}

}  // namespace

void register_scan() {
  scan.cuda = &scan_cuda;
  scan_backward.cuda = &scan_backward_cuda;
}

}  // namespace lssm::kernels
