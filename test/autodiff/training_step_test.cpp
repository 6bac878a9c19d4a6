// SPDX-License-Identifier: Apache-2.0
// What a training step asks of the system once the first steps are over: nothing.
#include <memory>

#include "autodiff/ops.h"
#include "autodiff/optimizer.h"
#include "test/autodiff/allocations.h"
#include "test/autodiff/op_cases.h"
#include "test/test.h"

namespace lssm {
namespace {

// embedding -> linear -> scan of SO(3) -> direction -> linear -> cross-entropy, with Adam.
class TrainingStep {
 public:
  explicit TrainingStep(bool final_only) : final_only_(final_only) {
    Json json = {{"type", "adam"}};
    const auto config = optimizer_registry().make("adam");
    Fields::read(json, "", *config);
    optimizer_ = config->build(store_);
  }

  double run(int64_t step) {
    const Var tokens = gather_rows(tape_.parameter(table_), inputs_);
    const Var normed = rms_norm(tokens, tape_.parameter(gain_), 1e-5);
    const Var a = linear(normed, tape_.parameter(angles_), tape_.parameter(angle_bias_));
    const Var h0 = tape_.parameter(h0_);
    const Var h = scan("so3", reshape(a, {kBatch, kLength, 3, kHeads}), Var(), h0, Tensor());
    const Var states = final_only_ ? final_state(h, h0) : reshape(h, {kBatch * kLength, 3, kHeads});
    const int64_t rows = final_only_ ? kBatch : kBatch * kLength;
    const Var seen = dropout(direction(states), 0.1, 1, uint32_t(step), 0);
    const Var logits = linear(reshape(seen, {rows, 3 * kHeads}), tape_.parameter(readout_),
                              tape_.parameter(readout_bias_));
    const Var loss = cross_entropy(logits, final_only_ ? last_ : targets_, Tensor());
    const double value = loss.value().item();
    tape_.backward(loss);
    optimizer_->step(store_, step, 0.01, std::min(1.0, 1 / grad_norm(store_)));
    store_.zero_grad();
    tape_.reset();
    return value;
  }

 private:
  static constexpr int64_t kBatch = 4, kLength = 32, kHeads = 16, kWidth = 24, kClasses = 60;

  bool final_only_;
  ParameterStore store_{1, DType::f32, Device::cpu};
  Parameter& table_ = store_.add("table", {kClasses, kWidth}, init::normal(1));
  Parameter& gain_ = store_.add("gain", {kWidth}, init::constant(1));
  Parameter& angles_ = store_.add("angles", {kWidth, 3 * kHeads}, init::normal(0.2));
  Parameter& angle_bias_ = store_.add("angle_bias", {3 * kHeads}, init::normal(0.2));
  Parameter& h0_ = store_.add("h0", {1, 3, kHeads}, init::unit_columns(3));
  Parameter& readout_ = store_.add("readout", {3 * kHeads, kClasses}, init::normal(0.1));
  Parameter& readout_bias_ = store_.add("readout_bias", {kClasses}, init::constant(0));
  Tensor inputs_ = testing::integers_below(kClasses, {kBatch, kLength}, 1);
  Tensor targets_ = testing::integers_below(kClasses, {kBatch, kLength}, 2);
  Tensor last_ = testing::integers_below(kClasses, {kBatch}, 3);
  std::unique_ptr<Optimizer> optimizer_;
  Tape tape_;
};

TEST_CASE("training steps after the second allocate nothing", "[tape]") {
  const Pool& pool = Pool::of(Device::cpu);
  const bool pooled = !pool.exact_blocks();  // under AddressSanitizer each tensor is an allocation
  for (const bool final_only : {false, true}) {
    INFO((final_only ? "loss at the last step" : "loss at every step"));
    TrainingStep training(final_only);
    const double first = training.run(1);
    const int64_t blocks = pool.system_allocations();
    training.run(2);
    CHECK((!pooled || pool.system_allocations() == blocks));
    const size_t peak = pool.peak_bytes();
    double last = 0;
    for (int64_t step = 3; step <= 30; ++step) {
      const int64_t before = testing::allocations();
      last = training.run(step);
      const int64_t made = testing::allocations() - before;
      CHECK((!pooled || made == 0));
    }
    CHECK((!pooled || pool.system_allocations() == blocks));
    CHECK(pool.peak_bytes() == peak);
    CHECK(last < first);  // and it does train
  }
}

TEST_CASE("the allocation counter counts", "[tape]") {
  const int64_t before = testing::allocations();
  std::vector<int>* heap = new std::vector<int>(100);
  CHECK(testing::allocations() - before >= 2);
  delete heap;
}

}  // namespace
}  // namespace lssm
