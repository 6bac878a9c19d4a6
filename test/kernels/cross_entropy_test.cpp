// SPDX-License-Identifier: Apache-2.0
// Softmax cross-entropy and argmax of kernels/rows.h.
#include "kernels/rows.h"
#include "test/kernels/kernel_test_tools.h"
#include "test/test.h"

namespace lssm {
namespace {

using testing::integers;
using testing::integers_below;
using testing::kReal;
using testing::normal;
using testing::precision;
using testing::real;
using testing::small_integers;
using testing::worst;
using Values = std::vector<double>;
using Real = long double;

struct LossReference {
  Real loss = 0;
  std::vector<Real> dlogits;
};
LossReference loss_reference(const Values& x, const Values& target, const Values& mask,
                             size_t classes) {
  const size_t rows = target.size();
  LossReference r{0, std::vector<Real>(x.size(), 0)};
  Real count = 0;
  for (size_t row = 0; row < rows; ++row) count += mask[row] != 0;
  for (size_t row = 0; row < rows; ++row) {
    if (mask[row] == 0) continue;
    const double* in = &x[row * classes];
    const Real max = *std::max_element(in, in + classes);
    Real sum = 0;
    for (size_t i = 0; i < classes; ++i) sum += std::exp(in[i] - max);
    const auto label = size_t(target[row]);
    r.loss += (max + std::log(sum) - in[label]) / count;
    for (size_t i = 0; i < classes; ++i) {
      r.dlogits[row * classes + i] = (std::exp(in[i] - max) / sum - (i == label ? 1 : 0)) / count;
    }
  }
  return r;
}

// Checks the loss, with the gradient and without.
void check_loss(const Tensor& logits, const Tensor& target, const Tensor& mask, double tolerance) {
  const DType dtype = logits.dtype();
  const Values counted = mask ? mask.to_host() : Values(size_t(target.numel()), 1);
  const LossReference r =
      loss_reference(logits.to_host(), target.to_host(), counted, size_t(logits.dim(1)));
  Tensor loss({1}, dtype), dlogits = Tensor::like(logits), none;
  kernels::cross_entropy(logits, target, mask, loss, dlogits);
  const double expected = double(r.loss);
  CHECK(std::abs(loss.item() - expected) <= tolerance * std::max(1.0, std::abs(expected)));
  // p - 1 cancels for a sure and right row, so the gradient is exact to a share of 1 / count.
  const auto count =
      double(std::count_if(counted.begin(), counted.end(), [](double m) { return m != 0; }));
  CHECK(worst(dlogits, r.dlogits, 1 / std::max(count, 1.0)) <= tolerance);

  Tensor only_loss({1}, dtype);
  kernels::cross_entropy(logits, target, mask, only_loss, none);
  CHECK(testing::same_bits(only_loss, loss));
}

TEST_CASE("cross_entropy matches long double", "[rows]") {
  for (const DType dtype : kReal) {
    for (const int64_t rows : {1, 2, 127, 129, 1025}) {
      for (const int64_t classes : {1, 2, 7, 8, 16, 17, 60, 120}) {
        INFO(dtype_name(dtype) << " rows " << rows << ", classes " << classes);
        const Tensor logits = normal({rows, classes}, 1, dtype, 4);
        const Tensor target = integers_below(uint32_t(classes), rows, 2);
        check_loss(logits, target, Tensor(), 10 * precision(dtype));
        check_loss(logits, target, integers_below(2, rows, 3), 10 * precision(dtype));
      }
    }
  }
}

TEST_CASE("cross_entropy survives huge logits", "[rows]") {
  for (const DType dtype : kReal) {
    // Sure and right, sure and wrong, ties of huge numbers, all alike. Differences are exact.
    const Tensor logits = real({6, 3},
                               {1e4, -1e4, 0, -1e4, 1e4, 0, 1e4, 1e4, 1e4, -1e4, -1e4, -1e4, 1e4,
                                1e4, -1e4, 1e30, 0, -1e30},
                               dtype);
    check_loss(logits, integers({0, 0, 2, 1, 1, 0}), Tensor(), 10 * precision(dtype));
    Tensor loss({1}, dtype), none;
    kernels::cross_entropy(real({1, 2}, {-1e4, 1e4}, dtype), integers({0}), Tensor(), loss, none);
    CHECK(loss.item() == 20000);
    kernels::cross_entropy(real({1, 2}, {-1e4, 1e4}, dtype), integers({1}), Tensor(), loss, none);
    CHECK(loss.item() == 0);
    kernels::cross_entropy(real({2, 4}, Values(8, 1e4), dtype), integers({0, 3}), Tensor(), loss,
                           none);
    CHECK(loss.item() == Approx(std::log(4.0)).epsilon(precision(dtype)));
  }
}

TEST_CASE("exp inside the f32 softmax is right over its whole range", "[rows]") {
  // Two classes: the loss of the larger is log(1 + exp(-d)), its gradient -1 / (1 + exp(d)).
  for (int i = 0; i <= 2000; ++i) {
    const float d = 0.05f * float(i);
    const Tensor logits = real({1, 2}, {0, -double(d)}, DType::f32);
    Tensor loss({1}, DType::f32), dlogits = Tensor::like(logits);
    kernels::cross_entropy(logits, integers({0}), Tensor(), loss, dlogits);
    const double e = std::exp(-double(d));
    INFO(d);
    REQUIRE(std::abs(dlogits.to_host()[1] - e / (1 + e)) <= 5e-7 * e / (1 + e) + 1e-37);
    REQUIRE(std::abs(loss.item() - std::log1p(e)) <= 2e-7);
  }
}

TEST_CASE("cross_entropy of no rows, and of none that count, is 0 with gradient 0", "[rows]") {
  for (const DType dtype : kReal) {
    Tensor loss({1}, dtype);
    const Tensor logits = normal({3, 5}, 1, dtype);
    Tensor dlogits = Tensor::like(logits), empty({0, 5}, dtype);
    kernels::cross_entropy(logits, integers({0, 1, 2}), integers({0, 0, 0}), loss, dlogits);
    CHECK(loss.item() == 0);
    CHECK(dlogits.to_host() == Values(15, 0));
    kernels::cross_entropy(Tensor({0, 5}, dtype), integers({}), Tensor(), loss, empty);
    CHECK(loss.item() == 0);
  }
}

TEST_CASE("masked rows have no part in loss and gradient, whatever they hold", "[rows]") {
  for (const DType dtype : kReal) {
    const Values row = normal({1, 5}, 2, dtype).to_host();
    Values both = row;
    both.insert(both.end(), {INFINITY, std::nan(""), 1e30, -INFINITY, 0});
    Tensor alone({1}, dtype), masked({1}, dtype), dalone({1, 5}, dtype), dmasked({2, 5}, dtype);
    kernels::cross_entropy(real({1, 5}, row, dtype), integers({3}), Tensor(), alone, dalone);
    kernels::cross_entropy(real({2, 5}, both, dtype), integers({3, 1}), integers({7, 0}), masked,
                           dmasked);
    CHECK(testing::same_bits(alone, masked));
    Values expected = dalone.to_host();
    expected.resize(10, 0.0);
    CHECK(dmasked.to_host() == expected);
  }
}

TEST_CASE("cross_entropy does not swallow a NaN or an infinity", "[rows]") {
  for (const DType dtype : kReal) {
    for (const int64_t classes : {3, 16, 19}) {
      for (int64_t place = 0; place < classes; ++place) {
        for (const double bad : {std::nan(""), double(INFINITY)}) {
          Values x(size_t(classes), 0.5);
          x[size_t(place)] = bad;
          Tensor loss({1}, dtype), none;
          kernels::cross_entropy(real({1, classes}, x, dtype), integers({1}), Tensor(), loss, none);
          INFO(dtype_name(dtype) << " " << classes << " classes, " << bad << " at " << place);
          CHECK(!std::isfinite(loss.item()));
        }
      }
    }
  }
}

TEST_CASE("the gradient of cross_entropy sums to 0 in each row", "[rows]") {
  const Tensor logits = normal({40, 17}, 5, DType::f64, 3);
  Tensor loss({1}, DType::f64), dlogits = Tensor::like(logits);
  kernels::cross_entropy(logits, integers_below(17, 40, 6), Tensor(), loss, dlogits);
  const Values g = dlogits.to_host();
  for (size_t row = 0; row < 40; ++row) {
    double sum = 0;
    for (size_t i = 0; i < 17; ++i) sum += g[row * 17 + i];
    CHECK(std::abs(sum) < 1e-16);
  }
}

TEST_CASE("argmax_rows takes the first of equals", "[rows]") {
  for (const DType dtype : kReal) {
    const Tensor logits = real(
        {6, 3}, {1, 2, 2, 0, 0, 0, -5, -7, -5, 3, 1, 2, -1e30, -1e30, -1e29, -0.0, 0.0, -1}, dtype);
    Tensor out({6}, DType::i32);
    kernels::argmax_rows(logits, out);
    CHECK(out.to_host() == Values{1, 0, 0, 0, 2, 0});
    for (const int64_t classes : {1, 15, 16, 17, 100}) {
      for (const int64_t rows : {1, 129, 1025}) {
        const Tensor x = small_integers({rows, classes}, 1, dtype, 3);  // many ties
        Tensor best({rows}, DType::i32);
        kernels::argmax_rows(x, best);
        const Values values = x.to_host();
        for (int64_t r = 0; r < rows; ++r) {
          const auto first = values.begin() + r * classes;
          REQUIRE(best.to_host()[size_t(r)] ==
                  double(std::max_element(first, first + classes) - first));
        }
      }
    }
  }
}

TEST_CASE("cross_entropy has the same bits for any number of threads", "[rows]") {
  for (const DType dtype : kReal) {
    for (const int64_t rows : {129, 1025, 3000}) {
      const Tensor x = normal({rows, 13}, 1, dtype);
      const Tensor target = integers_below(13, rows, 5), mask = integers_below(2, rows, 6);
      for (const bool want_loss : {true, false}) {
        CHECK(testing::same_for_any_threads([&] {
          Tensor loss({1}, dtype), dlogits = Tensor::like(x);
          kernels::cross_entropy(x, target, mask, loss, dlogits);
          return want_loss ? loss : dlogits;
        }));
      }
    }
  }
}

}  // namespace
}  // namespace lssm
