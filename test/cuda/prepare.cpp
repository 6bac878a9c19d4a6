// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "test/test.h"

// Of the backend that is linked into this program: the real one or that of the emulation.
extern "C" const char* lssm_load_cuda_backend();

int lssm::prepare_tests() {
  const char* reason = lssm_load_cuda_backend();
  if (!reason) return 0;
  std::printf("skipped: %s\n", reason);
  return 77;
}
