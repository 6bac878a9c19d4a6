// SPDX-License-Identifier: Apache-2.0
#include "core/algebra/subgroups.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace lssm::algebra {
namespace {

int conjugate(const FiniteGroup& group, int g, int x) {
  return group.product(group.product(g, x), group.inverse(g));
}

// A subgroup that grows: elements in the order of discovery, and a membership test.
class Closure {
 public:
  explicit Closure(const FiniteGroup& group) : group_(group), member_(size_t(group.order())) {
    member_[0] = true;
  }

  bool contains(int a) const { return member_[size_t(a)]; }
  size_t size() const { return elements_.size(); }
  const std::vector<int>& generators() const { return generators_; }

  // Adds a generator and all its new products. In a finite group products reach the inverses too.
  void add(int generator) {
    if (contains(generator)) return;
    generators_.push_back(generator);
    for (size_t i = 0; i < elements_.size(); ++i) {
      for (int g : generators_) {
        const int next = group_.product(elements_[i], g);
        if (!contains(next)) elements_.push_back(next);
        member_[size_t(next)] = true;
      }
    }
  }

  Subgroup sorted() const {
    Subgroup out = elements_;
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  const FiniteGroup& group_;
  std::vector<bool> member_;
  std::vector<int> elements_{0};
  std::vector<int> generators_;
};

void check_elements(const FiniteGroup& group, const std::vector<int>& elements) {
  for (int a : elements)
    LSSM_CHECK(a >= 0 && a < group.order(), "group ", group.name(), ": ", a,
               " is no element, expected 0 to ", group.order() - 1);
}

bool normalises(const FiniteGroup& group, int g, const Closure& subgroup) {
  return std::all_of(subgroup.generators().begin(), subgroup.generators().end(),
                     [&](int x) { return subgroup.contains(conjugate(group, g, x)); });
}

// The part of n that is a power of p.
int prime_part(int n, int p) {
  int part = 1;
  for (; n % p == 0; n /= p) part *= p;
  return part;
}

}  // namespace

Subgroup generated_subgroup(const FiniteGroup& group, const std::vector<int>& elements) {
  check_elements(group, elements);
  Closure closure(group);
  for (int a : elements) closure.add(a);
  return closure.sorted();
}

std::vector<int> generating_set(const FiniteGroup& group, const Subgroup& subgroup) {
  check_elements(group, subgroup);
  Closure closure(group);
  for (int a : subgroup) closure.add(a);
  return closure.generators();
}

Subgroup whole_group(const FiniteGroup& group) {
  Subgroup all(size_t(group.order()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Subgroup normal_closure(const FiniteGroup& group, const std::vector<int>& elements) {
  check_elements(group, elements);
  Closure closure(group);
  for (int a : elements) closure.add(a);
  // Conjugates of generators are new generators, until there are no new ones.
  for (size_t i = 0; i < closure.generators().size(); ++i)
    for (const Generator& g : group.generators())
      closure.add(conjugate(group, g.element, closure.generators()[i]));
  return closure.sorted();
}

Subgroup commutator_subgroup(const FiniteGroup& group, const Subgroup& a, const Subgroup& b) {
  std::vector<int> commutators;
  for (int x : generating_set(group, a))
    for (int y : generating_set(group, b))
      commutators.push_back(group.product(conjugate(group, x, y), group.inverse(y)));
  return normal_closure(group, commutators);
}

Subgroup derived_subgroup(const FiniteGroup& group) {
  return commutator_subgroup(group, whole_group(group), whole_group(group));
}

Subgroup centre(const FiniteGroup& group) {
  Subgroup out;
  for (int a = 0; a < group.order(); ++a) {
    const bool central =
        std::all_of(group.generators().begin(), group.generators().end(),
                    [&](const Generator& g) { return conjugate(group, g.element, a) == a; });
    if (central) out.push_back(a);
  }
  return out;
}

bool is_normal(const FiniteGroup& group, const Subgroup& subgroup) {
  check_elements(group, subgroup);
  Closure closure(group);
  for (int a : subgroup) closure.add(a);
  return closure.size() == subgroup.size() &&
         std::all_of(group.generators().begin(), group.generators().end(),
                     [&](const Generator& g) { return normalises(group, g.element, closure); });
}

bool is_abelian(const FiniteGroup& group, const Subgroup& subgroup) {
  const std::vector<int> generators = generating_set(group, subgroup);
  for (int a : generators)
    for (int b : generators)
      if (group.product(a, b) != group.product(b, a)) return false;
  return true;
}

std::vector<std::vector<int>> conjugacy_classes(const FiniteGroup& group) {
  std::vector<std::vector<int>> classes;
  std::vector<bool> seen(size_t(group.order()));
  for (int a = 0; a < group.order(); ++a) {
    if (seen[size_t(a)]) continue;
    seen[size_t(a)] = true;
    std::vector<int> members{a};
    for (size_t i = 0; i < members.size(); ++i) {
      for (const Generator& g : group.generators()) {
        const int next = conjugate(group, g.element, members[i]);
        if (!seen[size_t(next)]) members.push_back(next);
        seen[size_t(next)] = true;
      }
    }
    std::sort(members.begin(), members.end());
    classes.push_back(std::move(members));
  }
  return classes;
}

// Every normal subgroup is the join of the normal closures of the classes in it.
std::vector<Subgroup> normal_subgroups(const FiniteGroup& group, int limit) {
  std::set<Subgroup> atoms;
  for (const auto& members : conjugacy_classes(group))
    atoms.insert(normal_closure(group, {members[0]}));

  std::set<Subgroup> found{Subgroup{0}};
  for (const Subgroup& atom : atoms) {
    const std::vector<int> extra = generating_set(group, atom);
    for (const Subgroup& known : std::vector<Subgroup>(found.begin(), found.end())) {
      std::vector<int> join = generating_set(group, known);
      join.insert(join.end(), extra.begin(), extra.end());
      found.insert(generated_subgroup(group, join));
      LSSM_CHECK(found.size() <= size_t(limit), "group ", group.name(), ": more than ", limit,
                 " normal subgroups");
    }
  }
  std::vector<Subgroup> out(found.begin(), found.end());
  std::stable_sort(out.begin(), out.end(),
                   [](const Subgroup& a, const Subgroup& b) { return a.size() < b.size(); });
  return out;
}

// While P is not a Sylow subgroup, p divides |N(P) / P|, so some element of p-power order outside P
// normalises P; it enlarges P to a p-group again.
Subgroup sylow_subgroup(const FiniteGroup& group, int prime) {
  for (int d = 2; d == 2 || d * d <= prime; ++d)
    LSSM_CHECK(prime >= 2 && (prime == d || prime % d != 0), "group ", group.name(),
               ": no Sylow subgroup for ", prime, ", expected a prime");
  const size_t target = size_t(prime_part(group.order(), prime));
  Closure closure(group);
  for (int g = 1; closure.size() < target; g = g + 1 < group.order() ? g + 1 : 1) {
    const int order = group.element_order(g);
    if (order == prime_part(order, prime) && normalises(group, g, closure)) closure.add(g);
  }
  return closure.sorted();
}

Quotient quotient_map(const FiniteGroup& group, const Subgroup& normal) {
  LSSM_CHECK(is_normal(group, normal), "group ", group.name(), ": the ", normal.size(),
             " elements are not a normal subgroup");
  Quotient out{0, std::vector<int>(size_t(group.order()), -1)};
  for (int a = 0; a < group.order(); ++a) {
    if (out.coset[size_t(a)] >= 0) continue;
    for (int n : normal) out.coset[size_t(group.product(a, n))] = out.order;
    ++out.order;
  }
  return out;
}

CosetFactors coset_factors(const FiniteGroup& group, const Subgroup& normal, CoreSide side) {
  const Quotient map = quotient_map(group, normal);
  std::vector<int> representative(size_t(map.order), -1);
  for (int a = 0; a < group.order(); ++a) {
    int& r = representative[size_t(map.coset[size_t(a)])];
    if (r < 0 || group.element_order(a) < group.element_order(r)) r = a;
  }
  CosetFactors out{map.coset, std::vector<int>(size_t(group.order()))};
  for (int a = 0; a < group.order(); ++a) {
    const int inverse = group.inverse(representative[size_t(map.coset[size_t(a)])]);
    const int n = side == CoreSide::left ? group.product(a, inverse) : group.product(inverse, a);
    out.core[size_t(a)] = int(std::lower_bound(normal.begin(), normal.end(), n) - normal.begin());
  }
  return out;
}

FiniteGroup quotient_group(const FiniteGroup& group, const Subgroup& normal) {
  const Quotient map = quotient_map(group, normal);
  std::vector<int> representative(size_t(map.order), -1);
  FiniteGroup::Labels labels{
      text(group.name(), "/", normal.size()),
      text("quotient of ", group.name(), " by a normal subgroup of order ", normal.size()),
      {},
      {},
      {}};
  for (int a = 0; a < group.order(); ++a) {
    int& first = representative[size_t(map.coset[size_t(a)])];
    if (first >= 0) continue;
    first = a;
    labels.elements.push_back(text("[", group.element_name(a), "]"));
  }
  for (const Generator& g : group.generators())
    labels.generators.push_back({g.name, map.coset[size_t(g.element)]});
  return FiniteGroup::from_law(std::move(labels), map.order, [&](int a, int b) {
    return map.coset[size_t(group.product(representative[size_t(a)], representative[size_t(b)]))];
  });
}

}  // namespace lssm::algebra
