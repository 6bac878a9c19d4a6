// SPDX-License-Identifier: Apache-2.0
#include "core/algebra/laws.h"

#include <algorithm>
#include <map>

#include "core/algebra/sections.h"

namespace lssm::algebra {
namespace {

using Word = std::vector<int>;  // places in group.generators()

// A shortest word for each element.
std::vector<Word> shortest_words(const FiniteGroup& group) {
  std::vector<Word> words(size_t(group.order()));
  std::vector<int> queue{0};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (size_t k = 0; k < group.generators().size(); ++k) {
      const int next = group.product(queue[i], group.generators()[k].element);
      Word& word = words[size_t(next)];
      if (next == 0 || !word.empty()) continue;
      word = words[size_t(queue[i])];
      word.push_back(int(k));
      queue.push_back(next);
    }
  }
  return words;
}

// "(c t)"
std::string spell(const FiniteGroup& group, const Word& word) {
  std::string out;
  for (int k : word) out += (out.empty() ? "" : " ") + group.generators()[size_t(k)].name;
  return word.size() == 1 ? out : "(" + out + ")";
}

int commutator(const FiniteGroup& g, int a, int b) {
  return g.product(g.product(a, b), g.product(g.inverse(a), g.inverse(b)));
}

int product_of(const FiniteGroup& g, std::initializer_list<int> factors) {
  int product = 0;
  for (int a : factors) product = g.product(product, a);
  return product;
}

// The values u^30, each with the element u of the shortest word.
struct Power {
  int u, value;
};

std::vector<Power> thirtieth_powers(const FiniteGroup& group, const std::vector<Word>& words) {
  std::map<int, int> best;  // value -> u
  for (int u = 0; u < group.order(); ++u) {
    const auto [at, is_new] = best.try_emplace(group.power(u, 30), u);
    if (!is_new && words[size_t(u)].size() < words[size_t(at->second)].size()) at->second = u;
  }
  std::vector<Power> out;
  for (const auto& [value, u] : best) out.push_back({u, value});
  std::sort(out.begin(), out.end(), [&](const Power& a, const Power& b) {
    const Word &x = words[size_t(a.u)], &y = words[size_t(b.u)];
    return std::pair(x.size(), x) < std::pair(y.size(), y);
  });
  return out;
}

// The pair with the shortest words whose values a, b are `bad`.
template <class Bad>
std::optional<std::pair<Power, Power>> shortest_pair(const FiniteGroup& group,
                                                     const std::vector<Word>& words, Bad bad) {
  const std::vector<Power> powers = thirtieth_powers(group, words);
  std::optional<std::pair<Power, Power>> found;
  size_t length = 0;
  for (const Power& a : powers) {
    for (const Power& b : powers) {
      const size_t both = words[size_t(a.u)].size() + words[size_t(b.u)].size();
      if ((found && both >= length) || !bad(a.value, b.value)) continue;
      found = {a, b};
      length = both;
    }
  }
  return found;
}

// u^30 v^30 against v^30 u^30, which have the same tokens.
std::optional<LawFailure> rotation_power_failure(const FiniteGroup& group) {
  const std::vector<Word> words = shortest_words(group);
  const auto pair = shortest_pair(
      group, words, [&](int a, int b) { return group.product(a, b) != group.product(b, a); });
  if (!pair) return std::nullopt;
  const auto [u, v] = *pair;
  const std::string a = spell(group, words[size_t(u.u)]), b = spell(group, words[size_t(v.u)]);
  const int letters = int(words[size_t(u.u)].size() + words[size_t(v.u)].size());
  return LawFailure{
      text("[u^30, v^30] = e fails for u = ", a, ", v = ", b),
      WordPair{text(a, "^30 ", b, "^30"), text(b, "^30 ", a, "^30"),
               group.product(u.value, v.value), group.product(v.value, u.value), 30 * letters}};
}

// With k = [a, b], a b = k b a: where k is central and k^2 = e, (a b)^2 = (b a)^2, and a b w b a =
// b a w a b for every w.
std::optional<LawFailure> spinor_power_failure(const FiniteGroup& group) {
  const std::vector<Word> words = shortest_words(group);
  const Subgroup central = centre(group);
  const auto square = [&](int k) { return group.product(k, k); };
  const auto pair = shortest_pair(group, words, [&](int a, int b) {
    const int k = commutator(group, a, b);
    return square(k) != 0 || !std::binary_search(central.begin(), central.end(), k);
  });
  if (!pair) return std::nullopt;
  const auto [u, v] = *pair;
  const std::string a = spell(group, words[size_t(u.u)]), b = spell(group, words[size_t(v.u)]);
  const std::string ab = text(a, "^30 ", b, "^30"), ba = text(b, "^30 ", a, "^30");
  const int letters = 30 * int(words[size_t(u.u)].size() + words[size_t(v.u)].size());
  const int left = group.product(u.value, v.value), right = group.product(v.value, u.value);
  const int k = commutator(group, u.value, v.value);
  const std::string pair_name = text(" for u = ", a, ", v = ", b);
  if (square(k) != 0) {
    return LawFailure{text("[u^30, v^30]^2 = e fails", pair_name),
                      WordPair{text("(", ab, ")^2"), text("(", ba, ")^2"), square(left),
                               square(right), 2 * letters}};
  }
  for (const Generator& w : group.generators()) {
    if (group.product(k, w.element) == group.product(w.element, k)) continue;
    return LawFailure{text("[u^30, v^30] is not central", pair_name, ", it moves ", w.name),
                      WordPair{text(ab, " ", w.name, " ", ba), text(ba, " ", w.name, " ", ab),
                               product_of(group, {left, w.element, right}),
                               product_of(group, {right, w.element, left}), 2 * letters + 1}};
  }
  return std::nullopt;  // generators that generate, so one of them moves k
}

std::optional<LawFailure> odd_prime_failure(const FiniteGroup& group) {
  if (const int p = nonabelian_odd_sylow(group); p > 0) {
    const Subgroup sylow = sylow_subgroup(group, p);
    return LawFailure{
        text("its Sylow ", p, "-subgroups, of order ", sylow.size(), ", are not abelian"), {}};
  }
  return core_law_failure(group, 2, 3);
}

bool is_elementary_abelian_2(const FiniteGroup& group, const Subgroup& subgroup) {
  return std::all_of(subgroup.begin(), subgroup.end(),
                     [&](int a) { return group.product(a, a) == 0; });
}

// Whether the homomorphisms from a perfect group to A5 tell its elements apart.
bool is_power_of_a5(const FiniteGroup& perfect) {
  Subgroup kernel = whole_group(perfect);
  for (const Subgroup& normal : normal_subgroups(perfect)) {
    if (perfect.order() / int(normal.size()) == 60) kernel = intersection(kernel, normal);
  }
  return kernel.size() == 1;  // a quotient of order 60 is perfect, so it is A5
}

std::optional<LawFailure> perfect_failure(const FiniteGroup& group, bool covers_allowed) {
  const Subgroup perfect = perfect_residual(group);
  FiniteGroup core = subgroup_group(group, perfect);
  if (covers_allowed) core = quotient_group(core, centre(core));
  if (is_power_of_a5(core)) return std::nullopt;
  return LawFailure{text("its largest perfect subgroup, of order ", perfect.size(), ", is no ",
                         covers_allowed ? "central quotient of a power of 2I" : "power of A5"),
                    {}};
}

}  // namespace

int nonabelian_odd_sylow(const FiniteGroup& group) {
  for (const int p : prime_divisors(group.order()))
    if (p > 2 && !is_abelian(group, sylow_subgroup(group, p))) return p;
  return 0;
}

std::optional<LawFailure> core_law_failure(const FiniteGroup& group, int k, int smallest_prime) {
  for (const int p : prime_divisors(group.order())) {
    if (p == 2 || p < smallest_prime) continue;
    for (int x : generating_set(group, prime_core(group, p))) {
      for (int u = 0; u < group.order(); ++u) {
        if (commutator(group, group.power(u, k), x) == 0) continue;
        return LawFailure{text("[u^", k, ", x] = e fails for x = ", group.element_name(x),
                               " in its normal ", p, "-subgroup, u = ", group.element_name(u)),
                          {}};
      }
    }
  }
  return std::nullopt;
}

std::optional<LawFailure> rotation_law_failure(const FiniteGroup& group) {
  if (auto failure = rotation_power_failure(group)) return failure;
  if (auto failure = odd_prime_failure(group)) return failure;
  const Subgroup two = commutator_subgroup(group, prime_core(group, 2), odd_residual(group));
  if (!is_elementary_abelian_2(group, two)) {
    return LawFailure{
        text("[O_2(G), O^2(G)], of order ", two.size(), ", is not elementary abelian"), {}};
  }
  return perfect_failure(group, false);
}

std::optional<LawFailure> spinor_law_failure(const FiniteGroup& group) {
  if (auto failure = spinor_power_failure(group)) return failure;
  if (auto failure = odd_prime_failure(group)) return failure;
  return perfect_failure(group, true);
}

}  // namespace lssm::algebra
