// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows.h"

#include "test/kernels/kernel_test_tools.h"
#include "test/test.h"

namespace lssm {
namespace {

using testing::integers_below;
using testing::kReal;
using testing::normal;
using testing::precision;
using testing::real;
using testing::small_integers;
using testing::worst;
using Values = std::vector<double>;
using Real = long double;

// Rows around the grain of 128 rows and the 8 partitions.
const int64_t kRows[] = {0, 1, 2, 127, 128, 129, 1000, 1025};

// ---- gather, scatter, concat, sum: exact ----

TEST_CASE("gather_rows copies rows", "[rows]") {
  for (const DType dtype : kReal) {
    for (const int64_t rows : kRows) {
      for (const int64_t width : {1, 3, 16}) {
        const Tensor table = small_integers({11, width}, 1, dtype, 1000);
        const Tensor index = integers_below(11, rows, 2);
        Tensor y({rows, width}, dtype);
        kernels::gather_rows(table, index, y);
        const Values from = table.to_host(), to = y.to_host(), places = index.to_host();
        for (int64_t i = 0; i < rows * width; ++i) {
          const auto place = int64_t(places[size_t(i / width)]);
          REQUIRE(to[size_t(i)] == from[size_t(place * width + i % width)]);
        }
      }
    }
  }
}

TEST_CASE("scatter_add_rows adds repeated indices exactly", "[rows]") {
  for (const DType dtype : kReal) {
    for (const int64_t rows : kRows) {
      for (const int64_t width : {1, 3, 16}) {
        for (const uint32_t entries : {1u, 7u, 300u}) {
          const Tensor dy = small_integers({rows, width}, 3, dtype, 1000);
          const Tensor index = integers_below(entries, rows, 4);
          Tensor dtable({int64_t(entries), width}, dtype);
          kernels::scatter_add_rows(dy, index, dtable);
          Values expected(size_t(entries) * size_t(width), 0);
          const Values from = dy.to_host(), places = index.to_host();
          for (int64_t i = 0; i < rows * width; ++i) {
            const auto place = int64_t(places[size_t(i / width)]);
            expected[size_t(place * width + i % width)] += from[size_t(i)];
          }
          REQUIRE(dtable.to_host() == expected);
        }
      }
    }
  }
}

TEST_CASE("concat_columns and split_columns are inverse and place columns right", "[rows]") {
  for (const DType dtype : kReal) {
    for (const int64_t rows : kRows) {
      for (const auto& [p, q] : {std::pair<int64_t, int64_t>{1, 1}, {3, 5}, {0, 2}, {17, 0}}) {
        const Tensor a = small_integers({rows, p}, 1, dtype, 1000);
        const Tensor b = small_integers({rows, q}, 2, dtype, 1000);
        Tensor y({rows, p + q}, dtype), left = Tensor::like(a), right = Tensor::like(b);
        kernels::concat_columns(a, b, y);
        kernels::split_columns(y, left, right);
        REQUIRE(left.to_host() == a.to_host());
        REQUIRE(right.to_host() == b.to_host());
        const Values joined = y.to_host(), first = a.to_host();
        for (int64_t i = 0; i < rows * p; ++i) {
          REQUIRE(joined[size_t(i / p * (p + q) + i % p)] == first[size_t(i)]);
        }
      }
    }
  }
}

TEST_CASE("sum_rows is exact on integers", "[rows]") {
  for (const DType dtype : kReal) {
    for (const int64_t rows : kRows) {
      for (const int64_t width : {1, 5, 33}) {
        const Tensor x = small_integers({rows, width}, 1, dtype, 1000);
        Tensor y({width}, dtype);
        kernels::sum_rows(x, y);
        Values expected(size_t(width), 0);
        const Values from = x.to_host();
        for (size_t i = 0; i < from.size(); ++i) expected[i % size_t(width)] += from[i];
        REQUIRE(y.to_host() == expected);
      }
    }
  }
}

// ---- norms ----

// Both norms in long double. Without a mean it is the RMS norm.
struct NormReference {
  std::vector<Real> y, dx, dgain, dbias;
  double dx_terms = 0;  // the largest term of dx; for narrow rows they cancel
};
NormReference norm_reference(const Values& x, const Values& gain, const Values& bias,
                             const Values& dy, double eps, bool centred) {
  const size_t width = gain.size(), rows = x.size() / width;
  NormReference r{std::vector<Real>(x.size()), std::vector<Real>(x.size()),
                  std::vector<Real>(width, 0), std::vector<Real>(width, 0), 0};
  for (size_t row = 0; row < rows; ++row) {
    const double* in = &x[row * width];
    const double* g = &dy[row * width];
    Real mean = 0, variance = 0;
    for (size_t i = 0; i < width; ++i) mean += centred ? in[i] / Real(width) : 0;
    for (size_t i = 0; i < width; ++i) variance += (in[i] - mean) * (in[i] - mean) / Real(width);
    const Real inverse = 1 / std::sqrt(variance + Real(eps));
    Real mean_dz = 0, mean_dz_z = 0;
    for (size_t i = 0; i < width; ++i) {
      const Real z = (in[i] - mean) * inverse;
      r.y[row * width + i] = z * gain[i] + (centred ? bias[i] : 0);
      r.dgain[i] += g[i] * z;
      r.dbias[i] += g[i];
      mean_dz += centred ? Real(g[i]) * gain[i] / Real(width) : 0;
      mean_dz_z += Real(g[i]) * gain[i] * z / Real(width);
    }
    for (size_t i = 0; i < width; ++i) {
      const Real z = (in[i] - mean) * inverse;
      r.dx_terms = std::max(r.dx_terms, double(std::abs(inverse * g[i] * gain[i])));
      r.dx[row * width + i] = inverse * (Real(g[i]) * gain[i] - mean_dz - z * mean_dz_z);
    }
  }
  return r;
}

TEST_CASE("norms match long double", "[rows]") {
  for (const DType dtype : kReal) {
    for (const bool centred : {true, false}) {
      for (const int64_t rows : kRows) {
        for (const int64_t width : {1, 2, 7, 64}) {
          INFO(dtype_name(dtype) << (centred ? " layer" : " rms") << " norm, rows " << rows
                                 << ", width " << width);
          const double eps = 1e-5;
          const Tensor x = normal({rows, width}, 1, dtype, 3), dy = normal({rows, width}, 2, dtype);
          const Tensor gain = normal({width}, 3, dtype), bias = normal({width}, 4, dtype);
          kernels::NormRows norm = {x,
                                    gain,
                                    centred ? bias : Tensor(),
                                    centred ? Tensor({rows}, dtype) : Tensor(),
                                    Tensor({rows}, dtype),
                                    eps};
          Tensor y = Tensor::like(x), dx = Tensor::like(x), dgain = Tensor::like(gain),
                 dbias = centred ? Tensor::like(bias) : Tensor();
          kernels::norm_rows(norm, y);
          kernels::norm_rows_backward(norm, dy, dx, dgain, dbias);
          const NormReference r = norm_reference(x.to_host(), gain.to_host(), bias.to_host(),
                                                 dy.to_host(), eps, centred);
          // A sum of n roundings of size eps in f32 or f64.
          const double tolerance = 20 * precision(dtype) * std::sqrt(double(width + rows / 8 + 1));
          CHECK(worst(y, r.y) <= tolerance);
          CHECK(worst(dgain, r.dgain) <= tolerance);
          if (centred) CHECK(worst(dbias, r.dbias) <= tolerance);
          CHECK(worst(dx, r.dx, r.dx_terms) <= 2 * tolerance);
        }
      }
    }
  }
}

TEST_CASE("a large offset does not cost the layer norm its digits", "[rows]") {
  // Mean 1000, deviation 1: one-pass variance E[x^2] - E[x]^2 would be useless in f32.
  const int64_t width = 16;
  Values x(size_t(width), 1000);
  for (size_t i = 0; i < x.size(); ++i) x[i] += i % 2 ? 1 : -1;
  const Tensor in = real({1, width}, x, DType::f32),
               gain = real({width}, Values(16, 1), DType::f32);
  kernels::NormRows norm = {in,
                            gain,
                            Tensor::zeros({width}, DType::f32),
                            Tensor({1}, DType::f32),
                            Tensor({1}, DType::f32),
                            0};
  Tensor y = Tensor::like(in);
  kernels::norm_rows(norm, y);
  for (size_t i = 0; i < x.size(); ++i) CHECK(y.to_host()[i] == (i % 2 ? 1 : -1));
}

// ---- threads ----

TEST_CASE("row kernels have the same bits for any number of threads", "[rows]") {
  for (const DType dtype : kReal) {
    for (const int64_t rows : {129, 1025, 3000}) {
      const Tensor x = normal({rows, 13}, 1, dtype), dy = normal({rows, 13}, 2, dtype);
      const Tensor index = integers_below(7, rows, 3), gain = normal({13}, 4, dtype);
      CHECK(testing::same_for_any_threads([&] {
        Tensor dtable({7, 13}, dtype);
        kernels::scatter_add_rows(dy, index, dtable);
        return dtable;
      }));
      CHECK(testing::same_for_any_threads([&] {
        Tensor sum({13}, dtype);
        kernels::sum_rows(x, sum);
        return sum;
      }));
      for (int output = 0; output < 3; ++output) {
        CHECK(testing::same_for_any_threads([&] {
          kernels::NormRows norm = {x,   gain, gain, Tensor({rows}, dtype), Tensor({rows}, dtype),
                                    1e-5};
          Tensor y = Tensor::like(x), dx = Tensor::like(x), dgain({13}, dtype), dbias({13}, dtype);
          kernels::norm_rows(norm, y);
          kernels::norm_rows_backward(norm, dy, dx, dgain, dbias);
          return output == 0 ? dx : output == 1 ? dgain : dbias;
        }));
      }
    }
  }
}

}  // namespace
}  // namespace lssm
