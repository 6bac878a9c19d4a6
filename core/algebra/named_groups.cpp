// SPDX-License-Identifier: Apache-2.0
#include "core/algebra/named_groups.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "core/algebra/group_builders.h"
#include "core/spelling.h"

namespace lssm::algebra {
namespace {

bool is_prime(int n) {
  for (int d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n >= 2;
}

bool is_dihedral_order(int n) { return n == 4 || (n >= 6 && n % 2 == 0); }

// A name is a prefix and, when `indexed`, a whole number n.
struct Family {
  std::string prefix;
  bool indexed;
  std::string rule;
  std::string meaning;
  bool (*allows)(int n);
  FiniteGroup (*build)(const std::string& name, int n);
};

const std::vector<Family>& families() {
  using Name = const std::string&;
  constexpr int kMax = FiniteGroup::kMaxOrder;
  static const std::vector<Family> table{
      {"S", true, "n from 2 to 7", "all permutations of n points",
       [](int n) { return n >= 2 && n <= 7; }, [](Name, int n) { return symmetric_group(n); }},
      {"A", true, "n from 3 to 7", "even permutations of n points",
       [](int n) { return n >= 3 && n <= 7; }, [](Name, int n) { return alternating_group(n); }},
      {"D", true,
       "an even order n from 6 to 5040 (D10 is the pentagon's), or 4 for the square's group of "
       "order "
       "8, the same as D8",
       "dihedral, symmetries of a polygon with n/2 corners",
       [](int n) { return n <= kMax && is_dihedral_order(n); },
       [](Name name, int n) { return dihedral_group(name, n == 4 ? 8 : n); }},
      {"C", true, "n from 2 to 5040", "cyclic of order n",
       [](int n) { return n >= 2 && n <= kMax; },
       [](Name name, int n) { return cyclic_group(name, n); }},
      {"Z", true, "n from 2 to 5040", "the same as C<n>", [](int n) { return n >= 2 && n <= kMax; },
       [](Name name, int n) { return cyclic_group(name, n); }},
      {"Q", true, "an order n from 8 to 5040, a multiple of 4", "(generalised) quaternion",
       [](int n) { return n >= 8 && n <= kMax && n % 4 == 0; },
       [](Name, int n) { return quaternion_group(n); }},
      {"Heis", true, "a prime n up to 17", "Heisenberg over Z_n, order n^3",
       [](int n) { return n <= 17 && is_prime(n); },
       [](Name, int n) { return heisenberg_group(n); }},
      {"V4", false, "", "Klein group, order 4", nullptr, [](Name, int) { return klein_group(); }},
      {"F20", false, "", "Frobenius, order 20", nullptr,
       [](Name, int) { return frobenius_group(20); }},
      {"F21", false, "", "Frobenius, order 21", nullptr,
       [](Name, int) { return frobenius_group(21); }},
      {"2T", false, "", "binary tetrahedral, order 24", nullptr,
       [](Name, int) { return binary_polyhedral_group('T'); }},
      {"2O", false, "", "binary octahedral, order 48", nullptr,
       [](Name, int) { return binary_polyhedral_group('O'); }},
      {"2I", false, "", "binary icosahedral, order 120", nullptr,
       [](Name, int) { return binary_polyhedral_group('I'); }},
  };
  return table;
}

std::string lower(std::string text) {
  for (char& c : text) c = char(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Among the valid names with an index up to 128; a change of case is free. "" if none is near.
std::string nearest_name(const std::string& name) {
  std::vector<std::string> names, lowered;
  for (const Family& family : families()) {
    if (!family.indexed) names.push_back(family.prefix);
    for (int n = 2; family.indexed && n <= 128; ++n)
      if (family.allows(n)) names.push_back(family.prefix + std::to_string(n));
  }
  for (const std::string& candidate : names) lowered.push_back(lower(candidate));
  const auto found =
      std::find(lowered.begin(), lowered.end(), nearest_spelling(lower(name), lowered));
  return found == lowered.end() ? "" : names[size_t(found - lowered.begin())];
}

int nearest_index(const Family& family, int n) {
  int best = 0;
  for (int m = 2; m <= FiniteGroup::kMaxOrder; ++m)
    if (family.allows(m) && (best == 0 || std::abs(m - n) < std::abs(best - n))) best = m;
  return best;
}

[[noreturn]] void fail_unknown(const std::string& name) {
  const std::string nearest = nearest_name(name);
  std::string list;
  for (const GroupFamily& family : group_families())
    list += (list.empty() ? "" : " ") + family.pattern;
  fail("group '", name, "': unknown name, expected one of ", list, " (or a product like A4xZ5)",
       nearest.empty() ? "" : "; the nearest valid name is " + nearest);
}

// "Heis3" -> 3 for the prefix "Heis"; -1 when the name is not the prefix and a number.
int index_after(const std::string& name, const std::string& prefix) {
  const std::string digits = name.substr(std::min(prefix.size(), name.size()));
  if (name.rfind(prefix, 0) != 0 || digits.empty() || digits.size() > 6 || digits[0] == '0' ||
      digits.find_first_not_of("0123456789") != std::string::npos)
    return -1;
  return std::stoi(digits);
}

FiniteGroup simple_name(const std::string& name) {
  for (const Family& family : families()) {
    if (!family.indexed && name == family.prefix) return family.build(name, 0);
    const int n = family.indexed ? index_after(name, family.prefix) : -1;
    if (n < 0) continue;
    LSSM_CHECK(family.allows(n), "group '", name, "': ", family.prefix, "<n> (", family.meaning,
               ") takes ", family.rule, "; the nearest valid name is ", family.prefix,
               nearest_index(family, n));
    return family.build(name, n);
  }
  fail_unknown(name);
}

// "A4xZ5" and "A4_x_Z5" -> {"A4", "Z5"}.
std::vector<std::string> factors(const std::string& name) {
  std::vector<std::string> out(1);
  for (char c : name) {
    if (c == 'x') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (i + 1 < out.size() && out[i].ends_with('_')) out[i].pop_back();
    if (i > 0 && out[i].starts_with('_')) out[i].erase(0, 1);
  }
  return out;
}

}  // namespace

std::vector<GroupFamily> group_families() {
  std::vector<GroupFamily> out;
  for (const Family& f : families())
    out.push_back({f.prefix + (f.indexed ? "<n>" : ""), f.rule, f.meaning});
  return out;
}

FiniteGroup named_group(const std::string& name) {
  const std::vector<std::string> parts = factors(name);
  const bool empty_part =
      std::any_of(parts.begin(), parts.end(), [](const std::string& part) { return part.empty(); });
  if (empty_part) fail_unknown(name);
  FiniteGroup group = simple_name(parts[0]);
  for (size_t i = 1; i < parts.size(); ++i)
    group = FiniteGroup::direct_product(group, simple_name(parts[i]));
  return group;
}

}  // namespace lssm::algebra
