// SPDX-License-Identifier: Apache-2.0
// Rotations of R^3. The contract of every function is in core/lie/group.h.
#pragma once

#include "core/lie/quaternion.h"
#include "core/small.h"

namespace lssm::lie {

// The algebra element a is axis * angle (radians). An element is a unit quaternion; q and -q are
// the same rotation.
struct SO3 {
  static constexpr const char* name = "so3";
  static constexpr int algebra_dim = 3;
  static constexpr int element_dim = 4;  // w, x, y, z
  static constexpr int vector_dim = 3;
  static constexpr bool is_group = true;
  static constexpr bool orthogonal = true;

  template <class T>
  using Algebra = Vec<T, algebra_dim>;
  template <class T>
  using Element = Vec<T, element_dim>;
  template <class T>
  using Vector = Vec<T, vector_dim>;

  template <class T>
  static LSSM_HD Element<T> identity() {
    return {{T(1), T(0), T(0), T(0)}};
  }

  template <class T>
  static LSSM_HD Element<T> exp(const Vec<T, 3>& a) {
    return exp_pure(T(0.5) * a);
  }

  // |a| <= pi: of q and -q it takes the one with the smaller angle.
  template <class T>
  static LSSM_HD Algebra<T> log(const Vec<T, 4>& g) {
    const T sign = select(g[0] < T(0), T(-1), T(1));
    return T(2) * log_unit(sign * g);
  }

  template <class T>
  static LSSM_HD Element<T> compose(const Vec<T, 4>& g, const Vec<T, 4>& h) {
    return multiply(g, h);
  }

  template <class T>
  static LSSM_HD Element<T> inverse(const Vec<T, 4>& g) {
    return conjugate(g);
  }

  // Rodrigues with g = (w, v): x + 2w (v * x) + 2 v * (v * x), where * is the cross product.
  template <class T>
  static LSSM_HD Vector<T> act(const Vec<T, 4>& g, const Vec<T, 3>& x) {
    const Vec<T, 3> v = imaginary(g);
    const Vec<T, 3> vx = T(2) * fused_cross(v, x);
    return mul_add(g[0], vx, x + fused_cross(v, vx));
  }

  template <class T>
  static LSSM_HD Vector<T> act_transpose(const Vec<T, 4>& g, const Vec<T, 3>& dy) {
    return act(conjugate(g), dy);
  }

  // da = J_left(a)^T m with the moment m = y * dy: a small turn w moves y to w * y, and
  // <dy, w * y> = <m, w>. J_left of a rotation vector is that of the pure quaternion a/2.
  template <class T>
  static LSSM_HD Algebra<T> exp_act_vjp(const Vec<T, 3>& a, const Vec<T, 4>&, const Vec<T, 3>&,
                                        const Vec<T, 3>& y, const Vec<T, 3>& dy) {
    return left_jacobian_transpose(T(0.5) * a, fused_cross(y, dy));
  }
};

}  // namespace lssm::lie
