// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"

#include "core/check.h"

namespace lssm {
namespace {
int threads = 1;
}  // namespace

int thread_count() { return threads; }

void set_thread_count(int count) {
  LSSM_CHECK(count >= 1, "threads: got ", count, ", expected at least 1");
  threads = count;
}

}  // namespace lssm
