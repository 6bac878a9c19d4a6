// SPDX-License-Identifier: Apache-2.0
// The one include of every test: Catch2 2 (Debian 12) or 3 (elsewhere).
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
