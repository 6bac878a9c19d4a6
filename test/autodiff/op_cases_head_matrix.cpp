// SPDX-License-Identifier: Apache-2.0
// Rows of the table for small matrices of each head: products of reflections, products of two, and
// frames made orthonormal.
#include <cmath>
#include <set>

#include "autodiff/ops.h"
#include "test/autodiff/op_cases.h"

namespace lssm::testing {
namespace {

using Vars = std::vector<Var>;

// A frame with these singular values: the first columns of a reflection times them, and the first
// two of these mixed by a rotation. For a second head the same with its rows in reverse order.
Tensor frames(int64_t d, const std::vector<double>& singular_values) {
  const int64_t c = int64_t(singular_values.size()), heads = 2;
  const double norm = double(d * (d + 1) * (2 * d + 1)) / 6;  // of (1, 2 … d), squared
  std::vector<double> s(size_t(c * d * heads));
  for (int64_t i = 0; i < d; ++i) {
    std::vector<double> row;
    for (int64_t j = 0; j < c; ++j) {
      const double entry = (i == j ? 1 : 0) - 2 * double((i + 1) * (j + 1)) / norm;
      row.push_back(entry * singular_values[size_t(j)]);
    }
    if (c > 1) {
      const double x = row[0], y = row[1];
      row[0] = std::cos(0.7) * x - std::sin(0.7) * y;
      row[1] = std::sin(0.7) * x + std::cos(0.7) * y;
    }
    for (int64_t j = 0; j < c; ++j) {
      s[size_t((j * d + i) * heads)] = double(float(row[size_t(j)]));
      s[size_t((j * d + d - 1 - i) * heads + 1)] = double(float(row[size_t(j)]));
    }
  }
  return Tensor::from_host({1, c * d, heads}, s, DType::f64);
}

Tensor integers_as_reals(const Shape& shape, const std::vector<double>& values) {
  return Tensor::from_host(shape, values, DType::f64);
}

Tensor all_equal(const Shape& shape, double value) {
  return Tensor::from_host(shape, std::vector<double>(size_t(shape.numel()), value), DType::f64);
}

void add_householder_cases(std::vector<OpCase>& cases) {
  const auto op = [](Tape&, const Vars& v) { return Vars{householder_product(v[0], v[1])}; };
  const auto add = [&](const std::string& what, Tensor k, Tensor beta, bool differences = true) {
    cases.push_back({"householder_product, " + what, op, {k, beta}, differences});
  };
  for (const int64_t d : {3, 4, 5, 6, 7, 8}) {
    for (const int64_t count : {1, 2, 5}) {
      add(text(count, " in ", d, " dimensions"), normal_numbers({2, count * d, 3}, 1),
          normal_numbers({2, count, 3}, 2));
    }
  }
  add("one for all rows", normal_numbers({1, 8, 3}, 1), normal_numbers({4, 2, 3}, 2));
  add("1 row and head", normal_numbers({1, 12, 1}, 1), normal_numbers({1, 3, 1}, 2));
  add("projections", normal_numbers({2, 10, 3}, 1), all_equal({2, 2, 3}, 1));
  add("reflections", normal_numbers({2, 10, 3}, 1), all_equal({2, 2, 3}, 2));
  add("identities", normal_numbers({2, 10, 3}, 1), all_equal({2, 2, 3}, 0));
  add("the same vector twice", all_equal({1, 6, 2}, 0.5), normal_numbers({1, 2, 2}, 2));
  add("0 rows", normal_numbers({0, 6, 3}, 1), normal_numbers({0, 2, 3}, 2));
  add("0 rows of fixed vectors", normal_numbers({1, 6, 3}, 1), normal_numbers({0, 2, 3}, 2));
  // Differences would need steps below these sizes.
  add("tiny vectors", normal_numbers({2, 6, 3}, 1, 1e-30), normal_numbers({2, 2, 3}, 2), false);
  add("huge vectors", normal_numbers({2, 6, 3}, 1, 1e30), normal_numbers({2, 2, 3}, 2), false);
  add("large", normal_numbers({301, 20, 17}, 1), normal_numbers({301, 4, 17}, 2), false);
  add("large, one for all rows", normal_numbers({1, 20, 17}, 1), normal_numbers({301, 4, 17}, 2),
      false);
  Tensor with_zero = normal_numbers({1, 9, 2}, 3);
  for (int64_t i = 3; i < 6; ++i) with_zero.data<double>()[i * 2] = 0;  // vector 1 of head 0
  add("a vector of 0", with_zero, normal_numbers({1, 3, 2}, 4), false);
  add("all 0", all_equal({1, 6, 2}, 0), normal_numbers({1, 2, 2}, 4), false);
}

void add_matmul_cases(std::vector<OpCase>& cases) {
  const auto op = [](Tape&, const Vars& v) { return Vars{head_matmul(v[0], v[1])}; };
  const auto add = [&](const std::string& what, const Shape& a, const Shape& b,
                       bool differences = true) {
    cases.push_back(
        {"head_matmul, " + what, op, {normal_numbers(a, 1), normal_numbers(b, 2)}, differences});
  };
  for (const int64_t n : {1, 2, 3, 4, 5, 8}) {
    add(text("size ", n), {2, n * n, 3}, {2, n * n, 3});
  }
  add("a of one row", {1, 9, 3}, {4, 9, 3});
  add("b of one row", {4, 9, 3}, {1, 9, 3});
  add("1 row and head", {1, 16, 1}, {1, 16, 1});
  add("0 rows", {0, 9, 3}, {0, 9, 3});
  add("0 rows and 1 row", {0, 9, 3}, {1, 9, 3});
  add("large", {301, 25, 17}, {301, 25, 17}, false);
  add("large, a of one row", {1, 25, 17}, {301, 25, 17}, false);
  cases.push_back({"head_matmul of a square",
                   [](Tape&, const Vars& v) { return Vars{head_matmul(v[0], v[0])}; },
                   {normal_numbers({2, 9, 3}, 3)}});
}

void add_polar_cases(std::vector<OpCase>& cases) {
  const auto add = [&](const std::string& what, int64_t c, Tensor s, bool differences = true,
                       double f32_tolerance = 1e-5) {
    const auto op = [c](Tape&, const Vars& v) { return Vars{polar(v[0], c)}; };
    cases.push_back({"polar, " + what, op, {s}, differences, f32_tolerance});
  };
  add("1 column of 1", 1, normal_numbers({2, 1, 3}, 1), false);  // a sign
  for (const int64_t d : {2, 3, 4, 5, 8}) {
    for (const int64_t c : std::set<int64_t>{1, d - 1, d}) {
      add(text(c, " orthonormal columns of ", d), c,
          frames(d, std::vector<double>(size_t(c), 1.0)));
      std::vector<double> values;
      for (int64_t j = 0; j < c; ++j) values.push_back(0.5 + 0.3 * double(j));
      add(text(c, " columns of ", d, ", singular values from 0.5"), c, frames(d, values));
    }
  }
  add("square, random", 3, normal_numbers({2, 9, 3}, 2), true, 1e-4);
  add("random", 2, normal_numbers({2, 8, 3}, 3));
  add("two equal singular values", 3, frames(5, {0.7, 1.3, 0.7}));
  add("two nearly equal singular values", 3, frames(5, {1, 1 + 1e-6, 1.5}));
  add("identity", 3, integers_as_reals({1, 9, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}));
  // f32 knows the singular value 1e-3 to 1e-4 of itself.
  add("nearly dependent columns", 3, frames(5, {1, 1e-3, 1}), false, 1e-3);
  add("0 rows", 2, normal_numbers({0, 6, 3}, 4));
  add("large", 4, normal_numbers({67, 32, 17}, 5), false, 1e-3);
  add("dependent columns", 2, all_equal({1, 8, 2}, 0.5), false);
  add("a column of 0", 2, integers_as_reals({1, 6, 1}, {1, 2, 3, 0, 0, 0}), false);
  add("all 0", 2, all_equal({1, 8, 2}, 0), false);
}

}  // namespace

void add_head_matrix_cases(std::vector<OpCase>& cases) {
  add_householder_cases(cases);
  add_matmul_cases(cases);
  add_polar_cases(cases);
}

}  // namespace lssm::testing
