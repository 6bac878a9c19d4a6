// SPDX-License-Identifier: Apache-2.0
// The serial scan of a group recurrence on the CPU, and its gradient:
//
//   h_t = exp(a_t) h_{t-1} + b_t,   t = 0 … length - 1,   h_{-1} = h0
//
// Arrays are [batch, length, component, head] with heads contiguous. Time is walked serially; the
// SIMD lanes are neighbouring heads and threads share out batch rows and blocks of heads. Lanes
// never meet, so bits depend neither on the register width nor on the number of threads.
//
// G is a group of core/lie/group.h (or any type with the functions that concept Action names), with
// k = G::algebra_dim and v = G::vector_dim. T is float, double, or uint32_t in exact tests.
#pragma once

#include <cstdint>

#include "core/simd.h"
#include "core/small.h"
#include "kernels/scan_args.h"

// A step is inlined as a whole, which the compiler's own limits would prevent (half the speed).
// Sanitizers would then take minutes to compile it.
#if defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__)
#define LSSM_FLATTEN [[gnu::flatten]]
#else
#define LSSM_FLATTEN
#endif

namespace lssm::kernels::cpu {

namespace scan_internal {

// Moves a few neighbouring heads between arrays [component, head] and vectors of V, a number or a
// pack. With kAll every lane is a head, else only the first `count`.
template <class V, bool kAll>
struct Heads {
  using T = ScalarOf<V>;
  int64_t stride;  // heads in a row
  int count;

  template <int N>
  Vec<V, N> load(const T* p) const {
    Vec<V, N> x;
    for (int i = 0; i < N; ++i) {
      if constexpr (kAll) {
        x[i] = PackTraits<V>::load(p + i * stride);
      } else {
        x[i] = PackTraits<V>::load(p + i * stride, count);
      }
    }
    return x;
  }

  template <int N>
  void store(const Vec<V, N>& x, T* p) const {
    for (int i = 0; i < N; ++i) {
      if constexpr (kAll) {
        PackTraits<V>::store(x[i], p + i * stride);
      } else {
        PackTraits<V>::store(x[i], p + i * stride, count);
      }
    }
  }
};

// The offset of component 0 of `head` at step 0 of batch row `row` in an array with n components.
inline int64_t offset(const ScanShape& s, int n, int64_t row, int64_t head) {
  return row * s.length * n * s.heads + head;
}

template <class G, class V, bool kAll>
struct Forward {
  using T = ScalarOf<V>;
  static constexpr int k = G::algebra_dim, v = G::vector_dim;

  LSSM_FLATTEN static void run(const ScanShape& s, const ScanForward<T>& p, int64_t row,
                               int64_t head, int count) {
    const Heads<V, kAll> heads{s.heads, count};
    const int64_t k_step = k * s.heads, v_step = v * s.heads;
    const T* a = p.a + offset(s, k, row, head);
    const T* b = p.b ? p.b + offset(s, v, row, head) : nullptr;
    T* h = p.h + offset(s, v, row, head);
    const int32_t* reset = p.start.reset ? p.start.reset + row * s.length : nullptr;

    const Vec<V, v> h0 = heads.template load<v>(p.start.h0 + row * p.start.h0_stride + head);
    Vec<V, v> state =
        p.start.carried ? heads.template load<v>(p.start.carried + row * v_step + head) : h0;
    for (int64_t t = 0; t < s.length; ++t) {
      if (reset && reset[t]) state = h0;
      state = G::act(G::exp(heads.template load<k>(a + t * k_step)), state);
      if (b) state = state + heads.template load<v>(b + t * v_step);
      heads.store(state, h + t * v_step);
    }
  }
};

template <class G, class V, bool kAll>
struct Backward {
  using T = ScalarOf<V>;
  static constexpr int k = G::algebra_dim, v = G::vector_dim;

  LSSM_FLATTEN static void run(const ScanShape& s, const ScanBackward<T>& p, int64_t row,
                               int64_t head, int count) {
    const Heads<V, kAll> heads{s.heads, count};
    const int64_t k_step = k * s.heads, v_step = v * s.heads;
    const T* a = p.a + offset(s, k, row, head);
    const T* h = p.h + offset(s, v, row, head);
    const T* dh = p.dh + offset(s, v, row, head);
    T* da = p.da + offset(s, k, row, head);
    T* db = p.db ? p.db + offset(s, v, row, head) : nullptr;
    const int32_t* reset = p.start.reset ? p.start.reset + row * s.length : nullptr;

    const Vec<V, v> h0 = heads.template load<v>(p.start.h0 + row * p.start.h0_stride + head);
    Vec<V, v> zero;
    for (int i = 0; i < v; ++i) zero[i] = V(T(0));
    Vec<V, v> l = zero, dh0 = zero;
    const T* carried = p.start.carried ? p.start.carried + row * v_step + head : nullptr;
    for (int64_t t = s.length - 1; t >= 0; --t) {
      const bool fresh = starts_afresh(reset && reset[t], t, carried);
      l = l + heads.template load<v>(dh + t * v_step);
      if (db) heads.store(l, db + t * v_step);

      const Vec<V, k> at = heads.template load<k>(a + t * k_step);
      const auto g = G::exp(at);
      const Vec<V, v> x = fresh    ? h0
                          : t == 0 ? heads.template load<v>(carried)
                                   : heads.template load<v>(h + (t - 1) * v_step);
      // exp(a_t) x is h_t itself unless b_t was added: h_t - b_t would lose digits.
      const Vec<V, v> y = p.b ? G::act(g, x) : heads.template load<v>(h + t * v_step);
      const auto gradient = step_gradient<G>(at, g, x, y, l);
      heads.store(gradient.a, da + t * k_step);
      l = gradient.x;
      if (fresh) {  // for all heads alike: a branch; CUDA's lanes select
        dh0 = dh0 + l;
        l = zero;
      }
    }
    // What is left flows into the carried state (without one it has gone to h0 at step 0, unless
    // there was no step).
    if (carried) {
      heads.store(l, p.dcarried + row * v_step + head);
    } else {
      dh0 = dh0 + l;
    }
    heads.store(dh0, p.dh0 + row * v_step + head);
  }
};

// Runs Walk for every batch row and head: full packs of the type Wide, then one pack for the rest,
// of the type Narrow if that holds it.
template <template <class, class, bool> class Walk, class G, class Wide, class Narrow, class Args>
void for_heads(const ScanShape& s, const Args& args, int threads) {
  constexpr int wide = PackTraits<Wide>::width, narrow = PackTraits<Narrow>::width;
  const int64_t blocks = (s.heads + wide - 1) / wide;
  const auto walk = [&](int64_t i) {
    const int64_t row = i / blocks, head = i % blocks * wide;
    const int count = int(s.heads - head < wide ? s.heads - head : wide);
    if (count == wide) return Walk<G, Wide, true>::run(s, args, row, head, count);
    if (count > narrow) return Walk<G, Wide, false>::run(s, args, row, head, count);
    if (count == narrow) return Walk<G, Narrow, true>::run(s, args, row, head, count);
    Walk<G, Narrow, false>::run(s, args, row, head, count);
  };
  if (threads == 1) {
    for (int64_t i = 0; i < s.batch * blocks; ++i) walk(i);
    return;
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < s.batch * blocks; ++i) walk(i);
}

}  // namespace scan_internal

// Wide and Narrow are the packs to use; tests also pass numbers and other widths.
template <class G, class T, class Wide = WidePack<T>, class Narrow = NarrowPack<T>>
void scan_forward(const ScanShape& shape, const ScanForward<T>& args, int threads) {
  scan_internal::for_heads<scan_internal::Forward, G, Wide, Narrow>(shape, args, threads);
}

template <class G, class T, class Wide = WidePack<T>, class Narrow = NarrowPack<T>>
void scan_backward(const ScanShape& shape, const ScanBackward<T>& args, int threads) {
  scan_internal::for_heads<scan_internal::Backward, G, Wide, Narrow>(shape, args, threads);
}

}  // namespace lssm::kernels::cpu

#undef LSSM_FLATTEN
