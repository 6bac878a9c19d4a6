// SPDX-License-Identifier: Apache-2.0
// The laws every group obeys, stated once and checked for the whole list.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "core/lie/group.h"
#include "core/lie/series.h"
#include "test/core/lie_reference.h"
#include "test/test.h"

namespace lssm {
namespace {

using lie::Groups;

const double kPi = std::acos(-1.0);
const std::vector<double> kAngles = {0, 1e-8, 1e-4, 1e-2, 1, kPi - 1e-6, kPi};

using Random = std::mt19937_64;

template <int N>
Vec<double, N> random_vector(Random& random) {
  std::normal_distribution<double> normal;
  Vec<double, N> x;
  for (int i = 0; i < N; ++i) x[i] = normal(random);
  return x;
}

// A random direction of the algebra times the angle.
template <class G>
Vec<double, G::algebra_dim> at_angle(double angle, Random& random) {
  const auto a = random_vector<G::algebra_dim>(random);
  return (angle / std::sqrt(dot(a, a))) * a;
}

template <class G>
Vec<double, G::element_dim> random_element(Random& random) {
  return G::exp(random_vector<G::algebra_dim>(random));
}

template <class To, class From, int N>
Vec<To, N> cast(const Vec<From, N>& x) {
  Vec<To, N> y;
  for (int i = 0; i < N; ++i) y[i] = To(x[i]);
  return y;
}

// Largest difference relative to the largest entry; NaN if there is a NaN.
template <class T, int N>
double distance(const Vec<T, N>& x, const Vec<T, N>& y) {
  double difference = 0, size = std::numeric_limits<double>::min();
  for (int i = 0; i < N; ++i) {
    const double d = std::abs(double(x[i]) - double(y[i]));
    if (std::isnan(d)) return d;
    difference = std::max(difference, d);
    size = std::max(size, std::abs(double(y[i])));
  }
  return difference / size;
}

// Calls f(group, angle, random) for every group and angle, a few times.
template <class F>
void for_each_case(F f) {
  Groups::for_each([&](auto group) {
    Random random(7);
    for (double angle : kAngles) {
      INFO(group.name << " at angle " << angle);
      for (int repeat = 0; repeat < 10; ++repeat) f(group, angle, random);
    }
  });
}

TEST_CASE("the list of groups", "[lie]") {
  CHECK(lie::group_names() == std::vector<std::string>{"so2", "su2", "so3", "real", "scaled_so2",
                                                       "scaled_su2", "scaled_so3", "matrix3",
                                                       "matrix4", "matrix5", "matrix6", "matrix7",
                                                       "matrix8"});
  CHECK(lie::MatrixGroups::names() ==
        std::vector<std::string>{"so4", "so5", "so6", "so7", "so8", "su3", "su4", "so3x2"});
  std::string name;
  lie::with_group("so3", [&](auto group) { name = group.name; });
  CHECK(name == "so3");
  CHECK_THROWS_WITH(lie::with_group("so9", [](auto) {}),
                    "group: unknown name \"so9\", expected one of so2, su2, so3, real, scaled_so2, "
                    "scaled_su2, scaled_so3, matrix3, matrix4, matrix5, matrix6, matrix7, matrix8");
}

TEST_CASE("composition is associative and has an identity", "[lie]") {
  for_each_case([](auto group, double angle, Random& random) {
    using G = decltype(group);
    const auto f = G::exp(at_angle<G>(angle, random));
    const auto g = random_element<G>(random), h = random_element<G>(random);
    CHECK(distance(G::compose(G::compose(f, g), h), G::compose(f, G::compose(g, h))) < 1e-14);
    const auto e = G::template identity<double>();
    CHECK(distance(G::compose(f, e), f) == 0);
    CHECK(distance(G::compose(e, f), f) == 0);
  });
}

TEST_CASE("inverse undoes composition", "[lie]") {
  for_each_case([](auto group, double angle, Random& random) {
    using G = decltype(group);
    if (!G::is_group && angle == 0) return;  // the number 0 has no inverse
    const auto g = G::exp(at_angle<G>(angle, random));
    const auto e = G::template identity<double>(), inverse = G::inverse(g);
    // A matrix in general position has digits of its own to lose.
    const double size = std::sqrt(dot(g, g) * dot(inverse, inverse));
    const double tolerance = 1e-14 * (G::is_group ? 1 : size);
    CHECK(distance(G::compose(g, inverse), e) < tolerance);
    CHECK(distance(G::compose(inverse, g), e) < tolerance);
  });
}

TEST_CASE("exp maps 0 to the identity and -a to the inverse", "[lie]") {
  for_each_case([](auto group, double angle, Random& random) {
    using G = decltype(group);
    if constexpr (G::is_group) {
      const auto a = at_angle<G>(angle, random);
      const auto e = G::template identity<double>();
      CHECK(distance(G::exp(0.0 * a), e) == 0);
      CHECK(distance(G::exp(cast<float>(0.0 * a)), cast<float>(e)) == 0);
      CHECK(distance(G::compose(G::exp(a), G::exp(-a)), e) < 1e-14);
    }
  });
}

TEST_CASE("log inverts exp", "[lie]") {
  for_each_case([](auto group, double angle, Random& random) {
    using G = decltype(group);
    auto a = at_angle<G>(angle, random);
    if (!G::is_group) a[0] = std::abs(a[0]);  // factors of 0 and more
    const auto g = G::exp(a);
    const auto x = random_vector<G::vector_dim>(random);
    CHECK(distance(G::act(G::exp(G::log(g)), x), G::act(g, x)) < 1e-14);
    if (angle < kPi && (G::is_group || angle > 0)) CHECK(distance(G::log(g), a) < 1e-13);
  });
  // The identity, and the element of SU(2) whose axis is lost.
  CHECK(distance(lie::SU2::log(Vec<double, 4>{{1, 0, 0, 0}}), Vec<double, 3>{}) == 0);
  const Vec<double, 4> minus_one{{-1, 0, 0, 0}};
  CHECK(distance(lie::SU2::exp(lie::SU2::log(minus_one)), minus_one) < 1e-15);
  CHECK(distance(lie::SO3::log(minus_one), Vec<double, 3>{}) == 0);
}

TEST_CASE("act is a homomorphism and act_transpose its adjoint", "[lie]") {
  for_each_case([](auto group, double angle, Random& random) {
    using G = decltype(group);
    const auto g = G::exp(at_angle<G>(angle, random)), h = random_element<G>(random);
    const auto x = random_vector<G::vector_dim>(random), y = random_vector<G::vector_dim>(random);
    CHECK(distance(G::act(G::compose(g, h), x), G::act(g, G::act(h, x))) < 1e-14);
    CHECK(distance(G::act(G::template identity<double>(), x), x) == 0);
    CHECK(dot(y, G::act(g, x)) == Approx(dot(G::act_transpose(g, y), x)).epsilon(1e-12));
    if (G::orthogonal) {
      CHECK(dot(G::act(g, x), G::act(g, x)) == Approx(dot(x, x)).epsilon(1e-14));
    }
  });
}

TEST_CASE("exp and act agree with the matrix exponential", "[lie]") {
  for_each_case([](auto group, double angle, Random& random) {
    using G = decltype(group);
    const auto a = at_angle<G>(angle, random);
    const auto x = random_vector<G::vector_dim>(random);
    const auto matrix = testing::dense_action<G>(a).matrix;
    Vec<double, G::vector_dim> y{};
    for (int i = 0; i < G::vector_dim; ++i)
      for (int j = 0; j < G::vector_dim; ++j) y[i] += matrix(i, j) * x[j];
    CHECK(distance(G::act(G::exp(a), x), y) < 1e-14);
  });
}

template <class G>
Vec<double, G::algebra_dim> vjp(const Vec<double, G::algebra_dim>& a,
                                const Vec<double, G::vector_dim>& x,
                                const Vec<double, G::vector_dim>& dy) {
  const auto g = G::exp(a);
  return G::exp_act_vjp(a, g, x, G::act(g, x), dy);
}

TEST_CASE("the gradient of exp(a) x agrees with differences and with dense derivatives", "[lie]") {
  for_each_case([](auto group, double angle, Random& random) {
    using G = decltype(group);
    constexpr int k = G::algebra_dim, v = G::vector_dim;
    for (double factor : {1.0, 7.3}) {  // also beyond pi
      const auto a = at_angle<G>(angle * factor, random);
      const auto x = random_vector<v>(random), dy = random_vector<v>(random);
      const auto dense = testing::dense_action<G>(a);
      Vec<double, k> differences, exact{};
      for (int i = 0; i < k; ++i) {
        const double step = 1e-5;
        auto up = a, down = a;
        up[i] += step;
        down[i] -= step;
        const auto slope = G::act(G::exp(up), x) - G::act(G::exp(down), x);
        differences[i] = dot(dy, slope) / (2 * step);
        for (int r = 0; r < v; ++r)
          for (int c = 0; c < v; ++c) exact[i] += dy[r] * dense.derivative[size_t(i)](r, c) * x[c];
      }
      const auto da = vjp<G>(a, x, dy);
      const double scale = std::sqrt(dot(x, x) * dot(dy, dy));
      for (int i = 0; i < k; ++i) {
        CHECK(std::abs(da[i] - differences[i]) < 1e-8 * scale * (1 + std::abs(a[0])));
        CHECK(std::abs(da[i] - exact[i]) < 1e-13 * scale * (1 + std::abs(a[0])));
      }
    }
  });
}

TEST_CASE("f32 agrees with f64", "[lie]") {
  for_each_case([](auto group, double angle, Random& random) {
    using G = decltype(group);
    const auto a = cast<float>(at_angle<G>(angle, random));
    const auto x = cast<float>(random_vector<G::vector_dim>(random));
    const auto dy = cast<float>(random_vector<G::vector_dim>(random));
    const auto g = G::exp(a);
    const auto y = G::act(g, x);
    const auto da = G::exp_act_vjp(a, g, x, y, dy);

    const auto ga = G::exp(cast<double>(a));
    CHECK(distance(cast<double>(g), ga) < 5e-7);
    CHECK(distance(cast<double>(y), G::act(ga, cast<double>(x))) < 1e-6);
    const auto exact = vjp<G>(cast<double>(a), cast<double>(x), cast<double>(dy));
    const double scale = std::sqrt(double(dot(x, x) * dot(dy, dy)));
    for (int i = 0; i < G::algebra_dim; ++i) {
      CHECK(std::abs(double(da[i]) - exact[i]) < 1e-6 * scale * (1 + std::abs(a[0])));
    }
    if (angle > 0 && angle < 3) {
      auto b = a;
      if (!G::is_group) b[0] = std::abs(b[0]);
      CHECK(distance(G::log(G::exp(b)), b) < 1e-6);
    }
  });
}

#if LSSM_HAS_PACKS

// Every function of G on packs P gives, lane by lane, the bits it gives on numbers.
template <class G, class P>
void check_lanes(Random& random) {
  using T = ScalarOf<P>;
  constexpr int width = PackTraits<P>::width, k = G::algebra_dim, v = G::vector_dim;
  Vec<P, k> a;
  Vec<P, v> x, dy;
  std::vector<Vec<T, k>> as;
  std::vector<Vec<T, v>> xs, dys;
  for (int lane = 0; lane < width; ++lane) {
    as.push_back(cast<T>(at_angle<G>(kAngles[random() % kAngles.size()], random)));
    xs.push_back(cast<T>(random_vector<v>(random)));
    dys.push_back(cast<T>(random_vector<v>(random)));
    for (int i = 0; i < k; ++i) a[i].set_lane(lane, as.back()[i]);
    for (int i = 0; i < v; ++i) x[i].set_lane(lane, xs.back()[i]);
    for (int i = 0; i < v; ++i) dy[i].set_lane(lane, dys.back()[i]);
  }
  const auto same = [](const auto& packs, int lane, const auto& numbers) {
    bool equal = true;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(T); ++i) {
      const T number = packs[int(i)].lane(lane);
      equal &= std::memcmp(&number, &numbers[int(i)], sizeof(T)) == 0;
    }
    return equal;
  };
  const auto g = G::exp(a), gg = G::compose(g, g), inverse = G::inverse(g);
  const auto log = G::log(g);
  const auto y = G::act(g, x), back = G::act_transpose(g, dy);
  const auto da = G::exp_act_vjp(a, g, x, y, dy);
  for (int lane = 0; lane < width; ++lane) {
    const size_t i = size_t(lane);
    const auto gi = G::exp(as[i]);
    const auto yi = G::act(gi, xs[i]);
    CHECK(same(g, lane, gi));
    CHECK(same(gg, lane, G::compose(gi, gi)));
    if (G::is_group) CHECK(same(inverse, lane, G::inverse(gi)));
    CHECK(same(log, lane, G::log(gi)));
    CHECK(same(y, lane, yi));
    CHECK(same(back, lane, G::act_transpose(gi, dys[i])));
    CHECK(same(da, lane, G::exp_act_vjp(as[i], gi, xs[i], yi, dys[i])));
  }
}

TEST_CASE("a lane of a pack has the bits of a number", "[lie]") {
  Groups::for_each([](auto group) {
    using G = decltype(group);
    INFO(group.name);
    Random random(11);
    for (int repeat = 0; repeat < 20; ++repeat) {
      check_lanes<G, WidePack<float>>(random);
      check_lanes<G, NarrowPack<float>>(random);
      check_lanes<G, WidePack<double>>(random);
      check_lanes<G, NarrowPack<double>>(random);
    }
  });
}

#endif

// References in long double; x = t^2.
long double exact_sinc(long double x) { return x == 0 ? 1 : std::sin(std::sqrt(x)) / std::sqrt(x); }
long double exact_sinc3(long double x) {
  if (x >= 4) return (1 - exact_sinc(x)) / x;
  long double y = 0, term = 1.0L / 6;
  for (int k = 0; k < 24; ++k) {
    y += term;
    term *= -x / ((2 * k + 4) * (2 * k + 5));
  }
  return y;
}

template <class T>
void check_series(T x) {
  const long double eps = std::numeric_limits<T>::epsilon();
  INFO("x = " << x);
  // sinc crosses 0 at pi, where only its absolute error can be small.
  const lie::SincCos<T> e = lie::sinc_cos(x);
  CHECK(std::abs(e.sinc - exact_sinc(x)) <= 2 * eps);
  CHECK(std::abs(e.cos - std::cos(std::sqrt((long double)x))) <= 2 * eps);
  CHECK(lie::sinc(x) == e.sinc);
  CHECK(std::abs(lie::sinc3(x, e.sinc) / exact_sinc3(x) - 1) <= 3 * eps);
}

TEST_CASE("series keep their digits from 0 to beyond pi", "[lie]") {
  const auto grid = [](auto zero) {
    using T = decltype(zero);
    check_series(T(0));
    check_series(std::numeric_limits<T>::denorm_min());
    for (T x = T(1e-30); x < T(0.1); x *= T(1.13)) check_series(x);
    for (T x = T(0); x < T(11.5); x += T(0.00317)) check_series(x);
    check_series(std::nextafter(T(4), T(0)));  // both sides of the change of form
    check_series(T(4));
  };
  grid(float());
  grid(double());
}

TEST_CASE("sincos in f32", "[lie]") {
  for (float range : {1.0f, 4.0f, 100.0f, 1e3f, 1e4f}) {
    double worst = 0;
    for (int i = -20000; i <= 20000; ++i) {
      const float phi = range * (float(i) / 20000);
      const lie::SinCos<float> e = lie::sincos(phi);
      worst = std::max({worst, std::abs(e.sin - std::sin(double(phi))),
                        std::abs(e.cos - std::cos(double(phi)))});
    }
    INFO("|phi| <= " << range);
    CHECK(worst < 1e-7);
  }
  for (float phi = 1; phi < 1e38f; phi *= 1.37f) {  // any angle gives a rotation
    const lie::SinCos<float> e = lie::sincos(phi);
    CHECK(std::abs(double(e.sin) * e.sin + double(e.cos) * e.cos - 1) < 3e-7);
  }
  const float bad = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(lie::sincos(bad).sin));
  CHECK(std::isnan(lie::sinc(bad)));
}

}  // namespace
}  // namespace lssm
