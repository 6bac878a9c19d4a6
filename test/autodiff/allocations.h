// SPDX-License-Identifier: Apache-2.0
// How often this test program has called operator new. allocations.cpp replaces the operator.
#pragma once

#include <cstdint>

namespace lssm::testing {

int64_t allocations();

}  // namespace lssm::testing
