// SPDX-License-Identifier: Apache-2.0
#include "core/algebra/sections.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace lssm::algebra {
namespace {

bool is_power_of(size_t n, int prime) {
  while (n % size_t(prime) == 0) n /= size_t(prime);
  return n == 1;
}

std::map<int, int> element_orders(const FiniteGroup& group) {
  std::map<int, int> count;
  for (int a = 0; a < group.order(); ++a) ++count[group.element_order(a)];
  return count;
}

// An element whose powers are half of the group, such that all others have the order `outside`.
bool is_half_cyclic(const FiniteGroup& group, int outside) {
  const int half = group.order() / 2;
  if (group.order() % 2 != 0 || half < 2) return false;
  for (int a = 0; a < group.order(); ++a) {
    if (group.element_order(a) != half) continue;
    const Subgroup powers = generated_subgroup(group, {a});
    bool all = true;
    for (int b = 0; b < group.order() && all; ++b)
      all =
          std::binary_search(powers.begin(), powers.end(), b) || group.element_order(b) == outside;
    if (all) return true;
  }
  return false;
}

// 1 or -1 for each element, given the signs of the generators; empty when there is no such map.
std::vector<int> sign_map(const FiniteGroup& group, const std::vector<int>& generators,
                          size_t negative) {
  std::vector<int> sign(size_t(group.order()), 0), queue{0};
  sign[0] = 1;
  for (size_t i = 0; i < queue.size(); ++i) {
    for (size_t k = 0; k < generators.size(); ++k) {
      int& next = sign[size_t(group.product(queue[i], generators[k]))];
      const int value = sign[size_t(queue[i])] * ((negative >> k) % 2 == 1 ? -1 : 1);
      if (next != 0 && next != value) return {};
      if (next == 0) queue.push_back(group.product(queue[i], generators[k]));
      next = value;
    }
  }
  return sign;
}

}  // namespace

FiniteGroup subgroup_group(const FiniteGroup& group, const Subgroup& subgroup,
                           const std::vector<int>& generators) {
  const std::vector<int> chosen = generators.empty() ? generating_set(group, subgroup) : generators;
  LSSM_CHECK(generated_subgroup(group, chosen) == subgroup, "group ", group.name(), ": the ",
             subgroup.size(), " elements are not the subgroup that the given ones generate");
  const auto place = [&](int a) {
    return int(std::lower_bound(subgroup.begin(), subgroup.end(), a) - subgroup.begin());
  };
  const bool whole = int(subgroup.size()) == group.order();
  FiniteGroup::Labels labels{
      whole ? group.name() : text("a subgroup of order ", subgroup.size(), " of ", group.name()),
      whole ? group.description() : "",
      {},
      {},
      {}};
  for (int a : subgroup) {
    labels.elements.push_back(group.element_name(a));
    if (!group.permutations().empty())
      labels.permutations.push_back(group.permutations()[size_t(a)]);
  }
  for (int a : chosen) {
    std::string name = group.element_name(a);
    for (const Generator& g : group.generators())
      if (g.element == a) name = g.name;
    labels.generators.push_back({name, place(a)});
  }
  return FiniteGroup::from_law(std::move(labels), int(subgroup.size()), [&](int a, int b) {
    return place(group.product(subgroup[size_t(a)], subgroup[size_t(b)]));
  });
}

Subgroup centraliser(const FiniteGroup& group, const Subgroup& subgroup) {
  const std::vector<int> generators = generating_set(group, subgroup);
  Subgroup out;
  for (int a = 0; a < group.order(); ++a) {
    if (std::all_of(generators.begin(), generators.end(),
                    [&](int g) { return group.product(a, g) == group.product(g, a); }))
      out.push_back(a);
  }
  return out;
}

// A product of normal p-subgroups is one again, so all of them together are.
Subgroup prime_core(const FiniteGroup& group, int prime) {
  std::vector<int> elements;
  for (const auto& members : conjugacy_classes(group)) {
    if (!is_power_of(size_t(group.element_order(members[0])), prime)) continue;
    if (is_power_of(normal_closure(group, {members[0]}).size(), prime))
      elements.push_back(members[0]);
  }
  return normal_closure(group, elements);
}

Subgroup odd_residual(const FiniteGroup& group) {
  std::vector<int> odd;
  for (const auto& members : conjugacy_classes(group))
    if (group.element_order(members[0]) % 2 == 1) odd.push_back(members[0]);
  return normal_closure(group, odd);
}

Subgroup perfect_residual(const FiniteGroup& group) {
  Subgroup term = whole_group(group);
  while (true) {
    Subgroup next = commutator_subgroup(group, term, term);
    if (next.size() == term.size()) return term;
    term = std::move(next);
  }
}

NormalSubgroups known_normal_subgroups(const FiniteGroup& group) {
  try {
    return {normal_subgroups(group), true};
  } catch (const Error&) {
    return {{{0}, centre(group), derived_subgroup(group), whole_group(group)}, false};
  }
}

Subgroup intersection(const Subgroup& a, const Subgroup& b) {
  Subgroup out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

std::vector<int> prime_divisors(int n) {
  std::vector<int> primes;
  for (int p = 2; n > 1; ++p) {
    if (n % p != 0) continue;
    primes.push_back(p);
    while (n % p == 0) n /= p;
  }
  return primes;
}

// A group of order 12 with three involutions and eight elements of order 3 is A4. One of order 24
// with eight elements of order 3 moves its four Sylow 3-subgroups; the kernel has no element of
// order 3, and would hold a central involution if it were not trivial: without elements of order 6
// the group is S4. The only group of order 60 that is not solvable is A5.
std::string rotation_type(const FiniteGroup& group) {
  const int order = group.order();
  std::map<int, int> count = element_orders(group);
  if (count.rbegin()->first == order) return text("C", order);
  if (is_half_cyclic(group, 2)) return order == 4 ? "V4" : text("D", order);
  if (order == 12 && count[2] == 3 && count[3] == 8) return "A4";
  if (order == 24 && count[3] == 8 && count[6] == 0) return "S4";
  if (order == 60 && perfect_residual(group).size() == 60) return "A5";
  return "";
}

// SU(2) has a single involution, -1, and SU(2) / {1, -1} is SO(3).
std::string spinor_type(const FiniteGroup& group) {
  std::map<int, int> count = element_orders(group);
  if (count.rbegin()->first == group.order()) return text("C", group.order());
  if (count[2] != 1) return "";
  if (is_half_cyclic(group, 4)) return text("Q", group.order());
  int minus = 1;
  while (group.element_order(minus) != 2) ++minus;
  const std::string below = rotation_type(quotient_group(group, {0, minus}));
  if (below == "A4") return "2T";
  if (below == "S4") return "2O";
  return below == "A5" ? "2I" : "";
}

bool has_abelian_half(const FiniteGroup& group) {
  if (is_abelian(group, whole_group(group))) return true;
  const std::vector<int> generators = generating_set(group, whole_group(group));
  for (size_t negative = 1; negative < size_t(1) << generators.size(); ++negative) {
    const std::vector<int> sign = sign_map(group, generators, negative);
    Subgroup half;
    for (int a = 0; a < int(sign.size()); ++a)
      if (sign[size_t(a)] > 0) half.push_back(a);
    if (!half.empty() && is_abelian(group, half)) return true;
  }
  return false;
}

}  // namespace lssm::algebra
