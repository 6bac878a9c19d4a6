// SPDX-License-Identifier: Apache-2.0
// The one include of every test: Catch2 2 (Debian 12) or 3 (elsewhere).
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#define CATCH_CONFIG_FAST_COMPILE  // an exception ends the test case, not the assertion alone
#include <catch2/catch.hpp>
#endif

#include <string>

#include "core/check.h"

namespace lssm {

// A test program may define this. A result other than 0 ends it before any test: 77 means skipped.
int prepare_tests();

// The message of the Error that f throws; "no error" if it throws none.
template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace lssm
