// SPDX-License-Identifier: Apache-2.0
#include "autodiff/tape.h"

#include <cmath>
#include <limits>

#include "autodiff/grad_check.h"
#include "autodiff/ops.h"
#include "autodiff/parameters.h"
#include "test/test.h"

namespace lssm {
namespace {

using Values = std::vector<double>;

Tensor numbers(const Shape& shape, const Values& values) {
  return Tensor::from_host(shape, values, DType::f64);
}

// y = factor x, with `gradient` as its (possibly wrong) derivative.
Var multiply(Var x, double factor, double gradient) {
  Tape& tape = *x.tape;
  Values y = x.value().to_host();
  for (double& v : y) v *= factor;
  return tape.record("multiply", numbers(x.shape(), y), {x},
                     [&tape, x, gradient](const Tensor& dy) {
                       Values dx = dy.to_host();
                       for (double& v : dx) v *= gradient;
                       tape.add_grad(x, numbers(dy.shape(), dx));
                     });
}

TEST_CASE("gradients over several ways are added", "[tape]") {
  Tape tape;
  const Var x = tape.leaf(numbers({2}, {1, 2}), true);
  const Var y = multiply(x, 3, 3), z = multiply(x, 5, 5);
  tape.backward({add(add(y, z), y)}, {numbers({2}, {1, 10})});  // 2 * 3 + 5
  CHECK(tape.grad(x).to_host() == Values{11, 110});
}

TEST_CASE("a chain of diamonds doubles the gradient at each", "[tape]") {
  Tape tape;
  const Var x = tape.leaf(numbers({1}, {1}), true);
  Var y = x;
  for (int i = 0; i < 40; ++i) y = add(y, y);
  tape.backward(y);
  CHECK(tape.grad(x).item() == std::ldexp(1.0, 40));
}

TEST_CASE("shared buffers are never written into", "[tape]") {
  Tape tape;
  const Tensor seed = numbers({2}, {1, 1}), value = numbers({2}, {5, 6});
  const Var x = tape.leaf(value, true), y = tape.leaf(value, true), z = tape.leaf(value, true);
  // One tensor is seed of two outputs and first gradient of all leaves.
  const Var first = add(x, y), second = add(add(reshape(x, {2}), z), z);
  tape.backward({first, second, x}, {seed, seed, seed});
  CHECK(seed.to_host() == Values{1, 1});
  CHECK(value.to_host() == Values{5, 6});
  CHECK(tape.grad(x).to_host() == Values{3, 3});
  CHECK(tape.grad(y).to_host() == Values{1, 1});
  CHECK(tape.grad(z).to_host() == Values{2, 2});
}

TEST_CASE("gradients of a parameter add up over uses and over passes", "[tape]") {
  ParameterStore store(1, DType::f64, Device::cpu);
  Parameter& w = store.add("w", {2}, init::constant(2));
  for (int pass = 1; pass <= 3; ++pass) {
    Tape tape;
    const Var a = tape.parameter(w), b = tape.parameter(w);
    const Tensor seed = numbers({2}, {1, -1});
    tape.backward({add(a, b), multiply(a, 3, 3)}, {seed, seed});
    CHECK(w.grad.to_host() == Values{5.0 * pass, -5.0 * pass});
    CHECK(seed.to_host() == Values{1, -1});
  }
  store.zero_grad();
  CHECK(!w.grad);
  CHECK(w.value.to_host() == Values{2, 2});
}

TEST_CASE("seeds of several outputs, also of one that others use", "[tape]") {
  Tape tape;
  const Var x = tape.leaf(numbers({1}, {7}), true);
  const Var y = multiply(x, 2, 2), z = multiply(y, 10, 10);
  tape.backward({z, y}, {numbers({1}, {1}), numbers({1}, {3})});
  CHECK(tape.grad(x).item() == 2 * (10 + 3));
  CHECK_THROWS_AS(tape.backward({x}, {}), Error);
  CHECK_THROWS_AS(tape.backward(std::vector<Var>{}, {}), Error);
}

TEST_CASE("a leaf that nothing reaches has gradient zero", "[tape]") {
  Tape tape;
  const Var x = tape.leaf(numbers({2}, {1, 2}), true),
            unused = tape.leaf(numbers({3}, {1, 1, 1}), true);
  const Var fixed = tape.leaf(numbers({2}, {1, 2}));
  tape.backward({add(x, fixed)}, {numbers({2}, {1, 1})});
  CHECK(tape.grad(unused).to_host() == Values{0, 0, 0});
  CHECK(tape.grad(fixed).to_host() == Values{0, 0});
}

TEST_CASE("the loss must be one number", "[tape]") {
  Tape tape;
  const Var x = tape.leaf(numbers({2}, {1, 2}), true);
  CHECK_THAT(error_of([&] { tape.backward(x); }),
             Catch::Matchers::Contains("one number") && Catch::Matchers::Contains("[2]"));
}

TEST_CASE("a gradient of another shape or dtype is refused", "[tape]") {
  Tape tape;
  const Var x = tape.leaf(numbers({2}, {1, 2}), true);
  CHECK_THROWS_AS(tape.add_grad(x, numbers({3}, {1, 2, 3})), Error);
  CHECK_THROWS_AS(tape.add_grad(x, Tensor::zeros({2}, DType::f32)), Error);
  Tape other;
  const Var y = other.leaf(numbers({2}, {1, 2}), true);
  CHECK_THAT(error_of([&] { add(x, y); }), Catch::Matchers::Contains("different tapes"));
}

TEST_CASE("backward frees values as it goes, leaves keep theirs", "[tape]") {
  Tape tape;
  const Var x = tape.leaf(numbers({64, 1024}, Values(64 * 1024, 1.0)), true);
  Var y = x;
  for (int i = 0; i < 8; ++i) y = activation(kernels::Activation::tanh, y);
  const size_t before = Pool::of(Device::cpu).bytes_in_use();
  tape.backward({y}, {numbers({64, 1024}, Values(64 * 1024, 1.0))});
  const size_t value = 64 * 1024 * sizeof(double);
  CHECK(Pool::of(Device::cpu).bytes_in_use() == before - 8 * value + value);  // one gradient stays
  CHECK(x.value().numel() == 64 * 1024);
}

TEST_CASE("a tape without gradients keeps nothing", "[tape]") {
  ParameterStore store(1, DType::f64, Device::cpu);
  Parameter& w = store.add("w", {3, 3}, init::normal(1));
  int runs = 0;
  const auto record = [&runs](Tape& tape, Var x, Tensor saved) {
    return tape.record("probe", x.value(), {x}, [&runs, saved](const Tensor&) { ++runs; });
  };
  const Tensor saved = numbers({1}, {1});
  {
    Tape tape(false);
    const Var p = tape.parameter(w);
    CHECK(!tape.needs_grad(p));
    const Var y = record(tape, p, saved);
    CHECK(!tape.needs_grad(y));
    CHECK(saved.unique());  // the closure is gone, and what it had saved
    tape.backward({y}, {numbers({3, 3}, Values(9, 1.0))});
    CHECK(!w.grad);
    CHECK(runs == 0);
    CHECK(!tape.needs_grad(tape.leaf(saved, true)));
  }
  Tape tape(true);
  const Var y = record(tape, tape.parameter(w), saved);
  CHECK(!saved.unique());
  tape.backward({y}, {numbers({3, 3}, Values(9, 1.0))});
  CHECK(runs == 1);
  CHECK(saved.unique());
}

TEST_CASE("reset gives back all that was recorded, before and after backward", "[tape]") {
  const Tensor x = numbers({2}, {1, 2});
  const size_t before = Pool::of(Device::cpu).bytes_in_use();
  Tape tape;
  for (const bool run : {false, true}) {
    const Var y = activation(kernels::Activation::tanh, tape.leaf(x, true));
    if (run) tape.backward({y}, {x});
    CHECK(Pool::of(Device::cpu).bytes_in_use() > before);
    tape.reset();
    CHECK(Pool::of(Device::cpu).bytes_in_use() == before);
    CHECK(x.unique());
  }
}

TEST_CASE("more closures than the arena's first block are fine", "[tape]") {
  const Tensor x = numbers({1}, {0.5});
  Tape tape;
  for (int round = 0; round < 2; ++round) {
    const Var leaf = tape.leaf(x, true);
    Var y = leaf;
    for (int i = 0; i < 20000; ++i) y = multiply(y, -1, -1);
    tape.backward(y);
    CHECK(tape.grad(leaf).item() == 1);
    tape.reset();
  }
}

TEST_CASE("check_finite names the operation of the first bad value", "[tape]") {
  using Catch::Matchers::Contains;
  const double inf = std::numeric_limits<double>::infinity();
  for (const double bad : {inf, -inf, std::nan("")}) {
    const Tensor x = numbers({2}, {1, 2});
    const size_t before = Pool::of(Device::cpu).bytes_in_use();
    Tape tape;
    tape.set_check_finite(true);
    const Var leaf = tape.leaf(x, true);
    const Var y = multiply(leaf, 2, 2);
    const std::string message = error_of([&] { multiply(y, bad, 1); });
    CHECK_THAT(message, Contains("value of \"multiply\"") && Contains("operation 2") &&
                            Contains("position 0"));
    CHECK_THAT(error_of([&] {
                 tape.leaf(numbers({2}, {0, bad}));
               }),
               Contains("value of \"leaf\"") && Contains("position 1"));
    tape.reset();
    CHECK(Pool::of(Device::cpu).bytes_in_use() == before);  // nor did the error lose memory
  }
}

TEST_CASE("check_finite names the operation of the first bad gradient", "[tape]") {
  using Catch::Matchers::Contains;
  Tape tape;
  tape.set_check_finite(true);
  const Var x = tape.leaf(numbers({2}, {1, 2}), true);     // operation 0
  const Var y = activation(kernels::Activation::tanh, x);  // operation 1, receives the NaN
  const Var z = multiply(y, 2, std::nan(""));              // operation 2, makes it
  const Var last = add(z, z);
  const std::string message = error_of([&] { tape.backward({last}, {numbers({2}, {1, 1})}); });
  CHECK_THAT(message, Contains("gradient of \"activation\"") && Contains("operation 1"));
  tape.reset();

  ParameterStore store(1, DType::f64, Device::cpu);
  const Var w = tape.parameter(store.add("layers.1.weight", {2}, init::constant(1)));
  const Var bad = multiply(w, 1, INFINITY);
  CHECK_THAT(error_of([&] {
               tape.backward({bad}, {numbers({2}, {1, 1})});
             }),
             Contains("gradient of \"layers.1.weight\""));
}

TEST_CASE("check_finite kinds: the error is a numeric one, and integers are not numbers",
          "[tape]") {
  Tape tape;
  tape.set_check_finite(true);
  tape.leaf(Tensor::from_host({2}, {1, 2}, DType::i32));
  try {
    tape.leaf(numbers({1}, {INFINITY}));
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == Error::Kind::numeric);
  }
}

TEST_CASE("check_operation accepts a right gradient and measures a wrong one", "[grad]") {
  const Tensor x = numbers({3}, {0.3, -0.7, 1.1});
  const auto with_gradient = [](double gradient) -> OpFunction {
    return [gradient](Tape&, const std::vector<Var>& v) {
      return std::vector<Var>{multiply(v[0], 4, gradient)};
    };
  };
  CHECK(check_operation(with_gradient(4), {x}).error < 1e-10);
  const GradError wrong = check_operation(with_gradient(5), {x});
  CHECK(wrong.error == Approx(0.2).epsilon(1e-6));  // |5 - 4| / 5
  CHECK(wrong.tape == Approx(wrong.numeric * 5 / 4).epsilon(1e-6));
  CHECK(check_operation(with_gradient(4 * (1 + 2e-6)), {x}).error > 1e-6);  // the promised bound
  CHECK(check_operation(with_gradient(0), {x}).error == Approx(1).epsilon(1e-6));
  CHECK(!(check_operation(with_gradient(std::nan("")), {x}).error <= 1));
  CHECK(x.to_host() == Values{0.3, -0.7, 1.1});  // restored
}

TEST_CASE("check_operation finds one wrong entry of one input", "[grad]") {
  const OpFunction op = [](Tape& tape, const std::vector<Var>& v) {
    const Var a = v[0], b = v[1];
    Values y = a.value().to_host();
    return std::vector<Var>{
        tape.record("planted", numbers(a.shape(), y), {a, b}, [&tape, a, b](const Tensor& dy) {
          Values da = dy.to_host();
          da[4] *= 1.01;
          tape.add_grad(a, numbers(dy.shape(), da));
        })};
  };
  const GradError worst =
      check_operation(op, {numbers({5}, {1, 2, 3, 4, 5}), numbers({5}, {1, 2, 3, 4, 5})});
  CHECK(worst.name == "input 0");
  CHECK(worst.position == 4);
  CHECK(worst.error > 1e-3);
}

}  // namespace
}  // namespace lssm
