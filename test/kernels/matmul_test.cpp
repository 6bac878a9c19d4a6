// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul.h"

#include "test/kernels/kernel_test_tools.h"
#include "test/test.h"

namespace lssm {
namespace {

using testing::kReal;
using testing::small_integers;
using Integers = std::vector<int64_t>;

Integers integers_of(const Tensor& x) {
  const std::vector<double> values = x.to_host();
  return {values.begin(), values.end()};
}

// The product [rows, inner] [inner, cols]. Operands are read by their strides, so that one loop
// also serves transposed ones.
struct Strides {
  int64_t row, col;
};
Integers product(const Integers& a, Strides sa, const Integers& b, Strides sb, int64_t rows,
                 int64_t inner, int64_t cols) {
  Integers y(size_t(rows * cols), 0);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t k = 0; k < inner; ++k) {
      for (int64_t c = 0; c < cols; ++c) {
        y[size_t(r * cols + c)] +=
            a[size_t(r * sa.row + k * sa.col)] * b[size_t(k * sb.row + c * sb.col)];
      }
    }
  }
  return y;
}

struct Sizes {
  int64_t rows, in, out;
};

// 127, 128 and 129 rows are a block of rows, less and more one; 1000 are one for each partition.
const std::vector<Sizes> kSizes = {{0, 3, 2},    {1, 1, 1},     {1, 17, 5},    {2, 5, 3},
                                   {17, 1, 9},   {17, 9, 1},    {127, 7, 11},  {128, 8, 8},
                                   {129, 33, 5}, {1000, 13, 7}, {1000, 64, 3}, {2049, 3, 17}};

TEST_CASE("linear is the exact product of integer matrices", "[matmul]") {
  for (const DType dtype : kReal) {
    for (const auto& [rows, in, out] : kSizes) {
      INFO(dtype_name(dtype) << " rows " << rows << ", in " << in << ", out " << out);
      const Tensor x = small_integers({rows, in}, 1, dtype, 9);
      const Tensor w = small_integers({in, out}, 2, dtype, 9);
      const Tensor bias = small_integers({out}, 3, dtype, 1000);
      Tensor y({rows, out}, dtype);
      kernels::linear(x, w, Tensor(), y);
      Integers expected = product(integers_of(x), {in, 1}, integers_of(w), {out, 1}, rows, in, out);
      CHECK(integers_of(y) == expected);
      kernels::linear(x, w, bias, y);
      for (size_t i = 0; i < expected.size(); ++i) {
        expected[i] += integers_of(bias)[i % size_t(out)];
      }
      CHECK(integers_of(y) == expected);
    }
  }
}

TEST_CASE("the gradients of linear are exact products of integer matrices", "[matmul]") {
  for (const DType dtype : kReal) {
    for (const auto& [rows, in, out] : kSizes) {
      INFO(dtype_name(dtype) << " rows " << rows << ", in " << in << ", out " << out);
      const Tensor x = small_integers({rows, in}, 4, dtype, 9);
      const Tensor w = small_integers({in, out}, 5, dtype, 9);
      const Tensor dy = small_integers({rows, out}, 6, dtype, 9);
      Tensor dx({rows, in}, dtype), dw({in, out}, dtype), dbias({out}, dtype);
      kernels::linear_backward_input(dy, w, dx);
      CHECK(integers_of(dx) ==
            product(integers_of(dy), {out, 1}, integers_of(w), {1, out}, rows, out, in));

      const Integers expected_dw =
          product(integers_of(x), {1, in}, integers_of(dy), {out, 1}, in, rows, out);
      const Integers ones(size_t(rows), 1);
      kernels::linear_backward_weight(x, dy, dw, dbias);
      CHECK(integers_of(dw) == expected_dw);
      CHECK(integers_of(dbias) ==
            product(ones, {rows, 1}, integers_of(dy), {out, 1}, 1, rows, out));
      Tensor none;
      dw.set_zero();
      kernels::linear_backward_weight(x, dy, dw, none);
      CHECK(integers_of(dw) == expected_dw);
    }
  }
}

TEST_CASE("matrix products have the same bits for any number of threads", "[matmul]") {
  for (const DType dtype : kReal) {
    for (const int64_t rows : {int64_t(129), int64_t(1000), int64_t(2500)}) {
      INFO(dtype_name(dtype) << " rows " << rows);
      const int64_t in = 37, out = 19;
      const Tensor x = testing::normal({rows, in}, 1, dtype),
                   w = testing::normal({in, out}, 2, dtype);
      const Tensor bias = testing::normal({out}, 3, dtype),
                   dy = testing::normal({rows, out}, 4, dtype);
      CHECK(testing::same_for_any_threads([&] {
        Tensor y({rows, out}, dtype);
        kernels::linear(x, w, bias, y);
        return y;
      }));
      CHECK(testing::same_for_any_threads([&] {
        Tensor dx({rows, in}, dtype);
        kernels::linear_backward_input(dy, w, dx);
        return dx;
      }));
      CHECK(testing::same_for_any_threads([&] {
        Tensor dw({in, out}, dtype), dbias({out}, dtype);
        kernels::linear_backward_weight(x, dy, dw, dbias);
        return dw;
      }));
      CHECK(testing::same_for_any_threads([&] {
        Tensor dw({in, out}, dtype), dbias({out}, dtype);
        kernels::linear_backward_weight(x, dy, dw, dbias);
        return dbias;
      }));
    }
  }
}

TEST_CASE("a kernel without a device's implementation says so", "[matmul]") {
  const kernels::Kernel<void(const Tensor&)> nothing = {"nothing", nullptr};
  CHECK_THROWS_WITH(nothing(Tensor::zeros({1}, DType::f32)),
                    "nothing: this build has no kernel for cpu");
}

}  // namespace
}  // namespace lssm
