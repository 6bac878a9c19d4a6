// SPDX-License-Identifier: Apache-2.0
// Linked into tests under AddressSanitizer: each tensor then is an allocation of its own.
#include "core/buffer.h"
#include "test/test.h"

namespace lssm {

int prepare_tests() {
  Pool::of(Device::cpu).use_exact_blocks();
  return 0;
}

}  // namespace lssm
