// SPDX-License-Identifier: Apache-2.0
#include "core/algebra/group_builders.h"

#include <algorithm>
#include <cmath>

#include "core/algebra/quaternion.h"

namespace lssm::algebra {
namespace {

// (first first+1 … last)
std::string cycle(int first, int last) {
  std::string out = "(";
  for (int i = first; i <= last; ++i) {
    if (i > first) out += ' ';
    out += std::to_string(i);
  }
  return out + ")";
}

NamedPermutation named(const std::string& name, const std::string& cycles) {
  return {name, parse_permutation(cycles)};
}

// power_name("r", 2) = "r^2"; the powers 0 and 1 are "" and "r".
std::string power_name(const std::string& base, int exponent) {
  if (exponent == 0) return "";
  return exponent == 1 ? base : base + "^" + std::to_string(exponent);
}

std::string or_identity(const std::string& name) { return name.empty() ? "e" : name; }

// "sst" -> "s^2t"
std::string word_name(const std::string& word) {
  std::string out;
  for (size_t i = 0; i < word.size();) {
    const size_t end = std::min(word.find_first_not_of(word[i], i), word.size());
    out += power_name(word.substr(i, 1), int(end - i));
    i = end;
  }
  return or_identity(out);
}

bool near(const Quaternion& a, const Quaternion& b) {
  double difference = 0;
  for (size_t i = 0; i < 4; ++i) difference = std::max(difference, std::abs(a[i] - b[i]));
  return difference < 1e-6;  // distinct elements of 2I are at least 0.5 apart in some coordinate
}

struct QuaternionWord {
  Quaternion value;
  std::string word;
};

int find(const std::vector<QuaternionWord>& elements, const Quaternion& q) {
  const auto at = std::find_if(elements.begin(), elements.end(),
                               [&](const QuaternionWord& e) { return near(e.value, q); });
  return at == elements.end() ? -1 : int(at - elements.begin());
}

// Breadth-first over right multiplication by s and t: shortest words first.
std::vector<QuaternionWord> quaternion_closure(const PolyhedralGenerators& generators) {
  std::vector<QuaternionWord> elements{{{1, 0, 0, 0}, ""}};
  for (size_t i = 0; i < elements.size(); ++i) {
    for (char letter : {'s', 't'}) {
      const Quaternion next =
          product(elements[i].value, letter == 's' ? generators.s : generators.t);
      if (find(elements, next) < 0) elements.push_back({next, elements[i].word + letter});
    }
  }
  return elements;
}

}  // namespace

FiniteGroup symmetric_group(int n) {
  const bool triangle = n == 3;
  return FiniteGroup::from_permutations(
      text("S", n),
      {named(triangle ? "r" : "c", cycle(1, n)), named(triangle ? "s" : "t", "(1 2)")},
      text("all permutations of ", n, " points, in lexicographic order"));
}

FiniteGroup alternating_group(int n) {
  std::vector<NamedPermutation> generators{named("c", cycle(n % 2 == 0 ? 2 : 1, n))};
  if (n > 3) generators.push_back(named("t", "(1 2 3)"));
  return FiniteGroup::from_permutations(
      text("A", n), std::move(generators),
      text("even permutations of ", n, " points, in the order of S", n));
}

FiniteGroup dihedral_group(const std::string& name, int order) {
  const int n = order / 2;
  FiniteGroup::Labels labels{
      name,
      text("dihedral group of order ", order, ", the symmetries of a polygon with ", n,
           " corners (D_n is named by its order, D4 = D8 is the square's): r^", n,
           " = s^2 = e, s r s = r^-1"),
      {},
      {{"r", 1}, {"s", n}},
      {}};
  for (const char* flip : {"", "s"})
    for (int k = 0; k < n; ++k) labels.elements.push_back(or_identity(power_name("r", k) + flip));
  // r^a s^f · r^b s^g = r^(a ± b) s^(f + g): a reflection turns the later rotation round.
  return FiniteGroup::from_law(std::move(labels), order, [n](int a, int b) {
    const int turn = a < n ? a + b % n : a % n - b % n + n;
    return turn % n + ((a < n) == (b < n) ? 0 : n);
  });
}

FiniteGroup cyclic_group(const std::string& name, int n) {
  FiniteGroup::Labels labels{name, text("cyclic group of order ", n), {}, {{"r", 1}}, {}};
  for (int k = 0; k < n; ++k) labels.elements.push_back(or_identity(power_name("r", k)));
  return FiniteGroup::from_law(std::move(labels), n, [n](int a, int b) { return (a + b) % n; });
}

FiniteGroup quaternion_group(int order) {
  const int n = order / 2;
  FiniteGroup::Labels labels{text("Q", order),
                             text("generalised quaternion group of order ", order, ": a^", n,
                                  " = e, b^2 = a^", n / 2, ", b a b^-1 = a^-1"),
                             {},
                             {{"a", 1}, {"b", n}},
                             {}};
  for (const char* flip : {"", "b"})
    for (int k = 0; k < n; ++k) labels.elements.push_back(or_identity(power_name("a", k) + flip));
  if (order == 8) {
    labels.description = "quaternion group: i^2 = j^2 = k^2 = i j k = -1";
    labels.elements = {"1", "i", "-1", "-i", "j", "k", "-j", "-k"};
    labels.generators = {{"i", 1}, {"j", 4}};
  }
  // As in the dihedral group, but two b together leave b^2 = a^(n/2).
  return FiniteGroup::from_law(std::move(labels), order, [n](int a, int b) {
    const int turn = a < n ? a + b % n : a % n - b % n + n;
    const int square = a >= n && b >= n ? n / 2 : 0;
    return (turn + square) % n + ((a < n) == (b < n) ? 0 : n);
  });
}

FiniteGroup heisenberg_group(int p) {
  FiniteGroup::Labels labels{
      text("Heis", p),
      text("Heisenberg group over Z_", p, ": (a b c)(a' b' c') = (a+a' b+b' c+c'+ab')"),
      {},
      {{"x", p * p}, {"y", p}},
      {}};
  for (int i = 0; i < p * p * p; ++i)
    labels.elements.push_back(text("(", i / (p * p), " ", i / p % p, " ", i % p, ")"));
  return FiniteGroup::from_law(std::move(labels), p * p * p, [p](int x, int y) {
    const int a = x / (p * p), b = x / p % p, c = x % p;
    const int a2 = y / (p * p), b2 = y / p % p, c2 = y % p;
    return ((a + a2) % p * p + (b + b2) % p) * p + (c + c2 + a * b2) % p;
  });
}

FiniteGroup klein_group() {
  return FiniteGroup::from_permutations("V4", {named("a", "(1 2)(3 4)"), named("b", "(1 3)(2 4)")},
                                        "Klein group: three commuting elements of order 2");
}

FiniteGroup frobenius_group(int order) {
  const int p = order == 20 ? 5 : 7;
  return FiniteGroup::from_permutations(
      text("F", order),
      {named("a", cycle(1, p)), named("b", order == 20 ? "(2 3 5 4)" : "(2 3 5)(4 7 6)")},
      text("Frobenius group of order ", order, ": affine maps of Z_", p,
           ", a: x -> x + 1, b: x -> 2 x"));
}

FiniteGroup binary_polyhedral_group(char solid) {
  const PolyhedralGenerators generators = solid == 'T'   ? binary_tetrahedral_generators()
                                          : solid == 'O' ? binary_octahedral_generators()
                                                         : binary_icosahedral_generators();
  const char* shape = solid == 'T' ? "tetrahedron" : solid == 'O' ? "cube" : "icosahedron";
  const auto elements = quaternion_closure(generators);
  FiniteGroup::Labels labels{text("2", solid),
                             text("unit quaternions over the rotations of the ", shape),
                             {},
                             {{"s", 1}, {"t", 2}},
                             {}};
  for (const QuaternionWord& e : elements) labels.elements.push_back(word_name(e.word));
  return FiniteGroup::from_law(std::move(labels), int(elements.size()), [&](int a, int b) {
    return find(elements, product(elements[size_t(a)].value, elements[size_t(b)].value));
  });
}

}  // namespace lssm::algebra
