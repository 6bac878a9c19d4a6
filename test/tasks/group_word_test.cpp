// SPDX-License-Identifier: Apache-2.0
// The word problem: targets, inputs, masks, randomness and errors. Products are computed here from
// image lists alone. group_word_compat_test.cpp has the fixed sets of the published definitions.
#include "tasks/group_word.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "core/algebra/named_groups.h"
#include "test/tasks/group_word_helpers.h"
#include "test/test.h"

using namespace lssm;
using namespace lssm::test;
using Catch::Matchers::Contains;

namespace {

using Images = std::vector<int>;  // images[i] is where point i goes

Images after(const Images& a, const Images& b) {  // first b, then a
  Images out;
  for (int x : b) out.push_back(a[size_t(x)]);
  return out;
}

Images inverted(const Images& a) {
  Images out(a.size());
  for (size_t i = 0; i < a.size(); ++i) out[size_t(a[i])] = int(i);
  return out;
}

bool is_even(const Images& a) {
  int inversions = 0;
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < i; ++j) inversions += a[j] > a[i];
  return inversions % 2 == 0;
}

// S_n, or A_n, in lexicographic order: element k is entry k (PEERS.md 4.1).
std::vector<Images> all_permutations(int n, bool even_only) {
  std::vector<Images> out;
  Images p(static_cast<size_t>(n));
  std::iota(p.begin(), p.end(), 0);
  do {
    if (!even_only || is_even(p)) out.push_back(p);
  } while (std::next_permutation(p.begin(), p.end()));
  return out;
}

const Images kCycle5 = {1, 2, 3, 4, 0}, kSwap = {1, 0, 2, 3, 4}, kCycle3 = {1, 2, 0, 3, 4};

struct WordCase {
  std::string json;
  bool even;                   // A5, else S5
  std::vector<Images> tokens;  // in their order; empty: all elements
};

std::vector<Images> transpositions_and_identity() {
  std::vector<Images> out;
  for (const Images& p : all_permutations(5, false)) {
    int moved = 0;
    for (int i = 0; i < 5; ++i) moved += p[size_t(i)] != i;
    if (moved <= 2) out.push_back(p);
  }
  return out;
}

const std::vector<WordCase> kWordCases = {
    {R"({"group": "S5", "inputs": "generators"})", false, {kCycle5, kSwap}},
    {R"({"group": "S5", "inputs": "generators_inverses"})",
     false,
     {kCycle5, inverted(kCycle5), kSwap}},  // the involution comes once
    {R"({"group": "A5"})", true, {kCycle5, kCycle3}},
    {R"({"group": "A5", "inputs": "generators_inverses"})",
     true,
     {kCycle5, inverted(kCycle5), kCycle3, inverted(kCycle3)}},
    {R"({"group": "S5", "inputs": "all"})", false, {}},
    {R"({"group": "A5", "inputs": "all"})", true, {}},
    {R"({"group": "S5", "inputs": {"max_moved": 2}})", false, transpositions_and_identity()},
    {R"json({"group": "S5", "inputs": ["c", "(1 2)(3 4)", "c^-1", "e", "c"]})json",
     false,
     {kCycle5, {1, 0, 3, 2, 4}, inverted(kCycle5), {0, 1, 2, 3, 4}}},
};

// Pearson's chi-square of counts against equal shares.
double chi_square(const std::vector<double>& counts) {
  const double expected =
      std::accumulate(counts.begin(), counts.end(), 0.0) / double(counts.size());
  double sum = 0;
  for (double c : counts) sum += (c - expected) * (c - expected) / expected;
  return sum;
}

// The bound that a chi-square of k cells passes with a probability below 1e-6 (its mean is k - 1,
// its deviation sqrt(2 (k - 1)); Laurent & Massart 2000, lemma 1, with x = 14).
double chi_square_bound(size_t cells) {
  const double d = double(cells - 1), x = 14;
  return d + 2 * std::sqrt(d * x) + 2 * x;
}

}  // namespace

TEST_CASE("targets are the running products, on both sides", "[tasks]") {
  for (const WordCase& c : kWordCases) {
    const std::vector<Images> elements = all_permutations(5, c.even);
    const std::vector<Images>& tokens = c.tokens.empty() ? elements : c.tokens;
    for (const char* action : {"right", "left"}) {
      INFO(c.json << ' ' << action);
      const auto task = make_task(c.json, {{"action", action}});
      CHECK(task->vocabulary() == int64_t(tokens.size()));
      CHECK(task->classes() == int64_t(elements.size()));
      const Batch batch = task->batch(Split::train, 3, 1, 8, 20);
      CHECK_FALSE(batch.trained);
      CHECK_FALSE(batch.scored);
      const auto words = rows(batch.tokens), targets = rows(batch.targets);
      int64_t wrong = 0;
      for (size_t row = 0; row < 8; ++row) {
        Images product = elements[0];
        for (size_t t = 0; t < 20; ++t) {
          const Images& x = tokens.at(size_t(words[row][t]));
          product = action == std::string("right") ? after(product, x) : after(x, product);
          wrong += elements.at(size_t(targets[row][t])) != product;
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("a word by hand", "[tasks]") {
  // c = (1 2 3 4 5), t = (1 2). Right: c t sends 1 -> 2 -> 3: images 3 2 4 5 1, in lexicographic
  // order number 2·24 + 1·6 + 1·2 + 1·1 = 57, counted from 0. Left: t c: 1 -> 2 -> 1:
  // images 1 3 4 5 2: 0·24 + 1·6 + 1·2 + 1·1 = 9.
  for (const auto& [action, expected] :
       std::vector<std::pair<const char*, int>>{{"right", 57}, {"left", 9}}) {
    const auto task = make_task(R"({"group": "S5", "length": 2})", {{"action", action}});
    bool found = false;
    const Batch batch = task->batch(Split::train, 1, 0, 64, 0);
    const auto words = rows(batch.tokens), targets = rows(batch.targets);
    for (size_t row = 0; row < words.size(); ++row) {
      if (words[row] != std::vector<int>{0, 1}) continue;
      found = true;
      CHECK(targets[row][1] == expected);
    }
    CHECK(found);
  }
}

TEST_CASE("only the last position is supervised on demand", "[tasks]") {
  const auto task = make_task(R"({"group": "S5", "length": 7, "supervise": "last"})");
  CHECK(task->train_length() == 7);
  const Batch batch = task->batch(Split::valid, 1, 0, 5, 0);
  const auto all = make_task(R"({"group": "S5", "length": 7})")->batch(Split::valid, 1, 0, 5, 0);
  CHECK(rows(batch.tokens) == rows(all.tokens));
  CHECK(rows(batch.targets) == rows(all.targets));
  for (const Tensor& mask : {batch.trained, batch.scored})
    for (const std::vector<int>& row : rows(mask))
      CHECK(row == std::vector<int>{0, 0, 0, 0, 0, 0, 1});
}

TEST_CASE("a batch is a pure function of seed, split and step", "[tasks]") {
  for (const char* json : {R"({"group": "A5"})", R"({"group": "A5", "lengths": [20, 32]})",
                           R"({"group": "A5", "compat": "illusion", "samples": 5000})"}) {
    INFO(json);
    const auto task = make_task(json), other = make_task(json);
    const auto words = [&](const Task& t, Split split, uint64_t seed, int64_t step) {
      return rows(t.batch(split, seed, step, 6, 0).tokens);
    };
    const auto base = words(*task, Split::train, 1, 4);
    std::set<std::vector<int>> seen(base.begin(), base.end());
    words(*task, Split::valid, 9, 2);  // leaves no trace
    CHECK(words(*task, Split::train, 1, 4) == base);
    CHECK(words(*other, Split::train, 1, 4) == base);
    // Words of 32 tokens do not meet by chance: all other streams hold other words.
    for (const auto& stream : {words(*task, Split::train, 1, 5), words(*task, Split::train, 2, 4),
                               words(*task, Split::valid, 1, 4), words(*task, Split::test, 1, 4)})
      for (const std::vector<int>& word : stream) CHECK(seen.insert(word).second);
  }
}

TEST_CASE("in a mixture of lengths padding is masked", "[tasks]") {
  for (const char* supervise : {"all", "last"}) {
    INFO(supervise);
    const auto task =
        make_task(R"({"group": "S5", "lengths": [5, 3, 9]})", {{"supervise", supervise}});
    CHECK(task->train_length() == 9);
    CHECK(task->vocabulary() == 3);  // c, t and padding
    CHECK(task->classes() == 120);
    const Batch batch = task->batch(Split::train, 1, 0, 3000, 0);
    const auto words = rows(batch.tokens), trained = rows(batch.trained);
    CHECK(rows(batch.scored) == trained);
    std::map<size_t, double> lengths;
    int64_t wrong = 0;
    for (size_t row = 0; row < words.size(); ++row) {
      REQUIRE(words[row].size() == 9);
      const size_t n =
          size_t(std::find(words[row].begin(), words[row].end(), 2) - words[row].begin());
      ++lengths[n];
      for (size_t t = 0; t < 9; ++t) {
        wrong += (words[row][t] == 2) != (t >= n);
        const bool asked = supervise == std::string("all") ? t < n : t + 1 == n;
        wrong += trained[row][t] != int(asked);
      }
    }
    CHECK(wrong == 0);
    REQUIRE(lengths.size() == 3);
    CHECK(chi_square({lengths[3], lengths[5], lengths[9]}) < chi_square_bound(3));

    // An evaluation at one length has no padding.
    const Batch fixed = task->batch(Split::test, 1, 0, 4, 17);
    CHECK(fixed.tokens.shape() == Shape({4, 17}));
    CHECK(bool(fixed.scored) == (supervise == std::string("last")));
    for (const std::vector<int>& word : rows(fixed.tokens))
      CHECK(*std::max_element(word.begin(), word.end()) < 2);
  }
}

TEST_CASE("bos: special ids after the elements, BOS its own target", "[tasks]") {
  const auto task = make_task(R"({"group": "S5", "bos": true, "lengths": [2, 4]})");
  constexpr int kPad = 120, kBos = 121;  // then UNK EOS SEP CLS MASK
  CHECK(task->vocabulary() == 127);
  CHECK(task->classes() == 127);
  const Batch batch = task->batch(Split::train, 1, 0, 50, 0);
  const std::vector<Images> elements = all_permutations(5, false);
  const auto words = rows(batch.tokens), targets = rows(batch.targets);
  const auto trained = rows(batch.trained), scored = rows(batch.scored);
  int64_t wrong = 0, pads = 0;
  for (size_t row = 0; row < words.size(); ++row) {
    REQUIRE(words[row].size() == 5);
    CHECK(words[row][0] == kBos);
    CHECK(targets[row][0] == kBos);
    CHECK((trained[row][0] == 1 && scored[row][0] == 0));
    Images product = elements[0];
    for (size_t t = 1; t < 5; ++t) {
      const bool pad = words[row][t] == kPad;
      pads += pad;
      wrong += trained[row][t] != !pad || scored[row][t] != !pad;
      if (pad) {
        wrong += targets[row][t] != kPad;
        continue;
      }
      const Images& x = elements.at(size_t(words[row][t]));  // tokens are elements here
      wrong += x != kCycle5 && x != kSwap;
      product = after(product, x);
      wrong += elements.at(size_t(targets[row][t])) != product;
    }
  }
  CHECK(wrong == 0);
  CHECK(pads > 0);
}

TEST_CASE("inputs are uniform and independent", "[tasks]") {
  for (const Split split : {Split::train, Split::valid, Split::test}) {
    const auto task = make_task(R"({"group": "A5", "inputs": "generators_inverses"})");
    std::vector<double> tokens(4), pairs(16), between(16);
    std::vector<int> last_row;
    for (int64_t step = 0; step < 20; ++step) {
      for (const std::vector<int>& word : rows(task->batch(split, 5, step, 100, 16).tokens)) {
        for (size_t t = 0; t < 16; ++t) {
          ++tokens[size_t(word[t])];
          if (t % 2 == 1) ++pairs[size_t(4 * word[t - 1] + word[t])];
          if (!last_row.empty()) ++between[size_t(4 * last_row[t] + word[t])];
        }
        last_row = last_row.empty() ? word : std::vector<int>();  // pairs of rows do not overlap
      }
    }
    CHECK(chi_square(tokens) < chi_square_bound(4));
    CHECK(chi_square(pairs) < chi_square_bound(16));
    CHECK(chi_square(between) < chi_square_bound(16));
  }
  // With all elements as inputs the product is uniform too, at every step.
  const auto task = make_task(R"({"group": "A5", "inputs": "all"})");
  for (const size_t t : {size_t(0), size_t(1), size_t(31)}) {
    std::vector<double> inputs(60), targets(60);
    const Batch batch = task->batch(Split::train, 5, 0, 6000, 32);
    for (const auto& row : rows(batch.tokens)) ++inputs[size_t(row[t])];
    for (const auto& row : rows(batch.targets)) ++targets[size_t(row[t])];
    CHECK(chi_square(inputs) < chi_square_bound(60));
    CHECK(chi_square(targets) < chi_square_bound(60));
  }
}

TEST_CASE("ceilings at length 32", "[tasks]") {
  struct Known {
    const char* json;
    double final_percent, prefix_percent;
  };
  for (const Known& known :
       {Known{R"({"group": "A5", "inputs": "generators_inverses"})", 2.64, 18.81},
        Known{R"({"group": "S5", "inputs": "generators_inverses"})", 5.83, 25.40},
        Known{R"({"group": "D4", "inputs": "generators"})", 50.00, 54.69}}) {
    for (const char* action : {"right", "left"}) {
      INFO(known.json << ' ' << action);
      const auto ceilings = make_task(known.json, {{"action", action}})->ceilings(32);
      REQUIRE(ceilings.size() == 2);
      CHECK(ceilings[0].name == "chance");
      CHECK(ceilings[1].name == "parikh");
      CHECK((ceilings[0].known && ceilings[1].known));
      CHECK(std::abs(100 * ceilings[1].final - known.final_percent) <= 0.005);
      CHECK(std::abs(100 * ceilings[1].prefix - known.prefix_percent) <= 0.005);
      CHECK(ceilings[0].final <= ceilings[1].final);

      const auto last = make_task(known.json, {{"supervise", "last"}})->ceilings(32);
      CHECK(last[1].final == ceilings[1].final);
      CHECK(last[1].prefix == last[1].final);  // the only position that is scored
    }
  }
}

TEST_CASE("classes are pairs of a coset and an element of [G, G]", "[tasks]") {
  const auto parts = [](const char* json) {
    return make_task(json, Json::object())->class_factors();
  };
  const auto sizes = [&](const char* json) {
    std::vector<int> counts;
    for (const std::vector<int>& part : parts(json))
      counts.push_back(*std::max_element(part.begin(), part.end()) + 1);
    return counts;
  };
  CHECK(sizes(R"({"group": "S5"})") == std::vector<int>{2, 60});
  CHECK(sizes(R"({"group": "D16"})") == std::vector<int>{4, 4});  // V4 x C4
  CHECK(sizes(R"({"group": "Heis3"})") == std::vector<int>{9, 3});
  for (const char* whole : {R"({"group": "A5"})", R"({"group": "C6"})",
                            R"({"group": "S5", "inputs": "all", "bos": true})"}) {
    CHECK(parts(whole).empty());
  }
}

TEST_CASE("chance: the best constant answer", "[tasks]") {
  const auto all = make_task(R"({"group": "A5", "inputs": "all"})")->ceilings(128);
  CHECK(all[0].final == Approx(1.0 / 60));
  CHECK(all[0].prefix == Approx(1.0 / 60));
  CHECK_FALSE(all[1].known);  // 60 tokens: too many count vectors

  // S5 with c and t, by the distribution of products after each step.
  const std::vector<Images> elements = all_permutations(5, false);
  std::map<Images, double> share = {{elements[0], 1}};
  double sum = 0, best = 0;
  for (int t = 0; t < 12; ++t) {
    std::map<Images, double> next;
    for (const auto& [y, p] : share)
      for (const Images& x : {kCycle5, kSwap}) next[after(y, x)] += p / 2;
    share = next;
    best = 0;
    for (const auto& [y, p] : share) best = std::max(best, p);
    sum += best;
  }
  const Ceiling chance = make_task(R"({"group": "S5"})")->ceilings(12)[0];
  CHECK(chance.final == Approx(best));
  CHECK(chance.prefix == Approx(sum / 12));
}

TEST_CASE("wrong tasks are refused with the place and the reason", "[tasks]") {
  const std::vector<std::pair<std::string, std::string>> table = {
      {R"({"group": "A55"})", "/task/group: "},
      {R"({"group": 5})", "/task/group: "},
      {R"({"group": "S5", "inputs": "generator"})",
       "/task/inputs: expected \"generators\", \"generators_inverses\", \"all\""},
      {R"({"group": "S5", "inputs": []})", "/task/inputs: expected"},
      {R"({"group": "S5", "inputs": ["c", 3]})", "/task/inputs: expected names of elements, got 3"},
      {R"json({"group": "S5", "inputs": ["(1 7)"]})json", "/task/inputs: "},
      {R"({"group": "S5", "inputs": {"max_moved": -1}})", "/task/inputs: expected"},
      {R"({"group": "S5", "inputs": {"max_mvoed": 2}})", "/task/inputs: expected"},
      {R"({"group": "Q8", "inputs": {"max_moved": 2}})",
       "/task/inputs: max_moved needs a group of permutations"},
      {R"({"length": 0})", "/task/length: got 0, expected a number at least 1"},
      {R"({"lengths": [4, 0]})", "/task/lengths/1: got 0"},
      {R"({"pad_in_loss": true})", "/task/pad_in_loss: there is no padding class without bos"},
      {R"({"action": "both"})", "/task/action: got \"both\""},
      {R"({"supervise": "first"})", "/task/supervise: got \"first\""},
      {R"({"compat": "ilusion"})", "/task/compat: got \"ilusion\"; did you mean \"illusion\"?"},
      {R"({"lenght": 4})", "/task/lenght: unknown key; did you mean \"length\"?"},
      {R"({"samples": 100, "train_share": 1})", "/task/samples: leaves no sequence for validation"},
      {R"({"samples": 2147483649})", "/task/samples: got 2147483649"},
      {R"({"samples": 2147483648, "lengths": [20, 21, 22]})",
       "/task/samples: samples times the number of lengths is above 2^32"},
      {R"({"samples": 1})", "/task/samples: leaves no sequence for training"},
      {R"({"samples": 9, "lengths": [4, 4]})", "/task/lengths: a fixed set has each length once"},
      {R"({"samples": 100, "train_share": 0})", "/task/samples: leaves no sequence for training"},
      {R"({"samples": 100, "train_share": 1.5})", "/task/train_share: got 1.5"},
  };
  for (const auto& [json, error] : table) {
    INFO(json);
    CHECK_THROWS_AS(make_task(json), Error);
    CHECK_THROWS_WITH(make_task(json), Contains(error));
  }
}

TEST_CASE("groups of one's own", "[tasks]") {
  const auto cayley = make_task(R"({"group": {"name": "mine", "cayley": [[0, 1, 2], [1, 2, 0],
      [2, 0, 1]], "generators": [1]}, "inputs": "all"})");
  CHECK(cayley->classes() == 3);
  const Batch batch = cayley->batch(Split::train, 1, 0, 10, 12);
  for (size_t row = 0; row < 10; ++row) {
    int sum = 0;
    for (size_t t = 0; t < 12; ++t) {
      sum = (sum + rows(batch.tokens)[row][t]) % 3;
      CHECK(rows(batch.targets)[row][t] == sum);
    }
  }
  CHECK(make_task(R"json({"group": {"name": "x", "permutations": ["(1 2 3)", "(1 2)"]}})json")
            ->classes() == 6);
}
