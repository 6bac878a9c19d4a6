// SPDX-License-Identifier: Apache-2.0
#include "core/algebra/subgroups.h"

#include <map>

#include "core/algebra/facts.h"
#include "core/algebra/named_groups.h"
#include "test/test.h"

using namespace lssm;
using namespace lssm::algebra;

namespace {

using Ints = std::vector<int>;
using Histogram = std::map<int, int>;

GroupFacts facts_of(const char* name) { return group_facts(named_group(name)); }

const SylowFact& sylow(const GroupFacts& facts, int prime) {
  for (const SylowFact& fact : facts.sylow)
    if (fact.prime == prime) return fact;
  FAIL("no Sylow fact for " << prime);
  return facts.sylow[0];
}

Ints orders(const std::vector<Subgroup>& subgroups) {
  Ints out;
  for (const Subgroup& s : subgroups) out.push_back(int(s.size()));
  return out;
}

}  // namespace

TEST_CASE("facts of A5", "[algebra]") {
  const GroupFacts f = facts_of("A5");
  CHECK(f.order == 60);
  CHECK(f.element_orders == Histogram{{1, 1}, {2, 15}, {3, 20}, {5, 24}});
  CHECK(f.class_sizes == Ints{1, 12, 12, 15, 20});
  CHECK(f.exponent == 30);
  CHECK(f.simple);
  CHECK(f.perfect);
  CHECK_FALSE(f.solvable);
  CHECK_FALSE(f.abelian);
  CHECK(f.derived_series == Ints{60});
  CHECK_FALSE(f.derived_length.has_value());
  CHECK_FALSE(f.nilpotency_class.has_value());
  CHECK(f.centre_order == 1);
  CHECK(f.abelianization.empty());
  CHECK(f.abelianization_order == 1);
  REQUIRE(f.sylow.size() == 3);
  CHECK(sylow(f, 2).order == 4);
  CHECK(sylow(f, 2).abelian);
}

TEST_CASE("facts of the symmetric groups", "[algebra]") {
  const GroupFacts s3 = facts_of("S3");
  CHECK(s3.derived_series == Ints{6, 3, 1});
  CHECK(s3.derived_length == 2);
  CHECK(s3.abelianization == Ints{2});
  CHECK_FALSE(s3.nilpotency_class.has_value());

  const GroupFacts s4 = facts_of("S4");
  CHECK(s4.derived_series == Ints{24, 12, 4, 1});
  CHECK(s4.derived_length == 3);
  CHECK(s4.solvable);
  CHECK(s4.class_sizes == Ints{1, 3, 6, 6, 8});
  CHECK(sylow(s4, 2).order == 8);
  CHECK(sylow(s4, 2).exponent == 3);
  CHECK_FALSE(sylow(s4, 2).abelian);
  CHECK(sylow(s4, 3).abelian);

  const GroupFacts s5 = facts_of("S5");
  CHECK(s5.derived_series == Ints{120, 60});
  CHECK_FALSE(s5.solvable);
  CHECK_FALSE(s5.perfect);
  CHECK_FALSE(s5.simple);
  CHECK(s5.class_sizes == Ints{1, 10, 15, 20, 20, 24, 30});
  CHECK(s5.abelianization == Ints{2});

  const GroupFacts s7 = facts_of("S7");
  CHECK(s7.derived_series == Ints{5040, 2520});
  CHECK(s7.class_sizes.size() == 15);
}

TEST_CASE("facts of nilpotent groups", "[algebra]") {
  const GroupFacts q8 = facts_of("Q8");
  CHECK(q8.nilpotency_class == 2);
  CHECK(q8.centre_order == 2);
  CHECK(q8.abelianization == Ints{2, 2});
  CHECK(q8.element_orders == Histogram{{1, 1}, {2, 1}, {4, 6}});

  const GroupFacts d4 = facts_of("D4");
  CHECK(d4.order == 8);
  CHECK(d4.element_orders == Histogram{{1, 1}, {2, 5}, {4, 2}});
  CHECK(d4.nilpotency_class == 2);

  const GroupFacts d16 = facts_of("D16");
  CHECK(d16.order == 16);
  CHECK(d16.nilpotency_class == 3);
  CHECK(d16.derived_series == Ints{16, 4, 1});
  CHECK(d16.abelianization == Ints{2, 2});
  CHECK(d16.class_sizes == Ints{1, 1, 2, 2, 2, 4, 4});

  CHECK(facts_of("Q16").nilpotency_class == 3);
  const GroupFacts heis3 = facts_of("Heis3");
  CHECK(heis3.order == 27);
  CHECK(heis3.exponent == 3);
  CHECK(heis3.nilpotency_class == 2);
  CHECK(heis3.centre_order == 3);
  CHECK(heis3.abelianization == Ints{3, 3});
  CHECK(facts_of("Heis2").element_orders == d4.element_orders);
}

TEST_CASE("facts of the binary polyhedral groups", "[algebra]") {
  const GroupFacts t = facts_of("2T");
  CHECK(t.order == 24);
  CHECK(t.class_sizes.size() == 7);
  CHECK(t.derived_series == Ints{24, 8, 2, 1});
  CHECK(t.abelianization == Ints{3});

  const GroupFacts o = facts_of("2O");
  CHECK(o.order == 48);
  CHECK(o.class_sizes.size() == 8);
  // One involution: that tells 2O from GL(2, 3), which has 13.
  CHECK(o.element_orders == Histogram{{1, 1}, {2, 1}, {3, 8}, {4, 18}, {6, 8}, {8, 12}});
  CHECK(o.derived_length == 4);
  CHECK(o.centre_order == 2);

  const GroupFacts i = facts_of("2I");
  CHECK(i.order == 120);
  CHECK(i.perfect);
  CHECK_FALSE(i.simple);
  CHECK(i.centre_order == 2);
  CHECK(i.class_sizes.size() == 9);
  CHECK(i.element_orders ==
        Histogram{{1, 1}, {2, 1}, {3, 20}, {4, 30}, {5, 24}, {6, 20}, {10, 24}});
  CHECK_FALSE(sylow(i, 2).abelian);  // Q8
}

TEST_CASE("facts of Frobenius, cyclic and product groups", "[algebra]") {
  const GroupFacts f20 = facts_of("F20");
  CHECK(f20.derived_series == Ints{20, 5, 1});
  CHECK(f20.abelianization == Ints{4});
  CHECK(f20.class_sizes == Ints{1, 4, 5, 5, 5});
  const GroupFacts f21 = facts_of("F21");
  CHECK(f21.derived_series == Ints{21, 7, 1});
  CHECK(f21.class_sizes == Ints{1, 3, 3, 7, 7});

  const GroupFacts c12 = facts_of("C12");
  CHECK(c12.abelian);
  CHECK(c12.abelianization == Ints{12});
  CHECK(c12.nilpotency_class == 1);
  CHECK(c12.derived_length == 1);
  CHECK(facts_of("C7").simple);
  CHECK(facts_of("C2xC12xC6").abelianization == Ints{2, 6, 12});
  CHECK(facts_of("V4").abelianization == Ints{2, 2});

  const GroupFacts a4z5 = facts_of("A4xZ5");
  CHECK(a4z5.order == 60);
  CHECK(a4z5.derived_series == Ints{60, 4, 1});
  CHECK(a4z5.abelianization == Ints{15});
  CHECK(a4z5.centre_order == 5);
  CHECK(sylow(a4z5, 2).abelian);

  const GroupFacts trivial = group_facts(FiniteGroup::from_cayley("trivial", {{0}}));
  CHECK(trivial.derived_length == 0);
  CHECK(trivial.nilpotency_class == 0);
  CHECK_FALSE(trivial.simple);
  CHECK(trivial.sylow.empty());
}

TEST_CASE("subgroups, closures and centres", "[algebra]") {
  const FiniteGroup s4 = named_group("S4");
  CHECK(generated_subgroup(s4, {s4.element("(1 2)")}).size() == 2);
  CHECK(generated_subgroup(s4, {}) == Subgroup{0});
  CHECK(normal_closure(s4, {s4.element("(1 2)")}).size() == 24);
  const Subgroup v4 = normal_closure(s4, {s4.element("(1 2)(3 4)")});
  CHECK(v4.size() == 4);
  CHECK(is_normal(s4, v4));
  CHECK(is_abelian(s4, v4));
  CHECK_FALSE(is_normal(s4, generated_subgroup(s4, {s4.element("(1 2)")})));
  CHECK_FALSE(is_normal(s4, {0, 1, 2}));  // no subgroup at all
  CHECK(generating_set(s4, v4).size() == 2);
  CHECK(derived_subgroup(s4).size() == 12);
  CHECK(centre(s4) == Subgroup{0});
  CHECK(sylow_subgroup(s4, 2).size() == 8);
  CHECK(sylow_subgroup(s4, 5) == Subgroup{0});
  CHECK_THROWS_AS(sylow_subgroup(s4, 4), Error);
  CHECK_THROWS_AS(sylow_subgroup(s4, 1), Error);
  CHECK_THROWS_AS(generated_subgroup(s4, {24}), Error);
}

TEST_CASE("Sylow subgroups have the right order and are subgroups", "[algebra]") {
  for (const char* name : {"S4", "S5", "A5", "2O", "2I", "F20", "D16", "A4xZ5", "A7"}) {
    const FiniteGroup g = named_group(name);
    for (const SylowFact& fact : group_facts(g).sylow) {
      INFO(name << ", p = " << fact.prime);
      const Subgroup p = sylow_subgroup(g, fact.prime);
      CHECK(int(p.size()) == fact.order);
      CHECK(generated_subgroup(g, p) == p);
    }
  }
}

TEST_CASE("all normal subgroups are found", "[algebra]") {
  CHECK(orders(normal_subgroups(named_group("A5"))) == Ints{1, 60});
  CHECK(orders(normal_subgroups(named_group("S4"))) == Ints{1, 4, 12, 24});
  CHECK(orders(normal_subgroups(named_group("S5"))) == Ints{1, 60, 120});
  CHECK(orders(normal_subgroups(named_group("Q8"))) == Ints{1, 2, 4, 4, 4, 8});
  CHECK(orders(normal_subgroups(named_group("D16"))) == Ints{1, 2, 4, 8, 8, 8, 16});
  CHECK(orders(normal_subgroups(named_group("2I"))) == Ints{1, 2, 120});
  CHECK(orders(normal_subgroups(named_group("C12"))) == Ints{1, 2, 3, 4, 6, 12});
  CHECK(normal_subgroups(named_group("C2xC2xC2")).size() == 16);
  for (const Subgroup& n : normal_subgroups(named_group("S4")))
    CHECK(is_normal(named_group("S4"), n));
  CHECK_THROWS_AS(normal_subgroups(named_group("C2xC2xC2xC2xC2xC2")), Error);  // 2825 of them
}

TEST_CASE("the quotient map is a homomorphism", "[algebra]") {
  for (const char* name : {"S4", "Q8", "D16", "2I", "A4xZ5"}) {
    const FiniteGroup g = named_group(name);
    for (const Subgroup& n : normal_subgroups(g)) {
      const Quotient map = quotient_map(g, n);
      const FiniteGroup q = quotient_group(g, n);
      CHECK(size_t(map.order) * n.size() == size_t(g.order()));
      CHECK(q.order() == map.order);
      bool homomorphism = true;
      for (int a = 0; a < g.order(); ++a)
        for (int b = 0; b < g.order(); ++b)
          homomorphism &= map.coset[size_t(g.product(a, b))] ==
                          q.product(map.coset[size_t(a)], map.coset[size_t(b)]);
      CHECK(homomorphism);
      for (int a : n) CHECK(map.coset[size_t(a)] == 0);
    }
  }
  const FiniteGroup s3 = named_group("S3");
  CHECK_THROWS_AS(quotient_map(s3, generated_subgroup(s3, {s3.element("s")})), Error);
  CHECK_THROWS_AS(invariant_factors(s3), Error);
}

TEST_CASE("elements factor into coset and core, so that a cascade can multiply", "[algebra]") {
  for (const char* name : {"S5", "S4", "D16", "2T", "Heis3"}) {
    const FiniteGroup g = named_group(name);
    const Subgroup core = derived_subgroup(g);
    for (const CoreSide side : {CoreSide::left, CoreSide::right}) {
      INFO(name << (side == CoreSide::left ? " left" : " right"));
      const CosetFactors f = coset_factors(g, core, side);
      std::map<std::pair<int, int>, int> elements;
      for (int a = 0; a < g.order(); ++a) elements[{f.coset[size_t(a)], f.core[size_t(a)]}] = a;
      CHECK(int(elements.size()) == g.order());
      // The core is multiplied by what depends on the coset and the factor alone.
      std::map<std::pair<int, int>, int> multiplier;
      bool one_each = true;
      for (int a = 0; a < g.order(); ++a) {
        const int n = core[size_t(f.core[size_t(a)])];
        for (int x = 0; x < g.order(); ++x) {
          const int b = side == CoreSide::left ? g.product(a, x) : g.product(x, a);
          const int m = core[size_t(f.core[size_t(b)])];
          const int by =
              side == CoreSide::left ? g.product(g.inverse(n), m) : g.product(m, g.inverse(n));
          one_each &= multiplier.try_emplace({f.coset[size_t(a)], x}, by).first->second == by;
        }
      }
      CHECK(one_each);
    }
  }
  // The odd permutations of S5 are even ones times a transposition, an involution.
  const FiniteGroup s5 = named_group("S5");
  const CosetFactors f = coset_factors(s5, derived_subgroup(s5), CoreSide::left);
  int representative = -1;
  for (int a = 0; a < 120; ++a)
    if (f.coset[size_t(a)] == 1 && f.core[size_t(a)] == 0) representative = a;
  CHECK(s5.element_order(representative) == 2);
  const FiniteGroup s3 = named_group("S3");
  CHECK_THROWS_AS(coset_factors(s3, generated_subgroup(s3, {s3.element("s")}), CoreSide::left),
                  Error);
}
