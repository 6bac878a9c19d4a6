// SPDX-License-Identifier: Apache-2.0
#include "core/spelling.h"

#include "test/test.h"

namespace lssm {
namespace {

const std::vector<std::string> kKeys = {"heads", "group", "angle_std", "lr", "readout", "width"};

TEST_CASE("the nearest spelling of a typing error", "[spelling]") {
  CHECK(nearest_spelling("haeds", kKeys) == "heads");   // two letters swapped
  CHECK(nearest_spelling("head", kKeys) == "heads");    // one is missing
  CHECK(nearest_spelling("headds", kKeys) == "heads");  // one too many
  CHECK(nearest_spelling("widht", kKeys) == "width");
  CHECK(nearest_spelling("angel_std", kKeys) == "angle_std");
  CHECK(nearest_spelling("group", kKeys) == "group");
  CHECK(nearest_spelling("lrr", kKeys) == "lr");
}

TEST_CASE("what is too far away is not proposed", "[spelling]") {
  CHECK(nearest_spelling("momentum", kKeys).empty());
  CHECK(nearest_spelling("xy", kKeys).empty());  // any two letters are two edits from "lr"
  CHECK(nearest_spelling("", kKeys).empty());
  CHECK(nearest_spelling("heads", {}).empty());
}

TEST_CASE("of two equally near spellings the first is proposed, the nearer one before",
          "[spelling]") {
  CHECK(nearest_spelling("cat", {"bat", "cut"}) == "bat");
  CHECK(nearest_spelling("cart", {"carpet", "card"}) == "card");
}

// Levenshtein's own textbook pair: kitten -> sitting takes three edits.
TEST_CASE("distances are Levenshtein's", "[spelling]") {
  CHECK(nearest_spelling("kitten", {"sitting"}).empty());  // 3 is beyond the limit of 2
  CHECK(nearest_spelling("kittens", {"sitten"}) == "sitten");
  CHECK(nearest_spelling("sittingxxxxx", {"kittenxxxxx"}) == "kittenxxxxx");  // limit 12 / 3
}

TEST_CASE("help lists what is allowed", "[spelling]") {
  CHECK(spelling_help("haeds", {"heads", "group"}) ==
        "did you mean \"heads\"? allowed: heads, group");
  CHECK(spelling_help("momentum", {"heads", "group"}) == "allowed: heads, group");
  CHECK(spelling_help("x", {}) == "allowed: ");
  CHECK(comma_list({"a"}) == "a");
  CHECK(comma_list({}).empty());
}

}  // namespace
}  // namespace lssm
