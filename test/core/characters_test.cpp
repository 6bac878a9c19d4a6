// SPDX-License-Identifier: Apache-2.0
#include "core/algebra/characters.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "core/algebra/named_groups.h"
#include "core/algebra/representation.h"
#include "test/test.h"

using namespace lssm;
using namespace lssm::algebra;

namespace {

using Complex = std::complex<double>;
using Row = std::vector<Complex>;

constexpr double kGolden = std::numbers::phi;  // 2 cos 36 degrees

Complex at(const CharacterTable& table, size_t character, int element) {
  return table.characters[character].values[size_t(table.class_of[size_t(element)])];
}

bool close(Complex a, Complex b) { return std::abs(a - b) < 1e-10; }

std::vector<int> degrees(const CharacterTable& table) {
  std::vector<int> out;
  for (const Character& chi : table.characters) out.push_back(chi.degree);
  return out;
}

std::vector<int> indicators(const CharacterTable& table) {
  std::vector<int> out;
  for (const Character& chi : table.characters) out.push_back(chi.indicator);
  return out;
}

// The rows of a published table, in any order; its columns are the classes of these elements.
void check_table(const std::string& name, const std::vector<std::string>& elements,
                 const std::vector<Row>& expected) {
  INFO(name);
  const FiniteGroup group = named_group(name);
  const CharacterTable table = character_table(group);
  REQUIRE(table.classes.size() == elements.size());
  REQUIRE(table.characters.size() == expected.size());
  for (const Row& row : expected) {
    int matches = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      bool same = true;
      for (size_t k = 0; k < row.size(); ++k)
        same = same && close(at(table, i, group.element(elements[k])), row[k]);
      matches += same;
    }
    INFO("degree " << row[0].real() << ", then " << row[1].real());
    CHECK(matches == 1);
  }
}

}  // namespace

TEST_CASE("character tables are those of the books", "[algebra][characters]") {
  check_table("S3", {"e", "(1 2)", "(1 2 3)"}, {{1, 1, 1}, {1, -1, 1}, {2, 0, -1}});
  const std::vector<Row> of_order_8 = {
      {1, 1, 1, 1, 1}, {1, 1, 1, -1, -1}, {1, 1, -1, 1, -1}, {1, 1, -1, -1, 1}, {2, -2, 0, 0, 0}};
  check_table("D4", {"e", "r^2", "r", "s", "rs"}, of_order_8);
  check_table("Q8", {"1", "-1", "i", "j", "k"}, of_order_8);
  const Complex w = std::polar(1.0, 2 * std::numbers::pi / 3), w2 = std::conj(w);
  check_table("A4", {"e", "(1 2)(3 4)", "(1 2 3)", "(1 3 2)"},
              {{1, 1, 1, 1}, {1, 1, w, w2}, {1, 1, w2, w}, {3, -1, 0, 0}});
  check_table("A5", {"e", "(1 2)(3 4)", "(1 2 3)", "(1 2 3 4 5)", "(1 3 5 2 4)"},
              {{1, 1, 1, 1, 1},
               {3, -1, 0, kGolden, 1 - kGolden},
               {3, -1, 0, 1 - kGolden, kGolden},
               {4, 0, 1, -1, -1},
               {5, 1, -1, 0, 0}});
  check_table("S5",
              {"e", "(1 2)", "(1 2)(3 4)", "(1 2 3)", "(1 2 3)(4 5)", "(1 2 3 4)", "(1 2 3 4 5)"},
              {{1, 1, 1, 1, 1, 1, 1},
               {1, -1, 1, 1, -1, -1, 1},
               {4, 2, 0, 1, -1, 0, -1},
               {4, -2, 0, 1, 1, 0, -1},
               {5, 1, 1, -1, 1, -1, 0},
               {5, -1, 1, -1, -1, 1, 0},
               {6, 0, -2, 0, 0, 0, 1}});
}

TEST_CASE("characters come by degree, the trivial one first", "[algebra][characters]") {
  const CharacterTable s5 = character_table(named_group("S5"));
  CHECK(degrees(s5) == std::vector<int>{1, 1, 4, 4, 5, 5, 6});
  std::vector<std::string> names;
  std::vector<int> kernels;
  for (const Character& chi : s5.characters) {
    names.push_back(chi.name);
    kernels.push_back(chi.kernel_order);
  }
  CHECK(names == std::vector<std::string>{"1a", "1b", "4a", "4b", "5a", "5b", "6a"});
  CHECK(kernels == std::vector<int>{120, 60, 1, 1, 1, 1, 1});
  for (const Complex value : s5.characters[0].values) CHECK(value == Complex(1));
  CHECK(s5.characters[6].values[0] == Complex(6));  // whole numbers are exact
}

TEST_CASE("indicators tell real, complex and quaternionic characters apart",
          "[algebra][characters]") {
  CHECK(indicators(character_table(named_group("D4"))) == std::vector<int>{1, 1, 1, 1, 1});
  CHECK(indicators(character_table(named_group("Q8"))) == std::vector<int>{1, 1, 1, 1, -1});
  CHECK(indicators(character_table(named_group("A4"))) == std::vector<int>{1, 0, 0, 1});
  CHECK(indicators(character_table(named_group("S5"))) == std::vector<int>(7, 1));
  // Of odd order: the trivial character alone is real.
  const CharacterTable heisenberg = character_table(named_group("Heis3"));
  CHECK(degrees(heisenberg) == std::vector<int>{1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3});
  CHECK(indicators(heisenberg) == std::vector<int>{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("the binary icosahedral group has its quaternions as a character",
          "[algebra][characters]") {
  const FiniteGroup group = named_group("2I");
  const CharacterTable table = character_table(group);
  CHECK(degrees(table) == std::vector<int>{1, 2, 2, 3, 3, 4, 4, 5, 6});
  // Those of A5 (1, 3, 3, 4, 5) are real, the faithful ones quaternionic.
  std::map<int, int> quaternionic;
  for (const Character& chi : table.characters) {
    CHECK(chi.indicator == (chi.kernel_order == 2 || chi.degree == 1 ? 1 : -1));
    if (chi.indicator == -1) ++quaternionic[chi.degree];
  }
  CHECK(quaternionic == std::map<int, int>{{2, 2}, {4, 1}, {6, 1}});
  // As a matrix of SU(2), q has the trace 2 w.
  const std::vector<Quaternion> images = quaternion_representation(group);
  int matches = 0;
  for (const size_t i : {1, 2}) {
    bool same = true;
    for (int g = 0; g < group.order(); ++g)
      same = same && close(at(table, i, g), 2 * images[size_t(g)][0]);
    matches += same;
  }
  CHECK(matches == 1);
}

// Frobenius and Schur: the degrees, weighed with the indicators, add up to the number of elements
// whose square is the identity.
TEST_CASE("indicators count square roots of the identity", "[algebra][characters]") {
  for (const char* name : {"C2", "C12", "V4", "S4", "D10", "D16", "Q8", "Q16", "2T", "2O", "2I",
                           "A6", "S6", "Heis3", "A4xZ5", "S7"}) {
    INFO(name);
    const FiniteGroup group = named_group(name);
    const CharacterTable table = character_table(group);
    int roots = 0, sum = 0;
    for (int g = 0; g < group.order(); ++g) roots += group.product(g, g) == 0;
    for (const Character& chi : table.characters) sum += chi.indicator * chi.degree;
    CHECK(sum == roots);
  }
}

TEST_CASE("characters of a cyclic group are its roots of unity", "[algebra][characters]") {
  const FiniteGroup group = named_group("C60");
  const CharacterTable table = character_table(group);
  const int generator = group.generators()[0].element;
  std::vector<bool> seen(60);
  for (size_t i = 0; i < 60; ++i) {
    const double turn = std::arg(at(table, i, generator)) / (2 * std::numbers::pi) * 60;
    CHECK(turn == Approx(std::round(turn)).margin(1e-8));
    seen[size_t(std::lround(turn) + 60) % 60] = true;
    CHECK(close(at(table, i, group.power(generator, 7)), std::pow(at(table, i, generator), 7)));
  }
  CHECK(std::count(seen.begin(), seen.end(), true) == 60);
}

TEST_CASE("class functions are taken apart", "[algebra][characters]") {
  const FiniteGroup group = named_group("S5");
  const CharacterTable table = character_table(group);
  // Fixed points: the permutation character is 1 plus the standard one, which is 2 at (1 2).
  std::vector<Complex> fixed, regular(table.classes.size());
  for (const std::vector<int>& c : table.classes) {
    const Permutation& p = group.permutations()[size_t(c[0])];
    int count = 0;
    for (size_t i = 0; i < p.size(); ++i) count += p[i] == int(i);
    fixed.emplace_back(count);
  }
  const std::vector<Complex> parts = multiplicities(table, fixed);
  const int transposition = group.element("(1 2)");
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool standard =
        table.characters[i].degree == 4 && close(at(table, i, transposition), 2.0);
    CHECK(close(parts[i], i == 0 || standard ? 1.0 : 0.0));
  }
  regular[0] = 120;  // contains each as often as its degree says
  const std::vector<Complex> all = multiplicities(table, regular);
  for (size_t i = 0; i < all.size(); ++i) CHECK(close(all[i], table.characters[i].degree));
  CHECK_THROWS_WITH(multiplicities(table, {1, 2}),
                    "multiplicities: got 2 values, the group has 7 classes");
}

TEST_CASE("too many classes are refused", "[algebra][characters]") {
  CHECK_THROWS_WITH(character_table(named_group("C1200")),
                    "characters: C1200 has 1200 conjugacy classes, expected at most 1024");
}
