// SPDX-License-Identifier: Apache-2.0
// Rows of the table for operations on the parts of rows and on what came before in a sequence.
#include "autodiff/ops.h"
#include "test/autodiff/op_cases.h"

namespace lssm::testing {
namespace {

using Vars = std::vector<Var>;

void add_product_cases(std::vector<OpCase>& cases) {
  const auto times = [](Tape&, const Vars& v) { return Vars{mul(v[0], v[1])}; };
  const auto pair = [](const Shape& shape) {
    return std::vector<Tensor>{normal_numbers(shape, 1), normal_numbers(shape, 2)};
  };
  cases.insert(cases.end(), {{"mul", times, pair({3, 5})},
                             {"mul one number", times, pair({1})},
                             {"mul nothing", times, pair({0, 5})},
                             {"mul rank 4", times, pair({2, 1, 3, 2})},
                             {"mul large", times, pair({99, 101}), false},
                             {"mul with itself",
                              [](Tape&, const Vars& v) { return Vars{mul(v[0], v[0])}; },
                              {normal_numbers({3, 5}, 1)}}});

  const auto outer = [](Tape&, const Vars& v) { return Vars{outer_columns(v[0], v[1])}; };
  const auto rows = [](int64_t n, int64_t p, int64_t q) {
    return std::vector<Tensor>{normal_numbers({n, p}, 1), normal_numbers({n, q}, 2)};
  };
  cases.insert(cases.end(), {{"outer_columns", outer, rows(3, 4, 5)},
                             {"outer_columns, 1 number", outer, rows(1, 1, 1)},
                             {"outer_columns, 1 column left", outer, rows(3, 1, 4)},
                             {"outer_columns, 1 column right", outer, rows(3, 4, 1)},
                             {"outer_columns, 0 rows", outer, rows(0, 2, 3)},
                             {"outer_columns, 0 columns left", outer, rows(2, 0, 3)},
                             {"outer_columns, 0 columns right", outer, rows(2, 3, 0)},
                             {"outer_columns, large", outer, rows(777, 5, 17), false},
                             {"outer_columns with itself",
                              [](Tape&, const Vars& v) { return Vars{outer_columns(v[0], v[0])}; },
                              {normal_numbers({3, 4}, 1)}}});
}

void add_slice_cases(std::vector<OpCase>& cases) {
  const auto slice = [](int64_t begin, int64_t count) -> OpFunction {
    return [begin, count](Tape&, const Vars& v) { return Vars{slice_columns(v[0], begin, count)}; };
  };
  const Tensor x = normal_numbers({3, 7}, 1);
  cases.insert(cases.end(),
               {{"slice_columns, first", slice(0, 3), {x}},
                {"slice_columns, inner", slice(2, 4), {x}},
                {"slice_columns, last", slice(6, 1), {x}},
                {"slice_columns, all", slice(0, 7), {x}},
                {"slice_columns, none", slice(7, 0), {x}},
                {"slice_columns, 0 rows", slice(1, 2), {normal_numbers({0, 4}, 1)}},
                {"slice_columns, large", slice(3, 5), {normal_numbers({1033, 11}, 1)}, false},
                {"slice_columns, two that overlap",
                 [](Tape&, const Vars& v) {
                   return Vars{slice_columns(v[0], 0, 5), slice_columns(v[0], 3, 4)};
                 },
                 {x}}});
}

void add_head_cases(std::vector<OpCase>& cases) {
  const auto scale = [](Tape&, const Vars& v) { return Vars{scale_components(v[0], v[1])}; };
  const auto inputs = [](const Shape& x, int64_t s_rows) {
    return std::vector<Tensor>{normal_numbers(x, 1), normal_numbers({s_rows, x[2]}, 2)};
  };
  cases.insert(cases.end(),
               {{"scale_components", scale, inputs({4, 3, 5}, 4)},
                {"scale_components, shared", scale, inputs({4, 3, 5}, 1)},
                {"scale_components, 1 row", scale, inputs({1, 3, 2}, 1)},
                {"scale_components, 1 component", scale, inputs({3, 1, 2}, 3)},
                {"scale_components, 1 head", scale, inputs({3, 4, 1}, 3)},
                {"scale_components, 0 rows", scale, inputs({0, 3, 2}, 0)},
                {"scale_components, 0 rows, shared", scale, inputs({0, 3, 2}, 1)},
                {"scale_components, large", scale, inputs({517, 3, 17}, 517), false},
                {"scale_components, shared and large", scale, inputs({517, 3, 17}, 1), false},
                {"scale_components by themselves",
                 [](Tape&, const Vars& v) {
                   return Vars{scale_components(v[0], reshape(v[0], {3, 4}))};
                 },
                 {normal_numbers({3, 1, 4}, 1)}}});

  const auto repeat = [](const std::vector<double>& weights) -> OpFunction {
    return [weights](Tape&, const Vars& v) { return Vars{repeat_heads(v[0], weights)}; };
  };
  const Tensor x = normal_numbers({2, 3, 5}, 1);
  cases.insert(
      cases.end(),
      {{"repeat_heads", repeat({1, 1, 1}), {x}},
       {"repeat_heads, once", repeat({-2}), {x}},
       {"repeat_heads, weighted", repeat({1, 0, -2.5, 0.75}), {x}},
       {"repeat_heads, most copies", repeat(std::vector<double>(16, 0.5)), {x}},
       {"repeat_heads, 1 head", repeat({3, 1}), {normal_numbers({2, 3, 1}, 1)}},
       {"repeat_heads, 0 rows", repeat({1, 2}), {normal_numbers({0, 3, 2}, 1)}},
       {"repeat_heads, large", repeat({0, 1, 3}), {normal_numbers({301, 3, 9}, 1)}, false}});
}

// Inputs of every case: h, h0, then carried and reset, if they are there.
void add_previous_cases(std::vector<OpCase>& cases) {
  const auto previous = [](bool carry, bool restart) -> OpFunction {
    return [carry, restart](Tape&, const Vars& in) {
      const Tensor reset = restart ? in.back().value() : Tensor();
      return Vars{previous_states(in[0], in[1], reset, carry ? in[2] : Var())};
    };
  };
  const auto add = [&](const std::string& name, std::vector<Tensor> inputs, bool carry,
                       bool restart, bool differences = true) {
    cases.push_back(
        {"previous_states, " + name, previous(carry, restart), std::move(inputs), differences});
  };
  const Tensor h = normal_numbers({3, 4, 2, 5}, 1), own = normal_numbers({3, 2, 5}, 2);
  const Tensor shared = normal_numbers({1, 2, 5}, 3), carried = normal_numbers({3, 2, 5}, 4);
  // At the first step, at the last, twice in a row and not at all.
  const Tensor reset = integers({3, 4}, {1, 0, 0, 1, 0, -1, 1, 0, 0, 0, 0, 0});
  add("own h0", {h, own}, false, false);
  add("shared h0", {h, shared}, false, false);
  add("carried", {h, own, carried}, true, false);
  add("reset", {h, own, reset}, false, true);
  add("reset, shared h0", {h, shared, reset}, false, true);
  add("carried, reset, shared h0", {h, shared, carried, reset}, true, true);
  add("reset everywhere", {h, shared, carried, integers({3, 4}, std::vector<double>(12, 1))}, true,
      true);
  add("1 step", {normal_numbers({3, 1, 2, 5}, 1), own, carried}, true, false);
  const Tensor none = normal_numbers({3, 0, 2, 5}, 1);
  add("length 0, shared h0", {none, shared}, false, false);
  add("length 0, carried, reset", {none, own, carried, integers({3, 0}, {})}, true, true);
  add("batch 0, shared h0", {normal_numbers({0, 4, 2, 5}, 1), shared}, false, false);
  add("large",
      {normal_numbers({5, 133, 3, 7}, 1), normal_numbers({1, 3, 7}, 2),
       normal_numbers({5, 3, 7}, 3), integers_below(3, {5, 133}, 4)},
      true, true, false);
}

// Inputs of every case: x, w, bias, then carried and reset, if they are there. The outputs are
// those of the convolution and what the next chunk carries.
void add_conv_cases(std::vector<OpCase>& cases) {
  struct Sizes {
    int64_t batch, length, width, k;
  };
  const auto add = [&](const std::string& name, const Sizes& s, bool carry, const Tensor& reset,
                       bool differences = true) {
    std::vector<Tensor> inputs = {normal_numbers({s.batch, s.length, s.width}, 1),
                                  normal_numbers({s.k, s.width}, 2), normal_numbers({s.width}, 3)};
    if (carry) inputs.push_back(normal_numbers({s.batch, s.k - 1, s.width}, 4));
    if (reset) inputs.push_back(reset);
    const auto op = [carry, restart = bool(reset), past = s.k - 1](Tape&, const Vars& in) {
      const Tensor starts = restart ? in.back().value() : Tensor();
      const Var carried = carry ? in[3] : Var();
      return Vars{causal_conv(in[0], in[1], in[2], starts, carried),
                  last_inputs(in[0], past, starts, carried)};
    };
    cases.push_back({"causal_conv, " + name, op, std::move(inputs), differences});
  };
  for (int64_t k : {1, 2, 3, 4}) {
    const Sizes s = {2, 5, 3, k};
    const Tensor reset = integers({2, 5}, {0, 1, 0, 0, 1, 1, 0, 1, 1, 0});
    const Tensor early = integers({2, 5}, {0, 0, 1, 0, 0, 0, 1, 0, 0, 0});
    const std::string kernel = text("kernel ", k);
    add(kernel, s, false, {});
    add(kernel + ", carried", s, true, {});
    add(kernel + ", reset", s, false, reset);
    add(kernel + ", carried, reset", s, true, reset);
    add(kernel + ", carried, early reset", s, true, early);
  }
  // Chunks that are shorter than what is carried, and resets in them.
  for (int64_t length : {0, 1, 2}) {
    const Sizes s = {3, length, 2, 5};
    add(text("length ", length), s, false, {});
    add(text("length ", length, ", carried"), s, true, {});
    const Tensor reset = integers_below(2, {3, length}, 5);
    add(text("length ", length, ", carried, reset"), s, true, reset);
  }
  add("batch 0", {0, 4, 3, 3}, true, {});
  add("1 column", {3, 4, 1, 3}, true, {});
  add("large", {5, 211, 33, 3}, true, integers_below(2, {5, 211}, 6), false);
}

}  // namespace

void add_sequence_cases(std::vector<OpCase>& cases) {
  add_product_cases(cases);
  add_slice_cases(cases);
  add_head_cases(cases);
  add_previous_cases(cases);
  add_conv_cases(cases);
}

}  // namespace lssm::testing
