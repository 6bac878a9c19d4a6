// SPDX-License-Identifier: Apache-2.0
// What the scan kernels of both devices are given: pointers and sizes, taken from the tensors of
// kernels/scan.h.
#pragma once

#include <cstdint>

#include "core/small.h"
#include "kernels/scan.h"

namespace lssm::kernels {

struct ScanShape {
  int64_t batch, length, heads;
};

// Where a sequence starts afresh, and from what. `reset` is [batch, length] or null: nonzero at t
// means that the state before step t is h0 again, so one row may hold several packed sequences.
// h0 is [batch, v, heads], or [1, v, heads] with h0_stride 0. `carried` is [batch, v, heads] or
// null: the state before step 0 where that is not h0 but the end of an earlier chunk.
template <class T>
struct ScanStart {
  const T* h0;
  int64_t h0_stride;  // numbers from one batch row to the next: v * heads, or 0
  const int32_t* reset;
  const T* carried = nullptr;
};

template <class T>
struct ScanForward {
  const T* a;  // [batch, length, k, heads]
  const T* b;  // [batch, length, v, heads] or null
  ScanStart<T> start;
  T* h;  // out [batch, length, v, heads]; its last row is the final state
};

// With A_t = exp(a_t) and l_t = dh_t + A_{t+1}^T l_{t+1}: db_t = l_t, da_t is the gradient of
// <l_t, exp(a_t) h_{t-1}>, and dh0 sums A_t^T l_t over the steps t that start from h0. At a reset
// the chain l is cut. What step 0 hands back goes to dcarried if there is a carried state.
template <class T>
struct ScanBackward {
  const T* a;
  const T* b;  // as in the forward scan; only whether it is null matters
  ScanStart<T> start;
  const T* h;             // from the forward scan
  const T* dh;            // [batch, length, v, heads]
  T* da;                  // out [batch, length, k, heads]
  T* db;                  // out [batch, length, v, heads] or null
  T* dh0;                 // out [batch, v, heads], a row for each batch row also if h0 is shared
  T* dcarried = nullptr;  // out [batch, v, heads], there if carried is
};

inline ScanShape scan_shape(const ScanInputs& in) {
  return {in.a.dim(0), in.a.dim(1), in.a.dim(3)};
}

template <class T>
ScanStart<T> scan_start(const ScanInputs& in) {
  const bool shared = in.h0.dim(0) == 1;
  return {in.h0.data<T>(), shared ? 0 : in.h0.dim(1) * in.h0.dim(2),
          data_or_null<int32_t>(in.reset), data_or_null<T>(in.carried)};
}

template <class T>
ScanForward<T> scan_forward_args(const ScanInputs& in, const Tensor& h) {
  return {in.a.data<T>(), data_or_null<T>(in.b), scan_start<T>(in), h.data<T>()};
}

template <class T>
ScanBackward<T> scan_backward_args(const ScanInputs& in, const Tensor& h, const Tensor& dh,
                                   const ScanGradients& out) {
  return {in.a.data<T>(),
          data_or_null<T>(in.b),
          scan_start<T>(in),
          h.data<T>(),
          dh.data<T>(),
          out.da.data<T>(),
          data_or_null<T>(out.db),
          out.dh0.data<T>(),
          data_or_null<T>(out.dcarried)};
}

// ---- the step of both devices ----

// Whether step t moves h0: at a reset, and at the start if nothing was carried there.
LSSM_HD inline bool starts_afresh(bool reset, int64_t t, bool has_carried) {
  return reset || (t == 0 && !has_carried);
}

// The gradients of y = exp(a) x, given that of y: l. g = exp(a).
template <class G, class V>
struct StepGradient {
  Vec<V, G::algebra_dim> a;
  Vec<V, G::vector_dim> x;
};
template <class G, class V>
LSSM_HD inline StepGradient<G, V> step_gradient(const Vec<V, G::algebra_dim>& a,
                                                const Vec<V, G::element_dim>& g,
                                                const Vec<V, G::vector_dim>& x,
                                                const Vec<V, G::vector_dim>& y,
                                                const Vec<V, G::vector_dim>& l) {
  return {G::exp_act_vjp(a, g, x, y, l), G::act_transpose(g, l)};
}

}  // namespace lssm::kernels
