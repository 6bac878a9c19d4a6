// SPDX-License-Identifier: Apache-2.0
// What the backend does on devices that a test machine does not have: little memory, an old GPU.
#include <cstdlib>
#include <string>

#include "coh.h"
#include "core/tensor.h"
#include "test/test.h"

extern "C" const char* lssm_load_cuda_backend();

namespace lssm {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

// A device with `bytes` more than what is in use, while it lives.
class LittleMemory {
 public:
  explicit LittleMemory(size_t bytes) {
    coh::set_lazy(true);  // frees happen when the stream is synchronised
    coh::set_memory(coh::counters().bytes + bytes);
  }
  ~LittleMemory() {
    coh::set_memory(size_t(2) << 30);
    coh::set_lazy(std::getenv("COH_LAZY") != nullptr);
  }
};

TEST_CASE("memory that was freed serves again, after a synchronisation if need be", "[cuda]") {
  const LittleMemory little(1000);
  for (int i = 0; i < 3; ++i) {
    const Tensor x = Tensor::zeros({200}, DType::f32, Device::cuda);
    CHECK(x.to_host()[199] == 0);
  }
}

TEST_CASE("exhausted memory is an error that names the tensor", "[cuda]") {
  const LittleMemory little(1000);
  CHECK_THROWS_WITH(Tensor({4, 63}, DType::f32, Device::cuda),
                    StartsWith("tensor [4, 63] of f32: out of memory on cuda: wanted 1008 bytes, "
                               "1000 are free; lssm uses "));
  CHECK(Tensor::zeros({250}, DType::f32, Device::cuda).to_host()[0] == 0);  // and life goes on
}

TEST_CASE("a GPU that cannot be used is refused with the reason", "[cuda]") {
  coh::set_capability(7, true);
  CHECK_THAT(lssm_load_cuda_backend(), Contains("capability is 7.0, expected 8.0 or later"));
  coh::set_capability(8, false);
  CHECK_THAT(lssm_load_cuda_backend(), Contains("no memory pools"));
  coh::set_capability(9, true);
}

}  // namespace
}  // namespace lssm
