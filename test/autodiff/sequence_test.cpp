// SPDX-License-Identifier: Apache-2.0
// Values of the operations on parts of rows and on what came before in a sequence, by hand and in
// integers, so that they are exact.
#include "autodiff/ops.h"
#include "test/autodiff/op_cases.h"
#include "test/test.h"

namespace lssm {
namespace {

using testing::integers;
using Values = std::vector<double>;

Var leaf(Tape& tape, const Shape& shape, const Values& values) {
  return tape.leaf(Tensor::from_host(shape, values, DType::f64), true);
}

TEST_CASE("parts of rows: products, slices, scales and copies", "[op][sequence]") {
  Tape tape;
  const Var a = leaf(tape, {2, 2}, {1, 2, 3, 4}), b = leaf(tape, {2, 3}, {5, 6, 7, 0, -1, 2});
  CHECK(mul(a, a).value().to_host() == Values{1, 4, 9, 16});
  CHECK(outer_columns(a, b).value().to_host() == Values{5, 6, 7, 10, 12, 14, 0, -3, 6, 0, -4, 8});
  CHECK(slice_columns(b, 1, 2).value().to_host() == Values{6, 7, -1, 2});
  const Var x = leaf(tape, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(scale_components(x, a).value().to_host() == Values{1, 4, 3, 8, 15, 24, 21, 32});
  CHECK(scale_components(x, leaf(tape, {1, 2}, {10, -1})).value().to_host() ==
        Values{10, -2, 30, -4, 50, -6, 70, -8});
  const Var twice = repeat_heads(x, {1, -2});
  CHECK(twice.shape() == Shape({2, 2, 4}));
  CHECK(twice.value().to_host() == Values{1, -2, 2, -4, 3, -6, 4, -8,  //
                                          5, -10, 6, -12, 7, -14, 8, -16});
}

TEST_CASE("previous_states: the step before, what was carried, or h0", "[op][sequence]") {
  Tape tape;
  // Two sequences of three steps, one component, two heads.
  const Var h = leaf(tape, {2, 3, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Var own = leaf(tape, {2, 1, 2}, {-1, -2, -3, -4}), shared = leaf(tape, {1, 1, 2}, {50, 60});
  const Var carried = leaf(tape, {2, 1, 2}, {21, 22, 23, 24});
  const Tensor reset = integers({2, 3}, {0, 1, 0, 1, 0, 0});
  CHECK(previous_states(h, own, {}).value().to_host() ==
        Values{-1, -2, 1, 2, 3, 4, -3, -4, 7, 8, 9, 10});
  CHECK(previous_states(h, shared, {}).value().to_host() ==
        Values{50, 60, 1, 2, 3, 4, 50, 60, 7, 8, 9, 10});
  CHECK(previous_states(h, shared, {}, carried).value().to_host() ==
        Values{21, 22, 1, 2, 3, 4, 23, 24, 7, 8, 9, 10});
  const Var y = previous_states(h, shared, reset, carried);
  CHECK(y.value().to_host() == Values{21, 22, 50, 60, 3, 4, 50, 60, 7, 8, 9, 10});

  const Values dy = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  tape.backward({y}, {Tensor::from_host({2, 3, 1, 2}, dy, DType::f64)});
  CHECK(tape.grad(h).to_host() == Values{0, 0, 5, 6, 0, 0, 9, 10, 11, 12, 0, 0});
  CHECK(tape.grad(shared).to_host() == Values{3 + 7, 4 + 8});
  CHECK(tape.grad(carried).to_host() == Values{1, 2, 0, 0});
}

TEST_CASE("causal_conv: its own sums, by hand", "[op][sequence]") {
  Tape tape;
  // One sequence of four steps, two columns, three taps.
  const Var x = leaf(tape, {1, 4, 2}, {1, 5, 2, 6, 3, 7, 4, 8});
  const Var w = leaf(tape, {3, 2}, {1, 2, 10, 0, 100, -1}), bias = leaf(tape, {2}, {1000, 0});
  const Var y = causal_conv(x, w, bias, {});
  // First column: 1000 + x_t + 10 x_{t-1} + 100 x_{t-2}; second: 2 x_t - x_{t-2}.
  CHECK(y.value().to_host() == Values{1001, 10, 1012, 12, 1123, 14 - 5, 1234, 16 - 6});
  CHECK(last_inputs(x, 2, {}).value().to_host() == Values{3, 7, 4, 8});

  const Var carried = leaf(tape, {1, 2, 2}, {8, 1, 9, 2});  // x_{-2}, x_{-1}
  CHECK(causal_conv(x, w, bias, {}, carried).value().to_host() ==
        Values{1891, 10 - 1, 1912, 12 - 2, 1123, 9, 1234, 10});
  // A reset at step 1: it and later steps do not see x_0 or what was carried.
  const Tensor reset = integers({1, 4}, {0, 1, 0, 0});
  CHECK(causal_conv(x, w, bias, reset, carried).value().to_host() ==
        Values{1891, 9, 1002, 12, 1023, 14, 1234, 10});
  CHECK(last_inputs(x, 2, integers({1, 4}, {0, 0, 0, 1})).value().to_host() == Values{0, 0, 4, 8});

  // Column by column: dx_t = dy_t w_0 + dy_{t+1} w_1 + dy_{t+2} w_2, dw_j = sum of dy_t x_{t-j}.
  const Values dy = {1, 1, 2, 1, 3, 1, 4, 1};
  tape.backward({y}, {Tensor::from_host({1, 4, 2}, dy, DType::f64)});
  CHECK(tape.grad(x).to_host() == Values{321, 1, 432, 1, 43, 2, 4, 2});
  CHECK(tape.grad(w).to_host() == Values{1 + 4 + 9 + 16, 26, 2 + 6 + 12, 18, 3 + 8, 11});
  CHECK(tape.grad(bias).to_host() == Values{10, 4});
}

TEST_CASE("last_inputs: chunks shorter than what is carried, and resets", "[op][sequence]") {
  Tape tape;
  const Var carried = leaf(tape, {2, 3, 1}, {1, 2, 3, 4, 5, 6});
  const auto last = [&](int64_t length, const Values& x, const Values& reset) {
    const Tensor starts = reset.empty() ? Tensor() : integers({2, length}, reset);
    return last_inputs(leaf(tape, {2, length, 1}, x), 3, starts, carried).value().to_host();
  };
  CHECK(last(0, {}, {}) == Values{1, 2, 3, 4, 5, 6});
  CHECK(last(1, {7, 8}, {}) == Values{2, 3, 7, 5, 6, 8});
  CHECK(last(1, {7, 8}, {1, 0}) == Values{0, 0, 7, 5, 6, 8});
  CHECK(last(2, {7, 8, 9, 10}, {0, 1, 1, 0}) == Values{0, 0, 8, 0, 9, 10});
  CHECK(last_inputs(leaf(tape, {2, 1, 1}, {7, 8}), 3, {}).value().to_host() ==
        Values{0, 0, 7, 0, 0, 8});
}

TEST_CASE("a convolution in chunks is that of the whole, bit by bit", "[op][sequence]") {
  constexpr int64_t kSteps = 7, kWidth = 3;
  const Tensor x = testing::normal_numbers({1, kSteps, kWidth}, 1);
  const Tensor filter = testing::normal_numbers({4, kWidth}, 2);
  const Values numbers = x.to_host(), resets = {0, 0, 1, 0, 0, 1, 0};
  Tape tape;
  const Var w = tape.leaf(filter), bias = leaf(tape, {kWidth}, {1, 2, 3});
  const auto conv = [&](int64_t begin, int64_t end, bool reset, Var& carried) {
    const Values part(numbers.begin() + begin * kWidth, numbers.begin() + end * kWidth);
    const Var chunk = leaf(tape, {1, end - begin, kWidth}, part);
    const Values mask(resets.begin() + begin, resets.begin() + end);
    const Tensor starts = reset ? integers({1, end - begin}, mask) : Tensor();
    const Values y = causal_conv(chunk, w, bias, starts, carried).value().to_host();
    carried = last_inputs(chunk, 3, starts, carried);
    return y;
  };
  for (const bool reset : {false, true}) {
    Var end;
    const Values whole = conv(0, kSteps, reset, end);
    for (int64_t first = 0; first <= kSteps; ++first) {
      for (int64_t second = first; second <= kSteps; ++second) {
        INFO("chunks end at " << first << " and " << second << ", reset " << reset);
        Var carried;
        Values y = conv(0, first, reset, carried);
        for (const auto& [from, to] : {std::pair(first, second), std::pair(second, kSteps)}) {
          const Values more = conv(from, to, reset, carried);
          y.insert(y.end(), more.begin(), more.end());
        }
        CHECK(y == whole);
        CHECK(testing::same_bits(carried.value(), end.value()));
      }
    }
  }
}

TEST_CASE("operations on parts of rows and on the past refuse what does not fit",
          "[op][sequence]") {
  using Catch::Matchers::Contains;
  Tape tape;
  const auto x = [&](const Shape& shape) { return tape.leaf(Tensor::zeros(shape, DType::f64)); };
  CHECK_THAT(error_of([&] { mul(x({2, 3}), x({3, 2})); }), Contains("[2, 3] and [3, 2]"));
  CHECK_THAT(error_of([&] { outer_columns(x({2, 3}), x({3, 3})); }), Contains("[3, 3]"));
  CHECK_THAT(error_of([&] { slice_columns(x({2, 3}), 2, 2); }), Contains("2 to 4 of [2, 3]"));
  CHECK_THAT(error_of([&] { slice_columns(x({2, 3}), -1, 2); }), Contains("-1 to 1 of [2, 3]"));
  CHECK_THAT(error_of([&] { scale_components(x({2, 3, 4}), x({2, 3})); }), Contains("s [2, 3]"));
  CHECK_THAT(error_of([&] { repeat_heads(x({2, 3, 4}), {}); }), Contains("0 weights"));
  CHECK_THAT(error_of([&] { repeat_heads(x({2, 3, 4}), Values(17, 1)); }), Contains("17 weights"));
  CHECK_THAT(error_of([&] {
               previous_states(x({2, 3, 1, 2}), x({3, 1, 2}), {});
             }),
             Contains("h0 [3, 1, 2]"));
  CHECK_THAT(error_of([&] {
               previous_states(x({2, 3, 1, 2}), x({1, 1, 2}), integers({2}, {0, 0}));
             }),
             Contains("reset [2]"));
  CHECK_THAT(error_of([&] {
               previous_states(x({2, 3, 1, 2}), x({1, 1, 2}), {}, x({1, 1, 2}));
             }),
             Contains("carried [1, 1, 2]"));
  const auto conv = [&](const Shape& w, const Shape& bias, const Tensor& reset, Var carried) {
    return error_of([&] { causal_conv(x({2, 4, 3}), x(w), x(bias), reset, carried); });
  };
  CHECK_THAT(conv({3, 2}, {3}, {}, Var()), Contains("w [3, 2]"));
  CHECK_THAT(conv({0, 3}, {3}, {}, Var()), Contains("w [0, 3]"));
  CHECK_THAT(conv({3, 3}, {2}, {}, Var()), Contains("bias [2]"));
  CHECK_THAT(conv({3, 3}, {3}, integers({2}, {0, 0}), Var()), Contains("reset [2]"));
  CHECK_THAT(conv({3, 3}, {3}, {}, x({2, 3, 3})), Contains("carried [2, 3, 3]"));
}

}  // namespace
}  // namespace lssm
