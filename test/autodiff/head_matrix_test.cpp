// SPDX-License-Identifier: Apache-2.0
// Products of reflections, products of matrices and orthonormal frames against what they are.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "autodiff/ops.h"
#include "core/random.h"
#include "test/autodiff/op_cases.h"
#include "test/test.h"

namespace lssm {
namespace {

using Eigen::MatrixXd;
using Values = std::vector<double>;
using testing::normal_numbers;

Var leaf(Tape& tape, const Shape& shape, const Values& values, DType dtype = DType::f64) {
  return tape.leaf(Tensor::from_host(shape, values, dtype));
}

Values repeated(double x, int64_t n) { return Values(size_t(n), x); }

// The components of one head, in the order given by `x`.
Values head_of(const Tensor& x, int64_t row, int64_t head) {
  const Values all = x.to_host();
  Values out;
  for (int64_t i = 0; i < x.dim(1); ++i) {
    out.push_back(all[size_t((row * x.dim(1) + i) * x.dim(2) + head)]);
  }
  return out;
}

// A square matrix given row by row, and a frame given column by column.
MatrixXd square(const Tensor& x, int64_t row, int64_t head) {
  const Values v = head_of(x, row, head);
  const auto n = Eigen::Index(std::lround(std::sqrt(double(v.size()))));
  return Eigen::Map<const MatrixXd>(v.data(), n, n).transpose();
}
MatrixXd frame(const Tensor& x, int64_t row, int64_t head, Eigen::Index c) {
  const Values v = head_of(x, row, head);
  return Eigen::Map<const MatrixXd>(v.data(), Eigen::Index(v.size()) / c, c);
}

MatrixXd identity(Eigen::Index n) { return MatrixXd::Identity(n, n); }
double largest(const MatrixXd& x) { return x.cwiseAbs().maxCoeff(); }

TEST_CASE("one reflection, one projection, and none", "[op][head_matrix]") {
  Tape tape;
  const int64_t rows = 2, heads = 3;
  for (const int64_t d : {3, 4, 5, 6, 7, 8}) {
    const Tensor k = normal_numbers({rows, d, heads}, 1);
    const auto product = [&](double beta) {
      const Var factors = leaf(tape, {rows, 1, heads}, repeated(beta, rows * heads));
      return householder_product(tape.leaf(k), factors).value();
    };
    const Tensor reflections = product(2), projections = product(1), none = product(0);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t head = 0; head < heads; ++head) {
        const MatrixXd u = frame(k, row, head, 1), r = square(reflections, row, head),
                       p = square(projections, row, head);
        CHECK(r.determinant() == Approx(-1).epsilon(1e-13));
        CHECK(largest(r * r - identity(d)) < 1e-14);
        CHECK(largest(r * u + u) < 1e-14);
        CHECK(largest(r - r.transpose()) < 1e-15);
        CHECK(largest(p * p - p) < 1e-14);
        CHECK(largest(p * u) < 1e-14);
        CHECK(p.trace() == Approx(double(d - 1)).epsilon(1e-14));
        CHECK(square(none, row, head) == identity(d));
      }
    }
  }
}

TEST_CASE("products of reflections are orthogonal, the first acts first", "[op][head_matrix]") {
  Tape tape;
  const int64_t heads = 3;
  for (const int64_t d : {3, 5, 8}) {
    for (const int64_t count : {1, 2, 3, 4, 7}) {
      const Tensor k = normal_numbers({1, count * d, heads}, 2);
      const Var two = leaf(tape, {1, count, heads}, repeated(2, count * heads));
      const Tensor a = householder_product(tape.leaf(k), two).value();
      for (int64_t head = 0; head < heads; ++head) {
        MatrixXd expected = identity(d);
        for (int64_t j = 0; j < count; ++j) {
          const Eigen::VectorXd u = frame(k, 0, head, count).col(j).normalized();
          expected = (identity(d) - 2 * u * u.transpose()) * expected;
        }
        const MatrixXd got = square(a, 0, head);
        CHECK(largest(got - expected) < 1e-13);
        CHECK(largest(got * got.transpose() - identity(d)) < 1e-13);
        CHECK(got.determinant() == Approx(count % 2 == 0 ? 1 : -1).epsilon(1e-12));
      }
    }
  }
  // e_1 and e_2 change places, then e_2 and e_3: together a 3-cycle, whose matrix is known.
  const Var k = leaf(tape, {1, 6, 1}, {1, -1, 0, 0, 1, -1});
  const Var two = leaf(tape, {1, 2, 1}, {2, 2});
  CHECK(householder_product(k, two).value().to_host() == Values{0, 1, 0, 0, 0, 1, 1, 0, 0});
}

TEST_CASE("a reflection is that of a direction", "[op][head_matrix]") {
  Tape tape;
  const Tensor k = normal_numbers({2, 10, 3}, 4), beta = normal_numbers({2, 2, 3}, 5);
  for (const DType dtype : {DType::f32, DType::f64}) {
    const auto product = [&](double scale) {
      Values scaled = k.to_host();
      for (double& x : scaled) x *= scale;
      return householder_product(leaf(tape, {2, 10, 3}, scaled, dtype),
                                 leaf(tape, {2, 2, 3}, beta.to_host(), dtype))
          .value()
          .to_host();
    };
    const Values once = product(1);
    CHECK(product(std::ldexp(1, -100)) == once);
    CHECK(product(std::ldexp(1, 100)) == once);
    CHECK(product(-1) == once);
  }
}

TEST_CASE("a reflection without a direction is none, and gives no gradient", "[op][head_matrix]") {
  Tape tape;
  const Var k = tape.leaf(Tensor::from_host({1, 6, 1}, {0, 0, 0, 1, 2, 2}, DType::f64), true);
  const Var beta = tape.leaf(Tensor::from_host({1, 2, 1}, {2, 0}, DType::f64), true);
  const Var a = householder_product(k, beta);
  CHECK(a.value().to_host() == Values{1, 0, 0, 0, 1, 0, 0, 0, 1});
  tape.backward({a}, {Tensor::from_host({1, 9, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 10}, DType::f64)});
  CHECK(tape.grad(k).to_host() == repeated(0, 6));
  // -u^T dA u with 9 u u^T = (1, 2, 2)^T (1, 2, 2): 1 + 4 + 6 + 8 + 20 + 24 + 14 + 32 + 40 = 149.
  const Values dbeta = tape.grad(beta).to_host();
  CHECK(dbeta[0] == 0);
  CHECK(dbeta[1] == Approx(-149.0 / 9).epsilon(1e-14));
}

// A random word of signed permutations of R^n, each the product of a few reflections along vectors
// e_i, e_i - e_j and e_i + e_j. The scan's states are integers, known exactly.
template <class F>
void follow_signed_permutations(int64_t n, int64_t count, F draw) {
  constexpr int64_t length = 5000;
  Random random(1, Stream::check, uint32_t(n));
  Values k, expected, state;
  for (int64_t i = 0; i < n; ++i) state.push_back(double(i + 1));
  const Values start = state;
  for (int64_t t = 0; t < length; ++t) {
    for (int64_t j = 0; j < count; ++j) {
      const auto [a, b, sign] = draw(random);  // sign 0: only the coordinate a
      Values v(size_t(n), 0);
      v[a] = 1;
      if (sign == 0) {
        state[a] = -state[a];
      } else if (a != b) {
        v[b] = -sign;
        std::swap(state[a], state[b]);
        state[a] *= sign, state[b] *= sign;
      } else {
        v[a] = 0;  // no reflection
      }
      k.insert(k.end(), v.begin(), v.end());
    }
    expected.insert(expected.end(), state.begin(), state.end());
  }
  for (const DType dtype : {DType::f32, DType::f64}) {
    Tape tape;
    const Var a =
        householder_product(leaf(tape, {length, count * n, 1}, k, dtype),
                            leaf(tape, {length, count, 1}, repeated(2, length * count), dtype));
    const Var h = scan(text("matrix", n), reshape(a, {1, length, n * n, 1}), Var(),
                       leaf(tape, {1, n, 1}, start, dtype), {});
    CHECK(h.value().to_host() == expected);
  }
}

struct Swap {
  size_t a, b;
  double sign;
};

TEST_CASE("permutations by reflections are exact over long words", "[op][head_matrix]") {
  for (const int64_t n : {3, 4, 5, 8}) {
    INFO("signed permutations of " << n);
    follow_signed_permutations(n, 3, [n](Random& random) {
      const size_t a = random.below(uint32_t(n)), b = random.below(uint32_t(n));
      return Swap{a, b, double(random.below(3)) - 1};
    });
  }
}

// Every permutation of 5 points is a product of at most 4 transpositions, and a 5-cycle of no less.
TEST_CASE("four reflections make all of S5", "[op][head_matrix]") {
  std::vector<int> points = {0, 1, 2, 3, 4};
  Values k, expected;
  int64_t rows = 0;
  do {
    ++rows;
    std::vector<int> now = {0, 1, 2, 3, 4};  // now[i]: where e_i has gone so far
    for (int target = 0; target < 4; ++target) {
      Values v(5, 0);
      const int from = now[size_t(target)], to = points[size_t(target)];
      if (from != to) v[size_t(from)] = 1, v[size_t(to)] = -1;
      for (int& x : now) x = x == from ? to : x == to ? from : x;
      k.insert(k.end(), v.begin(), v.end());
    }
    REQUIRE(now == points);
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 5; ++j) expected.push_back(points[size_t(j)] == i ? 1 : 0);
  } while (std::next_permutation(points.begin(), points.end()));
  REQUIRE(rows == 120);
  Tape tape;
  const Var a = householder_product(leaf(tape, {rows, 20, 1}, k),
                                    leaf(tape, {rows, 4, 1}, repeated(2, rows * 4)));
  CHECK(a.value().to_host() == expected);
}

TEST_CASE("head_matmul of integers is exact", "[op][head_matrix]") {
  const auto digits = [](const Shape& shape, uint32_t seed) {
    Values x = testing::integers_below(19, shape, seed).to_host();
    for (double& v : x) v -= 9;
    return x;
  };
  for (const int64_t n : {1, 3, 5, 8}) {
    for (const auto& [left, right] : {std::pair<int64_t, int64_t>{3, 3}, {1, 3}, {3, 1}}) {
      const int64_t rows = std::max(left, right), heads = 5;
      const Values a = digits({left, n * n, heads}, 1), b = digits({right, n * n, heads}, 2);
      Values expected;
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t i = 0; i < n; ++i)
          for (int64_t j = 0; j < n; ++j)
            for (int64_t head = 0; head < heads; ++head) {
              double sum = 0;
              for (int64_t m = 0; m < n; ++m) {
                const int64_t at_a = ((left == 1 ? 0 : row) * n + i) * n + m,
                              at_b = ((right == 1 ? 0 : row) * n + m) * n + j;
                sum += a[size_t(at_a * heads + head)] * b[size_t(at_b * heads + head)];
              }
              expected.push_back(sum);
            }
      for (const DType dtype : {DType::f32, DType::f64}) {
        Tape tape;
        const Var y = head_matmul(leaf(tape, {left, n * n, heads}, a, dtype),
                                  leaf(tape, {right, n * n, heads}, b, dtype));
        CHECK(y.shape() == Shape({rows, n * n, heads}));
        CHECK(y.value().to_host() == expected);
      }
    }
  }
}

TEST_CASE("polar frames are the product of singular vectors", "[op][head_matrix]") {
  Tape tape;
  for (const int64_t d : {1, 2, 3, 5, 8}) {
    for (int64_t c = 1; c <= d; ++c) {
      const Tensor s = normal_numbers({3, c * d, 2}, uint32_t(10 * d + c));
      const Tensor q = polar(tape.leaf(s), c).value();
      for (int64_t row = 0; row < 3; ++row) {
        for (int64_t head = 0; head < 2; ++head) {
          const Eigen::JacobiSVD<MatrixXd> svd(frame(s, row, head, c),
                                               Eigen::ComputeThinU | Eigen::ComputeThinV);
          const MatrixXd got = frame(q, row, head, c);
          CHECK(largest(got.transpose() * got - identity(c)) < 4e-15);
          const double condition = svd.singularValues()(0) / svd.singularValues()(c - 1);
          CHECK(largest(got - svd.matrixU() * svd.matrixV().transpose()) < 4e-15 * condition);
        }
      }
    }
  }
}

// Orthonormal columns: of a product of reflections.
MatrixXd orthonormal(int64_t d, int64_t c, uint32_t seed) {
  Tape tape;
  const Var a = householder_product(tape.leaf(normal_numbers({1, 2 * d, 1}, seed)),
                                    leaf(tape, {1, 2, 1}, {2, 2}));
  return square(a.value(), 0, 0).leftCols(c);
}

MatrixXd polar_of(const MatrixXd& s, DType dtype = DType::f64) {
  Tape tape;
  const Values values(s.data(), s.data() + s.size());
  return frame(polar(leaf(tape, {1, int64_t(s.size()), 1}, values, dtype), s.cols()).value(), 0, 0,
               s.cols());
}

TEST_CASE("polar frames of known frames", "[op][head_matrix]") {
  for (const int64_t d : {3, 5, 8}) {
    for (const int64_t c : {int64_t(1), int64_t(2), d}) {
      const MatrixXd q = orthonormal(d, c, uint32_t(d));
      CHECK(largest(polar_of(q) - q) < 1e-14);
      CHECK(largest(polar_of(0.7 * q) - q) < 1e-14);
      // Q P is the polar decomposition for every symmetric positive P.
      MatrixXd p = MatrixXd::Constant(c, c, 0.1);
      for (int64_t j = 0; j < c; ++j) p(j, j) = double(1 + j);
      CHECK(largest(polar_of(q * p) - q) < 1e-13);
    }
  }
  const MatrixXd s = frame(normal_numbers({1, 12, 1}, 3), 0, 0, 3), q = polar_of(s);
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const int power : {-100, -1, 2, 100}) {
      CHECK(polar_of(std::ldexp(1, power) * s, dtype) == polar_of(s, dtype));
    }
  }
  CHECK(largest(polar_of(-s) + q) < 1e-14);
}

TEST_CASE("polar frames of nearly dependent columns", "[op][head_matrix]") {
  // For S = [1 1; 0 e] with e > 0, Q is (S + cofactors of S) / norm: [1 + e, 1; -1, 1 + e] / norm.
  for (const DType dtype : {DType::f32, DType::f64}) {
    const double eps = dtype == DType::f32 ? std::numeric_limits<float>::epsilon()
                                           : std::numeric_limits<double>::epsilon();
    for (const double e : {0.25, 0x1p-10, 0x1p-16}) {
      MatrixXd s(2, 2), q(2, 2);
      s << 1, 1, 0, e;
      q << 1 + e, 1, -1, 1 + e;
      q /= std::sqrt(1 + (1 + e) * (1 + e));
      const MatrixXd got = polar_of(s, dtype);
      INFO("e " << e << ' ' << dtype_name(dtype));
      CHECK(largest(got - q) < 4 * eps / e);
      CHECK(largest(got.transpose() * got - identity(2)) < 8 * eps);
    }
  }
}

TEST_CASE("polar frames of dependent columns span what there is", "[op][head_matrix]") {
  MatrixXd s(3, 2);
  s << 1, 1, 2, 2, -2, -2;  // |column| = 3, singular value 3 sqrt 2 along (1, 1) / sqrt 2
  for (const DType dtype : {DType::f32, DType::f64}) {
    const double tolerance = dtype == DType::f32 ? 1e-6 : 1e-14;
    CHECK(largest(polar_of(s, dtype) - s / (3 * std::sqrt(2))) < tolerance);
    CHECK(polar_of(MatrixXd::Zero(4, 3), dtype) == MatrixXd::Zero(4, 3));
    MatrixXd one = MatrixXd::Zero(3, 2);
    one.col(1) << 0, 4, 3;
    CHECK(largest(polar_of(one, dtype) - one / 5) < tolerance);
  }
}

TEST_CASE("matrices of heads refuse shapes that do not fit", "[op][head_matrix]") {
  using Catch::Matchers::Contains;
  Tape tape;
  const auto x = [&](const Shape& shape) { return tape.leaf(Tensor::zeros(shape, DType::f64)); };
  const auto product = [&](const Shape& k, const Shape& beta) {
    return error_of([&] { householder_product(x(k), x(beta)); });
  };
  CHECK_THAT(product({2, 7, 1}, {2, 2, 1}), Contains("k [2, 7, 1]"));
  CHECK_THAT(product({2, 6, 1}, {3, 2, 1}), Contains("[3 or 1, 2 d, 1]"));
  CHECK_THAT(product({2, 6, 1}, {2, 2, 3}), Contains("k [2, 6, 1]"));
  CHECK_THAT(product({2, 6, 1}, {2, 0, 1}), Contains("beta [2, 0, 1]"));
  CHECK_THAT(product({2, 4, 1}, {2, 2, 1}), Contains("2 components"));
  CHECK_THAT(product({2, 9, 1}, {2, 1, 1}), Contains("9 components"));
  const auto matmul = [&](const Shape& a, const Shape& b) {
    return error_of([&] { head_matmul(x(a), x(b)); });
  };
  CHECK_THAT(matmul({2, 9, 1}, {3, 9, 1}), Contains("[2, 9, 1] and [3, 9, 1]"));
  CHECK_THAT(matmul({2, 9, 1}, {2, 9, 2}), Contains("[2, 9, 2]"));
  CHECK_THAT(matmul({2, 8, 1}, {2, 8, 1}), Contains("[2, 8, 1]"));
  const auto frames = [&](const Shape& s, int64_t c) { return error_of([&] { polar(x(s), c); }); };
  CHECK_THAT(frames({2, 6, 1}, 4), Contains("[2, 6, 1]"));
  CHECK_THAT(frames({2, 6, 1}, 0), Contains("[2, 6, 1]"));
  CHECK_THAT(frames({2, 6, 1}, 3), Contains("3 columns of 2"));
  CHECK_THAT(frames({2, 18, 1}, 2), Contains("2 columns of 9"));
}

}  // namespace
}  // namespace lssm
