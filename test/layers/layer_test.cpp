// SPDX-License-Identifier: Apache-2.0
// What every layer promises, over the table of layer_cases.cpp.
#include <algorithm>
#include <cmath>
#include <set>

#include "autodiff/grad_check.h"
#include "core/parallel.h"
#include "test/layers/layer_cases.h"
#include "test/test.h"

using namespace lssm;
using namespace lssm::test;

namespace {

constexpr int64_t kBatch = 3, kLength = 13;

void collect_types(const Json& layers, std::set<std::string>& types) {
  for (const Json& layer : layers) {
    types.insert(layer["type"].get<std::string>());
    if (layer.contains("layers")) collect_types(layer["layers"], types);
  }
}

// Resets that differ from row to row: one at the first step, two in a row, one at the last step.
Tensor resets() {
  std::vector<double> mask(size_t(kBatch * kLength));
  for (int64_t t : {0, 4, 9}) mask[size_t(t)] = 1;
  for (int64_t t : {6, 7, 12}) mask[size_t(kLength + t)] = 1;
  return Tensor::from_host({kBatch, kLength}, mask, DType::i32);
}

// The lengths of the segments into which resets cut one row.
std::vector<int64_t> segments(const Tensor& reset, int64_t row) {
  const int32_t* mask = reset.data<int32_t>() + row * kLength;
  std::vector<int64_t> lengths = {0};
  for (int64_t t = 0; t < kLength; ++t) {
    if (t > 0 && mask[t]) lengths.push_back(0);
    ++lengths.back();
  }
  return lengths;
}

Tensor row_of(const Tensor& x, int64_t row) {
  const std::vector<double> all = x.to_host();
  const auto first = all.begin() + row * x.dim(1);
  return Tensor::from_host({1, x.dim(1)}, {first, first + x.dim(1)}, x.dtype());
}

void append(std::vector<double>& to, const std::vector<double>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void add(std::vector<double>& to, const std::vector<double>& from) {
  if (to.empty()) to.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}

// Whether outputs depend on earlier inputs: the layers of a case then have states.
bool remembers(const ModelCase& c) { return TestModel(c.layers).model.state_size() > 0; }

}  // namespace

TEST_CASE("the table has every layer", "[layers]") {
  std::set<std::string> types;
  for (const ModelCase& c : model_cases()) collect_types(Json::parse(c.layers), types);
  for (const std::string& name : layer_registry().names()) {
    INFO(name);
    CHECK(types.count(name) == 1);
  }
}

TEST_CASE("gradients of all parameters match finite differences", "[layers][grad]") {
  const Tensor tokens = random_tokens(2, 6);
  PassOptions options = {.training = true, .draw = 5};
  for (const ModelCase& c : model_cases()) {
    DYNAMIC_SECTION(c.name) {
      TestModel test(c.layers);
      const Pass pass = run(test.model, tokens, options);
      std::vector<GradTarget> targets;
      size_t index = 0;
      for (const Parameter& p : test.model.parameters().all()) {
        INFO(p.name);
        REQUIRE(p.grad);
        const auto& exempt = c.without_gradient;
        const bool reachable = std::find(exempt.begin(), exempt.end(), p.name) == exempt.end();
        CHECK((largest(pass.gradients[index++]) > 1e-4) == reachable);
        targets.push_back({p.name, p.value, p.grad});
      }
      PassOptions value_only = options;
      value_only.with_gradients = false;
      const auto loss = [&] { return run(test.model, tokens, value_only).loss; };
      for (const GradError& error : check_gradients(targets, loss, 0, 3e-4)) {
        INFO(error.name << " at " << error.position << ": tape " << error.tape << ", numeric "
                        << error.numeric);
        CHECK(error.error <= 1e-6);
      }
    }
  }
}

TEST_CASE("f32 agrees with f64", "[layers]") {
  const Tensor tokens = random_tokens(kBatch, kLength);
  for (const ModelCase& c : model_cases()) {
    INFO(c.name);
    TestModel wide(c.layers), narrow(c.layers, DType::f32);
    const Pass a = run(wide.model, tokens, {.training = true});
    const Pass b = run(narrow.model, tokens, {.training = true});
    CHECK(difference(a.outputs, b.outputs) < 1e-4);
    CHECK(difference(a, b) < 1e-3);
    CHECK(difference(a, b) > 0);
  }
}

TEST_CASE("the same bits in every run and for any number of threads", "[layers]") {
  const Tensor tokens = random_tokens(9, 67);  // enough rows for several partitions
  for (const ModelCase& c : model_cases()) {
    INFO(c.name);
    for (DType dtype : {DType::f32, DType::f64}) {
      TestModel test(c.layers, dtype), twin(c.layers, dtype);
      const Pass once = run(test.model, tokens, {.training = true});
      CHECK(difference(once, run(test.model, tokens, {.training = true})) == 0);
      CHECK(difference(once, run(twin.model, tokens, {.training = true})) == 0);
      set_thread_count(2);
      const Pass threaded = run(test.model, tokens, {.training = true});
      set_thread_count(1);
      CHECK(difference(once, threaded) == 0);
    }
  }
}

TEST_CASE("a sequence may be split anywhere if its states are carried", "[layers]") {
  const Tensor tokens = random_tokens(kBatch, kLength);
  const std::vector<std::vector<int64_t>> splits = {
      {7, 6}, {1, 12}, {12, 1}, {0, 13}, {13, 0}, {4, 0, 5, 4}, std::vector<int64_t>(kLength, 1)};
  for (const ModelCase& c : model_cases()) {
    TestModel wide(c.layers), narrow(c.layers, DType::f32);
    const Pass whole = run(wide.model, tokens), whole_f32 = run(narrow.model, tokens);
    // Chunks add in another order, which may cost no more than f32 itself does.
    const double rounding = std::max(3e-5, difference(whole, whole_f32));
    CHECK(rounding < 1e-3);
    for (const std::vector<int64_t>& split : splits) {
      INFO(c.name << ", " << split.size() << " chunks, the first of " << split[0]);
      CHECK(difference(whole, run(wide.model, tokens, {.chunks = split})) < 1e-12);
      CHECK(difference(whole_f32, run(narrow.model, tokens, {.chunks = split})) < rounding);
      if (!remembers(c)) continue;
      if (*std::max_element(split.begin(), split.end()) == kLength) continue;
      const Pass forgetful = run(wide.model, tokens, {.chunks = split, .carry = false});
      CHECK(difference(whole.outputs, forgetful.outputs) > 1e-4);
    }
  }
}

TEST_CASE("a reset starts a row afresh: the same as its segments alone", "[layers]") {
  const Tensor tokens = random_tokens(kBatch, kLength), reset = resets();
  for (const ModelCase& c : model_cases()) {
    INFO(c.name);
    TestModel test(c.layers);
    Pass whole = run(test.model, tokens, {.reset = reset});
    Pass sum;
    sum.states.resize(whole.states.size());
    sum.gradients.resize(whole.gradients.size());
    for (int64_t row = 0; row < kBatch; ++row) {
      const Pass part = run(test.model, row_of(tokens, row),
                            {.chunks = segments(reset, row), .carry = false, .first_row = row});
      append(sum.outputs, part.outputs);
      for (size_t i = 0; i < part.states.size(); ++i) append(sum.states[i], part.states[i]);
      for (size_t i = 0; i < part.gradients.size(); ++i) add(sum.gradients[i], part.gradients[i]);
    }
    CHECK(difference(whole, sum) < 1e-12);
    if (!remembers(c)) continue;
    CHECK(difference(whole.outputs, run(test.model, tokens).outputs) > 1e-4);
  }
}

TEST_CASE("resets in later chunks lead back to the learned states", "[layers]") {
  const Tensor tokens = random_tokens(kBatch, kLength), reset = resets();
  for (const ModelCase& c : model_cases()) {
    TestModel test(c.layers);
    const Pass whole = run(test.model, tokens, {.reset = reset});
    // Resets inside a chunk, at its first step, at its last step, and in every step of its own.
    for (const std::vector<int64_t>& split :
         {std::vector<int64_t>{5, 8}, {4, 9}, {9, 4}, {12, 1}, std::vector<int64_t>(kLength, 1)}) {
      INFO(c.name << ", " << split.size() << " chunks, the first of " << split[0]);
      CHECK(difference(whole, run(test.model, tokens, {.chunks = split, .reset = reset})) < 1e-12);
    }
  }
}

TEST_CASE("a table of token rows gives what rows written out give", "[layers]") {
  // 5 entries are fewer than the 39 positions, 100 are more: embedding.cpp then writes rows out.
  constexpr int64_t kLarge = 100;
  static_assert(kVocabulary < kBatch * kLength && kBatch * kLength < kLarge);
  const Tensor tokens = random_tokens(kBatch, kLength);
  for (const ModelCase& c : model_cases()) {
    INFO(c.name);
    TestModel small(c.layers), large(c.layers, DType::f64, kLarge);
    const auto& from = small.model.parameters().all();
    auto& to = large.model.parameters().all();
    REQUIRE(from.size() == to.size());
    for (size_t i = 0; i < from.size(); ++i) {
      REQUIRE(from[i].name == to[i].name);
      std::copy_n(from[i].value.data<double>(), from[i].value.numel(), to[i].value.data<double>());
    }
    const Pass table = run(small.model, tokens, {.training = true});
    Pass dense = run(large.model, tokens, {.training = true});
    // Tokens that never came have no gradient.
    for (size_t i = 0; i < from.size(); ++i) {
      std::vector<double>& gradient = dense.gradients[i];
      const size_t n = size_t(from[i].value.numel());
      CHECK(std::all_of(gradient.begin() + int64_t(n), gradient.end(),
                        [](double x) { return x == 0; }));
      gradient.resize(n);
    }
    CHECK(difference(table, dense) < 1e-12);
  }
}

TEST_CASE("state_size counts the numbers that are carried", "[layers]") {
  for (const ModelCase& c : model_cases()) {
    INFO(c.name);
    TestModel test(c.layers);
    const Pass pass = run(test.model, random_tokens(kBatch, 4));
    size_t numbers = 0;
    for (const std::vector<double>& state : pass.states) numbers += state.size();
    CHECK(int64_t(numbers) == kBatch * test.model.state_size());
  }
  CHECK(TestModel(R"([{"type": "embedding"}, {"type": "lie_ssm", "group": "su2", "heads": 5},
      {"type": "diagonal_ssm", "kind": "complex", "heads": 3},
      {"type": "residual", "layers": [{"type": "diagonal_ssm", "kind": "real", "heads": 6}]},
      {"type": "lie_ssm", "group": "so3", "heads": 2}, {"type": "linear"}])")
            .model.state_size() == 4 * 5 + 2 * 3 + 6 + 3 * 2);
}

TEST_CASE("rows of a batch do not meet, and odd sizes work", "[layers]") {
  const Tensor tokens = random_tokens(kBatch, kLength);
  for (const ModelCase& c : model_cases()) {
    INFO(c.name);
    TestModel test(c.layers);
    const Pass all = run(test.model, tokens);
    std::vector<double> outputs;
    for (int64_t row = 0; row < kBatch; ++row)
      append(outputs, run(test.model, row_of(tokens, row)).outputs);
    CHECK(difference(all.outputs, outputs) < 1e-12);

    const Pass one = run(test.model, columns(row_of(tokens, 0), 0, 1));
    CHECK(difference({all.outputs.begin(), all.outputs.begin() + kOutputs}, one.outputs) < 1e-12);

    // Without a step the state is the learned one, or 0 before a convolution, for every row.
    const Pass none = run(test.model, Tensor({kBatch, 0}, DType::i32));
    CHECK(none.outputs.empty());
    for (const std::vector<double>& state : none.states) {
      const auto n = std::ptrdiff_t(state.size()) / kBatch;
      CHECK(std::equal(state.begin(), state.begin() + n, state.begin() + n));
      if (c.layers.find("causal_conv") == std::string::npos) CHECK(largest(state) > 0);
    }
  }
}

TEST_CASE("outputs see all earlier inputs of a recurrence and no later ones", "[layers]") {
  const Tensor tokens = random_tokens(1, kLength);
  for (const ModelCase& c : model_cases()) {
    TestModel test(c.layers);
    const Pass before = run(test.model, tokens);
    for (int64_t changed : {0, 5}) {
      INFO(c.name << ", another token at " << changed);
      Tensor other = tokens.clone();
      int32_t& token = other.data<int32_t>()[changed];
      token = (token + 1) % int32_t(kVocabulary);
      const Pass after = run(test.model, other);
      const bool recurrent = remembers(c);
      for (int64_t t = 0; t < kLength; ++t) {
        double moved = 0;
        for (int64_t k = t * kOutputs; k < (t + 1) * kOutputs; ++k)
          moved = std::max(moved, std::abs(before.outputs[size_t(k)] - after.outputs[size_t(k)]));
        const bool sees = t == changed || (recurrent && t > changed);
        if (!sees) CHECK(moved == 0);
        if (t == changed || (sees && t == changed + 1)) CHECK(moved > 1e-9);
      }
    }
  }
}
