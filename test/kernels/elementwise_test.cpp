// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"

#include <algorithm>
#include <limits>
#include <set>

#include "kernels/reduce.h"
#include "test/kernels/kernel_test_tools.h"
#include "test/test.h"

namespace lssm {
namespace {

using kernels::Activation;
using testing::kReal;
using testing::real;
using Values = std::vector<double>;

// 0, 1, one for each partition, and more than fit into a partition of 4096.
const int64_t kSizes[] = {0, 1, 2, 17, 4095, 4096, 4097, 9973, 40000};

TEST_CASE("fill, add, add_into and scale are exact on integers", "[elementwise]") {
  for (const DType dtype : kReal) {
    for (const int64_t n : kSizes) {
      INFO(dtype_name(dtype) << " " << n);
      const Tensor a = testing::small_integers({n}, 1, dtype, 1000);
      const Tensor b = testing::small_integers({n}, 2, dtype, 1000);
      const Values x = a.to_host(), y = b.to_host();
      Values sum(x.size()), scaled(x.size());
      for (size_t i = 0; i < x.size(); ++i) sum[i] = x[i] + y[i], scaled[i] = -3 * x[i];

      Tensor out({n}, dtype);
      kernels::fill(out, -2.5);
      CHECK(out.to_host() == Values(size_t(n), -2.5));
      kernels::add(a, b, out);
      CHECK(out.to_host() == sum);
      Tensor into = a.clone();
      kernels::add_into(into, b);
      CHECK(into.to_host() == sum);
      kernels::scale(a, real({1}, {-3}, dtype), out);
      CHECK(out.to_host() == scaled);
      Tensor in_place = a.clone();
      kernels::scale(in_place, real({1}, {-3}, dtype), in_place);
      CHECK(in_place.to_host() == scaled);
      Tensor self = a.clone();
      kernels::add_into(self, self);
      for (size_t i = 0; i < x.size(); ++i) sum[i] = 2 * x[i];
      CHECK(self.to_host() == sum);
    }
  }
}

using Real = long double;

struct Formula {
  const char* name;
  Activation kind;
  Real (*value)(Real);
  Real (*derivative)(Real);
};

// Phi(x) by erfc, which keeps the digits of the lower tail.
Real normal_cdf(Real x) { return std::erfc(-x / std::sqrt(2.0L)) / 2; }
Real sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }

const Formula kFormulas[] = {{"sigmoid", Activation::sigmoid, sigmoid,
                              [](Real x) { return 1 / (2 + std::exp(x) + std::exp(-x)); }},
                             {"tanh", Activation::tanh, [](Real x) { return std::tanh(x); },
                              [](Real x) { return 1 / (std::cosh(x) * std::cosh(x)); }},
                             {"gelu", Activation::gelu, [](Real x) { return x * normal_cdf(x); },
                              [](Real x) {
                                return normal_cdf(x) +
                                       x * std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0L));
                              }},
                             {"silu", Activation::silu, [](Real x) { return x * sigmoid(x); },
                              [](Real x) { return sigmoid(x) * (1 + x * sigmoid(-x)); }}};

Values hard_points() {
  Values points = {0.0, -0.0};
  for (const double x :
       {1e-30, 1e-8, 1e-3, 0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 20.0, 88.0, 100.0, 1000.0}) {
    points.push_back(double(float(x)));
    points.push_back(-double(float(x)));
  }
  return points;
}

TEST_CASE("activations and derivatives at hard points", "[elementwise]") {
  const Values points = hard_points();
  const Shape shape = {int64_t(points.size())};
  for (const DType dtype : kReal) {
    // A few roundings, relative to the value or to 1.
    const double tolerance = dtype == DType::f32 ? 4 * double(std::numeric_limits<float>::epsilon())
                                                 : 4 * std::numeric_limits<double>::epsilon();
    const Tensor x = real(shape, points, dtype);
    Tensor y(shape, dtype), ones(shape, dtype), dx(shape, dtype);
    kernels::fill(ones, 1);
    for (const Formula& f : kFormulas) {
      kernels::activation(f.kind, x, y);
      kernels::activation_backward(f.kind, x, ones, dx);
      const Values value = y.to_host(), derivative = dx.to_host();
      for (size_t i = 0; i < points.size(); ++i) {
        INFO(f.name << " " << dtype_name(dtype) << " at " << points[i]);
        const double expected = double(f.value(points[i])), slope = double(f.derivative(points[i]));
        CHECK(std::abs(value[i] - expected) <= tolerance * std::max(1.0, std::abs(expected)));
        // 1 - sigmoid(x) is rounded before it is multiplied by x.
        const double factor = std::clamp(std::abs(points[i]), 1.0, 40.0);
        CHECK(std::abs(derivative[i] - slope) <= tolerance * factor);
      }
    }
  }
}

TEST_CASE("activations keep relative precision near 0", "[elementwise]") {
  // tanh(x) = x - x^3 / 3 + ..., gelu(x) = x / 2 + ..., silu(x) = x / 2 + ... for small x.
  const Values small = {1e-30, -1e-20, 1e-10, -1e-9};
  for (const DType dtype : kReal) {
    const Tensor x = real({4}, small, dtype);
    Tensor y({4}, dtype);
    const Values points = x.to_host();
    kernels::activation(Activation::tanh, x, y);
    for (size_t i = 0; i < 4; ++i) CHECK(y.to_host()[i] == Approx(points[i]).epsilon(1e-6));
    for (const Activation kind : {Activation::gelu, Activation::silu}) {
      kernels::activation(kind, x, y);
      for (size_t i = 0; i < 4; ++i) CHECK(y.to_host()[i] == Approx(points[i] / 2).epsilon(1e-6));
    }
  }
}

TEST_CASE("activations pass NaN on and multiply the gradient", "[elementwise]") {
  for (const DType dtype : kReal) {
    for (const Formula& f : kFormulas) {
      INFO(f.name);
      const Tensor x = real({2}, {std::nan(""), 0.5}, dtype), dy = real({2}, {1, -4}, dtype);
      Tensor y({2}, dtype), dx({2}, dtype);
      kernels::activation(f.kind, x, y);
      kernels::activation_backward(f.kind, x, dy, dx);
      CHECK(std::isnan(y.to_host()[0]));
      CHECK(std::isnan(dx.to_host()[0]));
      CHECK(dx.to_host()[1] == Approx(-4 * double(f.derivative(0.5L))).epsilon(1e-6));
    }
  }
}

Values dropped(const kernels::DropoutCoins& coins, int64_t n, DType dtype) {
  Tensor x({n}, dtype), y({n}, dtype);
  kernels::fill(x, 1);
  kernels::dropout(coins, x, y);
  return y.to_host();
}

TEST_CASE("dropout keeps its share and the mean", "[elementwise]") {
  const int64_t n = 100000;
  for (const DType dtype : kReal) {
    for (const double rate : {0.1, 0.5, 0.9}) {
      INFO(dtype_name(dtype) << " rate " << rate);
      const Values y = dropped({rate, 1, 2, 3}, n, dtype);
      const auto kept = double(n - std::count(y.begin(), y.end(), 0.0));
      const double deviation = std::sqrt(double(n) * rate * (1 - rate));
      CHECK(std::abs(kept - double(n) * (1 - rate)) < 5 * deviation);
      for (const double v : std::set<double>(y.begin(), y.end())) {
        CHECK((v == 0 || v == Approx(1 / (1 - rate)).epsilon(1e-6)));
      }
    }
    CHECK(dropped({0, 1, 2, 3}, 1000, dtype) == Values(1000, 1));
  }
}

TEST_CASE("dropout is a function of seed, draw, site and place, not of dtype or size",
          "[elementwise]") {
  const auto coins = [](uint64_t seed, uint32_t draw, uint32_t site, int64_t n = 4000) {
    Values y = dropped({0.5, seed, draw, site}, n, DType::f64);
    return y;
  };
  const Values base = coins(1, 2, 3);
  CHECK(coins(1, 2, 3) == base);
  CHECK(dropped({0.5, 1, 2, 3}, 4000, DType::f32) == base);
  const Values longer = coins(1, 2, 3, 5001);
  CHECK(std::equal(base.begin(), base.end(), longer.begin()));
  // Independent coins agree at half of the places; 5 deviations are 158 of 4000.
  for (const Values& other :
       {coins(2, 2, 3), coins(1, 3, 3), coins(1, 2, 4), coins(uint64_t(1) << 32 | 1, 2, 3),
        coins(1, 2 + (1u << 31), 3), coins(1, 2, 3 + (1u << 15))}) {
    int agree = 0;
    for (size_t i = 0; i < base.size(); ++i) agree += base[i] == other[i];
    CHECK(std::abs(agree - 2000) < 158);
  }
}

TEST_CASE("map kernels have the same bits for any number of threads", "[elementwise]") {
  for (const DType dtype : kReal) {
    const Tensor x = testing::normal({20011}, 1, dtype, 3);
    for (const Formula& f : kFormulas) {
      CHECK(testing::same_for_any_threads([&] {
        Tensor y = Tensor::like(x);
        kernels::activation(f.kind, x, y);
        return y;
      }));
    }
    CHECK(testing::same_for_any_threads([&] {
      Tensor y = Tensor::like(x);
      kernels::dropout({0.3, 1, 2, 3}, x, y);
      return y;
    }));
    CHECK(testing::same_for_any_threads(
        [&] { return real({1}, {kernels::sum_of_squares(x)}, DType::f64); }));
  }
}

TEST_CASE("sum_of_squares is exact on integers and sums f32 in f64", "[elementwise]") {
  for (const DType dtype : kReal) {
    for (const int64_t n : kSizes) {
      const Tensor x = testing::small_integers({n}, 5, dtype, 1000);
      int64_t expected = 0;
      for (const double v : x.to_host()) expected += int64_t(v) * int64_t(v);
      CHECK(kernels::sum_of_squares(x) == double(expected));
    }
  }
  Tensor huge({3}, DType::f32);
  kernels::fill(huge, 0x1p100);
  CHECK(kernels::sum_of_squares(huge) == 3 * 0x1p200);
}

TEST_CASE("first_not_finite finds the first of several, anywhere", "[elementwise]") {
  for (const DType dtype : kReal) {
    for (const int64_t n : kSizes)
      CHECK(kernels::first_not_finite(testing::normal({n}, 1, dtype)) == -1);
    for (const double bad : {double(INFINITY), -double(INFINITY), std::nan("")}) {
      for (const int64_t place : {0, 1, 4096, 9972}) {
        Values x(9973, 1);
        x[size_t(place)] = bad;
        x[9972] = std::nan("");
        CHECK(kernels::first_not_finite(real({9973}, x, dtype)) == place);
      }
    }
    const double largest = dtype == DType::f32 ? double(std::numeric_limits<float>::max())
                                               : std::numeric_limits<double>::max();
    CHECK(kernels::first_not_finite(real({3}, {largest, -largest, 0}, dtype)) == -1);
  }
}

TEST_CASE("map kernels refuse integers", "[elementwise]") {
  Tensor x = Tensor::zeros({2}, DType::i32);
  CHECK_THROWS_AS(kernels::fill(x, 1), Error);
}

}  // namespace
}  // namespace lssm
