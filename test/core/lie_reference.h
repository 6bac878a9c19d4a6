// SPDX-License-Identifier: Apache-2.0
// Dense matrices of group actions in f64, for tests: written without the group's own exp and act,
// except that the generators of a group are read off at the identity.
#pragma once

#include <array>
#include <cmath>

#include "core/lie/group.h"

namespace lssm::testing {

template <int N>
struct Dense {
  std::array<double, N * N> m{};

  double& operator()(int i, int j) { return m[size_t(i * N + j)]; }
  double operator()(int i, int j) const { return m[size_t(i * N + j)]; }

  static Dense identity() {
    Dense y;
    for (int i = 0; i < N; ++i) y(i, i) = 1;
    return y;
  }

  friend Dense operator*(const Dense& a, const Dense& b) {
    Dense y;
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j)
        for (int k = 0; k < N; ++k) y(i, j) += a(i, k) * b(k, j);
    return y;
  }
};

// The matrix exponential by scaling and squaring.
template <int N>
Dense<N> expm(Dense<N> x) {
  double norm = 0;
  for (double e : x.m) norm += std::abs(e);
  int halvings = 0;
  for (; norm > 0.5; norm /= 2) ++halvings;
  for (double& e : x.m) e = std::ldexp(e, -halvings);
  Dense<N> y = Dense<N>::identity();
  for (int k = 16; k > 0; --k) {  // 1 + x/1 (1 + x/2 (1 + …))
    y = x * y;
    for (double& e : y.m) e /= k;
    for (int i = 0; i < N; ++i) y(i, i) += 1;
  }
  for (int k = 0; k < halvings; ++k) y = y * y;
  return y;
}

// A = exp(a) as a matrix, and its derivatives with respect to the components of a.
template <class G>
struct DenseAction {
  static constexpr int k = G::algebra_dim, v = G::vector_dim;
  Dense<v> matrix;
  std::array<Dense<v>, k> derivative;
};

// Groups: A = expm(X) with X = sum_i a_i L_i; the upper right block of expm([X L_i; 0 X]) is the
// derivative in direction L_i.
template <class G>
requires(G::is_group) DenseAction<G> dense_action(const Vec<double, G::algebra_dim>& a) {
  constexpr int k = G::algebra_dim, v = G::vector_dim;
  std::array<Dense<v>, k> generator;
  Dense<v> x;
  for (int r = 0; r < v; ++r) {
    for (int c = 0; c < v; ++c) {
      Vec<double, v> er{}, ec{};
      er[r] = ec[c] = 1;
      const auto l = G::exp_act_vjp(Vec<double, k>{}, G::template identity<double>(), ec, ec, er);
      for (int i = 0; i < k; ++i) {
        generator[size_t(i)](r, c) = l[i];
        x(r, c) += a[i] * l[i];
      }
    }
  }
  DenseAction<G> y;
  y.matrix = expm(x);
  for (int i = 0; i < k; ++i) {
    Dense<2 * v> block;
    for (int r = 0; r < v; ++r) {
      for (int c = 0; c < v; ++c) {
        block(r, c) = block(v + r, v + c) = x(r, c);
        block(r, v + c) = generator[size_t(i)](r, c);
      }
    }
    block = expm(block);
    for (int r = 0; r < v; ++r)
      for (int c = 0; c < v; ++c) y.derivative[size_t(i)](r, c) = block(r, v + c);
  }
  return y;
}

// The monoids have no such map; their matrices are written out.
template <class G>
requires std::same_as<G, lie::Real> DenseAction<G> dense_action(const Vec<double, 1>& a) {
  return {{{a[0]}}, {{{{1.0}}}}};
}
// r A(a): the derivatives are A and r dA.
template <class G>
struct Unscaled;
template <class G>
struct Unscaled<lie::Scaled<G>> {
  using Group = G;
};
template <class G, class Inner = typename Unscaled<G>::Group>
DenseAction<G> dense_action(const Vec<double, G::algebra_dim>& a) {
  Vec<double, Inner::algebra_dim> rest;
  for (int i = 0; i < Inner::algebra_dim; ++i) rest[i] = a[i + 1];
  const DenseAction<Inner> inner = dense_action<Inner>(rest);
  DenseAction<G> y;
  y.matrix = inner.matrix;
  for (double& e : y.matrix.m) e *= a[0];
  y.derivative[0] = inner.matrix;
  for (size_t i = 0; i < inner.derivative.size(); ++i) {
    y.derivative[i + 1] = inner.derivative[i];
    for (double& e : y.derivative[i + 1].m) e *= a[0];
  }
  return y;
}
template <class G>
requires std::same_as<G, lie::Matrix<G::vector_dim>> DenseAction<G> dense_action(
    const Vec<double, G::algebra_dim>& a) {
  DenseAction<G> y{};
  for (int i = 0; i < G::algebra_dim; ++i) {
    y.matrix.m[size_t(i)] = a[i];
    y.derivative[size_t(i)].m[size_t(i)] = 1;
  }
  return y;
}

}  // namespace lssm::testing
