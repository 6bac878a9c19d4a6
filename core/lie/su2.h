// SPDX-License-Identifier: Apache-2.0
// SU(2) as unit quaternions, acting on C^2. The contract of every function is in core/lie/group.h.
#pragma once

#include "core/lie/quaternion.h"
#include "core/small.h"

namespace lssm::lie {

// A vector of C^2 is a quaternion x = (w, x, y, z), moved by the left Hamilton product q x. The
// algebra element a is a pure quaternion: its length is half the angle of the rotation v -> q v q*.
struct SU2 {
  static constexpr const char* name = "su2";
  static constexpr int algebra_dim = 3;
  static constexpr int element_dim = 4;  // w, x, y, z
  static constexpr int vector_dim = 4;   // w, x, y, z
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
    return exp_pure(a);
  }

  // |a| <= pi
  template <class T>
  static LSSM_HD Algebra<T> log(const Vec<T, 4>& g) {
    return log_unit(g);
  }

  template <class T>
  static LSSM_HD Element<T> compose(const Vec<T, 4>& g, const Vec<T, 4>& h) {
    return multiply(g, h);
  }

  template <class T>
  static LSSM_HD Element<T> inverse(const Vec<T, 4>& g) {
    return conjugate(g);
  }

  template <class T>
  static LSSM_HD Vector<T> act(const Vec<T, 4>& g, const Vec<T, 4>& x) {
    return multiply(g, x);
  }

  template <class T>
  static LSSM_HD Vector<T> act_transpose(const Vec<T, 4>& g, const Vec<T, 4>& dy) {
    return multiply(conjugate(g), dy);
  }

  // da = J_left(a)^T m with the moment m = Im(dy conj(y)): a pure quaternion w moves y to w y, and
  // <dy, w y> = <m, w>.
  template <class T>
  static LSSM_HD Algebra<T> exp_act_vjp(const Vec<T, 3>& a, const Vec<T, 4>&, const Vec<T, 4>&,
                                        const Vec<T, 4>& y, const Vec<T, 4>& dy) {
    return left_jacobian_transpose(a, imaginary(multiply(dy, conjugate(y))));
  }
};

}  // namespace lssm::lie
