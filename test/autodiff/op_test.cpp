// SPDX-License-Identifier: Apache-2.0
// Every operation, by the table of cases.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "autodiff/ops.h"
#include "core/lie/group.h"
#include "core/parallel.h"
#include "test/autodiff/op_cases.h"
#include "test/test.h"

namespace lssm {
namespace {

using testing::op_cases;
using testing::OpCase;
using testing::OpResult;
using testing::relative_difference;
using testing::run_case;
using testing::same_bits;

// A case to check and the worst that was found in it, for readable failures.
std::string report(const OpCase& c, const GradError& e) {
  return text(c.name, ": ", e.name, " at ", e.position, ": tape ", e.tape, ", differences ",
              e.numeric, ", relative error ", e.error);
}

TEST_CASE("the case table has distinct names and every group", "[op]") {
  std::set<std::string> names;
  for (const OpCase& c : op_cases()) {
    INFO(c.name);
    CHECK(names.insert(c.name).second);
  }
  for (const std::string& group : lie::group_names()) {
    CHECK(names.count("scan " + group + ", injection") == 1);
  }
}

TEST_CASE("every operation matches finite differences", "[op][grad]") {
  // Five-point differences with step 1e-3 are exact to about 1e-11 for numbers of size 1.
  for (const OpCase& c : op_cases()) {
    if (!c.differences) continue;
    std::vector<Tensor> inputs;  // the check changes its inputs
    for (const Tensor& x : c.inputs) inputs.push_back(x.clone());
    const GradError worst = check_operation(c.op, inputs);
    INFO(report(c, worst));
    CHECK(worst.error <= 1e-8);
  }
}

TEST_CASE("every operation in f32 is close to f64", "[op]") {
  for (const OpCase& c : op_cases()) {
    const OpResult exact = run_case(c, DType::f64), single = run_case(c, DType::f32);
    for (size_t i = 0; i < exact.values.size(); ++i) {
      INFO(c.name << ", output " << i);
      CHECK(relative_difference(exact.values[i], single.values[i]) <= c.f32_tolerance);
    }
    for (size_t i = 0; i < exact.gradients.size(); ++i) {
      INFO(c.name << ", gradient " << i);
      CHECK(relative_difference(exact.gradients[i], single.gradients[i]) <= c.f32_tolerance);
    }
  }
}

TEST_CASE("every operation gives the same bits again, and with 2 threads", "[op]") {
  for (const OpCase& c : op_cases()) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      INFO(c.name << " " << dtype_name(dtype));
      const OpResult once = run_case(c, dtype), again = run_case(c, dtype);
      CHECK(same_bits(once, again));
      set_thread_count(2);
      const OpResult two = run_case(c, dtype);
      set_thread_count(1);
      CHECK(same_bits(once, two));
    }
  }
}

// Exact values, so that an operation cannot be consistently wrong in value and gradient.
TEST_CASE("operations have the values of their formulas", "[op]") {
  Tape tape;
  const auto leaf = [&](const Shape& shape, const std::vector<double>& values) {
    return tape.leaf(Tensor::from_host(shape, values, DType::f64));
  };
  using Values = std::vector<double>;
  const Var x = leaf({2, 2}, {1, 2, 3, 4});
  CHECK(add(x, x).value().to_host() == Values{2, 4, 6, 8});
  CHECK(reshape(x, {4, 1}).shape() == Shape({4, 1}));
  CHECK(linear(x, leaf({2, 1}, {10, 1}), leaf({1}, {5})).value().to_host() == Values{17, 39});
  CHECK(linear(x, leaf({2, 1}, {10, 1}), Var()).value().to_host() == Values{12, 34});
  CHECK(gather_rows(x, testing::integers({3}, {1, 0, 1})).value().to_host() ==
        Values{3, 4, 1, 2, 3, 4});
  CHECK(concat_columns(x, leaf({2, 1}, {8, 9})).value().to_host() == Values{1, 2, 8, 3, 4, 9});
  // Two rows at mean +- 1: standard deviation 1 without eps.
  const Var norm = layer_norm(leaf({1, 2}, {4, 6}), leaf({2}, {10, 10}), leaf({2}, {1, 2}), 0);
  CHECK(norm.value().to_host() == Values{-9, 12});
  const Var rms = rms_norm(leaf({1, 4}, {2, 2, 2, -2}), leaf({4}, {5, 10, 1, 1}), 0);
  CHECK(rms.value().to_host() == Values{5, 10, 1, -1});
  // Equal logits: -log(1 / classes), whatever the label.
  const Var loss = cross_entropy(leaf({2, 4}, Values(8, 7)), testing::integers({2}, {0, 3}), {});
  CHECK(loss.value().item() == Approx(std::log(4.0)).epsilon(1e-15));
}

TEST_CASE("final_state picks the last step of each row, or h0", "[op]") {
  Tape tape;
  const Tensor states = testing::normal_numbers({2, 3, 2, 2}, 1);
  const Tensor own = testing::normal_numbers({2, 2, 2}, 2), shared = own.reshape({1, 2, 4});
  const std::vector<double> h = states.to_host();
  std::vector<double> last(h.begin() + 8, h.begin() + 12);
  last.insert(last.end(), h.begin() + 20, h.begin() + 24);
  const Var result = final_state(tape.leaf(states), tape.leaf(own));
  CHECK(result.shape() == Shape({2, 2, 2}));
  CHECK(result.value().to_host() == last);

  const Tensor empty({2, 0, 2, 2}, DType::f64), wide({2, 0, 2, 4}, DType::f64);
  CHECK(final_state(tape.leaf(empty), tape.leaf(own)).value().to_host() == own.to_host());
  std::vector<double> twice = shared.to_host();
  twice.insert(twice.end(), twice.begin(), twice.begin() + 8);
  CHECK(final_state(tape.leaf(wide), tape.leaf(shared)).value().to_host() == twice);
}

TEST_CASE("splitting a sequence and carrying the state changes no bit", "[op]") {
  for (const std::string& group : lie::group_names()) {
    INFO(group);
    int64_t k = 0, v = 0;
    lie::with_group(group, [&]<class G>(G) { k = G::algebra_dim, v = G::vector_dim; });
    const int64_t heads = 5, length = 6;
    const Tensor a = testing::normal_numbers({1, length, k, heads}, 1);
    const Tensor h0 = testing::normal_numbers({1, v, heads}, 2);
    const auto steps = [&](int64_t begin, int64_t end) {
      const std::vector<double> all = a.to_host();
      const std::vector<double> part(all.begin() + begin * k * heads,
                                     all.begin() + end * k * heads);
      return Tensor::from_host({1, end - begin, k, heads}, part, DType::f64);
    };
    Tape tape;
    const Var start = tape.leaf(h0);
    const Var whole = final_state(scan(group, tape.leaf(a), Var(), start, {}), start);
    for (int64_t cut = 0; cut <= length; ++cut) {
      const Var first = scan(group, tape.leaf(steps(0, cut)), Var(), start, {});
      const Var middle = final_state(first, start);
      const Var second = scan(group, tape.leaf(steps(cut, length)), Var(), middle, {});
      CHECK(same_bits(final_state(second, middle).value(), whole.value()));
    }
  }
}

TEST_CASE("operations refuse shapes that do not fit and say which", "[op]") {
  using Catch::Matchers::Contains;
  Tape tape;
  const auto x = [&](const Shape& shape) { return tape.leaf(Tensor::zeros(shape, DType::f64)); };
  const auto labels = [](const std::vector<double>& values) {
    return testing::integers({int64_t(values.size())}, values);
  };
  CHECK_THAT(error_of([&] { add(x({2, 3}), x({3, 2})); }), Contains("[2, 3] and [3, 2]"));
  CHECK_THAT(error_of([&] { reshape(x({2, 3}), {7}); }), Contains("[2, 3] to [7]"));
  CHECK_THAT(error_of([&] { linear(x({2, 3}), x({4, 5}), Var()); }), Contains("[2, 3]"));
  CHECK_THAT(error_of([&] { linear(x({2, 3}), x({3, 5}), x({3})); }), Contains("bias"));
  CHECK_THAT(error_of([&] { gather_rows(x({2, 3}), labels({0, 2})); }), Contains("index 2"));
  CHECK_THAT(error_of([&] { gather_rows(x({2, 3}), labels({-1})); }), Contains("index -1"));
  CHECK_THAT(error_of([&] { gather_rows(x({0, 3}), labels({0})); }), Contains("index 0"));
  CHECK_THAT(error_of([&] { concat_columns(x({2, 3}), x({3, 3})); }), Contains("[3, 3]"));
  CHECK_THAT(error_of([&] { layer_norm(x({2, 3}), x({2}), x({2}), 1e-5); }), Contains("gain [2]"));
  CHECK_THAT(error_of([&] { cross_entropy(x({2, 3}), labels({0, 3}), {}); }), Contains("index 3"));
  CHECK_THAT(error_of([&] { cross_entropy(x({2, 3}), labels({0}), {}); }), Contains("1 targets"));
  CHECK_THAT(error_of([&] {
               cross_entropy(x({2, 3}), labels({0, 0}), labels({1}));
             }),
             Contains("1 mask values"));
  CHECK_THAT(error_of([&] { dropout(x({2}), 1, 0, 0, 0); }), Contains("rate 1"));
  CHECK_THAT(error_of([&] { direction(x({2, 3})); }), Contains("[2, 3]"));
  CHECK_THAT(error_of([&] { bloch(x({2, 3, 1})); }), Contains("[2, 3, 1]"));
  CHECK_THAT(error_of([&] {
               scan("so9", x({1, 1, 3, 1}), Var(), x({1, 3, 1}), {});
             }),
             Contains("so9") && Contains("so3"));
  CHECK_THAT(error_of([&] {
               scan("so3", x({1, 1, 2, 1}), Var(), x({1, 3, 1}), {});
             }),
             Contains("2 components"));
  CHECK_THAT(error_of([&] {
               scan("so3", x({2, 1, 3, 1}), Var(), x({3, 3, 1}), {});
             }),
             Contains("h0 [3, 3, 1]"));
  CHECK_THAT(error_of([&] {
               scan("so3", x({2, 1, 3, 1}), x({2, 1, 3, 2}), x({1, 3, 1}), {});
             }),
             Contains("b [2, 1, 3, 2]"));
  CHECK_THAT(error_of([&] {
               scan("so3", x({2, 1, 3, 1}), Var(), x({1, 3, 1}), labels({1}));
             }),
             Contains("reset [1]"));
}

}  // namespace
}  // namespace lssm
