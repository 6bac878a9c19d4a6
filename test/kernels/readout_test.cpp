// SPDX-License-Identifier: Apache-2.0
#include "kernels/readout.h"

#include <limits>

#include "test/kernels/kernel_test_tools.h"
#include "test/test.h"

namespace lssm {
namespace {

using testing::kReal;
using testing::normal;
using testing::real;
using Values = std::vector<double>;

// A few roundings.
double tolerance(DType dtype) { return dtype == DType::f32 ? 1e-6 : 1e-14; }

// Vectors of a [rows, n, heads] array, one after the other.
std::vector<Values> vectors(const Tensor& h) {
  const Values x = h.to_host();
  const size_t n = size_t(h.dim(1)), heads = size_t(h.dim(2));
  std::vector<Values> all;
  for (size_t row = 0; row < size_t(h.dim(0)); ++row) {
    for (size_t head = 0; head < heads; ++head) {
      Values v;
      for (size_t k = 0; k < n; ++k) v.push_back(x[(row * n + k) * heads + head]);
      all.push_back(v);
    }
  }
  return all;
}

long double length(const Values& v) {
  long double squares = 0;
  for (const double x : v) squares += static_cast<long double>(x) * x;
  return std::sqrt(squares);
}

Tensor directions(const Tensor& h) {
  Tensor y = Tensor::like(h);
  kernels::direction(h, y);
  return y;
}

TEST_CASE("direction divides each head's vector by its length", "[readout]") {
  for (const DType dtype : kReal) {
    for (const int64_t n : {1, 2, 3, 4, 5, 6, 7, 8}) {
      for (const Shape& shape : {Shape{1, n, 1}, Shape{3, n, 17}, Shape{131, n, 8}}) {
        const Tensor h = normal(shape, uint32_t(n), dtype, 5);
        const auto in = vectors(h), out = vectors(directions(h));
        for (size_t i = 0; i < in.size(); ++i) {
          for (size_t k = 0; k < size_t(n); ++k) {
            const double expected = double(in[i][k] / length(in[i]));
            REQUIRE(std::abs(out[i][k] - expected) <= tolerance(dtype));
          }
        }
      }
    }
  }
}

TEST_CASE("direction_radial gives the direction and log(1 + |h|)", "[readout]") {
  for (const DType dtype : kReal) {
    for (const int64_t n : {1, 2, 5, 8}) {
      for (const double scale : {1e-30, 1e-3, 1.0, 1e4, 1e30}) {  // squares leave the range of f32
        const Tensor h = normal({7, n, 5}, uint32_t(n), dtype, scale);
        Tensor y({7, n + 1, 5}, dtype), dy = Tensor::zeros(y.shape(), dtype), dh = Tensor::like(h);
        kernels::direction_radial(h, y);
        for (int64_t row = 0; row < 7; ++row)  // the gradient of the sum of the logarithms
          for (int64_t head = 0; head < 5; ++head) {
            const int64_t at = (row * (n + 1) + n) * 5 + head;
            with_real(dtype, [&]<class T>(T) { dy.data<T>()[at] = 1; });
          }
        kernels::direction_radial_backward(h, dy, dh);
        const auto in = vectors(h), out = vectors(y), slope = vectors(dh);
        for (size_t i = 0; i < in.size(); ++i) {
          const long double size = length(in[i]);
          for (size_t k = 0; k < size_t(n); ++k) {
            const double u = double(in[i][k] / size);
            REQUIRE(std::abs(out[i][k] - u) <= tolerance(dtype));
            REQUIRE(std::abs(slope[i][k] * double(1 + size) - u) <= tolerance(dtype));
          }
          REQUIRE(out[i][size_t(n)] == Approx(double(std::log1p(size))).epsilon(tolerance(dtype)));
        }
      }
    }
    const Tensor zero = Tensor::zeros({1, 3, 2}, dtype),
                 ones = real({1, 4, 2}, Values(8, 1), dtype);
    Tensor y({1, 4, 2}, dtype), dh = Tensor::like(zero);
    kernels::direction_radial(zero, y);
    kernels::direction_radial_backward(zero, ones, dh);
    CHECK(y.to_host() == Values(8, 0));
    CHECK(dh.to_host() == Values(6, 0));
  }
}

TEST_CASE("direction of a Pythagorean vector, of zero and of both together", "[readout]") {
  for (const DType dtype : kReal) {
    const Tensor h = real({1, 3, 2}, {3, 0, 0, 0, -4, 0}, dtype);
    const Values y = directions(h).to_host();
    CHECK(y[0] == Approx(0.6).epsilon(tolerance(dtype)));
    CHECK(y[4] == Approx(-0.8).epsilon(tolerance(dtype)));
    CHECK(y[2] == 0);
    CHECK((y[1] == 0 && y[3] == 0 && y[5] == 0));

    const Tensor dy = real({1, 3, 2}, {1, 1, 1, 1, 1, 1}, dtype);
    Tensor dh = Tensor::like(h);
    kernels::direction_backward(h, directions(h), dy, dh);
    const Values g = dh.to_host();  // head 1 is zero: so is its gradient
    CHECK((g[1] == 0 && g[3] == 0 && g[5] == 0));
    // (dy - y (y . dy)) / |h| with y . dy = -0.2, |h| = 5
    CHECK(g[0] == Approx((1 + 0.6 * 0.2) / 5).epsilon(tolerance(dtype)));
    CHECK(g[2] == Approx(1 / 5.0).epsilon(tolerance(dtype)));
    CHECK(g[4] == Approx((1 - 0.8 * 0.2) / 5).epsilon(tolerance(dtype)));
  }
}

TEST_CASE("direction does not depend on the scale, even where squares leave the range",
          "[readout]") {
  for (const DType dtype : kReal) {
    const double limit = dtype == DType::f32 ? 1e30 : 1e250;
    const Tensor unit = normal({2, 3, 9}, 7, dtype);
    const Values expected = directions(unit).to_host();
    for (const double scale : {1e-3, 1e-15, 1 / limit, 1e15, limit}) {
      INFO(dtype_name(dtype) << " scale " << scale);
      Values scaled = unit.to_host();
      for (double& v : scaled) v *= scale;
      const Values y = directions(real(unit.shape(), scaled, dtype)).to_host();
      double worst = 0;
      for (size_t i = 0; i < y.size(); ++i) {
        worst = std::max(worst, std::isfinite(y[i]) ? std::abs(y[i] - expected[i]) : INFINITY);
      }
      CHECK(worst <= 2 * tolerance(dtype));
    }
  }
}

TEST_CASE("the gradient of direction is orthogonal to h", "[readout]") {
  for (const DType dtype : kReal) {
    const Tensor h = normal({5, 4, 7}, 1, dtype), dy = normal({5, 4, 7}, 2, dtype);
    Tensor dh = Tensor::like(h);
    kernels::direction_backward(h, directions(h), dy, dh);
    const auto states = vectors(h), gradients = vectors(dh);
    for (size_t i = 0; i < states.size(); ++i) {
      double along = 0;
      for (size_t k = 0; k < 4; ++k) along += states[i][k] * gradients[i][k];
      CHECK(std::abs(along) <= 10 * tolerance(dtype));
      CHECK(length(gradients[i]) > 0);
    }
  }
}

Tensor hopf(const Tensor& h) {
  Tensor y({h.dim(0), 3, h.dim(2)}, h.dtype());
  kernels::bloch(h, y);
  return y;
}

TEST_CASE("bloch has the values of its definition by complex numbers", "[readout]") {
  for (const DType dtype : kReal) {
    // 1, i, j, k: states along one component each (w, x, y, z).
    const Tensor basis = real({4, 4, 1}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, dtype);
    CHECK(hopf(basis).to_host() == Values{0, 0, 1, 0, 0, -1, 0, 0, -1, 0, 0, 1});
    // w = 1, x = 2, y = 3, z = 4: z1 = 1 + 4i, z2 = 3 + 2i, z1 z2* = 11 + 10i.
    CHECK(hopf(real({1, 4, 1}, {1, 2, 3, 4}, dtype)).to_host() == Values{22, 20, 17 - 13});
  }
}

TEST_CASE("bloch: h and -h have one image, of length |h|^2", "[readout]") {
  for (const DType dtype : kReal) {
    const Tensor h = normal({131, 4, 9}, 3, dtype, 2);
    Values negated = h.to_host();
    for (double& v : negated) v = -v;
    const Tensor image = hopf(h);
    CHECK(testing::same_bits(image, hopf(real(h.shape(), negated, dtype))));
    const auto states = vectors(h), images = vectors(image);
    for (size_t i = 0; i < states.size(); ++i) {
      const long double square = length(states[i]) * length(states[i]);
      REQUIRE(std::abs(double(length(images[i]) / square - 1)) <= 4 * tolerance(dtype));
    }
  }
}

// A phase e^{i phi} common to z1 = w + iz and z2 = y + ix is the fibre of the Hopf map.
TEST_CASE("bloch does not see a common phase", "[readout]") {
  const Tensor h = normal({5, 4, 3}, 4, DType::f64);
  const Values x = h.to_host();
  Values turned = x;
  const double c = std::cos(0.7), s = std::sin(0.7);
  for (size_t row = 0; row < 5; ++row) {
    for (size_t head = 0; head < 3; ++head) {
      const auto at = [&](size_t k) { return (row * 4 + k) * 3 + head; };
      turned[at(0)] = c * x[at(0)] - s * x[at(3)];
      turned[at(3)] = s * x[at(0)] + c * x[at(3)];
      turned[at(2)] = c * x[at(2)] - s * x[at(1)];
      turned[at(1)] = s * x[at(2)] + c * x[at(1)];
    }
  }
  const Values a = hopf(h).to_host(), b = hopf(real(h.shape(), turned, DType::f64)).to_host();
  for (size_t i = 0; i < a.size(); ++i) CHECK(b[i] == Approx(a[i]).margin(1e-13));
}

// Euler: bloch is homogeneous of degree 2, so h . dh = 2 bloch(h) . dout.
TEST_CASE("the gradient of bloch satisfies Euler's identity", "[readout]") {
  for (const DType dtype : kReal) {
    const Tensor h = normal({3, 4, 17}, 5, dtype), dout = normal({3, 3, 17}, 6, dtype);
    Tensor dh = Tensor::like(h);
    kernels::bloch_backward(h, dout, dh);
    const auto states = vectors(h), gradients = vectors(dh), images = vectors(hopf(h)),
               weights = vectors(dout);
    for (size_t i = 0; i < states.size(); ++i) {
      double left = 0, right = 0;
      for (size_t k = 0; k < 4; ++k) left += states[i][k] * gradients[i][k];
      for (size_t k = 0; k < 3; ++k) right += 2 * images[i][k] * weights[i][k];
      CHECK(left == Approx(right).margin(100 * tolerance(dtype)));
    }
  }
}

TEST_CASE("readouts have the same bits for any number of threads", "[readout]") {
  for (const DType dtype : kReal) {
    const Tensor h = normal({1031, 4, 17}, 8, dtype);
    CHECK(testing::same_for_any_threads([&] { return directions(h); }));
    CHECK(testing::same_for_any_threads([&] { return hopf(h); }));
    const Tensor y = directions(h), dy = normal({1031, 4, 17}, 9, dtype);
    CHECK(testing::same_for_any_threads([&] {
      Tensor dh = Tensor::like(h);
      kernels::direction_backward(h, y, dy, dh);
      return dh;
    }));
  }
}

}  // namespace
}  // namespace lssm
