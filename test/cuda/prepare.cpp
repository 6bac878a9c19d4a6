// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "core/device.h"
#include "test/test.h"

#ifdef LSSM_CUDA_ON_HOST
extern "C" const char* lssm_load_cuda_backend();
#endif

int lssm::prepare_tests() {
#ifdef LSSM_CUDA_ON_HOST
  const char* refused = lssm_load_cuda_backend();  // linked into this program
  const std::string reason = refused ? refused : "";
#else
  const std::string& reason = load_cuda();
#endif
  if (reason.empty()) return 0;
  std::printf("skipped: %s\n", reason.c_str());
  return 77;
}
