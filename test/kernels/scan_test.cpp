// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include "core/lie/group.h"
#include "kernels/scan_cpu.h"
#include "test/kernels/scan_reference.h"
#include "test/test.h"

namespace lssm {
namespace {

using kernels::ScanShape;
using lie::Groups;
using Random = std::mt19937_64;

const std::vector<int64_t> kHeads = {1, 3, 8, 13, 16, 17, 24, 40};

// 2x2 matrices with entries in uint32_t (row by row): exact modulo 2^32, and they do not commute.
struct IntMatrix {
  static constexpr int algebra_dim = 4, element_dim = 4, vector_dim = 2;
  static constexpr bool is_group = false;

  template <class T>
  static Vec<T, 4> exp(const Vec<T, 4>& a) {
    return a;
  }
  template <class T>
  static Vec<T, 2> act(const Vec<T, 4>& g, const Vec<T, 2>& x) {
    return {{g[0] * x[0] + g[1] * x[1], g[2] * x[0] + g[3] * x[1]}};
  }
  template <class T>
  static Vec<T, 2> act_transpose(const Vec<T, 4>& g, const Vec<T, 2>& dy) {
    return {{g[0] * dy[0] + g[2] * dy[1], g[1] * dy[0] + g[3] * dy[1]}};
  }
  template <class T>
  static Vec<T, 4> exp_act_vjp(const Vec<T, 4>&, const Vec<T, 4>&, const Vec<T, 2>& x,
                               const Vec<T, 2>&, const Vec<T, 2>& dy) {
    return {{dy[0] * x[0], dy[0] * x[1], dy[1] * x[0], dy[1] * x[1]}};
  }
};
static_assert(lie::Action<IntMatrix, uint32_t>);

// Inputs and outputs of one scan. Vectors that are left empty are passed as null.
template <class G, class T>
struct Problem {
  static constexpr int k = G::algebra_dim, v = G::vector_dim;
  ScanShape shape;
  bool shared_h0 = false;
  std::vector<T> a{}, b{}, h0{}, dh{};
  std::vector<int32_t> reset{};
  std::vector<T> h{}, da{}, db{}, d_h0{};

  static T* pointer(std::vector<T>& x) { return x.empty() ? nullptr : x.data(); }

  kernels::ScanStart<T> start() {
    return {h0.data(), shared_h0 ? 0 : v * shape.heads, reset.empty() ? nullptr : reset.data()};
  }
  kernels::ScanForward<T> forward_args() {
    h.assign(size_t(shape.batch * shape.length * v * shape.heads), T(0));
    return {a.data(), pointer(b), start(), h.data()};
  }
  kernels::ScanBackward<T> backward_args() {
    da.assign(a.size(), T(0));
    db.assign(b.size(), T(0));
    d_h0.assign(size_t(shape.batch * v * shape.heads), T(0));
    return {a.data(),  pointer(b), start(),     h.data(),
            dh.data(), da.data(),  pointer(db), d_h0.data()};
  }

  template <class Wide = WidePack<T>, class Narrow = NarrowPack<T>>
  void run(int threads = 1) {
    kernels::cpu::scan_forward<G, T, Wide, Narrow>(shape, forward_args(), threads);
    kernels::cpu::scan_backward<G, T, Wide, Narrow>(shape, backward_args(), threads);
  }
  void run_reference() {
    testing::scan_reference<G>(shape, forward_args());
    testing::scan_reference<G>(shape, backward_args());
  }
};

template <class T>
std::vector<T> random_values(int64_t n, Random& random) {
  std::normal_distribution<double> normal;
  std::vector<T> x(static_cast<size_t>(n));
  for (T& e : x) {
    if constexpr (std::is_integral_v<T>) {
      e = T(random());
    } else {
      e = T(normal(random));
    }
  }
  return x;
}

template <class G, class T>
Problem<G, T> random_problem(ScanShape s, bool inject, bool resets, uint64_t seed) {
  Random random(seed);
  constexpr int k = G::algebra_dim, v = G::vector_dim;
  const int64_t items = s.batch * s.length * s.heads;
  Problem<G, T> p{s};
  p.a = random_values<T>(items * k, random);
  if constexpr (!G::is_group && std::is_floating_point_v<T>) {
    for (T& e : p.a) e = std::tanh(e);  // keeps the products of numbers bounded
  }
  if (inject) p.b = random_values<T>(items * v, random);
  p.h0 = random_values<T>(s.batch * v * s.heads, random);
  p.dh = random_values<T>(items * v, random);
  if (resets) {
    for (int64_t i = 0; i < s.batch * s.length; ++i) p.reset.push_back(random() % 5 == 0);
  }
  return p;
}

template <class To, class From>
std::vector<To> cast(const std::vector<From>& x) {
  return std::vector<To>(x.begin(), x.end());
}

// Largest difference relative to the largest entry.
template <class T>
double distance(const std::vector<T>& x, const std::vector<double>& y) {
  REQUIRE(x.size() == y.size());
  double difference = 0, size = 1e-300;
  for (size_t i = 0; i < x.size(); ++i) {
    const double d = std::abs(double(x[i]) - y[i]);
    if (std::isnan(d)) return d;
    difference = std::max(difference, d);
    size = std::max(size, std::abs(y[i]));
  }
  return difference / size;
}

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() &&
         (x.empty() || !std::memcmp(x.data(), y.data(), x.size() * sizeof(T)));
}

template <class P>
bool same_outputs(const P& x, const P& y) {
  return same_bits(x.h, y.h) && same_bits(x.da, y.da) && same_bits(x.db, y.db) &&
         same_bits(x.d_h0, y.d_h0);
}

// The recurrence and its gradient for integer matrices, written out.
void run_exact(Problem<IntMatrix, uint32_t>& p) {
  const ScanShape s = p.shape;
  p.forward_args();
  p.backward_args();
  for (int64_t row = 0; row < s.batch; ++row) {
    for (int64_t m = 0; m < s.heads; ++m) {
      const auto at = [&](int64_t t, int n, int i) {
        return size_t(((row * s.length + t) * n + i) * s.heads + m);
      };
      const size_t at0 = size_t(row * 2 * s.heads + m), at1 = at0 + size_t(s.heads);
      const auto fresh = [&](int64_t t) {
        return t == 0 || (!p.reset.empty() && p.reset[size_t(row * s.length + t)]);
      };
      const auto previous = [&](int64_t t, int i) {
        return fresh(t) ? p.h0[i ? at1 : at0] : p.h[at(t - 1, 2, i)];
      };
      for (int64_t t = 0; t < s.length; ++t) {
        for (int i = 0; i < 2; ++i) {
          p.h[at(t, 2, i)] = p.a[at(t, 4, 2 * i)] * previous(t, 0) +
                             p.a[at(t, 4, 2 * i + 1)] * previous(t, 1) +
                             (p.b.empty() ? 0 : p.b[at(t, 2, i)]);
        }
      }
      uint32_t l[2] = {0, 0};
      for (int64_t t = s.length - 1; t >= 0; --t) {
        for (int i = 0; i < 2; ++i) {
          l[i] += p.dh[at(t, 2, i)];
          if (!p.db.empty()) p.db[at(t, 2, i)] = l[i];
          for (int j = 0; j < 2; ++j) p.da[at(t, 4, 2 * i + j)] = l[i] * previous(t, j);
        }
        const uint32_t l0 = p.a[at(t, 4, 0)] * l[0] + p.a[at(t, 4, 2)] * l[1];
        const uint32_t l1 = p.a[at(t, 4, 1)] * l[0] + p.a[at(t, 4, 3)] * l[1];
        l[0] = l0, l[1] = l1;
        if (fresh(t)) {
          p.d_h0[at0] += l[0], p.d_h0[at1] += l[1];
          l[0] = l[1] = 0;
        }
      }
      p.d_h0[at0] += l[0], p.d_h0[at1] += l[1];
    }
  }
}

TEST_CASE("scan of integer matrices is exact", "[scan]") {
  for (int64_t length : {0, 1, 2, 31, 33, 127, 129, 1000, 65537}) {
    for (int64_t heads : {1, 3, 16, 21}) {
      if (length > 1000 && heads > 3) continue;
      for (bool inject : {false, true}) {
        INFO("length " << length << ", heads " << heads << ", inject " << inject);
        auto p = random_problem<IntMatrix, uint32_t>({2, length, heads}, inject, inject, 1);
        auto exact = p;
        run_exact(exact);
        p.run();
        CHECK(same_outputs(p, exact));
      }
    }
  }
}

TEST_CASE("scan of every group agrees with dense matrices", "[scan]") {
  Groups::for_each([](auto group) {
    using G = decltype(group);
    for (int64_t heads : kHeads) {
      for (int options = 0; options < 4; ++options) {
        const bool inject = options & 1, resets = options & 2;
        INFO(G::name << ", heads " << heads << ", inject " << inject << ", resets " << resets);
        const ScanShape shape{2, 33, heads};
        auto p = random_problem<G, double>(shape, inject, resets, 2);
        auto reference = p;
        reference.run_reference();
        p.run();
        CHECK(distance(p.h, reference.h) < 1e-12);
        CHECK(distance(p.da, reference.da) < 1e-12);
        CHECK(distance(p.db, reference.db) < 1e-12);
        CHECK(distance(p.d_h0, reference.d_h0) < 1e-12);

        Problem<G, float> f{
            shape,  false, cast<float>(p.a), cast<float>(p.b), cast<float>(p.h0), cast<float>(p.dh),
            p.reset};
        f.run();
        CHECK(distance(f.h, reference.h) < 1e-5);
        CHECK(distance(f.da, reference.da) < 1e-5);
        CHECK(distance(f.db, reference.db) < 1e-5);
        CHECK(distance(f.d_h0, reference.d_h0) < 1e-5);
      }
    }
  });
}

TEST_CASE("scan gradients agree with differences", "[scan]") {
  Groups::for_each([](auto group) {
    using G = decltype(group);
    INFO(G::name);
    auto p = random_problem<G, double>({2, 7, 3}, true, true, 3);
    p.run();
    const auto loss = [&] {
      auto q = p;
      kernels::cpu::scan_forward<G>(q.shape, q.forward_args(), 1);
      double sum = 0;
      for (size_t i = 0; i < q.h.size(); ++i) sum += q.dh[i] * q.h[i];
      return sum;
    };
    const auto check = [&](std::vector<double>& x, const std::vector<double>& dx) {
      std::vector<double> differences;
      for (double& e : x) {
        const double value = e, step = 1e-5;
        e = value + step;
        const double up = loss();
        e = value - step;
        differences.push_back((up - loss()) / (2 * step));
        e = value;
      }
      CHECK(distance(dx, differences) < 1e-8);
    };
    check(p.a, p.da);
    check(p.b, p.db);
    check(p.h0, p.d_h0);
  });
}

TEST_CASE("scan has the same bits for any register width and any number of threads", "[scan]") {
  const auto check = [](auto group, auto zero) {
    using G = decltype(group);
    using T = decltype(zero);
    for (int64_t heads : kHeads) {
      for (bool inject : {false, true}) {
        INFO(G::name << ", heads " << heads << ", inject " << inject);
        const auto p = random_problem<G, T>({3, 19, heads}, inject, true, 4);
        auto scalar = p, narrow = p, wide = p, threads = p;
        scalar.template run<T, T>();
        narrow.template run<NarrowPack<T>, NarrowPack<T>>();
        wide.run();
        threads.run(2);
        CHECK(same_outputs(wide, scalar));
        CHECK(same_outputs(wide, narrow));
        CHECK(same_outputs(wide, threads));
      }
    }
  };
  Groups::for_each([&](auto group) {
    check(group, float());
    check(group, double());
  });
}

// Steps begin … end - 1 of x [batch, length, n].
template <class T>
std::vector<T> slice(const std::vector<T>& x, int64_t batch, int64_t length, int64_t begin,
                     int64_t end) {
  if (x.empty()) return {};
  const int64_t n = int64_t(x.size()) / (batch * length);
  std::vector<T> y;
  for (int64_t row = 0; row < batch; ++row) {
    const auto first = x.begin() + row * length * n;
    y.insert(y.end(), first + begin * n, first + end * n);
  }
  return y;
}

// What comes back from the steps after the last one is a part of the gradient of its output.
template <class G, class T>
void add_to_last_step(Problem<G, T>& p, const std::vector<T>& x) {
  const size_t states = size_t(G::vector_dim * p.shape.heads);
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t row = i / states;
    p.dh[((row + 1) * size_t(p.shape.length) - 1) * states + i % states] += x[i];
  }
}

TEST_CASE("a split scan that carries its state equals the whole", "[scan]") {
  Groups::for_each([](auto group) {
    using G = decltype(group);
    const int64_t batch = 2, length = 21, heads = 5;
    for (bool inject : {false, true}) {
      auto whole = random_problem<G, double>({batch, length, heads}, inject, false, 5);
      whole.reset.assign(size_t(batch * length), 0);
      whole.reset[3] = whole.reset[size_t(length + 4)] = 1;
      whole.run();
      for (int64_t cut = 5; cut < length; ++cut) {  // later than the resets
        INFO(G::name << ", cut at " << cut << ", inject " << inject);
        const auto part = [&](const auto& x, bool second) {
          return slice(x, batch, length, second ? cut : 0, second ? length : cut);
        };
        Problem<G, double> first{{batch, cut, heads}}, second{{batch, length - cut, heads}};
        for (auto* p : {&first, &second}) {
          const bool is_second = p == &second;
          p->a = part(whole.a, is_second);
          p->b = part(whole.b, is_second);
          p->dh = part(whole.dh, is_second);
          p->reset = part(whole.reset, is_second);
        }
        first.h0 = whole.h0;
        kernels::cpu::scan_forward<G>(first.shape, first.forward_args(), 1);
        second.h0 = slice(first.h, batch, cut, cut - 1, cut);
        second.run();
        add_to_last_step(first, second.d_h0);
        kernels::cpu::scan_backward<G>(first.shape, first.backward_args(), 1);

        CHECK(same_bits(first.h, part(whole.h, false)));
        CHECK(same_bits(second.h, part(whole.h, true)));
        CHECK(distance(first.da, part(whole.da, false)) < 1e-14);
        CHECK(same_bits(second.da, part(whole.da, true)));
        CHECK(distance(first.db, part(whole.db, false)) < 1e-14);
        CHECK(same_bits(second.db, part(whole.db, true)));
        CHECK(distance(first.d_h0, whole.d_h0) < 1e-14);
      }
    }
  });
}

TEST_CASE("all rows of a batch may start from one h0; a scan of no steps", "[scan]") {
  using G = lie::SO3;
  // The gradient has a row for each row of the batch.
  auto shared = random_problem<G, double>({2, 9, 3}, true, true, 6);
  auto copies = shared;
  shared.shared_h0 = true;
  shared.h0.resize(9);
  copies.h0 = shared.h0;
  copies.h0.insert(copies.h0.end(), shared.h0.begin(), shared.h0.end());
  shared.run();
  copies.run();
  CHECK(same_outputs(shared, copies));

  auto empty = random_problem<G, double>({2, 0, 3}, true, false, 6);
  empty.run();
  CHECK(empty.d_h0 == std::vector<double>(2 * 3 * 3, 0.0));
}

}  // namespace
}  // namespace lssm
