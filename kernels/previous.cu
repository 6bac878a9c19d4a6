// SPDX-License-Identifier: Apache-2.0
#include "kernels/parallel_for.h"
#include "kernels/previous.h"

namespace lssm::kernels {
namespace {

// Where the state before step t of a sequence comes from.
struct Steps {
  int64_t length, width;
  const int32_t* reset;  // or null
  int64_t has_carried;   // as wide as a pointer, so that there is no padding

  LSSM_HD bool resets(int64_t row, int64_t t) const { return reset && reset[row * length + t]; }
  LSSM_HD bool from_start(int64_t row, int64_t t) const {
    return resets(row, t) || (t == 0 && !has_carried);
  }
};

template <class T>
struct Previous {
  Steps steps;
  int64_t h0_stride;  // numbers from one sequence to the next: width, or 0
  const T* h;
  const T* h0;
  const T* carried;
  T* y;
  LSSM_HD void operator()(int64_t step, int64_t col) const {
    const int64_t width = steps.width, row = step / steps.length, t = step % steps.length;
    y[step * width + col] = steps.from_start(row, t) ? h0[row * h0_stride + col]
                            : t == 0                 ? carried[row * width + col]
                                                     : h[(step - 1) * width + col];
  }
};

template <class T>
struct PreviousBackward {
  Steps steps;
  const T* dy;
  T* dh;
  LSSM_HD void operator()(int64_t step, int64_t col) const {
    const int64_t width = steps.width, row = step / steps.length, next = step % steps.length + 1;
    const bool seen = next < steps.length && !steps.resets(row, next);
    dh[step * width + col] = seen ? dy[(step + 1) * width + col] : T(0);
  }
};

template <class T>
struct PreviousStart {
  Steps steps;
  const T* dy;
  T* dh0;
  T* dcarried;  // or null
  LSSM_HD void operator()(int64_t row, int64_t col) const {
    const int64_t length = steps.length, width = steps.width;
    T sum = 0;
    for (int64_t t = 0; t < length; ++t) {
      if (steps.from_start(row, t)) sum += dy[(row * length + t) * width + col];
    }
    dh0[row * width + col] = sum;
    if (!dcarried) return;
    const bool seen = length > 0 && !steps.resets(row, 0);
    dcarried[row * width + col] = seen ? dy[row * length * width + col] : T(0);
  }
};

Steps steps_of(const PreviousStates& in) {
  int64_t width = 1;
  for (int i = 2; i < in.h.shape().rank(); ++i) width *= in.h.dim(i);
  return {in.h.dim(1), width, data_or_null<int32_t>(in.reset), bool(in.carried)};
}

void previous_states_map(const PreviousStates& in, Tensor& y) {
  const Steps steps = steps_of(in);
  with_real(y.dtype(), [&]<class T>(T) {
    const Previous<T> map = {steps,           in.h0.dim(0) == 1 ? 0 : steps.width, in.h.data<T>(),
                             in.h0.data<T>(), data_or_null<T>(in.carried),         y.data<T>()};
    parallel_for_rows(y.device(), in.h.dim(0) * steps.length, steps.width, map);
  });
}

void previous_states_backward_map(const PreviousStates& in, const Tensor& dy, Tensor& dh,
                                  Tensor& dh0, Tensor& dcarried) {
  const Steps steps = steps_of(in);
  const int64_t batch = in.h.dim(0);
  with_real(dy.dtype(), [&]<class T>(T) {
    const PreviousBackward<T> map = {steps, dy.data<T>(), dh.data<T>()};
    parallel_for_rows(dy.device(), batch * steps.length, steps.width, map);
    const PreviousStart<T> start = {steps, dy.data<T>(), dh0.data<T>(), data_or_null<T>(dcarried)};
    parallel_for_rows(dy.device(), batch, steps.width, start);
  });
}

}  // namespace

#define LSSM_PREVIOUS(X) X(previous_states) X(previous_states_backward)
LSSM_MAP_KERNELS(previous, LSSM_PREVIOUS)

}  // namespace lssm::kernels
