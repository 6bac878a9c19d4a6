// SPDX-License-Identifier: Apache-2.0
// Fixed sets of words, and the published definitions that use them (PEERS.md 4.1, 4.2).
#include <algorithm>
#include <set>

#include "test/tasks/group_word_helpers.h"
#include "test/test.h"

using namespace lssm;
using namespace lssm::test;

namespace {

using Word = std::vector<int>;

// `count` words in the order of reading, `per_batch` in a batch, without BOS and padding.
std::vector<Word> read_words(const Task& task, Split split, int64_t count, int64_t per_batch = 0,
                             int64_t first_step = 0) {
  if (per_batch == 0) per_batch = count;
  std::vector<Word> out;
  for (int64_t step = first_step; int64_t(out.size()) < count; ++step) {
    const Batch batch = task.batch(split, 1, step, per_batch, 0);
    const auto tokens = rows(batch.tokens);
    for (Word word : tokens) {
      const int order = int(task.classes()) - 7;
      word.erase(std::remove_if(word.begin(), word.end(), [&](int x) { return x >= order; }),
                 word.end());
      out.push_back(word);
    }
  }
  out.resize(size_t(count));
  return out;
}

std::set<Word> as_set(const std::vector<Word>& words) { return {words.begin(), words.end()}; }

bool disjoint(const std::set<Word>& a, const std::set<Word>& b) {
  return std::none_of(a.begin(), a.end(), [&](const Word& w) { return b.count(w) > 0; });
}

}  // namespace

TEST_CASE("published definitions set the defaults", "[tasks]") {
  const auto resolved = [](const char* compat) {
    Json json = {{"compat", compat}};
    Fields::read(json, "/task", *task_registry().make("group_word"));
    return json;
  };
  const Json illusion = resolved("illusion"), delta = resolved("deltaproduct");
  for (const Json& json : {illusion, delta}) {
    CHECK(json["group"] == "A5");
    CHECK(json["inputs"] == "all");
    CHECK(json["action"] == "right");
    CHECK(json["supervise"] == "all");
    CHECK(json["bos"] == true);
    CHECK(json["pad_in_loss"] == true);
  }
  CHECK((illusion["samples"] == 1000000 && illusion["train_share"] == 0.8));
  CHECK((delta["length"] == 128 && delta["samples"] == 100000 && delta["train_share"] == 0.99));

  Json own = {{"compat", "deltaproduct"}, {"length", 9}, {"bos", false}, {"pad_in_loss", false}};
  Fields::read(own, "/task", *task_registry().make("group_word"));
  CHECK((own["length"] == 9 && own["bos"] == false && own["inputs"] == "all"));
}

TEST_CASE("A5 as in the published code: 67 tokens, BOS trained and not scored", "[tasks]") {
  for (const char* compat : {"illusion", "deltaproduct"}) {
    INFO(compat);
    const auto task = make_task(R"({"length": 6, "samples": 1000})", {{"compat", compat}});
    CHECK(task->vocabulary() == 67);
    CHECK(task->classes() == 67);
    for (const Split split : {Split::train, Split::valid, Split::test}) {
      const Batch batch = task->batch(split, 1, 0, 20, 0);
      REQUIRE(batch.tokens.shape() == Shape({20, 7}));
      for (size_t row = 0; row < 20; ++row) {
        CHECK(rows(batch.tokens)[row][0] == 61);
        CHECK(rows(batch.targets)[row][0] == 61);
        CHECK(rows(batch.targets)[row][1] == rows(batch.tokens)[row][1]);  // e x = x
        CHECK(rows(batch.trained)[row] == Word{1, 1, 1, 1, 1, 1, 1});
        CHECK(rows(batch.scored)[row] == Word{0, 1, 1, 1, 1, 1, 1});
      }
    }
    const Batch longer = task->batch(Split::test, 1, 0, 3, 512);
    CHECK(longer.tokens.shape() == Shape({3, 513}));
  }
}

TEST_CASE("when lengths mix, padding is trained as a class and not scored", "[tasks]") {
  const auto task = make_task(R"({"compat": "illusion", "lengths": [2, 3, 5], "samples": 1000})");
  const Batch batch = task->batch(Split::train, 1, 0, 400, 0);
  const auto tokens = rows(batch.tokens), targets = rows(batch.targets);
  const auto trained = rows(batch.trained), scored = rows(batch.scored);
  std::set<int64_t> lengths;
  int64_t wrong = 0;
  for (size_t row = 0; row < tokens.size(); ++row) {
    const auto end = std::find(tokens[row].begin(), tokens[row].end(), 60);
    const int64_t n = end - tokens[row].begin();
    lengths.insert(n - 1);
    for (int64_t t = 0; t < 6; ++t) {
      const size_t i = size_t(t);
      const bool pad = t >= n;
      wrong += trained[row][i] != 1 || scored[row][i] != int(t > 0 && !pad);
      wrong += (targets[row][i] == 60) != pad || (tokens[row][i] == 60) != pad;
    }
  }
  CHECK(wrong == 0);
  CHECK(lengths == std::set<int64_t>{2, 3, 5});
}

TEST_CASE("a small space is enumerated completely, without repetition", "[tasks]") {
  // S3: 6^3 = 216 words; 80 % rounded down are 172.
  const auto task =
      make_task(R"({"group": "S3", "compat": "illusion", "length": 3, "samples": 100000})");
  const auto train = read_words(*task, Split::train, 172),
             valid = read_words(*task, Split::valid, 44);
  CHECK(as_set(train).size() == 172);
  CHECK(as_set(valid).size() == 44);
  CHECK(disjoint(as_set(train), as_set(valid)));
  for (const Word& word : as_set(valid)) CHECK(word.size() == 3);
  // The next epoch has the same words in another order; validation repeats itself.
  const auto next = read_words(*task, Split::train, 172, 172, 1);
  CHECK(as_set(next) == as_set(train));
  CHECK(next != train);
  CHECK(read_words(*task, Split::valid, 44, 44, 1) == valid);
  // However the reading is cut into batches.
  auto both = train;
  both.insert(both.end(), next.begin(), next.end());
  CHECK(read_words(*task, Split::train, 344, 10) == both);
}

TEST_CASE("shorter words are wholly for training", "[tasks]") {
  const auto task = make_task(
      R"({"group": "S3", "compat": "illusion", "lengths": [3, 1, 2], "samples": 100000})");
  constexpr int64_t kEpoch = 6 + 36 + 172;
  const auto train = as_set(read_words(*task, Split::train, kEpoch));
  CHECK(train.size() == size_t(kEpoch));
  size_t count[4] = {};
  for (const Word& word : train) ++count[word.size()];
  CHECK((count[1] == 6 && count[2] == 36 && count[3] == 172));
  const auto valid = as_set(read_words(*task, Split::valid, 44));
  CHECK(valid.size() == 44);
  CHECK(disjoint(train, valid));
  for (const Word& word : valid) CHECK(word.size() == 3);
}

TEST_CASE("large spaces: distinct words, and none in both splits", "[tasks]") {
  // 60^8 words are drawn without repetition, 60^20 and 60^128 by independent draws.
  for (const int length : {8, 20, 128}) {
    INFO(length);
    const auto task =
        make_task(R"({"compat": "deltaproduct", "samples": 10000})", {{"length", length}});
    const auto train = read_words(*task, Split::train, 9900);
    const auto valid = read_words(*task, Split::valid, 100);
    CHECK(as_set(train).size() == 9900);
    CHECK(as_set(valid).size() == 100);
    CHECK(disjoint(as_set(train), as_set(valid)));
    for (const Word& word : train) REQUIRE(word.size() == size_t(length));
    const auto next = read_words(*task, Split::train, 9900, 9900, 1);
    CHECK(as_set(next) == as_set(train));
    CHECK(next != train);
    // Another seed is another set.
    const auto other = rows(task->batch(Split::train, 2, 0, 100, 0).tokens);
    for (Word word : other) {
      word.erase(word.begin());
      CHECK(as_set(train).count(word) == 0);
    }
    // Every element stands at the first and at the last place about equally often: 165 times,
    // with a deviation of 13.
    for (const size_t t : {size_t(0), size_t(length - 1)}) {
      std::vector<int> counts(60);
      for (const Word& word : train) ++counts[size_t(word[t])];
      CHECK(*std::min_element(counts.begin(), counts.end()) > 165 - 5 * 13);
      CHECK(*std::max_element(counts.begin(), counts.end()) < 165 + 5 * 13);
    }
  }
}

TEST_CASE("words of different lengths have nothing in common", "[tasks]") {
  // 12 of 60 elements do not agree by chance, so no short word may begin a longer one: else the
  // answers for the beginnings of validation words would have been trained.
  const auto task = make_task(R"({"compat": "illusion", "lengths": [12, 20], "samples": 1000})");
  std::set<Word> shorter;
  std::vector<Word> longer = read_words(*task, Split::valid, 200);
  for (const Word& word : read_words(*task, Split::train, 1800))
    word.size() == 12 ? void(shorter.insert(word)) : longer.push_back(word);
  CHECK(shorter.size() == 1000);
  CHECK(longer.size() == 1000);
  int64_t shared = 0;
  for (const Word& word : longer) shared += shorter.count({word.begin(), word.begin() + 12}) > 0;
  CHECK(shared == 0);
}

TEST_CASE("a split by a decimal share has the size that one expects", "[tasks]") {
  // In binary 0.57 * 100 is 56.999…, and 10 * (1 - 0.9) is 0.999….
  struct Share {
    int samples, train;
    double share;
  };
  for (const Share& part : {Share{100, 57, 0.57}, {10, 9, 0.9}, {5, 4, 0.8}, {1000, 290, 0.29}}) {
    INFO(part.share << " of " << part.samples);
    const auto task = make_task(R"({"compat": "illusion", "length": 8})",
                                {{"samples", part.samples}, {"train_share", part.share}});
    const auto two_epochs = read_words(*task, Split::train, 2 * part.train);
    CHECK(as_set(two_epochs).size() == size_t(part.train));
    const auto valid = as_set(read_words(*task, Split::valid, 2 * part.samples));
    CHECK(valid.size() == size_t(part.samples - part.train));
    CHECK(disjoint(as_set(two_epochs), valid));
  }
}
