// SPDX-License-Identifier: Apache-2.0
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#include "test/test.h"

__attribute__((weak)) int lssm::prepare_tests() { return 0; }

int main(int argc, char* argv[]) {
  const int refused = lssm::prepare_tests();
  return refused ? refused : Catch::Session().run(argc, argv);
}
