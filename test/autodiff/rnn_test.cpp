// SPDX-License-Identifier: Apache-2.0
// gru() and lstm() against loops that say their equations again, and against states that can be
// told without a computer.
#include <cmath>

#include "autodiff/ops.h"
#include "test/autodiff/op_cases.h"
#include "test/test.h"

namespace lssm {
namespace {

using Catch::Matchers::Contains;
using testing::integers;
using testing::normal_numbers;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Inputs of a recurrence of width n, as the tests write them; the batch is that of `gates`.
struct Inputs {
  Tensor gates, u, bias, h0, reset, carried;
};

Tensor run(const Inputs& in, DType dtype = DType::f64, bool with_gradients = true) {
  Tape tape(with_gradients);
  const auto leaf = [&](const Tensor& x) {
    return x ? tape.leaf(Tensor::from_host(x.shape(), x.to_host(), dtype), with_gradients) : Var();
  };
  const Var gates = leaf(in.gates), u = leaf(in.u), bias = leaf(in.bias), h0 = leaf(in.h0);
  const Var carried = leaf(in.carried);
  const Var h = in.gates.dim(2) == 3 ? gru(gates, u, bias, h0, in.reset, carried)
                                     : lstm(gates, u, h0, in.reset, carried);
  return h.value();
}

// States [batch, length, parts, n] by the equations of PyTorch's nn.GRU and nn.LSTM, one number
// after the other.
std::vector<double> reference(const Inputs& in) {
  const int64_t batch = in.gates.dim(0), length = in.gates.dim(1), g = in.gates.dim(2);
  const int64_t n = in.gates.dim(3), parts = in.h0.dim(1);
  const std::vector<double> gates = in.gates.to_host(), u = in.u.to_host(), h0 = in.h0.to_host();
  const std::vector<double> bias = in.bias ? in.bias.to_host() : std::vector<double>(g * n, 0.0);
  std::vector<double> out;
  for (int64_t row = 0; row < batch; ++row) {
    const auto start = h0.begin() + (in.h0.dim(0) == 1 ? 0 : row * parts * n);
    std::vector<double> state(start, start + parts * n);
    if (in.carried) {
      const std::vector<double> all = in.carried.to_host();
      state.assign(all.begin() + row * parts * n, all.begin() + (row + 1) * parts * n);
    }
    for (int64_t t = 0; t < length; ++t) {
      if (in.reset && in.reset.data<int32_t>()[row * length + t])
        state.assign(start, start + parts * n);
      const std::vector<double> before = state;
      for (int64_t j = 0; j < n; ++j) {
        std::vector<double> a, p;
        for (int64_t k = 0; k < g; ++k) {
          a.push_back(gates[size_t(((row * length + t) * g + k) * n + j)]);
          double product = bias[size_t(k * n + j)];
          for (int64_t i = 0; i < n; ++i)
            product += before[size_t(i)] * u[size_t((i * g + k) * n + j)];
          p.push_back(product);
        }
        if (g == 3) {
          const double r = sigmoid(a[0] + p[0]), z = sigmoid(a[1] + p[1]);
          state[size_t(j)] = (1 - z) * std::tanh(a[2] + r * p[2]) + z * before[size_t(j)];
        } else {
          const double c = sigmoid(a[1] + p[1]) * before[size_t(n + j)] +
                           sigmoid(a[0] + p[0]) * std::tanh(a[2] + p[2]);
          state[size_t(n + j)] = c;
          state[size_t(j)] = sigmoid(a[3] + p[3]) * std::tanh(c);
        }
      }
      out.insert(out.end(), state.begin(), state.end());
    }
  }
  return out;
}

Inputs random_inputs(int64_t gates, int64_t batch, int64_t length, int64_t n) {
  const int64_t parts = gates == 3 ? 1 : 2;
  Inputs in = {normal_numbers({batch, length, gates, n}, 1),
               normal_numbers({n, gates * n}, 2),
               gates == 3 ? normal_numbers({gates * n}, 3) : Tensor(),
               normal_numbers({batch, parts, n}, 4),
               Tensor(),
               Tensor()};
  return in;
}

// Gates that are the same at every step and in every unit.
Tensor constant_gates(const std::vector<double>& values, int64_t length, int64_t n) {
  std::vector<double> all;
  for (int64_t t = 0; t < length; ++t)
    for (double x : values) all.insert(all.end(), size_t(n), x);
  return Tensor::from_host({1, length, int64_t(values.size()), n}, all, DType::f64);
}

Tensor numbers(const Shape& shape, const std::vector<double>& values) {
  return Tensor::from_host(shape, values, DType::f64);
}

constexpr double kOpen = 40;  // sigmoid and tanh of it are 1, in f64 as in f32

}  // namespace

TEST_CASE("gru and lstm follow their equations", "[rnn]") {
  for (const int64_t gates : {3, 4}) {
    for (const bool shared : {false, true}) {
      for (const bool restart : {false, true}) {
        for (const bool carry : {false, true}) {
          INFO(gates << " gates, shared h0 " << shared << ", reset " << restart << ", carried "
                     << carry);
          Inputs in = random_inputs(gates, 3, 5, 4);
          if (shared) in.h0 = normal_numbers({1, in.h0.dim(1), 4}, 5);
          if (restart) in.reset = integers({3, 5}, {1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0});
          if (carry) in.carried = normal_numbers({3, in.h0.dim(1), 4}, 6);
          const Tensor expected = numbers({3, 5, in.h0.dim(1), 4}, reference(in));
          CHECK(testing::relative_difference(expected, run(in)) < 1e-14);
          CHECK(testing::relative_difference(expected, run(in, DType::f32)) < 1e-5);
        }
      }
    }
  }
}

TEST_CASE("without gates and weights states are halved", "[rnn]") {
  // sigmoid(0) = 1/2 and tanh(0) = 0.
  Inputs in = {constant_gates({0, 0, 0}, 3, 2),
               Tensor::zeros({2, 6}, DType::f64),
               Tensor(),
               numbers({1, 1, 2}, {8, -24}),
               Tensor(),
               Tensor()};
  CHECK(run(in).to_host() == std::vector<double>{4, -12, 2, -6, 1, -3});
  in = {constant_gates({0, 0, 0, 0}, 2, 1),
        Tensor::zeros({1, 4}, DType::f64),
        Tensor(),
        numbers({1, 2, 1}, {5, 1}),
        Tensor(),
        Tensor()};
  const std::vector<double> states = run(in).to_host();
  CHECK(states[0] == Approx(std::tanh(0.5) / 2).epsilon(1e-15));
  CHECK(states[1] == 0.5);
  CHECK(states[2] == Approx(std::tanh(0.25) / 2).epsilon(1e-15));
  CHECK(states[3] == 0.25);
}

TEST_CASE("the reset gate of gru acts on the product and its bias", "[rnn]") {
  // r = 1/2, z = 0: h = tanh(a_n + (u_n h + bias_n) / 2) = tanh(1 + (3 * 2 - 10) / 2).
  Inputs in = {constant_gates({0, -800, 1}, 1, 1),
               numbers({1, 3}, {0, 0, 3}),
               numbers({3}, {0, 0, -10}),
               numbers({1, 1, 1}, {2}),
               Tensor(),
               Tensor()};
  CHECK(run(in).item() == Approx(std::tanh(-1.0)).epsilon(1e-15));
}

TEST_CASE("a gru turns a register of signs", "[rnn]") {
  // r = 1, z = 0 and u_n carries unit i to unit i + 1: at every step the signs move on by one.
  constexpr int64_t n = 5, length = 7;
  std::vector<double> u(n * 3 * n);
  for (int64_t i = 0; i < n; ++i) u[size_t(i * 3 * n + 2 * n + (i + 1) % n)] = kOpen;
  const std::vector<double> signs = {1, 1, -1, 1, -1};
  const Inputs in = {constant_gates({kOpen, -800, 0}, length, n),
                     numbers({n, 3 * n}, u),
                     Tensor(),
                     numbers({1, 1, n}, signs),
                     Tensor(),
                     Tensor()};
  for (const DType dtype : {DType::f64, DType::f32}) {
    const std::vector<double> states = run(in, dtype).to_host();
    for (int64_t t = 0; t < length; ++t)
      for (int64_t i = 0; i < n; ++i)
        CHECK(states[size_t(t * n + (i + t + 1) % n)] == signs[size_t(i)]);
  }
}

TEST_CASE("an lstm counts its steps", "[rnn]") {
  // All gates are open and g = 1, so c_t = c_0 + t. With f shut c_t = 1, with i shut it stays.
  const auto cells = [](const std::vector<double>& gates, DType dtype) {
    const Inputs in = {constant_gates(gates, 3, 1),
                       Tensor::zeros({1, 4}, DType::f64),
                       Tensor(),
                       numbers({1, 2, 1}, {9, -2}),
                       Tensor(),
                       Tensor()};
    const std::vector<double> states = run(in, dtype).to_host();
    return std::vector<double>{states[1], states[3], states[5]};
  };
  for (const DType dtype : {DType::f64, DType::f32}) {
    CHECK(cells({kOpen, kOpen, kOpen, 0}, dtype) == std::vector<double>{-1, 0, 1});
    CHECK(cells({kOpen, -800, kOpen, 0}, dtype) == std::vector<double>{1, 1, 1});
    CHECK(cells({-800, kOpen, kOpen, 0}, dtype) == std::vector<double>{-2, -2, -2});
    CHECK(cells({kOpen, kOpen, -kOpen, 0}, dtype) == std::vector<double>{-3, -4, -5});
  }
}

TEST_CASE("states are the same where no gradient is wanted", "[rnn]") {
  for (const int64_t gates : {3, 4}) {
    const Inputs in = random_inputs(gates, 3, 5, 4);
    CHECK(testing::same_bits(run(in), run(in, DType::f64, false)));
  }
}

TEST_CASE("gru and lstm name what does not fit", "[rnn]") {
  const auto error = [](int64_t gates, auto change) {
    Inputs in = random_inputs(gates, 2, 3, 4);
    change(in);
    return error_of([&] { run(in); });
  };
  CHECK_THAT(error(3,
                   [](Inputs& in) {
                     in.u = normal_numbers({4, 4}, 1);
                   }),
             Contains("gru: u [4, 4], expected [4, 12]"));
  CHECK_THAT(error(3, [](Inputs& in) { in.bias = normal_numbers({4}, 1); }),
             Contains("gru: bias [4], expected [12]"));
  CHECK_THAT(error(4,
                   [](Inputs& in) {
                     in.h0 = normal_numbers({1, 1, 4}, 1);
                   }),
             Contains("lstm: h0 [1, 1, 4], expected [2, 2, 4] or one row of it"));
  CHECK_THAT(error(4, [](Inputs& in) { in.reset = integers({1}, {0}); }),
             Contains("lstm: reset [1], expected [2, 3]"));
  CHECK_THAT(error(4,
                   [](Inputs& in) {
                     in.carried = normal_numbers({1, 2, 4}, 1);
                   }),
             Contains("lstm: carried [1, 2, 4], expected [2, 2, 4]"));
  CHECK_THAT(error(4,
                   [](Inputs& in) {
                     in.gates = normal_numbers({2, 3, 16}, 1);
                   }),
             Contains("lstm: gates [2, 3, 16], expected [batch, length, 4, width]"));
}

}  // namespace lssm
