// SPDX-License-Identifier: Apache-2.0
// Verdicts against what is known: Klein's list, the tables of the Lie papers, counts by hand.
#include "core/algebra/tracking.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "core/algebra/faithful.h"
#include "core/algebra/irrep_facts.h"
#include "core/algebra/named_groups.h"
#include "core/algebra/sections.h"
#include "test/test.h"

using namespace lssm;
using namespace lssm::algebra;

namespace {

constexpr Answer kNo = Answer::no, kUnknown = Answer::unknown, kYes = Answer::yes;

std::pair<Answer, Answer> answers(const Verdict& v) { return {v.linear, v.any}; }

// G x H with one of G's central involutions made equal to one of H's.
FiniteGroup central_product(const FiniteGroup& g, int a, const FiniteGroup& h, int b) {
  return quotient_group(FiniteGroup::direct_product(g, h), {0, a * h.order() + b});
}

// The product of a word such as "(c t)^30 t" with nested powers.
class WordReader {
 public:
  WordReader(const FiniteGroup& group, const std::string& word) : group_(group), word_(word) {}
  int product() {
    const int value = sequence();
    REQUIRE(at_ == word_.size());
    return value;
  }
  std::map<char, int> tokens() const { return tokens_; }

 private:
  int sequence() {
    int value = 0;
    while (at_ < word_.size() && word_[at_] != ')') {
      if (word_[at_] == ' ') {
        ++at_;
        continue;
      }
      value = group_.product(value, item());
    }
    return value;
  }
  int item() {
    const std::map<char, int> before = tokens_;
    int value = 0;
    if (word_[at_] == '(') {
      ++at_;
      value = sequence();
      ++at_;
    } else {
      ++tokens_[word_[at_]];
      value = group_.element(std::string(1, word_[at_++]));
    }
    if (at_ >= word_.size() || word_[at_] != '^') return value;
    size_t digits = 0;
    const int exponent = std::stoi(word_.substr(at_ + 1), &digits);
    at_ += 1 + digits;
    for (auto& [letter, count] : tokens_) {
      const auto old = before.find(letter);
      const int was = old == before.end() ? 0 : old->second;
      count = was + (count - was) * exponent;
    }
    return group_.power(value, exponent);
  }

  const FiniteGroup& group_;
  std::string word_;
  size_t at_ = 0;
  std::map<char, int> tokens_;
};

}  // namespace

TEST_CASE("finite groups of rotations and spinors are recognised", "[tracking]") {
  const std::vector<std::array<const char*, 3>> cases = {
      {"C7", "C7", "C7"}, {"V4", "V4", ""},   {"S3", "D6", ""},      {"D16", "D16", ""},
      {"A4", "A4", ""},   {"S4", "S4", ""},   {"A5", "A5", ""},      {"Q8", "", "Q8"},
      {"Q12", "", "Q12"}, {"Q16", "", "Q16"}, {"2T", "", "2T"},      {"2O", "", "2O"},
      {"2I", "", "2I"},   {"S5", "", ""},     {"C2xA4", "", ""},     {"D12", "D12", ""},
      {"C4xC2", "", ""},  {"C2xA5", "", ""},  {"C2xC3", "C6", "C6"}, {"A3xC2xC2", "", ""},
      {"C3xQ8", "", ""},  {"F21", "", ""},    {"C2xC2xC3", "", ""},  {"S3xC2", "D12", ""}};
  for (const auto& [name, rotations, spinors] : cases) {
    INFO(name);
    CHECK(rotation_type(named_group(name)) == rotations);
    CHECK(spinor_type(named_group(name)) == spinors);
  }
  for (const char* name : {"C9", "D16", "Q16", "D8xC3"}) {
    INFO(name);
    CHECK(has_abelian_half(named_group(name)));
  }
  for (const char* name : {"A4", "S4", "D8xD8", "2T", "Heis3"}) {
    INFO(name);
    CHECK_FALSE(has_abelian_half(named_group(name)));
  }
}

TEST_CASE("cores and residuals", "[tracking]") {
  const FiniteGroup s4 = named_group("S4"), two_o = named_group("2O"), s5 = named_group("S5");
  CHECK(prime_core(s4, 2).size() == 4);  // the Klein group
  CHECK(prime_core(s4, 3).size() == 1);
  CHECK(odd_residual(s4).size() == 12);  // A4
  CHECK(prime_core(two_o, 2).size() == 8);
  CHECK(odd_residual(two_o).size() == 24);
  CHECK(perfect_residual(two_o).size() == 1);
  CHECK(perfect_residual(s5).size() == 60);
  CHECK(centraliser(s5, {0, s5.element("t")}).size() == 12);  // C2 x S3
  const Subgroup a5 = derived_subgroup(s5);
  const FiniteGroup inner = subgroup_group(s5, a5, {s5.element("c"), s5.element("(1 2 3)")});
  CHECK(rotation_type(inner) == "A5");
  CHECK(inner.element_name(inner.generators()[0].element) == "(1 2 3 4 5)");
  CHECK(inner.generators()[0].name == "c");
  CHECK(inner.permutations().size() == 60);
  CHECK_THROWS_AS(subgroup_group(s5, a5, {s5.element("c")}), Error);
  CHECK_THROWS_AS(subgroup_group(s5, {0, 1, 2}), Error);
}

TEST_CASE("one layer of SO(3) and SU(2) heads", "[tracking]") {
  struct Case {
    const char* group;
    Answer so3_linear, so3_any, su2_linear, su2_any;
  };
  // The Lie-SSM paper, theorems 1 and 2: A5, S4 rotate; 2T, 2O, 2I need SU(2); 2-groups with a
  // cyclic maximal subgroup divide SO(3)^2; S5, A6, Heis(p), F20, F21 are out of reach.
  for (const Case& c : std::vector<Case>{{"C5", kYes, kYes, kYes, kYes},
                                         {"S3", kYes, kYes, kNo, kYes},
                                         {"A5", kYes, kYes, kNo, kYes},
                                         {"S4xA5", kYes, kYes, kNo, kYes},
                                         {"D16xC9", kYes, kYes, kNo, kYes},
                                         {"Q8", kNo, kYes, kYes, kYes},
                                         {"Q16", kNo, kYes, kYes, kYes},
                                         {"2T", kNo, kNo, kYes, kYes},
                                         {"2O", kNo, kNo, kYes, kYes},
                                         {"2I", kNo, kNo, kYes, kYes},
                                         {"2IxA4", kNo, kNo, kNo, kYes},
                                         {"S5", kNo, kNo, kNo, kNo},
                                         {"A6", kNo, kNo, kNo, kNo},
                                         {"Heis3", kNo, kNo, kNo, kNo},
                                         {"Heis5", kNo, kNo, kNo, kNo},
                                         {"F20", kNo, kNo, kNo, kNo},
                                         {"F21", kNo, kNo, kNo, kNo},
                                         {"S5xC2", kNo, kNo, kNo, kNo}}) {
    INFO(c.group);
    const FiniteGroup g = named_group(c.group);
    CHECK(answers(so3_verdict(g)) == std::pair(c.so3_linear, c.so3_any));
    CHECK(answers(su2_verdict(g)) == std::pair(c.su2_linear, c.su2_any));
    CHECK(rotation_law_failure(g).has_value() == (c.so3_any == kNo));
    CHECK(spinor_law_failure(g).has_value() == (c.su2_any == kNo));
  }
}

TEST_CASE("central products divide where their factors do", "[tracking]") {
  const FiniteGroup d8 = named_group("D8"), q8 = named_group("Q8");
  // D8 o D8 = 2^(1+4)_+ is irreducible in four dimensions; its proper quotients are abelian.
  const int z = d8.element("r^2"), minus_one = q8.element("-1");
  const FiniteGroup plus = central_product(d8, z, d8, z);
  REQUIRE(plus.order() == 32);
  CHECK(answers(so3_verdict(plus)) == std::pair(kNo, kYes));
  // D8 o Q8 = 2^(1+4)_-, to which the paper gives three SO(3) heads.
  CHECK(answers(so3_verdict(central_product(d8, z, q8, minus_one))) == std::pair(kNo, kYes));
  // 2T o C4 has complex representations of dimension 2 that are in U(2), not in SU(2).
  const FiniteGroup two_t = named_group("2T");
  const FiniteGroup twisted = central_product(two_t, centre(two_t)[1], named_group("C4"), 2);
  REQUIRE(twisted.order() == 48);
  CHECK(answers(su2_verdict(twisted)) == std::pair(kNo, kYes));
  CHECK(so3_verdict(twisted).any == kNo);
}

TEST_CASE("witness words have equal counts, one value under the law, and two in the group",
          "[tracking]") {
  const FiniteGroup s5 = named_group("S5");
  const Verdict so3 = so3_verdict(s5);
  REQUIRE(so3.witness);
  CHECK(so3.witness->left == "(c t)^30 (t c)^30");
  CHECK(so3.witness->right == "(t c)^30 (c t)^30");
  CHECK(so3.witness->length == 120);
  CHECK(s5.element_name(so3.witness->left_product) == "(1 4 2)");  // paper, appendix A
  CHECK(s5.element_name(so3.witness->right_product) == "(1 2 4)");

  for (const char* name : {"S5", "A6", "S6", "A7", "F20", "Heis5", "2O"}) {
    const FiniteGroup g = named_group(name);
    for (const auto& failure : {rotation_law_failure(g), spinor_law_failure(g)}) {
      if (!failure || !failure->words) continue;
      const WordPair& words = *failure->words;
      INFO(name << ": " << words.left << " and " << words.right);
      WordReader left(g, words.left), right(g, words.right);
      CHECK(left.product() == words.left_product);
      CHECK(right.product() == words.right_product);
      CHECK(words.left_product != words.right_product);
      CHECK(left.tokens() == right.tokens());
      const auto counts = left.tokens();
      CHECK(std::accumulate(counts.begin(), counts.end(), 0, [](int sum, const auto& token) {
              return sum + token.second;
            }) == words.length);
    }
  }
}

TEST_CASE("the words collide where heads can go", "[tracking]") {
  const auto collide = [](const char* name, auto left, auto right) {
    const FiniteGroup g = named_group(name);
    std::vector<int> powers;
    for (int u = 0; u < g.order(); ++u) powers.push_back(g.power(u, 30));
    for (int a : powers)
      for (int b : powers)
        if (left(g, a, b) != right(g, a, b)) return false;
    return true;
  };
  const auto ab = [](const FiniteGroup& g, int a, int b) { return g.product(a, b); };
  const auto ba = [](const FiniteGroup& g, int a, int b) { return g.product(b, a); };
  const auto abab = [](const FiniteGroup& g, int a, int b) { return g.power(g.product(a, b), 2); };
  const auto baba = [](const FiniteGroup& g, int a, int b) { return g.power(g.product(b, a), 2); };
  for (const char* name : {"A5", "S4", "A4", "D16", "D14", "C9"}) {
    INFO(name);
    CHECK(collide(name, ab, ba));
  }
  for (const char* name : {"2I", "2O", "2T", "Q16", "Q12"}) {
    INFO(name);
    CHECK(collide(name, abab, baba));
  }
  CHECK_FALSE(collide("2O", ab, ba));
  CHECK_FALSE(collide("S5", abab, baba));
}

TEST_CASE("commutative and affine recurrences", "[tracking]") {
  const auto diagonal = [](const char* name, Eigenvalues e) {
    return diagonal_verdict(named_group(name), e).any;
  };
  CHECK(diagonal("C12", Eigenvalues::complex) == kYes);
  CHECK(diagonal("S3", Eigenvalues::complex) == kNo);
  CHECK(diagonal("V4", Eigenvalues::real) == kYes);
  CHECK(diagonal("C4", Eigenvalues::real) == kNo);
  CHECK(diagonal("C2", Eigenvalues::positive) == kNo);

  const auto affine = [](const char* name, int layers) {
    return answers(affine_diagonal_verdict(named_group(name), layers));
  };
  CHECK(affine("C6", 1) == std::pair(kYes, kYes));
  for (const char* metabelian : {"S3", "D4", "Q8", "A4", "Heis3", "F20"}) {
    INFO(metabelian);
    CHECK(affine(metabelian, 1) == std::pair(kUnknown, kYes));
    CHECK(affine(metabelian, 2) == std::pair(kYes, kYes));
  }
  CHECK(affine("S4", 1) == std::pair(kNo, kNo));  // derived length 3
  CHECK(affine("S4", 2) == std::pair(kUnknown, kYes));
  CHECK(affine("S4", 3) == std::pair(kYes, kYes));
  CHECK(affine("2O", 1) == std::pair(kNo, kNo));  // derived length 4
  CHECK(affine("2O", 4) == std::pair(kYes, kYes));
  for (const int layers : {1, 3, 100}) CHECK(affine("A5", layers) == std::pair(kNo, kNo));
}

TEST_CASE("cascades", "[tracking]") {
  for (const char* name : {"S5", "2I", "2T", "2O", "Q16", "Heis3", "S4", "F20"}) {  // theorem 3
    INFO(name);
    CHECK(answers(so3_cascade_verdict(named_group(name))) == std::pair(kYes, kYes));
    CHECK(deep_cascade_verdict(named_group(name)).any == kYes);
  }
  for (const char* name : {"A6", "S6", "A7", "S6xC2"}) {
    INFO(name);
    CHECK(so3_cascade_verdict(named_group(name)).any == kNo);
    CHECK(deep_cascade_verdict(named_group(name)).any == kNo);
  }
  // PSL(2, 7) on the eight points of the projective line; order 168.
  const FiniteGroup psl = FiniteGroup::from_permutations(
      "PSL27", {{"a", parse_permutation("(1 2 3 4 5 6 7)", 8)},
                {"b", parse_permutation("(1 8)(2 7)(3 4)(5 6)", 8)}});
  REQUIRE(psl.order() == 168);
  CHECK(deep_cascade_verdict(psl).any == kNo);
  CHECK(faithful_rotations(psl).n == 6);  // 3 + its conjugate
}

TEST_CASE("larger rotation and unitary groups", "[tracking]") {
  struct Case {
    const char* group;
    std::array<Answer, 5> so4_to_so8;  // with any readout
  };
  for (const Case& c : std::vector<Case>{{"A5", {kYes, kYes, kYes, kYes, kYes}},
                                         {"2I", {kYes, kYes, kYes, kYes, kYes}},
                                         {"S5", {kNo, kYes, kYes, kYes, kYes}},
                                         {"A6", {kNo, kYes, kYes, kYes, kYes}},
                                         {"Heis3", {kNo, kNo, kYes, kYes, kYes}},
                                         {"Heis5", {kNo, kNo, kNo, kNo, kNo}},
                                         {"F20", {kNo, kYes, kYes, kYes, kYes}},
                                         {"F21", {kNo, kNo, kYes, kYes, kYes}}}) {
    for (int n = 4; n <= 8; ++n) {
      INFO(c.group << " in SO(" << n << ")");
      CHECK(so_n_verdict(named_group(c.group), n).any == c.so4_to_so8[size_t(n - 4)]);
    }
  }
  CHECK(answers(su_n_verdict(named_group("Heis3"), 3)) == std::pair(kYes, kYes));
  CHECK(answers(su_n_verdict(named_group("F21"), 3)) == std::pair(kYes, kYes));
  CHECK(answers(su_n_verdict(named_group("Heis5"), 4)) == std::pair(kNo, kNo));
  // The four-dimensional representations of S5 have the sign as their determinant.
  CHECK(answers(su_n_verdict(named_group("S5"), 4)) == std::pair(kNo, kYes));
  CHECK_THROWS_AS(so_n_verdict(named_group("S5"), 9), Error);
  CHECK_THROWS_AS(su_n_verdict(named_group("S5"), 2), Error);
}

TEST_CASE("translations may hold what is left when an abelian normal subgroup is gone",
          "[tracking]") {
  CHECK(injected_verdict(named_group("A5"), so3_verdict).any == kYes);
  CHECK(injected_verdict(named_group("S5"), so3_verdict).any == kNo);  // has none
  CHECK(injected_verdict(named_group("F20"), so3_verdict).any == kUnknown);
}

TEST_CASE("heads that represent show G / N", "[tracking]") {
  CHECK(rotation_kernel(named_group("Q8")).size() == 2);
  CHECK(rotation_kernel(named_group("2I")).size() == 2);
  CHECK(rotation_kernel(named_group("S5")).size() == 60);
  CHECK(rotation_kernel(named_group("Heis3")).size() == 3);
  CHECK(rotation_kernel(named_group("D16")).size() == 1);
}

TEST_CASE("characters give dimensions, kernels and determinants", "[tracking]") {
  const FiniteGroup s5 = named_group("S5");
  const auto facts = irrep_facts(s5);
  REQUIRE(facts);
  std::vector<int> dims;
  for (const IrrepFacts& f : *facts) {
    dims.push_back(f.real_dim);
    CHECK(f.dim == f.real_dim);  // all real
    // A transposition with trace x in dimension d has the eigenvalue -1 (d - x) / 2 times: once or
    // three times for d = 4 and x = 2 or -2, three times for d = 6 and x = 0.
    if (f.dim == 4 || f.dim == 6) CHECK(f.odd[1]);
    CHECK_FALSE(f.odd[0]);  // a 5-cycle is even
  }
  CHECK(dims == std::vector<int>{1, 1, 4, 4, 5, 5, 6});
  // Q8: four of dimension 1, and the quaternions, which are 4 real dimensions in SU(2).
  const auto q8 = irrep_facts(named_group("Q8"));
  REQUIRE(q8->size() == 5);
  CHECK(q8->back().dim == 2);
  CHECK(q8->back().real_dim == 4);
  CHECK(q8->back().special_unitary);
  // C7: three pairs of conjugates, listed once.
  CHECK(irrep_facts(named_group("C7"))->size() == 4);
}

TEST_CASE("irreducible representations as matrices", "[tracking]") {
  for (const char* name : {"C7", "S3", "Q8", "A5", "Heis3", "F21", "2O", "D8xC4"}) {
    INFO(name);
    const FiniteGroup g = named_group(name);
    double total = 0;
    for (const RealIrrep& irrep : real_irreps(g)) {
      total += double(irrep.dim) * irrep.dim / irrep.commutant;
      double worst = 0;
      const int d = irrep.dim;
      for (int a = 0; a < g.order(); ++a) {
        for (int b = 0; b < g.order(); ++b) {
          const double* ab = irrep.image(g.product(a, b));
          for (int i = 0; i < d; ++i) {
            for (int j = 0; j < d; ++j) {
              double sum = 0;
              for (int k = 0; k < d; ++k)
                sum += irrep.image(a)[i * d + k] * irrep.image(b)[k * d + j];
              worst = std::max(worst, std::abs(sum - ab[i * d + j]));
            }
          }
        }
      }
      CHECK(worst < 1e-11);
    }
    CHECK(total == g.order());
  }
  CHECK_THROWS_AS(real_irreps(named_group("A7")), Error);
}

TEST_CASE("the smallest rotation groups", "[tracking]") {
  struct Case {
    const char* group;
    int n;
  };
  // S5, A6: 5; Heis(p): 2p; F21: 6; F20: 5 (Lie-SSM paper, theorem 2). Products add up, and a
  // determinant of -1 costs one dimension: C2 x C2 x C2 = diag(1, -1) thrice and their product.
  for (const Case& c : std::vector<Case>{
           {"C2", 2},    {"C12", 2},   {"V4", 3},    {"S3", 3},     {"D16", 3},    {"A4", 3},
           {"S4", 3},    {"A5", 3},    {"Q8", 4},    {"Q12", 4},    {"2T", 4},     {"2O", 4},
           {"2I", 4},    {"S5", 5},    {"A6", 5},    {"S6", 5},     {"A7", 6},     {"S7", 7},
           {"F20", 5},   {"F21", 6},   {"Heis3", 6}, {"Heis5", 10}, {"Heis7", 14}, {"A4xZ5", 5},
           {"A5xA5", 6}, {"D8xD8", 5}, {"Q8xC3", 4}, {"C2xV4", 4},  {"C2xA5", 4},  {"S4xC2", 4},
           {"2IxQ8", 8}, {"C3xC3", 4}}) {
    INFO(c.group);
    const FaithfulRotations r = faithful_rotations(named_group(c.group));
    CHECK(r.n == c.n);
    CHECK(r.smallest());
    CHECK(r.error < 1e-9);
    CHECK(r.generators.size() == named_group(c.group).generators().size());
    for (const auto& m : r.generators) CHECK(int(m.size()) == c.n * c.n);
  }
  // Whole numbers where they can be.
  const FaithfulRotations s5 = faithful_rotations(named_group("S5"));
  CHECK(s5.error == 0);
  CHECK(s5.generators[1] == std::vector<double>{0, -1, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, -1,
                                                0, 0,  0, 0, 0, -1, 0, 0, 0, 0, 0, -1});
  // Too large for matrices of its own, and not a sum of smaller ones.
  const FaithfulRotations many = faithful_rotations(named_group("V4xV4xV4xV4xV4"));
  CHECK(many.n == 1024);
  CHECK_FALSE(many.smallest());
  CHECK(many.generators.empty());
}
