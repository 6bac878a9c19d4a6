// SPDX-License-Identifier: Apache-2.0
// The one include of every test: Catch2 2 (Debian 12) or 3 (elsewhere).
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

namespace lssm {

// A test program may define this. A result other than 0 ends it before any test: 77 means skipped.
int prepare_tests();

}  // namespace lssm
