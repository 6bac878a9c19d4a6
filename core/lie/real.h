// SPDX-License-Identifier: Apache-2.0
// Multiplication by a real number: the real diagonal recurrence, h -> lambda h. A monoid; only
// nonzero numbers have an inverse. The contract of every function is in core/lie/group.h.
#pragma once

#include "core/simd.h"
#include "core/small.h"

namespace lssm::lie {

struct Real {
  static constexpr const char* name = "real";
  static constexpr int algebra_dim = 1;  // lambda itself: exp is the identity map
  static constexpr int element_dim = 1;
  static constexpr int vector_dim = 1;
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
    return {{T(1)}};
  }

  template <class T>
  static LSSM_HD Element<T> exp(const Vec<T, 1>& a) {
    return a;
  }

  template <class T>
  static LSSM_HD Algebra<T> log(const Vec<T, 1>& g) {
    return g;
  }

  template <class T>
  static LSSM_HD Element<T> compose(const Vec<T, 1>& g, const Vec<T, 1>& h) {
    return {{g[0] * h[0]}};
  }

  template <class T>
  static LSSM_HD Element<T> inverse(const Vec<T, 1>& g) {
    return {{T(1) / g[0]}};
  }

  template <class T>
  static LSSM_HD Vector<T> act(const Vec<T, 1>& g, const Vec<T, 1>& x) {
    return {{product(g[0], x[0])}};
  }

  template <class T>
  static LSSM_HD Vector<T> act_transpose(const Vec<T, 1>& g, const Vec<T, 1>& dy) {
    return act(g, dy);
  }

  // da = x dy: from x, since y says nothing at lambda = 0.
  template <class T>
  static LSSM_HD Algebra<T> exp_act_vjp(const Vec<T, 1>&, const Vec<T, 1>&, const Vec<T, 1>& x,
                                        const Vec<T, 1>&, const Vec<T, 1>& dy) {
    return {{x[0] * dy[0]}};
  }
};

}  // namespace lssm::lie
