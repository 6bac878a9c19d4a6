// SPDX-License-Identifier: Apache-2.0
// Rows of the table for recurrences with gates.
#include "autodiff/ops.h"
#include "test/autodiff/op_cases.h"

namespace lssm::testing {
namespace {

using Vars = std::vector<Var>;

struct Sizes {
  int64_t batch, length, width;
};

// One cell's cases. Inputs of every case: gates, u, bias, h0, then what the case adds.
class RnnCases {
 public:
  RnnCases(bool is_gru, std::vector<OpCase>& cases) : is_gru_(is_gru), cases_(cases) {}

  Tensor gates(const Sizes& s, uint32_t seed) const {
    return normal_numbers({s.batch, s.length, count(), s.width}, seed);
  }
  Tensor states(int64_t rows, const Sizes& s, uint32_t seed) const {
    return normal_numbers({rows, is_gru_ ? 1 : 2, s.width}, seed);
  }
  std::vector<Tensor> inputs(const Sizes& s, int64_t h0_rows) const {
    std::vector<Tensor> all = {gates(s, 1), normal_numbers({s.width, count() * s.width}, 2, 0.7)};
    if (is_gru_) all.push_back(normal_numbers({count() * s.width}, 3));
    all.push_back(states(h0_rows, s, 4));
    return all;
  }

  // The recurrence of a case's gates, or of others with the same weights.
  Var run(const Vars& in, Var gates, Var h0, const Tensor& reset, Var carried) const {
    return is_gru_ ? gru(gates, in[1], in[2], h0, reset, carried)
                   : lstm(gates, in[1], h0, reset, carried);
  }
  Var h0(const Vars& in) const { return in[is_gru_ ? 3 : 2]; }

  // All states and the last one are outputs, so both reach the loss. `inputs` may go on with a
  // carried state, then with a reset mask.
  void add(const std::string& name, std::vector<Tensor> inputs, bool carry, bool restart,
           bool differences = true) const {
    const auto op = [self = *this, carry, restart](Tape&, const Vars& in) {
      const Var start = self.h0(in), carried = carry ? in[self.is_gru_ ? 4 : 3] : Var();
      const Tensor reset = restart ? in.back().value() : Tensor();
      const Var h = self.run(in, in[0], start, reset, carried);
      return Vars{h, final_state(h, start, carried)};
    };
    add_op(name, op, std::move(inputs), differences);
  }
  void add_op(const std::string& name, OpFunction op, std::vector<Tensor> inputs,
              bool differences = true) const {
    cases_.push_back({(is_gru_ ? "gru, " : "lstm, ") + name, std::move(op), std::move(inputs),
                      differences, 1e-4});
  }

 private:
  int64_t count() const { return is_gru_ ? 3 : 4; }

  bool is_gru_;
  std::vector<OpCase>& cases_;
};

std::vector<Tensor> with(std::vector<Tensor> inputs, std::vector<Tensor> more) {
  inputs.insert(inputs.end(), more.begin(), more.end());
  return inputs;
}

void add_cases_of(const RnnCases& cell) {
  for (const Sizes& s : std::vector<Sizes>{
           {2, 0, 3}, {1, 1, 1}, {3, 1, 4}, {1, 5, 3}, {3, 5, 2}, {1, 2, 17}, {0, 3, 2}}) {
    const std::string sizes = text("batch ", s.batch, ", length ", s.length, ", width ", s.width);
    cell.add(sizes, cell.inputs(s, s.batch), false, false);
    cell.add(sizes + ", shared h0", cell.inputs(s, 1), false, false);
  }

  const Sizes s = {3, 5, 3};
  const std::vector<Tensor> own = cell.inputs(s, 3), shared = cell.inputs(s, 1);
  const Tensor carried = cell.states(3, s, 5);
  // At the first step, in the middle, twice in a row, at the last step, and in one row never.
  const Tensor reset = integers({3, 5}, {1, 0, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0});
  cell.add("reset", with(own, {reset}), false, true);
  cell.add("reset, shared h0", with(shared, {reset}), false, true);
  cell.add("reset everywhere", with(shared, {integers({3, 5}, std::vector<double>(15, 1))}), false,
           true);
  cell.add("carried", with(own, {carried}), true, false);
  cell.add("carried, reset", with(own, {carried, reset}), true, true);
  cell.add("carried, reset, shared h0", with(shared, {carried, reset}), true, true);
  const Sizes none = {3, 0, 3};
  cell.add("carried, length 0", with(cell.inputs(none, 1), {carried}), true, false);

  // A sequence in two parts, the state carried across.
  cell.add_op(
      "in two parts",
      [cell](Tape&, const Vars& in) {
        const Var start = cell.h0(in);
        const Var first = cell.run(in, in[0], start, Tensor(), Var());
        const Var middle = final_state(first, start);
        const Var second = cell.run(in, in.back(), start, Tensor(), middle);
        return Vars{first, second, final_state(second, start, middle)};
      },
      with(shared, {cell.gates({3, 2, 3}, 6)}));

  // Several partitions of the batch, and more rows in each than are multiplied at once.
  const Sizes wide = {40, 9, 33}, tall = {1100, 2, 3};
  cell.add("wide",
           with(cell.inputs(wide, 1), {cell.states(40, wide, 5), integers_below(2, {40, 9}, 7)}),
           true, true, false);
  cell.add("tall", cell.inputs(tall, 1), false, false, false);
}

}  // namespace

void add_rnn_cases(std::vector<OpCase>& cases) {
  for (const bool is_gru : {true, false}) add_cases_of({is_gru, cases});
  // Without a bias.
  const Sizes s = {2, 3, 3};
  std::vector<Tensor> inputs = RnnCases(true, cases).inputs(s, 1);
  inputs.erase(inputs.begin() + 2);
  cases.push_back(
      {"gru, no bias",
       [](Tape&, const Vars& in) { return Vars{gru(in[0], in[1], Var(), in[2], Tensor())}; },
       inputs, true, 1e-4});
}

}  // namespace lssm::testing
