// SPDX-License-Identifier: Apache-2.0
#include "core/algebra/facts.h"

#include <algorithm>
#include <numeric>

#include "core/algebra/subgroups.h"

namespace lssm::algebra {
namespace {

std::vector<int> derived_series(const FiniteGroup& group) {
  std::vector<int> orders;
  Subgroup term = whole_group(group);
  while (orders.empty() || int(term.size()) < orders.back()) {
    orders.push_back(int(term.size()));
    term = commutator_subgroup(group, term, term);
  }
  return orders;
}

// Steps of the lower central series G > [G, G] > [[G, G], G] > … to the trivial group.
std::optional<int> nilpotency_class(const FiniteGroup& group) {
  const Subgroup whole = whole_group(group);
  Subgroup term = whole;
  int steps = 0;
  while (term.size() > 1) {
    Subgroup next = commutator_subgroup(group, term, whole);
    if (next.size() == term.size()) return std::nullopt;
    term = std::move(next);
    ++steps;
  }
  return steps;
}

bool is_simple(const FiniteGroup& group, const std::vector<std::vector<int>>& classes) {
  return group.order() > 1 &&
         std::all_of(classes.begin() + 1, classes.end(), [&](const std::vector<int>& members) {
           return int(normal_closure(group, {members[0]}).size()) == group.order();
         });
}

std::vector<SylowFact> sylow_facts(const FiniteGroup& group) {
  std::vector<SylowFact> out;
  int rest = group.order();
  for (int p = 2; rest > 1; ++p) {
    if (rest % p != 0) continue;
    SylowFact fact{p, 0, 1, false};
    for (; rest % p == 0; rest /= p) {
      ++fact.exponent;
      fact.order *= p;
    }
    fact.abelian = is_abelian(group, sylow_subgroup(group, p));
    out.push_back(fact);
  }
  return out;
}

}  // namespace

// In an abelian group a cyclic subgroup of the largest order is a direct factor: split it off.
std::vector<int> invariant_factors(const FiniteGroup& group) {
  LSSM_CHECK(is_abelian(group, whole_group(group)), "group ", group.name(),
             ": invariant factors belong to abelian groups");
  std::vector<int> factors;
  FiniteGroup rest = group;
  while (rest.order() > 1) {
    int largest = 0;
    for (int a = 1; a < rest.order(); ++a)
      if (rest.element_order(a) > rest.element_order(largest)) largest = a;
    factors.insert(factors.begin(), rest.element_order(largest));
    rest = quotient_group(rest, generated_subgroup(rest, {largest}));
  }
  return factors;
}

GroupFacts group_facts(const FiniteGroup& group) {
  GroupFacts facts{};
  facts.name = group.name();
  facts.description = group.description();
  facts.order = group.order();
  facts.abelian = is_abelian(group, whole_group(group));
  facts.exponent = 1;
  for (int a = 0; a < group.order(); ++a) {
    const int order = group.element_order(a);
    ++facts.element_orders[order];
    facts.exponent = std::lcm(facts.exponent, order);
  }

  const auto classes = conjugacy_classes(group);
  for (const auto& members : classes) facts.class_sizes.push_back(int(members.size()));
  std::sort(facts.class_sizes.begin(), facts.class_sizes.end());
  facts.simple = is_simple(group, classes);
  facts.centre_order = int(centre(group).size());

  facts.derived_series = derived_series(group);
  facts.solvable = facts.derived_series.back() == 1;
  facts.perfect = facts.derived_series.size() == 1;
  if (facts.solvable) facts.derived_length = int(facts.derived_series.size()) - 1;
  facts.nilpotency_class = nilpotency_class(group);
  const FiniteGroup commutative = quotient_group(group, derived_subgroup(group));
  facts.abelianization = invariant_factors(commutative);
  facts.abelianization_order = commutative.order();
  facts.sylow = sylow_facts(group);
  return facts;
}

}  // namespace lssm::algebra
