// SPDX-License-Identifier: Apache-2.0
#include "core/algebra/ceilings.h"

#include <algorithm>
#include <map>
#include <string>

#include "core/algebra/named_groups.h"
#include "test/test.h"

using namespace lssm;
using namespace lssm::algebra;

namespace {

std::vector<int> elements(const FiniteGroup& group, const std::vector<std::string>& names) {
  std::vector<int> out;
  for (const std::string& name : names) out.push_back(group.element(name));
  return out;
}

// The definition itself: all words of this length, sorted by their counts (or by nothing at all).
double brute_force(const FiniteGroup& g, const std::vector<int>& inputs, int length, bool left,
                   bool counted) {
  std::map<std::vector<int>, std::vector<double>> words;
  std::vector<size_t> word(static_cast<size_t>(length));
  double total = 0;
  for (bool more = true; more; ++total) {
    std::vector<int> counts(inputs.size());
    int y = 0;
    for (size_t token : word) {
      if (counted) ++counts[token];
      y = left ? g.product(inputs[token], y) : g.product(y, inputs[token]);
    }
    auto& products = words[counts];
    products.resize(size_t(g.order()));
    ++products[size_t(y)];
    size_t at = 0;
    while (at < word.size() && ++word[at] == inputs.size()) word[at++] = 0;
    more = at < word.size();
  }
  double right = 0;
  for (const auto& [counts, products] : words)
    right += *std::max_element(products.begin(), products.end());
  return right / total;
}

struct Known {
  const char* group;
  std::vector<std::string> inputs;
  double final_percent;
  double prefix_percent;
  double tolerance;  // half a unit of the last digit given
};

}  // namespace

TEST_CASE("ceilings of commutative models at length 32", "[algebra]") {
  const std::vector<Known> table{
      {"A5", {"c", "t", "c^-1", "t^-1"}, 2.64, 18.81, 0.005},
      {"A5", {"c", "t"}, 2.13, 14.92, 0.005},
      {"A5", {"(1 2 3 4 5)", "(1 2 3 4 5)^-1", "(1 2)(3 4)"}, 5.88, 25.39, 0.005},
      {"S5", {"c", "c^-1", "t"}, 5.83, 25.40, 0.005},
      {"S5", {"c", "t"}, 3.43, 19.46, 0.005},
      {"S5", {"c", "c^-1", "(1 2 3 4)", "(1 2 3 4)^-1"}, 2.99, 18.95, 0.005},
      {"D4", {"r", "s"}, 50.00, 54.69, 0.005},
      {"D4", {"r", "s", "r^-1"}, 50.00, 55.47, 0.005},
      {"D8", {"r", "s"}, 50.00, 54.69, 0.005},
      {"Q8", {"i", "j"}, 50.00, 54.69, 0.005},
      {"S3", {"r", "s"}, 33.34, 40.14, 0.005},
      {"S3", {"r", "s", "r^-1"}, 33.35, 41.74, 0.005},
      {"D16", {"r", "s"}, 25.0, 33.5, 0.05},
      {"D16", {"r", "s", "r^-1"}, 25.1, 36.0, 0.05},
  };
  for (const Known& known : table) {
    const FiniteGroup g = named_group(known.group);
    const auto ceiling = parikh_ceiling(g, elements(g, known.inputs), 32);
    REQUIRE(ceiling.has_value());
    INFO(known.group << ' ' << known.inputs.size() << " tokens: " << 100 * ceiling->final << " / "
                     << 100 * ceiling->prefix);
    CHECK(std::abs(100 * ceiling->final - known.final_percent) <= known.tolerance);
    CHECK(std::abs(100 * ceiling->prefix - known.prefix_percent) <= known.tolerance);
    CHECK(ceiling->at.size() == 32);
    CHECK(ceiling->at[0] == Approx(1).epsilon(1e-12));
    CHECK(ceiling->at.back() == ceiling->final);
  }
}

TEST_CASE("ceilings equal their definition, whichever side the product grows", "[algebra]") {
  const std::vector<std::pair<const char*, std::vector<std::string>>> cases{
      {"S3", {"r", "s"}},      {"S3", {"r", "s", "r^-1", "e"}},    {"D8", {"r", "s", "rs"}},
      {"A4", {"c", "t", "t"}}, {"A5", {"c", "t", "c^-1", "t^-1"}}, {"C6", {"r"}},
  };
  for (const auto& [name, inputs] : cases) {
    const FiniteGroup g = named_group(name);
    const std::vector<int> tokens = elements(g, inputs);
    const auto parikh = parikh_ceiling(g, tokens, 7);
    const Ceiling chance = chance_ceiling(g, tokens, 7);
    for (int t = 1; t <= 7; ++t) {
      INFO(name << ", length " << t);
      for (bool left : {false, true}) {
        CHECK(parikh->at[size_t(t) - 1] == Approx(brute_force(g, tokens, t, left, true)));
        CHECK(chance.at[size_t(t) - 1] == Approx(brute_force(g, tokens, t, left, false)));
      }
    }
  }
}

TEST_CASE("counts decide everything in a commutative group", "[algebra]") {
  const FiniteGroup g = named_group("C2xC6");
  std::vector<int> all = whole_group(g);
  const auto ceiling = parikh_ceiling(g, {1, 5, 7}, 20);
  CHECK(ceiling->final == Approx(1));
  CHECK(ceiling->prefix == Approx(1));
  CHECK(parikh_ceiling(g, all, 4)->final == Approx(1));
}

TEST_CASE("a ceiling beyond the budget is not computed", "[algebra]") {
  const FiniteGroup a5 = named_group("A5");
  CHECK_FALSE(parikh_ceiling(a5, whole_group(a5), 32).has_value());
  CHECK_FALSE(parikh_ceiling(named_group("S7"), whole_group(named_group("S7")), 1000).has_value());
  const std::vector<int> two = elements(a5, {"c", "t"});
  CHECK_FALSE(parikh_ceiling(a5, two, 32, 1000).has_value());
  CHECK(parikh_ceiling(a5, two, 512).has_value());
}

TEST_CASE("ceilings of quotients", "[algebra]") {
  const FiniteGroup q8 = named_group("Q8");
  const std::vector<int> ij = elements(q8, {"i", "j"});
  const Subgroup sign{0, q8.element("-1")};
  CHECK(quotient_ceiling(q8, ij, sign, 32).final == Approx(0.5).margin(1e-4));
  CHECK(quotient_ceiling(q8, ij, {0}, 32).prefix == Approx(1));  // nothing is hidden

  // Uniform over all elements: the coset is known, the rest is a fair draw from it.
  const FiniteGroup s4 = named_group("S4");
  for (const Subgroup& n : normal_subgroups(s4)) {
    const Ceiling c = quotient_ceiling(s4, whole_group(s4), n, 100);
    CHECK(c.final == Approx(1.0 / double(n.size())));
    CHECK(c.prefix == Approx(1.0 / double(n.size())));
  }
  const FiniteGroup s5 = named_group("S5");
  CHECK(chance_ceiling(s5, elements(s5, {"c", "t", "e"}), 1000).final == Approx(1.0 / 120));
  // Without a pause the parity of y_t tells even steps from odd ones.
  CHECK(chance_ceiling(s5, elements(s5, {"(1 5)", "(1 2 3 4)"}), 1000).final == Approx(1.0 / 60));
}

TEST_CASE("ceilings refuse what cannot be", "[algebra]") {
  const FiniteGroup s3 = named_group("S3");
  CHECK_THROWS_AS(parikh_ceiling(s3, {}, 4), Error);
  CHECK_THROWS_AS(parikh_ceiling(s3, {6}, 4), Error);
  CHECK_THROWS_AS(parikh_ceiling(s3, {1}, 0), Error);
  CHECK_THROWS_AS(chance_ceiling(s3, {-1}, 4), Error);
  CHECK_THROWS_AS(quotient_ceiling(s3, {1}, {0, s3.element("s")}, 4), Error);
}
