// SPDX-License-Identifier: Apache-2.0
// An element of a group and a factor: h -> r exp(a) h, a recurrence that forgets (r < 1), or, for
// SO(2), multiplication by a complex number in polar form. A monoid; only r != 0 has an inverse.
// The contract of every function is in core/lie/group.h.
#pragma once

#include "core/simd.h"
#include "core/small.h"

namespace lssm::lie {

template <class G>
struct Scaled {
 private:
  static constexpr struct Name {
    char text[24] = "scaled_";
    constexpr Name() {
      for (int i = 0; G::name[i] != 0; ++i) text[7 + i] = G::name[i];
    }
  } kName = {};

 public:
  static constexpr const char* name = kName.text;
  static constexpr int algebra_dim = 1 + G::algebra_dim;  // r (of any sign), a
  static constexpr int element_dim = 1 + G::element_dim;  // r, exp(a)
  static constexpr int vector_dim = G::vector_dim;
  static constexpr bool is_group = false;
  static constexpr bool orthogonal = false;

  template <class T>
  using Algebra = Vec<T, algebra_dim>;
  template <class T>
  using Element = Vec<T, element_dim>;
  template <class T>
  using Vector = Vec<T, vector_dim>;

  template <class T>
  static LSSM_HD Element<T> identity() {
    return joined(T(1), G::template identity<T>());
  }

  template <class T>
  static LSSM_HD Element<T> exp(const Vec<T, algebra_dim>& a) {
    return joined(a[0], G::exp(rest(a)));
  }

  template <class T>
  static LSSM_HD Algebra<T> log(const Vec<T, element_dim>& g) {
    return joined(g[0], G::log(rest(g)));
  }

  template <class T>
  static LSSM_HD Element<T> compose(const Vec<T, element_dim>& g, const Vec<T, element_dim>& h) {
    return joined(product(g[0], h[0]), G::compose(rest(g), rest(h)));
  }

  template <class T>
  static LSSM_HD Element<T> inverse(const Vec<T, element_dim>& g) {
    return joined(T(1) / g[0], G::inverse(rest(g)));
  }

  template <class T>
  static LSSM_HD Vector<T> act(const Vec<T, element_dim>& g, const Vec<T, vector_dim>& x) {
    return times(g[0], G::act(rest(g), x));
  }

  template <class T>
  static LSSM_HD Vector<T> act_transpose(const Vec<T, element_dim>& g,
                                         const Vec<T, vector_dim>& dy) {
    return times(g[0], G::act_transpose(rest(g), dy));
  }

  // With u = exp(a) x: dr = <u, dy>, and da is that of the group at r dy. From x, since y says
  // nothing at r = 0.
  template <class T>
  static LSSM_HD Algebra<T> exp_act_vjp(const Vec<T, algebra_dim>& a, const Vec<T, element_dim>& g,
                                        const Vec<T, vector_dim>& x, const Vec<T, vector_dim>&,
                                        const Vec<T, vector_dim>& dy) {
    const Vec<T, vector_dim> u = G::act(rest(g), x);
    return joined(fused_dot(u, dy), G::exp_act_vjp(rest(a), rest(g), x, u, times(a[0], dy)));
  }

 private:
  template <class T, int N>
  static LSSM_HD Vec<T, N + 1> joined(const T& first, const Vec<T, N>& others) {
    Vec<T, N + 1> y;
    y[0] = first;
    for (int i = 0; i < N; ++i) y[i + 1] = others[i];
    return y;
  }
  template <class T, int N>
  static LSSM_HD Vec<T, N - 1> rest(const Vec<T, N>& x) {
    Vec<T, N - 1> y;
    for (int i = 1; i < N; ++i) y[i - 1] = x[i];
    return y;
  }
  template <class T, int N>
  static LSSM_HD Vec<T, N> times(const T& r, const Vec<T, N>& x) {
    Vec<T, N> y;
    for (int i = 0; i < N; ++i) y[i] = product(r, x[i]);
    return y;
  }
};

}  // namespace lssm::lie
