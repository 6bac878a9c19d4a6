// SPDX-License-Identifier: Apache-2.0
// The operations on CUDA against the CPU in f64. Built twice, as model_test.cpp.
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

double worst_difference(const OpResult& exact, const OpResult& x) {
  double worst = 0;
  for (size_t i = 0; i < exact.values.size(); ++i) {
    worst = std::max(worst, relative_difference(exact.values[i], x.values[i]));
  }
  for (size_t i = 0; i < exact.gradients.size(); ++i) {
    worst = std::max(worst, relative_difference(exact.gradients[i], x.gradients[i]));
  }
  return worst;
}

TEST_CASE("every operation on CUDA agrees with the CPU", "[cuda][op]") {
  for (const OpCase& c : op_cases()) {
    INFO(c.name);
    const OpResult exact = run_case(c, DType::f64);
    CHECK(worst_difference(exact, run_case(c, DType::f64, Device::cuda)) <= 1e-10);
    CHECK(worst_difference(exact, run_case(c, DType::f32, Device::cuda)) <= c.f32_tolerance);
  }
}

TEST_CASE("every operation on CUDA gives the same bits twice", "[cuda][op]") {
  for (const OpCase& c : op_cases()) {
    INFO(c.name);
    CHECK(same_bits(run_case(c, DType::f32, Device::cuda), run_case(c, DType::f32, Device::cuda)));
  }
}

}  // namespace
}  // namespace lssm
