// SPDX-License-Identifier: Apache-2.0
// Corners of the kernels that the operations' own cases do not reach, on both devices.
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/elementwise.h"
#include "kernels/linear_cross_entropy.h"
#include "kernels/matmul.h"
#include "kernels/optimizer.h"
#include "kernels/reduce.h"
#include "kernels/rows.h"
#include "test/kernels/kernel_test_tools.h"
#include "test/test.h"

namespace lssm::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr Device kDevices[] = {Device::cpu, Device::cuda};

Tensor on(Device device, const Shape& shape, const std::vector<double>& values, DType dtype) {
  return Tensor::from_host(shape, values, dtype, device);
}

std::vector<double> argmax(Device device, const Shape& shape, const std::vector<double>& logits,
                           DType dtype) {
  Tensor found({shape[0]}, DType::i32, device);
  kernels::argmax_rows(on(device, shape, logits, dtype), found);
  return found.to_host();
}

TEST_CASE("argmax: the first of equals, never NaN", "[cuda][rows]") {
  for (const Device device : kDevices) {
    for (const DType dtype : kReal) {
      INFO(device_name(device) << " " << dtype_name(dtype));
      CHECK(argmax(device, {5, 4}, {1,     3,     3,    2,     // ties
                                    NAN,   1,     2,    2,     // NaN first
                                    1,     NAN,   0,    NAN,   // NaN later
                                    -kInf, -kInf, kInf, kInf,  // infinities
                                    NAN,   NAN,   NAN,  NAN},  // nothing else
                   dtype) == std::vector<double>{1, 2, 0, 2, 0});
      // Longer than a warp and than a SIMD register; the largest in every place, and again behind
      // it.
      for (int64_t place = 0; place < 70; place += 3) {
        std::vector<double> row(70, -2);
        row[0] = NAN;
        row[size_t(place)] = row[69] = 5;
        CHECK(argmax(device, {1, 70}, row, dtype)[0] == double(place));
      }
    }
  }
}

struct Loss {
  double loss;
  std::vector<double> gradient;
};

Loss cross_entropy(Device device, DType dtype, const std::vector<double>& logits,
                   const std::vector<double>& labels, const std::vector<double>& mask) {
  const int64_t rows = int64_t(labels.size()), classes = int64_t(logits.size()) / rows;
  const Tensor x = on(device, {rows, classes}, logits, dtype);
  Tensor loss({1}, dtype, device), dx = Tensor::like(x);
  kernels::cross_entropy(x, on(device, {rows}, labels, DType::i32),
                         on(device, {rows}, mask, DType::i32), loss, dx);
  return {loss.item(), dx.to_host()};
}

TEST_CASE("rows that do not count may hold anything", "[cuda][rows]") {
  for (const Device device : kDevices) {
    for (const DType dtype : kReal) {
      INFO(device_name(device) << " " << dtype_name(dtype));
      // Labels that would be read out of bounds, infinite logits and NaN.
      const Loss some = cross_entropy(device, dtype, {kInf, 0, NAN, 1, 0, 0, -kInf, -kInf, 1e30},
                                      {-1, 0, 1 << 30}, {0, 1, 0});
      const double e = std::exp(1.0), sum = e + 2;
      CHECK(some.loss == Approx(std::log(sum) - 1));
      const std::vector<double> expected = {0, 0, 0, e / sum - 1, 1 / sum, 1 / sum, 0, 0, 0};
      for (size_t i = 0; i < 9; ++i) CHECK(some.gradient[i] == Approx(expected[i]).margin(1e-7));

      const Loss none = cross_entropy(device, dtype, {kInf, NAN}, {-7}, {0});
      CHECK(none.loss == 0);
      CHECK(none.gradient == std::vector<double>{0, 0});
    }
  }
}

TEST_CASE("a fused loss leaves out rows that do not count", "[cuda][rows]") {
  const DType dtype = DType::f64;
  for (const Device device : kDevices) {
    INFO(device_name(device));
    kernels::LinearCrossEntropy in = {.x = on(device, {2, 1}, {3, 1}, dtype),
                                      .w = on(device, {1, 2}, {0, 1}, dtype),
                                      .bias = Tensor(),
                                      .target = on(device, {2}, {-1, 1}, DType::i32),
                                      .mask = on(device, {2}, {0, 1}, DType::i32)};
    Tensor loss({1}, dtype, device), dx = Tensor::like(in.x), dw = Tensor::like(in.w), none;
    kernels::linear_cross_entropy(in, loss, dx, dw, none);
    const double p = 1 / (1 + std::exp(1.0));  // of the wrong class
    CHECK(loss.item() == Approx(-std::log(1 - p)));
    CHECK(dx.to_host()[0] == 0);
    CHECK(dx.to_host()[1] == Approx(-p));
    CHECK(dw.to_host()[0] == Approx(p));
    CHECK(dw.to_host()[1] == Approx(-p));
  }
}

TEST_CASE("reductions walk over more numbers than a launch has threads", "[cuda][reduce]") {
  const int64_t n = 70'000;  // 65,536 threads
  std::vector<double> values(size_t(n), 0);
  for (size_t i = 0; i < values.size(); ++i) values[i] = double(i % 5);
  for (const DType dtype : kReal) {
    INFO(dtype_name(dtype));
    CHECK(kernels::sum_of_squares(on(Device::cuda, {n}, values, dtype)) == double(n / 5 * 30));
    CHECK(kernels::first_not_finite(on(Device::cuda, {n}, values, dtype)) == -1);
    const std::pair<size_t, double> bad[] = {
        {0, kInf}, {255, -kInf}, {65'536, NAN}, {69'999, kInf}};
    for (const auto& [place, number] : bad) {
      std::vector<double> with = values;
      with.back() = NAN;  // not the first
      with[place] = number;
      CHECK(kernels::first_not_finite(on(Device::cuda, {n}, with, dtype)) == int64_t(place));
    }
  }
  CHECK(kernels::first_not_finite(Tensor({0}, DType::f32, Device::cuda)) == -1);
  CHECK(kernels::sum_of_squares(Tensor({0}, DType::f64, Device::cuda)) == 0);
}

TEST_CASE("sgd with momentum and decay", "[cuda][optimizer]") {
  const kernels::SgdStep step = {.lr = 0.5, .momentum = 0.25, .weight_decay = 0.5, .grad_scale = 2};
  for (const Device device : kDevices) {
    for (const DType dtype : kReal) {
      const Tensor grad = on(device, {3}, {1, -2, 0}, dtype);
      Tensor u = on(device, {3}, {4, 8, 12}, dtype), w = on(device, {3}, {4, 8, 16}, dtype);
      kernels::sgd(step, grad, u, w);
      CHECK(u.to_host() == std::vector<double>{3, -2, 3});      // u / 4 + 2 grad
      CHECK(w.to_host() == std::vector<double>{1.5, 7, 10.5});  // 3/4 w - u / 2
    }
  }
}

TEST_CASE("matrix products of nothing", "[cuda][matmul]") {
  const DType dtype = DType::f32;
  for (const Device device : kDevices) {
    INFO(device_name(device));
    for (const auto& [rows, in, out] : {std::array<int64_t, 3>{0, 2, 3}, {2, 0, 3}, {2, 3, 0}}) {
      INFO(rows << " x " << in << " x " << out);
      const auto ones = [&](const Shape& shape) {
        return on(device, shape, std::vector<double>(size_t(shape.numel()), 1), dtype);
      };
      const Tensor x = ones({rows, in}), w = ones({in, out}), bias = ones({out});
      Tensor y({rows, out}, dtype, device), dx = Tensor::like(x), dw = Tensor::like(w);
      Tensor dbias = Tensor::like(bias);
      kernels::linear(x, w, bias, y);
      for (const double v : y.to_host()) CHECK(v == 1);  // the bias
      kernels::linear_backward_input(y, w, dx);
      for (const double v : dx.to_host()) CHECK(v == 0);
      kernels::linear_backward_weight(x, y, dw, dbias);
      for (const double v : dw.to_host()) CHECK(v == 0);
      for (const double v : dbias.to_host()) CHECK(v == double(rows));
    }
  }
}

TEST_CASE("a kernel whose tensors lie on two devices says so", "[cuda]") {
  const Tensor a = Tensor::zeros({2}, DType::f32), b = Tensor::zeros({2}, DType::f32, Device::cuda);
  Tensor y = Tensor::like(b);
  CHECK_THROWS_WITH(kernels::add(b, a, y),
                    "add: got tensors on cuda and on cpu, expected one device");
  // In a struct too.
  kernels::NormRows norm = {.x = Tensor::zeros({1, 2}, DType::f32, Device::cuda),
                            .gain = a,
                            .bias = Tensor(),
                            .mean = Tensor(),
                            .inverse = Tensor({1}, DType::f32, Device::cuda),
                            .eps = 1e-5};
  Tensor out = Tensor::like(norm.x);
  CHECK_THROWS_WITH(kernels::norm_rows(norm, out),
                    "norm_rows: got tensors on cuda and on cpu, expected one device");
}

}  // namespace
}  // namespace lssm::testing
