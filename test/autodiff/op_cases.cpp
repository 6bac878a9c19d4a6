// SPDX-License-Identifier: Apache-2.0
#include "test/autodiff/op_cases.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "autodiff/ops.h"
#include "core/random.h"

namespace lssm::testing {
namespace {

using kernels::Activation;
using Vars = std::vector<Var>;

Tensor from_numbers(const Shape& shape, std::vector<double> values) {
  for (double& v : values) v = double(float(v));
  return Tensor::from_host(shape, values, DType::f64);
}

Tensor all(const Shape& shape, double value) {
  return from_numbers(shape, std::vector<double>(size_t(shape.numel()), value));
}

// h: [2, n, heads] whose head 1 of row 0 is the vector 0.
Tensor with_zero_head(int64_t n, int64_t heads, uint32_t seed) {
  Tensor h = normal_numbers({2, n, heads}, seed);
  for (int64_t i = 0; i < n; ++i) h.data<double>()[i * heads + 1] = 0;
  return h;
}

// The input times a small constant, by way of the tape. Differences move x by 1e-3, so a point near
// 0 must be reached from x of size 1.
Var times(Var x, double factor) {
  const Tensor value = x.value();
  Tensor w = Tensor::from_host({1, 1}, {factor}, DType::f64);
  if (value.dtype() == DType::f32) w = Tensor::from_host({1, 1}, {factor}, DType::f32);
  const Var column = reshape(x, {value.numel(), 1});
  return reshape(linear(column, x.tape->leaf(w.to(value.device())), Var()), value.shape());
}

void add_basic_cases(std::vector<OpCase>& cases) {
  const auto x = normal_numbers({3, 5}, 1), y = normal_numbers({3, 5}, 2);
  const auto empty = normal_numbers({0, 5}, 3);
  const auto adds = [](Tape&, const Vars& v) { return Vars{add(v[0], v[1])}; };
  cases.insert(
      cases.end(),
      {{"add", adds, {x, y}},
       {"add one number", adds, {normal_numbers({1}, 1), normal_numbers({1}, 2)}},
       {"add nothing", adds, {empty, empty}},
       {"add rank 4", adds, {normal_numbers({2, 1, 3, 2}, 1), normal_numbers({2, 1, 3, 2}, 2)}},
       {"add large", adds, {normal_numbers({99, 101}, 1), normal_numbers({99, 101}, 2)}, false},
       {"add to itself", [](Tape&, const Vars& v) { return Vars{add(v[0], v[0])}; }, {x}},
       {"add three times",
        [](Tape&, const Vars& v) {
          return Vars{add(add(v[0], v[1]), v[0]), v[1]};
        },
        {x, y}},
       {"reshape",
        [](Tape&, const Vars& v) {
          return Vars{reshape(v[0], {5, 3, 1})};
        },
        {x}},
       {"reshape nothing",
        [](Tape&, const Vars& v) {
          return Vars{reshape(v[0], {5, 0})};
        },
        {empty}},
       {"reshape and add",  // two shapes share one gradient
        [](Tape&, const Vars& v) {
          return Vars{add(reshape(v[0], {15}), reshape(v[1], {15})), v[0]};
        },
        {x, y}}});

  const std::vector<std::pair<std::string, Activation>> activations = {
      {"sigmoid", Activation::sigmoid},
      {"tanh", Activation::tanh},
      {"gelu", Activation::gelu},
      {"silu", Activation::silu}};
  for (const auto& [name, kind] : activations) {
    const auto op = [kind = kind](Tape&, const Vars& v) { return Vars{activation(kind, v[0])}; };
    const auto points =
        from_numbers({13}, {-20, -8, -3, -1, -0.1, -1e-4, 0, 1e-4, 0.1, 1, 3, 8, 20});
    cases.insert(cases.end(), {{name, op, {normal_numbers({3, 7}, 4, 2)}},
                               {name + " at hard points", op, {points}},
                               {name + " of nothing", op, {empty}},
                               {name + " large", op, {normal_numbers({9973}, 5, 3)}, false}});
  }

  const auto drops = [](double rate, uint32_t site) {
    return [rate, site](Tape&, const Vars& v) { return Vars{dropout(v[0], rate, 7, 3, site)}; };
  };
  cases.insert(cases.end(),
               {{"dropout nothing", drops(0, 0), {x}},
                {"dropout half", drops(0.5, 1), {x}},
                {"dropout most", drops(0.9, 2), {x}},
                {"dropout of nothing", drops(0.5, 1), {empty}},
                {"dropout large", drops(0.1, 3), {normal_numbers({97, 103}, 6)}, false},
                {"dropout twice",
                 [](Tape&, const Vars& v) {
                   return Vars{dropout(v[0], 0.3, 7, 0, 0), dropout(v[0], 0.3, 7, 0, 1)};
                 },
                 {x}}});
}

void add_matrix_cases(std::vector<OpCase>& cases) {
  const auto with_bias = [](Tape&, const Vars& v) { return Vars{linear(v[0], v[1], v[2])}; };
  const auto no_bias = [](Tape&, const Vars& v) { return Vars{linear(v[0], v[1], Var())}; };
  const auto shapes = [](int64_t rows, int64_t in, int64_t out) {
    return std::vector<Tensor>{normal_numbers({rows, in}, 1), normal_numbers({in, out}, 2),
                               normal_numbers({out}, 3)};
  };
  const auto no_bias_shapes = [&](int64_t rows, int64_t in, int64_t out) {
    std::vector<Tensor> inputs = shapes(rows, in, out);
    inputs.pop_back();
    return inputs;
  };
  cases.insert(
      cases.end(),
      {{"linear", with_bias, shapes(5, 3, 7)},
       {"linear without bias", no_bias, no_bias_shapes(5, 3, 7)},
       {"linear, 1 row", with_bias, shapes(1, 7, 3)},
       {"linear, 0 rows", with_bias, shapes(0, 3, 2)},
       {"linear, 1 number", with_bias, shapes(1, 1, 1)},
       {"linear, 1 output", with_bias, shapes(9, 17, 1)},
       {"linear, 1 input", no_bias, no_bias_shapes(9, 1, 17)},
       {"linear, 129 rows", with_bias, shapes(129, 2, 3), false},
       {"linear, large", with_bias, shapes(1031, 33, 17), false},
       {"linear of a fixed input",
        [input = normal_numbers({4, 3}, 9)](Tape& tape, const Vars& v) {
          Tensor x = input;
          if (v[0].value().dtype() == DType::f32) {
            x = Tensor::from_host(x.shape(), x.to_host(), DType::f32);
          }
          return Vars{linear(tape.leaf(x.to(v[0].value().device())), v[0], v[1])};
        },
        {normal_numbers({3, 2}, 2), normal_numbers({2}, 3)}},
       {"linear of a square",
        [](Tape&, const Vars& v) { return Vars{linear(v[0], v[0], Var())}; },
        {normal_numbers({5, 5}, 4)}},
       {"linear, shared weight",
        [](Tape&, const Vars& v) { return Vars{linear(linear(v[0], v[1], v[2]), v[1], v[2])}; },
        {normal_numbers({3, 4}, 1), normal_numbers({4, 4}, 2), normal_numbers({4}, 3)}}});

  const auto gather = [](Tape&, const Vars& v) { return Vars{gather_rows(v[0], v[1].value())}; };
  const auto table = normal_numbers({5, 3}, 1);
  cases.insert(
      cases.end(),
      {{"gather_rows", gather, {table, integers({3}, {4, 0, 2})}},
       {"gather_rows, repeated", gather, {table, integers({2, 3}, {1, 1, 4, 1, 4, 1})}},
       {"gather_rows, no index", gather, {table, integers({0}, {})}},
       {"gather_rows, 1 entry", gather, {normal_numbers({1, 7}, 2), integers({2}, {0, 0})}},
       {"gather_rows, large",
        gather,
        {normal_numbers({11, 7}, 2), integers_below(11, {37, 31}, 3)},
        false},
       {"gather_rows twice",
        [](Tape&, const Vars& v) {
          return Vars{gather_rows(v[0], v[1].value()), gather_rows(v[0], v[2].value())};
        },
        {table, integers({2}, {3, 3}), integers({4}, {0, 3, 1, 0})}}});

  const auto concat = [](Tape&, const Vars& v) { return Vars{concat_columns(v[0], v[1])}; };
  cases.insert(
      cases.end(),
      {{"concat_columns", concat, {normal_numbers({3, 5}, 1), normal_numbers({3, 2}, 2)}},
       {"concat_columns, 1 row", concat, {normal_numbers({1, 1}, 1), normal_numbers({1, 4}, 2)}},
       {"concat_columns, 0 rows", concat, {normal_numbers({0, 2}, 1), normal_numbers({0, 3}, 2)}},
       {"concat_columns, 0 columns",
        concat,
        {normal_numbers({3, 0}, 1), normal_numbers({3, 2}, 2)}},
       {"concat_columns, large",
        concat,
        {normal_numbers({777, 3}, 1), normal_numbers({777, 5}, 2)},
        false},
       {"concat_columns with itself",
        [](Tape&, const Vars& v) { return Vars{concat_columns(v[0], v[0])}; },
        {normal_numbers({3, 2}, 1)}}});
}

void add_norm_cases(std::vector<OpCase>& cases) {
  const auto layer = [](Tape&, const Vars& v) { return Vars{layer_norm(v[0], v[1], v[2], 1e-5)}; };
  const auto rms = [](Tape&, const Vars& v) { return Vars{rms_norm(v[0], v[1], 1e-5)}; };
  const auto inputs = [](int64_t rows, int64_t width) {
    return std::vector<Tensor>{normal_numbers({rows, width}, 1), normal_numbers({width}, 2),
                               normal_numbers({width}, 3)};
  };
  const auto rms_inputs = [](int64_t rows, int64_t width) {
    return std::vector<Tensor>{normal_numbers({rows, width}, 1), normal_numbers({width}, 2)};
  };
  cases.insert(
      cases.end(),
      {{"layer_norm", layer, inputs(3, 7)},
       {"layer_norm, 1 row", layer, inputs(1, 5)},
       {"layer_norm, 0 rows", layer, inputs(0, 5)},
       {"layer_norm, 1 column", layer, inputs(3, 1)},
       {"layer_norm, large", layer, inputs(1001, 13), false},
       {"layer_norm of equal numbers",  // a large eps: differences need steps well below its root
        [](Tape&, const Vars& v) { return Vars{layer_norm(v[0], v[1], v[2], 0.5)}; },
        {all({2, 4}, 1.5), normal_numbers({4}, 2), normal_numbers({4}, 3)}},
       {"layer_norm, gain is bias",
        [](Tape&, const Vars& v) { return Vars{layer_norm(v[0], v[1], v[1], 1e-5)}; },
        {normal_numbers({3, 4}, 1), normal_numbers({4}, 2)}},
       {"rms_norm", rms, rms_inputs(3, 7)},
       {"rms_norm, 1 row", rms, rms_inputs(1, 5)},
       {"rms_norm, 0 rows", rms, rms_inputs(0, 5)},
       {"rms_norm, 1 column",
        [](Tape&, const Vars& v) { return Vars{rms_norm(v[0], v[1], 0.5)}; },
        {from_numbers({2, 1}, {0.7, -1.3}), all({1}, 2)}},
       {"rms_norm, large", rms, rms_inputs(1001, 13), false},
       {"rms_norm of zeros",
        [](Tape&, const Vars& v) { return Vars{rms_norm(v[0], v[1], 0.5)}; },
        {all({2, 4}, 0), normal_numbers({4}, 2)}}});
}

void add_loss_cases(std::vector<OpCase>& cases) {
  const auto plain = [](Tape&, const Vars& v) {
    return Vars{cross_entropy(v[0], v[1].value(), Tensor())};
  };
  const auto masked = [](Tape&, const Vars& v) {
    return Vars{cross_entropy(v[0], v[1].value(), v[2].value())};
  };
  const auto logits = normal_numbers({4, 3}, 1, 2);
  const auto labels = integers({4}, {2, 0, 0, 1});
  cases.insert(
      cases.end(),
      {{"cross_entropy", plain, {logits, labels}},
       {"cross_entropy, 1 row", plain, {normal_numbers({1, 5}, 1), integers({1}, {4})}},
       {"cross_entropy, 0 rows", plain, {normal_numbers({0, 5}, 1), integers({0}, {})}},
       {"cross_entropy, 1 class", plain, {normal_numbers({2, 1}, 1), integers({2}, {0, 0})}},
       {"cross_entropy of equal logits", plain, {all({2, 4}, 3), integers({2}, {1, 3})}},
       {"cross_entropy, sure and right or wrong",
        plain,
        {from_numbers({2, 3}, {30, 0, 0, 30, 0, 1}), integers({2}, {0, 2})}},
       {"cross_entropy, large",
        plain,
        {normal_numbers({1033, 17}, 1, 3), integers_below(17, {1033}, 2)},
        false},
       {"cross_entropy, masked", masked, {logits, labels, integers({4}, {1, 0, 0, 1})}},
       {"cross_entropy, mask of other numbers",
        masked,
        {logits, labels, integers({4}, {-1, 5, 0, 1})}},
       {"cross_entropy, all masked", masked, {logits, labels, integers({4}, {0, 0, 0, 0})}},
       {"cross_entropy, masked and large",
        masked,
        {normal_numbers({1033, 5}, 1, 3), integers_below(5, {1033}, 2),
         integers_below(3, {1033}, 3)},
        false},
       {"cross_entropy twice",
        [](Tape&, const Vars& v) {
          return Vars{add(cross_entropy(v[0], v[1].value(), Tensor()),
                          cross_entropy(v[0], v[2].value(), Tensor()))};
        },
        {logits, labels, integers({4}, {1, 1, 0, 2})}}});
}

void add_readout_cases(std::vector<OpCase>& cases) {
  const auto dir = [](Tape&, const Vars& v) { return Vars{direction(v[0])}; };
  const auto near_zero = [](double size) {
    return [size](Tape&, const Vars& v) { return Vars{direction(times(v[0], size))}; };
  };
  const auto hopf = [](Tape&, const Vars& v) { return Vars{bloch(v[0])}; };
  const auto h = normal_numbers({2, 3, 5}, 1, 2);
  cases.insert(cases.end(),
               {{"direction", dir, {h}},
                {"direction, 1 head", dir, {normal_numbers({1, 4, 1}, 2, 2)}},
                {"direction, 0 rows", dir, {normal_numbers({0, 4, 3}, 2)}},
                {"direction, 1 component", dir, {from_numbers({1, 1, 2}, {1.5, -2.5})}},
                {"direction, large", dir, {normal_numbers({211, 3, 17}, 2)}, false},
                {"direction of 1e-6", near_zero(1e-6), {h}},
                {"direction of 1e-30", near_zero(1e-30), {h}},
                {"direction of 1e30", near_zero(1e30), {h}},
                {"direction of a zero", dir, {with_zero_head(3, 2, 3)}, false},
                {"direction of zeros", dir, {all({1, 2, 3}, 0)}, false},
                {"bloch", hopf, {normal_numbers({2, 4, 5}, 1)}},
                {"bloch, 1 head", hopf, {normal_numbers({1, 4, 1}, 1)}},
                {"bloch, 0 rows", hopf, {normal_numbers({0, 4, 3}, 1)}},
                {"bloch of a zero", hopf, {with_zero_head(4, 2, 3)}},
                {"bloch, large", hopf, {normal_numbers({211, 4, 17}, 2)}, false},
                {"bloch of a direction",
                 [](Tape&, const Vars& v) { return Vars{bloch(direction(v[0]))}; },
                 {normal_numbers({2, 4, 3}, 4, 2)}}});
}

}  // namespace

Tensor normal_numbers(const Shape& shape, uint32_t seed, double scale) {
  Random random(2024, Stream::check, seed);
  std::vector<double> values(size_t(shape.numel()));
  for (double& v : values) v = scale * random.normal();
  return from_numbers(shape, std::move(values));
}

Tensor integers(const Shape& shape, const std::vector<double>& values) {
  return Tensor::from_host(shape, values, DType::i32);
}

Tensor integers_below(uint32_t n, const Shape& shape, uint32_t seed) {
  Random random(2025, Stream::check, seed);
  std::vector<double> values(size_t(shape.numel()));
  for (double& v : values) v = random.below(n);
  return integers(shape, values);
}

OpResult run_case(const OpCase& c, DType dtype, Device device) {
  Tape tape;
  std::vector<Var> leaves;
  for (const Tensor& input : c.inputs) {
    const bool real = input.dtype() != DType::i32;
    const Tensor x =
        Tensor::from_host(input.shape(), input.to_host(), real ? dtype : DType::i32, device);
    leaves.push_back(tape.leaf(x, real));
  }
  const std::vector<Var> outputs = c.op(tape, leaves);
  OpResult result;
  std::vector<Tensor> seeds;
  for (const Var y : outputs) {
    result.values.push_back(y.value().to(Device::cpu));
    seeds.push_back(loss_weights(y.value()));
  }
  tape.backward(outputs, seeds);
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (c.inputs[i].dtype() == DType::i32) continue;
    result.gradients.push_back(tape.grad(leaves[i]).to(Device::cpu));
  }
  return result;
}

const std::vector<OpCase>& op_cases() {
  static const std::vector<OpCase> cases = [] {
    std::vector<OpCase> all_cases;
    add_basic_cases(all_cases);
    add_matrix_cases(all_cases);
    add_norm_cases(all_cases);
    add_loss_cases(all_cases);
    add_fused_loss_cases(all_cases);
    add_readout_cases(all_cases);
    add_lie_cases(all_cases);
    add_scan_cases(all_cases);
    add_sequence_cases(all_cases);
    add_rnn_cases(all_cases);
    add_head_matrix_cases(all_cases);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    // Small cases show the same overruns and races, and take a hundredth of the time.
    std::erase_if(all_cases, [](const OpCase& c) {
      return std::any_of(c.inputs.begin(), c.inputs.end(),
                         [](const Tensor& x) { return x.numel() > 2000; });
    });
#endif
    return all_cases;
  }();
  return cases;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         std::memcmp(a.raw(), b.raw(), size_t(a.bytes())) == 0;
}

bool same_bits(const OpResult& a, const OpResult& b) {
  const auto same = [](const Tensor& x, const Tensor& y) { return same_bits(x, y); };
  return std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(), same) &&
         std::equal(a.gradients.begin(), a.gradients.end(), b.gradients.begin(), b.gradients.end(),
                    same);
}

double relative_difference(const Tensor& exact, const Tensor& x) {
  if (exact.shape() != x.shape()) return INFINITY;
  const std::vector<double> e = exact.to_host(), y = x.to_host();
  double largest = 0, difference = 0;
  for (size_t i = 0; i < e.size(); ++i) {
    if (!std::isfinite(e[i]) || !std::isfinite(y[i])) return INFINITY;
    largest = std::max(largest, std::abs(e[i]));
    difference = std::max(difference, std::abs(e[i] - y[i]));
  }
  return difference == 0 ? 0 : difference / largest;
}

}  // namespace lssm::testing
