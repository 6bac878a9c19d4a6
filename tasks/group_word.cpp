// SPDX-License-Identifier: Apache-2.0
// The word problem of a finite group G: read elements x_1, x_2, …, report the running product y_t.
//   "action": "right"   y_t = y_{t-1} x_t        y_0 is the identity
//   "action": "left"    y_t = x_t y_{t-1}
// JSON: {"type": "group_word", "group": "A5", "inputs": "generators_inverses", "length": 32}
//
// Inputs are drawn uniformly and independently. Tokens number the inputs in their order; classes
// are the elements of G. With "bos" tokens and classes are the elements followed by seven special
// ones (PAD BOS UNK EOS SEP CLS MASK), and every sequence starts with BOS, which is its own target.
//
// With "samples" the training and validation data are a fixed set of so many different sequences of
// each length: the last of the lengths is split into "train_share" for training and the rest for
// validation, shorter ones are for training alone. Epochs go through the set in a new order each
// time. The test split draws fresh words all the same: where there are few words, it contains
// training words.
//
// "compat" sets the other keys' defaults to a published definition:
//   "illusion"      Merrill et al. 2024, The Illusion of State:
//                   all elements, BOS, padding is trained
//   "deltaproduct"  Siems et al. 2025, DeltaProduct:
//                   the same with length 128 and a 99/1 split
#include "tasks/group_word.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/algebra/ceilings.h"
#include "core/algebra/group_json.h"
#include "core/algebra/subgroups.h"
#include "core/random.h"
#include "tasks/task.h"

namespace lssm {

using algebra::FiniteGroup;

std::vector<int> input_elements(const FiniteGroup& group, const Json& inputs) {
  std::vector<int> elements;
  const auto add = [&](int element) {
    if (std::find(elements.begin(), elements.end(), element) == elements.end())
      elements.push_back(element);
  };
  const std::string name = inputs.is_string() ? inputs.get<std::string>() : "";
  if (name == "all") {
    for (int g = 0; g < group.order(); ++g) add(g);
  } else if (name == "generators" || name == "generators_inverses") {
    for (const auto& generator : group.generators()) {
      add(generator.element);
      if (name == "generators_inverses") add(group.inverse(generator.element));
    }
  } else if (inputs.is_array() && !inputs.empty()) {
    for (const Json& element : inputs) {
      LSSM_CHECK(element.is_string(), "expected names of elements, got ", element.dump());
      add(group.element(element.get<std::string>()));
    }
  } else if (inputs.is_object() && inputs.size() == 1 && inputs.contains("max_moved") &&
             inputs["max_moved"].is_number_unsigned()) {
    LSSM_CHECK(!group.permutations().empty(), "max_moved needs a group of permutations");
    for (int g = 0; g < group.order(); ++g) {
      const algebra::Permutation& p = group.permutations()[size_t(g)];
      size_t moved = 0;
      for (size_t i = 0; i < p.size(); ++i) moved += p[i] != int(i);
      if (moved <= inputs["max_moved"].get<size_t>()) add(g);
    }
  } else {
    fail(
        "expected \"generators\", \"generators_inverses\", \"all\", a list of elements or "
        "{\"max_moved\": points}, got ",
        inputs.dump());
  }
  return elements;
}

namespace {

struct GroupWordConfig final : TaskConfig {
  void fields(Fields& f) override;
  std::unique_ptr<Task> build() const override;

  std::string compat = "none", action = "right", supervise = "all";
  Json group = "A5", inputs = "generators";
  int64_t length = 32, samples = 0;
  std::vector<int64_t> lengths;
  double train_share = 0.8;
  bool bos = false, pad_in_loss = false;
};

// How many of a fixed set's words are for training, rounded down. Of 100 the share 0.57 is 57,
// though 0.57 * 100 is 56.99… in binary.
uint64_t training_part(uint64_t words, double share) {
  return uint64_t(double(words) * share + 1e-6);
}

// Special ids, counted from the order of the group.
enum Special { kPad, kBos, kSpecials = 7 };

void GroupWordConfig::fields(Fields& f) {
  f.add("compat", compat, "a published definition: sets the defaults of the other keys",
        one_of({"none", "illusion", "deltaproduct"}));
  if (compat != "none") {
    inputs = "all";
    bos = pad_in_loss = true;
    length = compat == "illusion" ? 20 : 128;
    samples = compat == "illusion" ? 1000000 : 100000;
    train_share = compat == "illusion" ? 0.8 : 0.99;
  }
  f.add_json("group", group,
             "a name (A5, D16, 2I, A4xZ5), or permutations or a Cayley table that make it");
  f.add_json("inputs", inputs,
             "which elements are read: generators, generators_inverses, all, a list of elements by "
             "name, or "
             "{\"max_moved\": points}");
  f.add("action", action, "on which side an input multiplies the product",
        one_of({"right", "left"}));
  f.add("length", length, "inputs in a training sequence", at_least(1));
  f.add("lengths", lengths,
        "a mixture of training lengths, instead of length; shorter ones are padded", at_least(1));
  f.add("supervise", supervise, "positions that are trained and scored: all prefixes or the last",
        one_of({"all", "last"}));
  f.add("samples", samples,
        "size of a fixed training and validation set; 0: fresh sequences for ever",
        between(0, 0x1p31));
  f.add("train_share", train_share, "share of a fixed set that is for training", between(0, 1));
  f.add("bos", bos, "special tokens, and BOS at the start of each sequence");
  f.add("pad_in_loss", pad_in_loss, "padding is trained as a class of its own (needs bos)");
  f.check(bos || !pad_in_loss, "pad_in_loss", "there is no padding class without bos");
  const uint64_t words = uint64_t(samples), for_training = training_part(words, train_share);
  f.check(samples == 0 || for_training < words, "samples", "leaves no sequence for validation");
  f.check(samples == 0 || for_training >= 1, "samples", "leaves no sequence for training");
  const std::set<int64_t> different(lengths.begin(), lengths.end());
  f.check(samples == 0 || different.size() == lengths.size(), "lengths",
          "a fixed set has each length once");
  f.check(words * lengths.size() <= uint64_t(1) << 32, "samples",
          "samples times the number of lengths is above 2^32");  // set_member's substreams
  f.check_with("group", [this] { algebra::group_from_json(group); });
  f.check_with("inputs", [this] { input_elements(algebra::group_from_json(group), inputs); });
}

class GroupWord final : public Task {
 public:
  explicit GroupWord(const GroupWordConfig& config);

  int64_t vocabulary() const override {
    return config_.bos ? group_.order() + kSpecials : pad_token() + mixed();
  }
  int64_t classes() const override { return group_.order() + (config_.bos ? kSpecials : 0); }
  std::vector<std::vector<int>> class_factors() const override;
  int64_t train_length() const override { return lengths_.back(); }
  Batch batch(Split split, uint64_t seed, int64_t step, int64_t sequences,
              int64_t length) const override;
  std::vector<Ceiling> ceilings(int64_t length) const override;

 private:
  bool mixed() const { return lengths_.size() > 1; }
  int pad_token() const { return config_.bos ? group_.order() + kPad : int(inputs_.size()); }
  // How many different sequences of one length a fixed set holds.
  uint64_t set_size(int64_t length) const;
  std::vector<int> fixed_word(Split split, uint64_t seed, uint64_t position) const;
  std::vector<int> set_member(uint64_t seed, int64_t length, uint64_t number) const;
  void write_row(Batch& batch, int64_t row, const std::vector<int>& word) const;

  GroupWordConfig config_;
  FiniteGroup group_;
  std::vector<int> inputs_;       // elements
  std::vector<int64_t> lengths_;  // ascending
};

GroupWord::GroupWord(const GroupWordConfig& config)
    : config_(config),
      group_(algebra::group_from_json(config.group)),
      inputs_(input_elements(group_, config.inputs)) {
  lengths_ = config.lengths.empty() ? std::vector<int64_t>{config.length} : config.lengths;
  std::sort(lengths_.begin(), lengths_.end());
}

uint64_t GroupWord::set_size(int64_t length) const {
  const double words = std::pow(double(inputs_.size()), double(length));
  return words < double(config_.samples) ? uint64_t(words) : uint64_t(config_.samples);
}

// Word `number` of the fixed set of one length, as positions in inputs_. All words are different:
// in a small space by a permutation of all words, in a large one because a repetition is unlikely
// (below 1e-6 for a million words out of 2^62).
std::vector<int> GroupWord::set_member(uint64_t seed, int64_t length, uint64_t number) const {
  std::vector<int> word(static_cast<size_t>(length));
  const double words = std::pow(double(inputs_.size()), double(length));
  if (words > 0x1p62) {
    // Each length has substreams of its own: else short words would be the beginnings of long ones.
    const auto which =
        std::lower_bound(lengths_.begin(), lengths_.end(), length) - lengths_.begin();
    Random random(seed, Stream::train, uint32_t(number * lengths_.size() + uint64_t(which)));
    for (int& x : word) x = int(random.below(uint32_t(inputs_.size())));
    return word;
  }
  uint64_t code = RandomPermutation(uint64_t(words), seed, Stream::train, uint32_t(length))(number);
  for (int& x : word) {
    x = int(code % inputs_.size());
    code /= inputs_.size();
  }
  return word;
}

// The word at `position` of the endless reading of a fixed set: for training in an order that is
// new in each epoch, for validation always the same.
std::vector<int> GroupWord::fixed_word(Split split, uint64_t seed, uint64_t position) const {
  const uint64_t longest = set_size(lengths_.back());
  const uint64_t for_training = std::clamp<uint64_t>(training_part(longest, config_.train_share), 1,
                                                     std::max<uint64_t>(longest - 1, 1));
  if (split == Split::valid) {
    const uint64_t others = std::max<uint64_t>(longest - for_training, 1);
    return set_member(seed, lengths_.back(), (for_training + position % others) % longest);
  }
  uint64_t total = for_training;
  for (size_t i = 0; i + 1 < lengths_.size(); ++i) total += set_size(lengths_[i]);
  const uint64_t epoch = position / total;
  uint64_t number =
      RandomPermutation(total, seed, Stream::order, uint32_t(epoch))(position % total);
  for (size_t i = 0; i + 1 < lengths_.size(); ++i) {
    const uint64_t size = set_size(lengths_[i]);
    if (number < size) return set_member(seed, lengths_[i], number);
    number -= size;
  }
  return set_member(seed, lengths_.back(), number);
}

Batch GroupWord::batch(Split split, uint64_t seed, int64_t step, int64_t sequences,
                       int64_t length) const {
  const int64_t width = (length > 0 ? length : lengths_.back()) + config_.bos;
  const Shape shape = {sequences, width};
  Batch batch = {Tensor(shape, DType::i32), Tensor(shape, DType::i32), {}, {}};
  if (config_.bos || config_.supervise == "last" || (mixed() && length == 0)) {
    batch.trained = Tensor(shape, DType::i32);
    batch.scored = Tensor(shape, DType::i32);
  }
  constexpr Stream kStreams[] = {Stream::train, Stream::valid, Stream::test};
  Random random(seed, kStreams[int(split)], uint32_t(step));
  const bool fixed_set = config_.samples > 0 && length == 0 && split != Split::test;
  std::vector<int> word;
  for (int64_t row = 0; row < sequences; ++row) {
    if (fixed_set) {
      word = fixed_word(split, seed, uint64_t(step * sequences + row));
    } else {
      const int64_t own =
          length > 0 ? length : lengths_[mixed() ? random.below(uint32_t(lengths_.size())) : 0];
      word.resize(size_t(own));
      for (int& x : word) x = int(random.below(uint32_t(inputs_.size())));
    }
    write_row(batch, row, word);
  }
  return batch;
}

void GroupWord::write_row(Batch& batch, int64_t row, const std::vector<int>& word) const {
  const int64_t width = batch.tokens.dim(1), bos = config_.bos, end = bos + int64_t(word.size());
  int32_t* tokens = batch.tokens.data<int32_t>() + row * width;
  int32_t* targets = batch.targets.data<int32_t>() + row * width;
  int product = 0;
  for (int64_t t = bos; t < end; ++t) {
    const int input = word[size_t(t - bos)];
    const int element = inputs_[size_t(input)];
    product = config_.action == "right" ? group_.product(product, element)
                                        : group_.product(element, product);
    tokens[t] = bos ? element : input;
    targets[t] = product;
  }
  if (bos) tokens[0] = targets[0] = group_.order() + kBos;
  std::fill(tokens + end, tokens + width, pad_token());
  std::fill(targets + end, targets + width, bos ? pad_token() : 0);
  if (!batch.trained) return;

  int32_t* trained = batch.trained.data<int32_t>() + row * width;
  int32_t* scored = batch.scored.data<int32_t>() + row * width;
  for (int64_t t = 0; t < width; ++t) {
    const bool answer = t >= bos && t < end && (config_.supervise == "all" || t + 1 == end);
    scored[t] = answer;
    trained[t] =
        answer || (t < bos && config_.supervise == "all") || (t >= end && config_.pad_in_loss);
  }
}

// The abelianization and the core [G, G]. Not with special classes, which are no elements; and an
// abelian or a perfect group is a single factor.
std::vector<std::vector<int>> GroupWord::class_factors() const {
  const algebra::Subgroup core = algebra::derived_subgroup(group_);
  if (config_.bos || core.size() == 1 || int(core.size()) == group_.order()) return {};
  const bool right = config_.action == "right";
  const algebra::CosetFactors factors = algebra::coset_factors(
      group_, core, right ? algebra::CoreSide::left : algebra::CoreSide::right);
  return {factors.coset, factors.core};
}

std::vector<Ceiling> GroupWord::ceilings(int64_t length) const {
  const auto convert = [&](const char* name, const algebra::Ceiling& c) {
    return Ceiling{name, true, c.final, config_.supervise == "last" ? c.final : c.prefix};
  };
  std::vector<Ceiling> all = {
      convert("chance", algebra::chance_ceiling(group_, inputs_, int(length)))};
  const auto parikh = algebra::parikh_ceiling(group_, inputs_, int(length));
  all.push_back(parikh ? convert("parikh", *parikh) : Ceiling{.name = "parikh"});
  return all;
}

std::unique_ptr<Task> GroupWordConfig::build() const { return std::make_unique<GroupWord>(*this); }

}  // namespace

std::unique_ptr<TaskConfig> make_group_word() { return std::make_unique<GroupWordConfig>(); }

}  // namespace lssm
