// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "core/buffer.h"
#include "test/test.h"

// Of the backend that is linked into this program: the real one or that of the emulation.
extern "C" const char* lssm_load_cuda_backend();

namespace lssm {

int prepare_tests() {
  const char* reason = lssm_load_cuda_backend();
  if (reason) {
    std::printf("skipped: %s\n", reason);
    return 77;
  }
  // So that the checkers of the device see overruns, and outputs that nobody wrote.
  for (const Device device : {Device::cpu, Device::cuda}) Pool::of(device).use_exact_blocks();
  return 0;
}

}  // namespace lssm
