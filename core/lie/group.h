// SPDX-License-Identifier: Apache-2.0
// The groups a state can move on, and what each of them provides.
//
// To add a group: write core/lie/x.h, include it here and name it in Groups. Kernels, the JSON key
// "group" and the law tests follow by themselves. A group of matrices that has no shorter form of
// its elements is named in MatrixGroups instead, and so are its tests.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

#include "core/check.h"
#include "core/lie/matrix.h"
#include "core/lie/real.h"
#include "core/lie/scaled.h"
#include "core/lie/skew_map.h"
#include "core/lie/so2.h"
#include "core/lie/so3.h"
#include "core/lie/so3_chain.h"
#include "core/lie/so_n.h"
#include "core/lie/su2.h"
#include "core/lie/su_n.h"
#include "core/small.h"

namespace lssm::lie {

// What a scan needs of the matrices A = exp(a) that move its states. All functions are templates on
// the scalar T: a number or a Pack (core/simd.h).
//   exp(a)            the element of the parameters a
//   act(g, x)         y = A x
//   act_transpose     A^T dy
//   exp_act_vjp(a, g, x, y, dy)   the gradient with respect to a, where g = exp(a), y = A x
// Sums of products go through mul_add, so that bits depend on no compiler's choice (core/simd.h).
template <class G, class T>
concept Action = requires(Vec<T, G::algebra_dim> a, Vec<T, G::element_dim> g,
                          Vec<T, G::vector_dim> x) {
  { G::exp(a) } -> std::same_as<Vec<T, G::element_dim>>;
  { G::act(g, x) } -> std::same_as<Vec<T, G::vector_dim>>;
  { G::act_transpose(g, x) } -> std::same_as<Vec<T, G::vector_dim>>;
  { G::exp_act_vjp(a, g, x, x, x) } -> std::same_as<Vec<T, G::algebra_dim>>;
};

// What a group provides besides.
//   compose(g, h)     the product g h: h acts first
//   inverse(g), identity<T>(), log(g) with exp(log(g)) = g
//   is_group          exp(0) is the identity and exp(-a) inverts exp(a); false for the monoids of
//                     the diagonal recurrences, whose parameters are not a tangent vector
//   orthogonal        act keeps lengths
template <class G, class T>
concept LieGroup = Action<G, T> && requires(Vec<T, G::element_dim> g) {
  { std::string_view(G::name) } -> std::same_as<std::string_view>;
  { G::is_group } -> std::convertible_to<bool>;
  { G::orthogonal } -> std::convertible_to<bool>;
  { G::template identity<T>() } -> std::same_as<Vec<T, G::element_dim>>;
  { G::compose(g, g) } -> std::same_as<Vec<T, G::element_dim>>;
  { G::inverse(g) } -> std::same_as<Vec<T, G::element_dim>>;
  { G::log(g) } -> std::same_as<Vec<T, G::algebra_dim>>;
};

// What a group of real matrices gives to the scan of Matrix<vector_dim>, by way of a map of
// core/lie/skew_map.h and the kernel of kernels/lie_map.h.
//   skew(a)       the skew matrix with the coordinates a, linear in them
//   skew_vjp(d)   the gradient of a, given that of the skew matrix
template <class G, class T>
concept MatrixGroup = requires(Vec<T, G::algebra_dim> a, Square<T, G::vector_dim> d) {
  { std::string_view(G::name) } -> std::same_as<std::string_view>;
  { G::skew(a) } -> std::same_as<Square<T, G::vector_dim>>;
  { G::skew_vjp(d) } -> std::same_as<Vec<T, G::algebra_dim>>;
};

template <class... G>
struct NameList {
  // Calls f(G{}) for every group G.
  template <class F>
  static void for_each(F&& f) {
    (f(G{}), ...);
  }

  // The names in the order of the list.
  static std::vector<std::string> names() { return {G::name...}; }

  // Calls f(G{}) for the group G called `name`. An unknown name is the user's error.
  template <class F>
  static void with(std::string_view name, F&& f) {
    bool found = false;
    for_each([&](auto group) {
      if (name != group.name) return;
      found = true;
      f(group);
    });
    if (found) return;
    std::string allowed;
    for (const std::string& known : names()) allowed += (allowed.empty() ? "" : ", ") + known;
    fail("group: unknown name \"", name, "\", expected one of ", allowed);
  }
};

template <class... G>
requires((LieGroup<G, float> && LieGroup<G, double>)&&...) struct GroupList : NameList<G...> {
};
template <class... G>
requires((MatrixGroup<G, float> && MatrixGroup<G, double>)&&...) struct MatrixGroupList
    : NameList<G...> {
};

// What scans can move states with.
using Groups = GroupList<SO2, SU2, SO3, Real, Scaled<SO2>, Scaled<SU2>, Scaled<SO3>, Matrix<3>,
                         Matrix<4>, Matrix<5>, Matrix<6>, Matrix<7>, Matrix<8>>;
// Groups that scans see as Matrix<vector_dim>.
using MatrixGroups =
    MatrixGroupList<SON<4>, SON<5>, SON<6>, SON<7>, SON<8>, SUN<3>, SUN<4>, SO3Chain<2>>;

inline std::vector<std::string> group_names() { return Groups::names(); }

template <class F>
void with_group(std::string_view name, F&& f) {
  Groups::with(name, f);
}

}  // namespace lssm::lie
