// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "test/layers/layer_cases.h"
#include "test/test.h"

using namespace lssm;
using namespace lssm::test;

namespace {

constexpr int64_t kBatch = 40, kLength = 50;

// An embedding and nothing but dropout: outputs are rows of the table with some numbers set to 0.
std::string model_with(const std::string& dropouts) {
  return R"([{"type": "embedding", "width": 3}, )" + dropouts + "]";
}

double share_of_zeros(const std::vector<double>& x) {
  double zeros = 0;
  for (double v : x) zeros += v == 0;
  return zeros / double(x.size());
}

// Six standard deviations of the share among n coins.
double sampling_error(double p, size_t n) { return 6 * std::sqrt(p * (1 - p) / double(n)); }

}  // namespace

TEST_CASE("dropout is the identity in evaluation", "[layers]") {
  const Tensor tokens = random_tokens(kBatch, kLength);
  TestModel with(model_with(R"({"type": "dropout", "rate": 0.3})"));
  TestModel without(R"([{"type": "embedding", "width": 3}])");
  CHECK(difference(run(with.model, tokens), run(without.model, tokens)) == 0);
  CHECK(difference(run(with.model, tokens), run(with.model, tokens, {.training = true})) > 0.1);

  TestModel rate_0(model_with(R"({"type": "dropout", "rate": 0})"));
  CHECK(difference(run(rate_0.model, tokens, {.training = true}), run(without.model, tokens)) == 0);
}

TEST_CASE("dropout sets its share to 0 and scales up the rest", "[layers]") {
  const Tensor tokens = random_tokens(kBatch, kLength);
  for (double rate : {0.1, 0.5, 0.9}) {
    INFO(rate);
    TestModel test(model_with(text(R"({"type": "dropout", "rate": )", rate, "}")));
    const std::vector<double> kept = run(test.model, tokens).outputs;
    const std::vector<double> dropped = run(test.model, tokens, {.training = true}).outputs;
    CHECK(std::abs(share_of_zeros(dropped) - rate) < sampling_error(rate, dropped.size()));
    double worst = 0;
    for (size_t i = 0; i < kept.size(); ++i)
      if (dropped[i] != 0) worst = std::max(worst, std::abs(dropped[i] - kept[i] / (1 - rate)));
    CHECK(worst < 1e-12);
  }
}

TEST_CASE("the coins of dropout differ by draw, site and position", "[layers]") {
  const Tensor tokens = Tensor::zeros({kBatch, kLength}, DType::i32);  // the same row everywhere
  const std::string half = R"({"type": "dropout", "rate": 0.5})";
  TestModel test(model_with(half));
  const auto draw = [&](uint32_t n) {
    return run(test.model, tokens, {.training = true, .draw = n}).outputs;
  };
  const std::vector<double> a = draw(1), b = draw(2);
  CHECK(a == draw(1));
  std::vector<double> product(a.size());
  for (size_t i = 0; i < a.size(); ++i) product[i] = a[i] * b[i];
  CHECK(std::abs(share_of_zeros(product) - 0.75) < sampling_error(0.75, a.size()));

  TestModel twice(model_with(half + ", " + half));  // kept by both: one quarter
  const std::vector<double> both = run(twice.model, tokens, {.training = true}).outputs;
  CHECK(std::abs(share_of_zeros(both) - 0.75) < sampling_error(0.75, both.size()));

  // Neighbouring positions of one number, and neighbouring numbers of one position.
  for (size_t lag : {size_t(1), size_t(kOutputs), size_t(kLength * kOutputs)}) {
    std::vector<double> pairs;
    for (size_t i = 0; i + lag < a.size(); ++i) pairs.push_back(a[i] * a[i + lag]);
    CHECK(std::abs(share_of_zeros(pairs) - 0.75) < 2 * sampling_error(0.75, pairs.size()));
  }
}
