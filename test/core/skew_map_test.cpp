// SPDX-License-Identifier: Apache-2.0
// The maps of matrix groups against Eigen's exponential and inverse, and the rigid motions.
#include <Eigen/LU>
#include <cmath>
#include <limits>
#include <random>
#include <unsupported/Eigen/MatrixFunctions>

#include "core/lie/group.h"
#include "core/lie/se3.h"
#include "test/core/lie_reference.h"
#include "test/test.h"

namespace lssm {
namespace {

using lie::MatrixGroups;
using lie::SkewMap;
using lie::Square;
using Random = std::mt19937_64;

const double kPi = std::acos(-1.0);
const std::vector<std::pair<const char*, SkewMap>> kMaps = {
    {"exp", SkewMap::exp}, {"cayley", SkewMap::cayley}, {"cayley2", SkewMap::cayley2}};

template <int N>
Vec<double, N> random_vector(Random& random, double scale = 1) {
  std::normal_distribution<double> normal;
  Vec<double, N> x;
  for (int i = 0; i < N; ++i) x[i] = scale * normal(random);
  return x;
}

// 0, one plane turned by pi and by 4 (the half turns of exp and cayley2), and random points.
template <class G>
std::vector<Vec<double, G::algebra_dim>> points() {
  constexpr int k = G::algebra_dim;
  Random random(3);
  std::vector<Vec<double, k>> all(3, Vec<double, k>{});
  all[1][0] = kPi;
  all[2][k - 1] = 4;
  for (const double length : {1e-8, 1e-3, 0.3, 1.0, kPi, 7.0, 30.0}) {
    for (int repeat = 0; repeat < 3; ++repeat) {
      const auto a = random_vector<k>(random);
      all.push_back((length / std::sqrt(dot(a, a))) * a);
    }
  }
  return all;
}

// Calls f(group, map, its name, a) for all.
template <class F>
void for_each_point(F f) {
  MatrixGroups::for_each([&]<class G>(G group) {
    for (const auto& [name, map] : kMaps) {
      for (const auto& a : points<G>()) {
        INFO(G::name << ' ' << name << " at |a| = " << std::sqrt(dot(a, a)));
        f(group, map, a);
      }
    }
  });
}

template <class T, int N>
Square<T, N> cast(const Square<double, N>& x) {
  Square<T, N> y;
  for (int i = 0; i < N * N; ++i) y.entries[i] = T(x.entries[i]);
  return y;
}

template <class T, int N>
double largest(const Square<T, N>& x) {
  double most = 0;
  for (int i = 0; i < N * N; ++i) {
    const double e = std::abs(double(x.entries[i]));
    if (!(e <= most)) most = e;  // also takes a NaN
  }
  return most;
}

// The largest entry of R^T R - I, computed in f64.
template <class T, int N>
double defect(const Square<T, N>& r) {
  Square<double, N> x;
  for (int i = 0; i < N * N; ++i) x.entries[i] = double(r.entries[i]);
  return largest(matmul(transpose(x), x) - lie::identity_matrix<double, N>());
}

// Sizes are left to run time: Eigen's exponential is costly to compile.
using EigenSquare = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

EigenSquare reference(SkewMap map, const EigenSquare& w) {
  const EigenSquare one = EigenSquare::Identity(w.rows(), w.cols());
  const auto cayley = [&](const EigenSquare& x) -> EigenSquare {
    return (one - x) * (one + x).fullPivLu().inverse();
  };
  if (map == SkewMap::exp) return w.exp();
  if (map == SkewMap::cayley) return cayley(w / 2);
  return cayley(w / 4) * cayley(w / 4);
}

template <int N>
Square<double, N> reference(SkewMap map, const Square<double, N>& omega) {
  Square<double, N> y;
  Eigen::Map<EigenSquare>(y.entries.v, N, N) =
      reference(map, EigenSquare(Eigen::Map<const EigenSquare>(omega.entries.v, N, N)));
  return y;
}

TEST_CASE("the algebras have orthogonal bases of skew matrices of one length", "[lie]") {
  MatrixGroups::for_each([]<class G>(G) {
    INFO(G::name);
    constexpr int k = G::algebra_dim, n = G::vector_dim;
    const bool complex = std::string(G::name).substr(0, 2) == "su";
    std::vector<Square<double, n>> basis;
    for (int i = 0; i < k; ++i) {
      Vec<double, k> a{};
      a[i] = 1;
      basis.push_back(G::skew(a));
      CHECK(largest(basis.back() + transpose(basis.back())) == 0);
    }
    for (int i = 0; i < k; ++i) {
      for (int j = 0; j < k; ++j) {
        CHECK(dot(basis[size_t(i)].entries, basis[size_t(j)].entries) ==
              Approx(i == j ? 2 : 0).margin(1e-15));
      }
    }
    // skew_vjp is the transpose of skew.
    Random random(1);
    const auto a = random_vector<k>(random);
    const Square<double, n> d = {random_vector<n * n>(random)};
    CHECK(dot(G::skew(a).entries, d.entries) == Approx(dot(a, G::skew_vjp(d))).epsilon(1e-13));
    if (!complex) return;
    // It commutes with i, and its complex trace is 0.
    const auto x = G::skew(a);
    double trace = 0;
    for (int i = 0; i < n / 2; ++i) {
      trace += x(n / 2 + i, i);
      for (int j = 0; j < n / 2; ++j) {
        CHECK(x(i, j) == x(n / 2 + i, n / 2 + j));
        CHECK(x(n / 2 + i, j) == -x(i, n / 2 + j));
      }
    }
    CHECK(trace == Approx(0).margin(1e-15));
  });
}

TEST_CASE("the maps agree with Eigen and are orthogonal to rounding", "[lie]") {
  for_each_point([]<class G>(G, SkewMap map, const Vec<double, G::algebra_dim>& a) {
    constexpr int n = G::vector_dim;
    const double size = 1 + std::sqrt(dot(a, a));
    const Square<double, n> omega = G::skew(a), r = lie::skew_map(map, omega);
    CHECK(largest(r - reference(map, omega)) < 2e-15 * size * n);
    CHECK(defect(r) < 2e-15);
    const Square<float, n> single = lie::skew_map(map, cast<float>(omega));
    CHECK(largest(cast<float>(r) - single) < 1e-6 * size);
    CHECK(defect(single) < 1e-6);
  });
}

TEST_CASE("the maps take 0 to the identity and -a to the transpose", "[lie]") {
  for_each_point([]<class G>(G, SkewMap map, const Vec<double, G::algebra_dim>& a) {
    constexpr int n = G::vector_dim;
    const auto one = lie::identity_matrix<double, n>();
    CHECK(largest(lie::skew_map(map, G::skew(0.0 * a)) - one) == 0);
    const auto r = lie::skew_map(map, G::skew(a)), back = lie::skew_map(map, G::skew(-a));
    CHECK(largest(back - transpose(r)) < 1e-14 * (1 + std::sqrt(dot(a, a))));
  });
}

TEST_CASE("the maps keep rotations at any size, and say NaN where it is infinite", "[lie]") {
  MatrixGroups::for_each([]<class G>(G) {
    constexpr int k = G::algebra_dim;
    Random random(5);
    for (const auto& [name, map] : kMaps) {
      for (const double size : {1e2, 3e2, 1e4, 3e5}) {
        INFO(G::name << ' ' << name << " at size " << size);
        const auto omega = G::skew(random_vector<k>(random, size));
        CHECK(defect(lie::skew_map(map, omega)) < 2e-15);
        if (map == SkewMap::exp || size < 1e4) {
          CHECK(defect(lie::skew_map(map, cast<float>(omega))) < 1e-6);
        }
      }
      for (const double bad : {std::numeric_limits<double>::infinity(), std::nan("")}) {
        Vec<double, k> a{};
        a[0] = bad;
        CHECK(std::isnan(largest(lie::skew_map(map, G::skew(a)))));
      }
    }
  });
}

TEST_CASE("exp and cayley2 reach half turns, cayley does not", "[lie]") {
  using G = lie::SON<5>;
  Vec<double, 10> a{};
  const auto corner = [&](SkewMap map, double angle) {
    a[0] = angle;
    return lie::skew_map(map, G::skew(a))(0, 0);
  };
  CHECK(corner(SkewMap::exp, kPi) == Approx(-1).epsilon(1e-15));
  CHECK(corner(SkewMap::cayley2, 4) == Approx(-1).epsilon(1e-15));
  CHECK(corner(SkewMap::cayley, 4) > -0.7);
  CHECK(corner(SkewMap::cayley, 100) > -0.9993);
}

TEST_CASE("su3 and su4 move complex vectors, exp with determinant 1", "[lie]") {
  for_each_point([]<class G>(G, SkewMap map, const Vec<double, G::algebra_dim>& a) {
    constexpr int n = G::vector_dim, m = n / 2;
    if (std::string(G::name).substr(0, 2) != "su") return;
    const auto r = lie::skew_map(map, G::skew(a));
    Eigen::Matrix<std::complex<double>, m, m> u;
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < m; ++j) {
        u(i, j) = {r(i, j), r(m + i, j)};
        CHECK(std::abs(r(i, j) - r(m + i, m + j)) < 1e-13);
        CHECK(std::abs(r(m + i, j) + r(i, m + j)) < 1e-13);
      }
    }
    CHECK(std::abs(std::abs(u.determinant()) - 1) < 1e-13);
    if (map == SkewMap::exp) CHECK(std::abs(u.determinant() - 1.0) < 1e-13 * (1 + dot(a, a)));
  });
}

TEST_CASE("the gradients of the maps agree with differences", "[lie][grad]") {
  for_each_point([]<class G>(G, SkewMap map, const Vec<double, G::algebra_dim>& a) {
    constexpr int k = G::algebra_dim, n = G::vector_dim;
    Random random(9);
    const Square<double, n> dr = {random_vector<n * n>(random)};
    const auto loss = [&](const Vec<double, k>& x) {
      return dot(lie::skew_map(map, G::skew(x)).entries, dr.entries);
    };
    const auto omega = G::skew(a);
    const auto da = G::skew_vjp(lie::skew_map_vjp(map, omega, lie::skew_map(map, omega), dr));
    const auto single = G::template skew_vjp<float>(lie::skew_map_vjp(
        map, cast<float>(omega), cast<float>(lie::skew_map(map, omega)), cast<float>(dr)));
    const double scale = std::sqrt(dot(da, da));
    for (int i = 0; i < k; ++i) {
      const double step = 1e-3;
      const auto at = [&](double shift) {
        auto x = a;
        x[i] += shift;
        return loss(x);
      };
      const double slope =
          (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step);
      CHECK(std::abs(da[i] - slope) < 1e-9 * scale);
      CHECK(std::abs(da[i] - double(single[i])) < 2e-5 * scale);
    }
  });
}

// exp of the 4 x 4 matrix [omega v; 0 0], whose last column is the translation.
TEST_CASE("rigid motions agree with the matrix exponential, and their gradient with differences",
          "[lie][grad]") {
  Random random(2);
  for (const double angle : {0.0, 1e-8, 1e-3, 0.5, 2.0, 2.9999, 3.0001, kPi, 2 * kPi, 20.0}) {
    INFO("angle " << angle);
    const auto axis = random_vector<3>(random), v = random_vector<3>(random);
    const auto d = random_vector<3>(random);
    const Vec<double, 3> w = (angle / std::sqrt(dot(axis, axis))) * axis;
    const auto exact = [](const Vec<double, 3>& w, const Vec<double, 3>& v) {
      const testing::Dense<4> x = {
          {0, -w[2], w[1], v[0], w[2], 0, -w[0], v[1], -w[1], w[0], 0, v[2], 0, 0, 0, 0}};
      const testing::Dense<4> y = testing::expm(x);
      return Vec<double, 3>{{y(0, 3), y(1, 3), y(2, 3)}};
    };
    const auto b = lie::translation(w, v), expected = exact(w, v);
    for (int i = 0; i < 3; ++i) CHECK(b[i] == Approx(expected[i]).margin(2e-14));

    const auto g = lie::translation_vjp(w, v, d);
    const auto single =
        lie::translation_vjp(Vec<float, 3>{{float(w[0]), float(w[1]), float(w[2])}},
                             Vec<float, 3>{{float(v[0]), float(v[1]), float(v[2])}},
                             Vec<float, 3>{{float(d[0]), float(d[1]), float(d[2])}});
    for (int i = 0; i < 3; ++i) {
      const double step = 1e-3;
      const auto slope = [&](bool turn) {
        const auto at = [&](double shift) {
          Vec<double, 3> x = turn ? w : v;
          x[i] += shift;
          return dot(d, turn ? exact(x, v) : exact(w, x));
        };
        return (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step);
      };
      CHECK(g.omega[i] == Approx(slope(true)).margin(1e-10));
      CHECK(g.v[i] == Approx(slope(false)).margin(1e-10));
      CHECK(double(single.omega[i]) == Approx(g.omega[i]).margin(2e-6));
      CHECK(double(single.v[i]) == Approx(g.v[i]).margin(2e-6));
    }
  }
}

}  // namespace
}  // namespace lssm
