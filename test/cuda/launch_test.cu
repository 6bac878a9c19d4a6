// SPDX-License-Identifier: Apache-2.0
// Launches: the loop of map kernels, and what errors say.
#include <numeric>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "kernels/parallel_for.h"
#include "test/test.h"

namespace lssm::kernels {
namespace {

// Shows how often it is called for each i.
struct Count {
  float* y;
  LSSM_HD void operator()(int64_t i) const { y[i] += float(i + 1); }
};

TEST_CASE("threads of a map take further turns until all is done", "[cuda][launch]") {
  std::vector<double> expected(1500);
  std::iota(expected.begin(), expected.end(), 1.0);
  Tensor y = Tensor::zeros({1500}, DType::f32, Device::cuda);
  launch({2, 256}, map_kernel<Count>, int64_t(1500), Count{y.data<float>()});  // three turns
  CHECK(y.to_host() == expected);
}

TEST_CASE("a launch that fails names the line that asked for it", "[launch]") {
  const Tensor y = Tensor::zeros({1}, DType::f32, Device::cuda);
  int line = 0;
  try {
    line = __LINE__ + 1;
    launch({1, 2048}, map_kernel<Count>, int64_t(1), Count{y.data<float>()});
    FAIL("a block of 2048 threads was launched");
  } catch (const Error& error) {
    INFO(error.what());
    const std::string place = std::string(__FILE__) + ":" + std::to_string(line) + ": invalid";
    CHECK(std::string(error.what()).find(place) != std::string::npos);
  }
  CHECK(y.to_host()[0] == 0);  // and the next call works
}

struct Write {
  float* y;
  LSSM_HD void operator()(int64_t i) const { y[i] = float(i + 1); }
};

// scripts/gpu_check.sh shows with this that the checker of the device sees an overrun by one.
TEST_CASE("planted bug: a map writes one number past a tensor", "[.planted]") {
  const Tensor y({999}, DType::f32, Device::cuda);
  parallel_for(Device::cuda, 1000, Write{y.data<float>()});
  CHECK(y.to_host()[998] == 999);
}

}  // namespace
}  // namespace lssm::kernels
