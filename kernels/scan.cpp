// SPDX-License-Identifier: Apache-2.0
#include "kernels/scan.h"

#include "core/lie/group.h"
#include "core/parallel.h"
#include "kernels/scan_cpu.h"

namespace lssm::kernels {
namespace {

template <class T>
const T* data_or_null(const Tensor& x) {
  return x ? x.data<T>() : nullptr;
}

cpu::ScanShape shape_of(const ScanInputs& in) { return {in.a.dim(0), in.a.dim(1), in.a.dim(3)}; }

template <class T>
cpu::ScanStart<T> start_of(const ScanInputs& in) {
  const bool shared = in.h0.dim(0) == 1;
  return {in.h0.data<T>(), shared ? 0 : in.h0.dim(1) * in.h0.dim(2),
          data_or_null<int32_t>(in.reset), data_or_null<T>(in.carried)};
}

void scan_cpu(const ScanInputs& in, Tensor& h) {
  with_real(h.dtype(), [&]<class T>(T) {
    lie::with_group(in.group, [&]<class G>(G) {
      const cpu::ScanForward<T> args = {in.a.data<T>(), data_or_null<T>(in.b), start_of<T>(in),
                                        h.data<T>()};
      cpu::scan_forward<G, T>(shape_of(in), args, thread_count());
    });
  });
}

void scan_backward_cpu(const ScanInputs& in, const Tensor& h, const Tensor& dh,
                       ScanGradients& out) {
  with_real(h.dtype(), [&]<class T>(T) {
    lie::with_group(in.group, [&]<class G>(G) {
      const cpu::ScanBackward<T> args = {
          in.a.data<T>(),    data_or_null<T>(in.b),
          start_of<T>(in),   h.data<T>(),
          dh.data<T>(),      nullptr,
          out.da.data<T>(),  out.db ? out.db.data<T>() : nullptr,
          out.dh0.data<T>(), out.dcarried ? out.dcarried.data<T>() : nullptr};
      cpu::scan_backward<G, T>(shape_of(in), args, thread_count());
    });
  });
}

}  // namespace

decltype(scan) scan = {"scan", &scan_cpu};
decltype(scan_backward) scan_backward = {"scan_backward", &scan_backward_cpu};

}  // namespace lssm::kernels
