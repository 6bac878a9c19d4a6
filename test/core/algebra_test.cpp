// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "core/algebra/group_builders.h"
#include "core/algebra/group_json.h"
#include "core/algebra/named_groups.h"
#include "core/algebra/permutation.h"
#include "test/test.h"

using namespace lssm;
using namespace lssm::algebra;

namespace {

bool says(const std::string& message, const std::string& part) {
  INFO("message: " << message << "\nexpected: " << part);
  const bool found = message.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

// Latin square, identity and associativity, by force.
bool is_group(const FiniteGroup& g) {
  for (int a = 0; a < g.order(); ++a) {
    if (g.product(0, a) != a || g.product(a, 0) != a) return false;
    if (g.product(a, g.inverse(a)) != 0 || g.product(g.inverse(a), a) != 0) return false;
    for (int b = 0; b < g.order(); ++b)
      for (int c = 0; c < g.order(); ++c)
        if (g.product(g.product(a, b), c) != g.product(a, g.product(b, c))) return false;
  }
  return true;
}

FiniteGroup from_text(const char* json) { return group_from_json(nlohmann::json::parse(json)); }

}  // namespace

TEST_CASE("permutations read and write cycles", "[algebra]") {
  CHECK(parse_permutation("(1 2 3)(4 5)") == Permutation{1, 2, 0, 4, 3});
  CHECK(parse_permutation("(123)(45)") == Permutation{1, 2, 0, 4, 3});
  CHECK(parse_permutation(" (1,2, 3) ( 4 5 ) ") == Permutation{1, 2, 0, 4, 3});
  CHECK(parse_permutation("(10 2)").size() == 10);
  CHECK(parse_permutation("(1 2)", 4) == Permutation{1, 0, 2, 3});
  CHECK(parse_permutation("()", 3) == identity_permutation(3));
  CHECK(parse_permutation("(2)") == identity_permutation(2));
  CHECK(to_cycles({1, 2, 0, 4, 3}) == "(1 2 3)(4 5)");
  CHECK(to_cycles(identity_permutation(4)) == "()");
}

TEST_CASE("permutation products let the right factor act first", "[algebra]") {
  const Permutation a = parse_permutation("(1 2)", 3), b = parse_permutation("(2 3)", 3);
  CHECK(to_cycles(compose(a, b)) == "(1 2 3)");  // 2 -> 3, 3 -> 2 -> 1, 1 -> 2
  CHECK(to_cycles(compose(b, a)) == "(1 3 2)");
  const Permutation c = parse_permutation("(1 4 2)(3 5)");
  CHECK(compose(c, inverse(c)) == identity_permutation(5));
  CHECK(sign(a) == -1);
  CHECK(sign(c) == -1);
  CHECK(sign(compose(a, b)) == 1);
  CHECK(sign(identity_permutation(3)) == 1);
}

TEST_CASE("permutation errors say what is wrong", "[algebra]") {
  says(error_of([] { parse_permutation(""); }), "expected cycles like");
  says(error_of([] { parse_permutation("1 2"); }), "expected '(' at column 1, got '1'");
  says(error_of([] { parse_permutation("(1 2"); }), "has no ')'");
  says(error_of([] { parse_permutation("(1 x)"); }), "'x' is not a point");
  says(error_of([] { parse_permutation("(1 0)"); }), "point 0 is out of range");
  says(error_of([] { parse_permutation("(1 300)"); }), "points run from 1 to 255");
  says(error_of([] { parse_permutation("(1 99999999999)"); }), "out of range");
  says(error_of([] { parse_permutation("(1 6)", 5); }), "points run from 1 to 5");
  says(error_of([] { parse_permutation("(1 2)(2 3)"); }), "point 2 appears twice");
  says(error_of([] { compose({0, 1}, {0, 1, 2}); }), "degrees differ, 2 and 3");
  says(error_of([] { extended({0, 1}, 1); }), "cannot act on 1 points");
}

TEST_CASE("every named family is a group of the right order", "[algebra]") {
  const std::vector<std::pair<const char*, int>> orders{
      {"S2", 2},   {"S3", 6},   {"S4", 24},    {"S5", 120},     {"A3", 3},      {"A4", 12},
      {"A5", 60},  {"C2", 2},   {"C7", 7},     {"Z12", 12},     {"D4", 8},      {"D6", 6},
      {"D8", 8},   {"D10", 10}, {"D16", 16},   {"Q8", 8},       {"Q12", 12},    {"Q16", 16},
      {"2T", 24},  {"2O", 48},  {"2I", 120},   {"Heis2", 8},    {"Heis3", 27},  {"V4", 4},
      {"F20", 20}, {"F21", 21}, {"A4xZ5", 60}, {"A4_x_Z5", 60}, {"C2xC2xC2", 8}};
  for (const auto& [name, order] : orders) {
    INFO(name);
    const FiniteGroup g = named_group(name);
    CHECK(g.order() == order);
    CHECK(is_group(g));
    CHECK_FALSE(g.generators().empty());
    CHECK_FALSE(g.description().empty());
    std::vector<int> generators;
    for (const Generator& k : g.generators()) generators.push_back(k.element);
    std::vector<std::vector<int>> table;
    for (int a = 0; a < order; ++a) {
      table.emplace_back();
      for (int b = 0; b < order; ++b) table.back().push_back(g.product(a, b));
    }
    CHECK(FiniteGroup::from_cayley(name, table, generators).order() == order);
    for (int a = 0; a < order; ++a) CHECK(g.element(g.element_name(a)) == a);
  }
  CHECK(named_group("S7").order() == 5040);
  CHECK(named_group("A7").order() == 2520);
}

TEST_CASE("element order follows the published word-problem code", "[algebra]") {
  const FiniteGroup s3 = named_group("S3");
  const std::vector<std::string> lexicographic{"()",      "(2 3)",   "(1 2)",
                                               "(1 2 3)", "(1 3 2)", "(1 3)"};
  for (int a = 0; a < 6; ++a) CHECK(s3.element_name(a) == lexicographic[size_t(a)]);

  const FiniteGroup a5 = named_group("A5"), s5 = named_group("S5");
  for (int a = 1; a < 60; ++a) {
    CHECK(s5.element(a5.element_name(a - 1)) < s5.element(a5.element_name(a)));
    CHECK(sign(a5.permutations()[size_t(a)]) == 1);
  }
  for (int a = 0; a < 120; a += 7)
    for (int b = 0; b < 120; b += 11)
      CHECK(s5.permutations()[size_t(s5.product(a, b))] ==
            compose(s5.permutations()[size_t(a)], s5.permutations()[size_t(b)]));

  const FiniteGroup z5 = named_group("Z5"), a4 = named_group("A4"), both = named_group("A4xZ5");
  CHECK(both.product(3 * 5 + 2, 7 * 5 + 4) == a4.product(3, 7) * 5 + z5.product(2, 4));
}

TEST_CASE("generators are those of the papers", "[algebra]") {
  const auto called = [](const char* group, const char* generator) {
    const FiniteGroup g = named_group(group);
    return g.element_name(g.element(generator));
  };
  CHECK(called("S5", "c") == "(1 2 3 4 5)");
  CHECK(called("S5", "t") == "(1 2)");
  CHECK(called("A5", "c") == "(1 2 3 4 5)");
  CHECK(called("A5", "t") == "(1 2 3)");
  CHECK(called("A4", "c") == "(2 3 4)");
  CHECK(called("S3", "r") == "(1 2 3)");
  CHECK(called("S3", "s") == "(1 2)");
  CHECK(called("Q8", "i") == "i");
  const FiniteGroup d16 = named_group("D16");
  const int r = d16.element("r"), s = d16.element("s");
  CHECK(d16.element_order(r) == 8);
  CHECK(d16.element_order(s) == 2);
  CHECK(d16.product(d16.product(s, r), s) == d16.inverse(r));
  CHECK(d16.element_name(d16.product(d16.power(r, 2), s)) == "r^2s");
  const FiniteGroup q8 = named_group("Q8");
  CHECK(q8.product(q8.element("i"), q8.element("j")) == q8.element("k"));
  CHECK(q8.product(q8.element("j"), q8.element("i")) == q8.element("-k"));
  CHECK(q8.power(q8.element("k"), 2) == q8.element("-1"));
}

TEST_CASE("elements are found by name, by cycles and by powers", "[algebra]") {
  const FiniteGroup a5 = named_group("A5");
  CHECK(a5.element("e") == 0);
  CHECK(a5.element("()") == 0);
  CHECK(a5.element("(123)") == a5.element("(2 3 1)"));
  CHECK(a5.element("c^-1") == a5.inverse(a5.element("c")));
  CHECK(a5.element("(1 2 3)^2") == a5.element("(1 3 2)"));
  CHECK(a5.element("c^5") == 0);
  CHECK(a5.power(a5.element("c"), -7) == a5.power(a5.element("c"), 3));
  says(error_of([&] { a5.element("(1 2)"); }), "group A5: no element '(1 2)'");
  says(error_of([&] { a5.element("x^2"); }), "no element 'x^2'");
  says(error_of([&] { a5.element("c^"); }), "no element 'c^'");
  says(error_of([&] { a5.element("c^2x"); }), "no element 'c^2x'");
  says(error_of([&] { a5.element(""); }), "no element ''");
}

TEST_CASE("unknown group names are refused with help", "[algebra]") {
  const auto message = [](const char* name) { return error_of([&] { named_group(name); }); };
  says(message("a5"), "the nearest valid name is A5");
  says(message("HEIS3"), "the nearest valid name is Heis3");
  says(message("a5"), "Heis<n>");
  says(message("dihedral"), "unknown name");
  says(message("2o"), "nearest valid name is 2O");
  says(message("S8"), "takes n from 2 to 7");
  says(message("S8"), "nearest valid name is S7");
  says(message("D5"), "takes an even order n from 6");
  says(message("D5"), "or 4 for the square's group of order 8, the same as D8");
  says(message("D2"), "nearest valid name is D4");
  says(message("Q10"), "a multiple of 4");
  says(message("Heis4"), "a prime n up to 17");
  says(message("F22"), "unknown name");
  says(message("f21"), "nearest valid name is F21");
  says(message("A5x"), "unknown name");
  says(message("A5xB3"), "group 'B3': unknown name");
  says(message(""), "unknown name");
  says(message("S7xC2"), "order 10080 is out of range");
}

TEST_CASE("groups come from JSON", "[algebra]") {
  CHECK(from_text(R"j("Q8")j").name() == "Q8");
  const FiniteGroup a5 =
      from_text(R"j({"permutations": ["(1 2 3 4 5)", "(123)"], "name": "mine"})j");
  CHECK(a5.order() == 60);
  CHECK(a5.name() == "mine");
  CHECK(a5.generators()[1].name == "(1 2 3)");
  const FiniteGroup c3 = from_text(R"j({"cayley": [[0,1,2],[1,2,0],[2,0,1]], "generators": [2]})j");
  CHECK(c3.name() == "custom");
  CHECK(c3.generators()[0].element == 2);
  CHECK(is_group(c3));
  CHECK(
      from_text(R"j({"cayley": [[0,1,2,3],[1,0,3,2],[2,3,0,1],[3,2,1,0]]})j").generators().size() ==
      2);
  CHECK(from_text(R"j({"cayley": [[0]]})j").order() == 1);
}

TEST_CASE("bad group specifications say what is wrong", "[algebra]") {
  const auto message = [](const char* json) { return error_of([&] { from_text(json); }); };
  says(message("5"), "expected a name");
  says(message("{}"), "exactly one of the keys permutations and cayley");
  says(message(R"j({"permutations": ["(1 2)"], "cayley": [[0]]})j"), "exactly one of");
  says(message(R"j({"permutations": ["(1 2)"], "nmae": "x"})j"),
       R"(unknown key "nmae"; did you mean "name"?)");
  says(message(R"j({"permutations": ["(1 2)"], "generators": [1]})j"),
       R"(unknown key "generators")");
  says(message(R"j({"permutations": []})j"), "expected a list like");
  says(message(R"j({"permutations": [3]})j"), "expected a string like");
  says(message(R"j({"permutations": ["(1 2)"], "name": 3})j"), "name: expected a string");
  says(message(R"j({"permutations": ["(1 2 3 4 5 6 7 8)", "(1 2)"]})j"), "more than 5040 elements");
  says(message(R"j({"cayley": 3})j"), "expected a list of rows");
  says(message(R"j({"cayley": []})j"), "order 0 is out of range");
  says(message(R"j({"cayley": [[0, 1.5], [1, 0]]})j"), "expected a whole number, got 1.5");
  says(message(R"j({"cayley": [[0, 1], [1]]})j"), "row 1 has 1 entries, expected 2");
  says(message(R"j({"cayley": [[0, 1], [1, 2]]})j"), "1 * 1 = 2 is no element");
  says(message(R"j({"cayley": [[0, 1], [1, 4294967296]]})j"), "is no element");
  says(message(R"j({"cayley": [[1, 0], [0, 1]]})j"),
       "element 0 must be the identity, but 0 * 0 = 1");
  says(message(R"j({"cayley": [[0, 1], [0, 1]]})j"),
       "element 0 must be the identity, but 1 * 0 = 0");
  says(message(R"j({"cayley": [[0, 1], [1, 1]]})j"), "not a Latin square, 1 * 0 = 1 * 1 = 1");
  says(message(R"j({"cayley": [[0,1,2],[1,0,2],[2,2,0]]})j"), "not a Latin square");
  says(message(R"j({"cayley": [[0,1],[1,0]], "generators": [2]})j"), "generator 2 is no element");
  says(message(R"j({"cayley": [[0,1],[1,0]], "generators": [0]})j"), "reach only 1 of its 2");
  says(message(R"j({"cayley": [[0,1],[1,0]], "generators": []})j"), "at least one element index");
  // The smallest loop that is no group has order 5.
  says(message(R"j({"cayley": [[0,1,2,3,4],[1,0,3,4,2],[2,4,0,1,3],[3,2,4,0,1],[4,3,1,2,0]]})j"),
       "not associative, (1 * 1) * 2 = 2 but 1 * (1 * 2) = 4");
}

TEST_CASE("families are listed with their rules", "[algebra]") {
  const auto families = group_families();
  CHECK(families.size() == 13);
  CHECK(families[0].pattern == "S<n>");
  CHECK(families.back().pattern == "2I");
}
