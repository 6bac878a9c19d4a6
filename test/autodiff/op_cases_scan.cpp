// SPDX-License-Identifier: Apache-2.0
// Rows of the table for the recurrence, once for every group of lie::group_names().
#include <cmath>
#include <numbers>

#include "autodiff/ops.h"
#include "core/lie/group.h"
#include "core/random.h"
#include "test/autodiff/op_cases.h"

namespace lssm::testing {
namespace {

using Vars = std::vector<Var>;

struct Sizes {
  int64_t batch, length, heads;
};

// One group's cases. Inputs of every case: a, h0, then b if there is injection, then reset.
class ScanCases {
 public:
  ScanCases(std::string group, std::vector<OpCase>& cases)
      : group_(std::move(group)), cases_(cases) {
    lie::with_group(group_, [&]<class G>(G) { k_ = G::algebra_dim, v_ = G::vector_dim; });
  }

  // Parameters whose vectors, head by head, have the given length: an angle, for the groups.
  Tensor angles(const Sizes& s, double length, uint32_t seed) const {
    Tensor a = normal_numbers({s.batch, s.length, k_, s.heads}, seed);
    for (int64_t step = 0; step < s.batch * s.length; ++step) {
      for (int64_t head = 0; head < s.heads; ++head) {
        double* first = a.data<double>() + step * k_ * s.heads + head;
        double squares = 0;
        for (int64_t i = 0; i < k_; ++i) squares += first[i * s.heads] * first[i * s.heads];
        for (int64_t i = 0; i < k_; ++i) {
          first[i * s.heads] = double(float(first[i * s.heads] * length / std::sqrt(squares)));
        }
      }
    }
    return a;
  }
  Tensor states(int64_t rows, const Sizes& s, uint32_t seed) const {
    return normal_numbers({rows, v_, s.heads}, seed);
  }
  Tensor injection(const Sizes& s, uint32_t seed) const {
    return normal_numbers({s.batch, s.length, v_, s.heads}, seed);
  }

  // All states and the last one are outputs, so both reach the loss.
  void add(const std::string& name, std::vector<Tensor> inputs, bool inject, bool reset,
           bool differences = true) {
    const auto op = [group = group_, inject, reset](Tape&, const Vars& in) {
      const Var b = inject ? in[2] : Var();
      const Tensor starts = reset ? in.back().value() : Tensor();
      const Var h = scan(group, in[0], b, in[1], starts);
      return Vars{h, final_state(h, in[1])};
    };
    add_op(name, op, std::move(inputs), differences);
  }
  void add_op(const std::string& name, OpFunction op, std::vector<Tensor> inputs,
              bool differences = true) {
    cases_.push_back(
        {"scan " + group_ + ", " + name, std::move(op), std::move(inputs), differences, 1e-4});
  }

  int64_t k() const { return k_; }
  int64_t v() const { return v_; }
  const std::string& group() const { return group_; }

 private:
  std::string group_;
  std::vector<OpCase>& cases_;
  int64_t k_ = 0, v_ = 0;
};

void add_cases_of(ScanCases scans) {
  const double pi = std::numbers::pi;
  const double one = 1;  // radians; also a factor that neither grows nor shrinks

  for (const Sizes& s : std::vector<Sizes>{
           {2, 0, 3}, {1, 1, 1}, {2, 1, 17}, {2, 2, 3}, {1, 2, 17}, {2, 7, 1}, {1, 7, 3}}) {
    const std::string sizes = text("batch ", s.batch, ", length ", s.length, ", heads ", s.heads);
    scans.add(sizes, {scans.angles(s, one, 1), scans.states(s.batch, s, 2)}, false, false);
  }

  const Sizes s = {2, 3, 3};
  const Tensor own = scans.states(s.batch, s, 2), shared = scans.states(1, s, 3);
  const Tensor a = scans.angles(s, 1.3, 4), b = scans.injection(s, 5);
  scans.add("shared h0", {a, shared}, false, false);
  scans.add("injection", {a, own, b}, true, false);
  scans.add("injection, shared h0", {a, shared, b}, true, false);
  const Tensor reset = integers({2, 3}, {0, 1, 0, 1, 0, 1});
  scans.add("reset", {a, own, reset}, false, true);
  scans.add("reset, injection, shared h0", {a, shared, b, reset}, true, true);
  scans.add("reset everywhere", {a, shared, integers({2, 3}, {1, 1, 1, 1, 1, 1})}, false, true);

  const Sizes none = {3, 0, 2};
  scans.add("length 0, shared h0, injection",
            {scans.angles(none, one, 1), scans.states(1, none, 2), scans.injection(none, 3)}, true,
            false);
  const Sizes no_batch = {0, 3, 2};
  scans.add("batch 0, shared h0", {scans.angles(no_batch, one, 1), scans.states(1, no_batch, 2)},
            false, false);

  scans.add("angle 0", {Tensor::zeros(a.shape(), DType::f64), own}, false, false);
  scans.add("angle 1e-9", {scans.angles(s, 1e-9, 6), own}, false, false);
  scans.add("angle 1e-4", {scans.angles(s, 1e-4, 6), own}, false, false);
  scans.add("angle pi - 1e-4", {scans.angles(s, pi - 1e-4, 7), own}, false, false);
  scans.add("angle pi", {scans.angles(s, pi, 8), own}, false, false);
  scans.add("angle 2 pi", {scans.angles(s, 2 * pi, 9), own, b}, true, false);
  scans.add("angle 7", {scans.angles(s, 7, 10), own}, false, false);
  scans.add("h0 zero", {a, Tensor::zeros(own.shape(), DType::f64), b}, true, false);

  const Sizes large = {5, 33, 40};
  scans.add("large",
            {scans.angles(large, one, 11), scans.states(1, large, 12), scans.injection(large, 13),
             integers_below(2, {large.batch, large.length}, 14)},
            true, true, false);

  // A sequence in two parts, the state carried across: h0 of the second is a result.
  const std::string group = scans.group();
  scans.add_op("in two parts",
               [group](Tape&, const Vars& in) {
                 const Var first = scan(group, in[0], in[2], in[1], Tensor());
                 const Var carried = final_state(first, in[1]);
                 const Var second = scan(group, in[3], in[4], carried, Tensor());
                 return Vars{first, second, final_state(second, carried)};
               },
               {a, own, b, scans.angles(s, one, 15), scans.injection(s, 16)});
  // A state that is carried in: before step 0 it stands in for h0, which resets go back to.
  const auto carry = [group](bool inject, bool restart) -> OpFunction {
    return [group, inject, restart](Tape&, const Vars& in) {
      const Tensor starts = restart ? in.back().value() : Tensor();
      const Var h = scan(group, in[0], inject ? in[3] : Var(), in[1], starts, in[2]);
      return Vars{h, final_state(h, in[1], in[2])};
    };
  };
  const Tensor carried = scans.states(s.batch, s, 17);
  scans.add_op("carried", carry(false, false), {a, shared, carried});
  scans.add_op("carried, injection, reset", carry(true, true), {a, shared, carried, b, reset});
  scans.add_op("carried, reset at once", carry(false, true),
               {a, own, carried, integers({2, 3}, {1, 0, 0, 1, 1, 0})});
  scans.add_op("carried, length 0", carry(false, false),
               {scans.angles(none, one, 1), scans.states(1, none, 2), scans.states(3, none, 3)});
  if (scans.k() == scans.v()) {
    scans.add_op(
        "a is b",
        [group](Tape&, const Vars& in) { return Vars{scan(group, in[0], in[0], in[1], Tensor())}; },
        {a, own});
  }
}

}  // namespace

void add_scan_cases(std::vector<OpCase>& cases) {
  for (const std::string& group : lie::group_names()) add_cases_of({group, cases});
}

}  // namespace lssm::testing
