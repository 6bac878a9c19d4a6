// SPDX-License-Identifier: Apache-2.0
#include "core/algebra/finite_group.h"

#include <algorithm>
#include <set>

namespace lssm::algebra {
namespace {

// All products of the generators, sorted.
std::vector<Permutation> closure(const std::string& name,
                                 const std::vector<NamedPermutation>& generators) {
  const Permutation identity = identity_permutation(int(generators[0].permutation.size()));
  std::set<Permutation> seen{identity};
  std::vector<Permutation> queue{identity};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const NamedPermutation& g : generators) {
      const Permutation next = compose(queue[i], g.permutation);
      if (!seen.insert(next).second) continue;
      queue.push_back(next);
      LSSM_CHECK(queue.size() <= size_t(FiniteGroup::kMaxOrder), "group ", name,
                 ": the permutations generate more than ", FiniteGroup::kMaxOrder,
                 " elements, the largest order supported");
    }
  }
  return {seen.begin(), seen.end()};
}

// The table from the right multiplications alone: right[k][a] = a g_k. Each b is reached from the
// identity by b = parent g_k, and then a b = (a parent) g_k.
std::vector<uint16_t> table_from_right(const std::vector<std::vector<int>>& right, int order) {
  std::vector<int> queue{0};
  std::vector<int> parent(size_t(order), -1), via(size_t(order), -1);
  parent[0] = 0;
  for (size_t i = 0; i < queue.size(); ++i) {
    for (size_t k = 0; k < right.size(); ++k) {
      const int next = right[k][size_t(queue[i])];
      if (parent[size_t(next)] >= 0) continue;
      parent[size_t(next)] = queue[i];
      via[size_t(next)] = int(k);
      queue.push_back(next);
    }
  }
  std::vector<uint16_t> table(size_t(order) * size_t(order));
  for (int a = 0; a < order; ++a) {
    uint16_t* row = table.data() + size_t(a) * size_t(order);
    row[0] = uint16_t(a);
    for (size_t i = 1; i < queue.size(); ++i) {
      const size_t b = size_t(queue[i]);
      row[b] = uint16_t(right[size_t(via[b])][row[parent[b]]]);
    }
  }
  return table;
}

}  // namespace

void FiniteGroup::check_order(const std::string& name, int64_t order) {
  LSSM_CHECK(order >= 1 && order <= kMaxOrder, "group ", name, ": order ", order,
             " is out of range, expected 1 to ", kMaxOrder);
}

FiniteGroup::FiniteGroup(Labels labels, int order, std::vector<uint16_t> table)
    : labels_(std::move(labels)),
      order_(order),
      table_(std::move(table)),
      inverse_(static_cast<size_t>(order)) {
  for (int a = 0; a < order; ++a) {
    const auto row = table_.begin() + int64_t(a) * order;
    inverse_[size_t(a)] = uint16_t(std::find(row, row + order, 0) - row);
  }
}

FiniteGroup FiniteGroup::from_permutations(std::string name,
                                           std::vector<NamedPermutation> generators,
                                           std::string description) {
  LSSM_CHECK(!generators.empty(), "group ", name, ": expected at least one permutation");
  size_t degree = 0;
  for (const NamedPermutation& g : generators) degree = std::max(degree, g.permutation.size());
  for (NamedPermutation& g : generators) g.permutation = extended(g.permutation, int(degree));

  Labels labels{std::move(name), std::move(description), {}, {}, {}};
  labels.permutations = closure(labels.name, generators);
  const auto& elements = labels.permutations;
  const auto index = [&](const Permutation& p) {
    return int(std::lower_bound(elements.begin(), elements.end(), p) - elements.begin());
  };
  std::vector<std::vector<int>> right;
  for (const NamedPermutation& g : generators) {
    labels.generators.push_back({g.name, index(g.permutation)});
    right.emplace_back();
    for (const Permutation& p : elements) right.back().push_back(index(compose(p, g.permutation)));
  }
  for (const Permutation& p : elements) labels.elements.push_back(to_cycles(p));
  const int order = int(elements.size());
  return FiniteGroup(std::move(labels), order, table_from_right(right, order));
}

FiniteGroup FiniteGroup::direct_product(const FiniteGroup& g, const FiniteGroup& h) {
  const int n = h.order();
  Labels labels{text(g.name(), "x", h.name()),
                text("direct product of ", g.name(), " and ", h.name()),
                {},
                {},
                {}};
  check_order(labels.name, int64_t(g.order()) * n);
  for (int a = 0; a < g.order(); ++a)
    for (int b = 0; b < n; ++b)
      labels.elements.push_back(text("[", g.element_name(a), ", ", h.element_name(b), "]"));
  for (const Generator& k : g.generators()) {
    const int element = k.element * n;
    labels.generators.push_back({labels.elements[size_t(element)], element});
  }
  for (const Generator& k : h.generators())
    labels.generators.push_back({labels.elements[size_t(k.element)], k.element});
  return from_law(std::move(labels), g.order() * n, [&](int a, int b) {
    return g.product(a / n, b / n) * n + h.product(a % n, b % n);
  });
}

int FiniteGroup::power(int a, int64_t exponent) const {
  int64_t k = exponent % element_order(a);
  if (k < 0) k += element_order(a);
  int result = 0;
  for (; k > 0; --k) result = product(result, a);
  return result;
}

int FiniteGroup::element_order(int a) const {
  int k = 1;
  for (int x = a; x != 0; x = product(x, a)) ++k;
  return k;
}

int FiniteGroup::find(const std::string& text) const {
  const auto at = std::find(labels_.elements.begin(), labels_.elements.end(), text);
  if (at != labels_.elements.end()) return int(at - labels_.elements.begin());
  for (const Generator& g : labels_.generators)
    if (g.name == text) return g.element;
  if (text == "e") return 0;

  const auto& all = labels_.permutations;
  if (!all.empty() && !text.empty() && text.front() == '(' && text.back() == ')') {
    const Permutation p = parse_permutation(text, int(all[0].size()));
    const auto found = std::lower_bound(all.begin(), all.end(), p);
    if (found != all.end() && *found == p) return int(found - all.begin());
  }
  return -1;
}

int FiniteGroup::element(const std::string& text) const {
  int found = find(text);
  const size_t caret = text.rfind('^');
  if (found < 0 && caret != std::string::npos) {
    const std::string exponent = text.substr(caret + 1);
    const size_t digits = exponent.find_first_not_of("0123456789", exponent[0] == '-' ? 1 : 0);
    const bool number =
        digits == std::string::npos && exponent.size() <= 9 && !exponent.empty() && exponent != "-";
    const int base = number ? find(text.substr(0, caret)) : -1;
    if (base >= 0) found = power(base, std::stoll(exponent));
  }
  LSSM_CHECK(found >= 0, "group ", name(), ": no element '", text, "'; its ", order(),
             " elements are called '", element_name(0), "', '",
             element_name(std::min(1, order() - 1)), "', …, '", element_name(order() - 1), "'");
  return found;
}

}  // namespace lssm::algebra
