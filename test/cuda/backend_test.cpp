// SPDX-License-Identifier: Apache-2.0
// Models and training on CUDA against the CPU in f64. This file is built twice: for a GPU
// (test_cuda, which is skipped where there is none) and for the emulation on the host
// (test_cuda_on_host).
#include <filesystem>

#include "apps/experiment/trainer.h"
#include "test/autodiff/op_cases.h"
#include "test/core/temporary_folder.h"
#include "test/layers/layer_cases.h"
#include "test/test.h"

namespace lssm {
namespace {

using testing::relative_difference;
using testing::same_bits;

// The loss of a model on one batch, and the gradients of its parameters, on the CPU.
std::vector<Tensor> loss_and_gradients(const test::ModelCase& c, DType dtype, Device device) {
  const ModelConfig config = test::model_config(c.layers);
  Model model(config, {test::kVocabulary, test::kOutputs, test::kClassFactors}, 7, dtype, device);
  const Tensor tokens = test::random_tokens(3, 9).to(device);
  const Tensor targets = testing::integers_below(test::kOutputs, {3, 9}, 5).to(device);
  Tape tape;
  Context context{.tape = tape, .training = true, .seed = 3};
  const Var loss = cross_entropy(model.forward(context, tokens), targets, Tensor());
  std::vector<Tensor> results = {loss.value().to(Device::cpu)};
  tape.backward(loss);
  for (const Parameter& p : model.parameters().all()) {
    if (p.grad) results.push_back(p.grad.to(Device::cpu));
  }
  return results;
}

TEST_CASE("every layer on CUDA agrees with the CPU", "[cuda][layer]") {
  for (const test::ModelCase& c : test::model_cases()) {
    INFO(c.name);
    const std::vector<Tensor> exact = loss_and_gradients(c, DType::f64, Device::cpu);
    for (const DType dtype : {DType::f64, DType::f32}) {
      const std::vector<Tensor> x = loss_and_gradients(c, dtype, Device::cuda);
      REQUIRE(x.size() == exact.size());
      for (size_t i = 0; i < x.size(); ++i) {
        CHECK(relative_difference(exact[i], x[i]) <= (dtype == DType::f64 ? 1e-10 : 1e-4));
      }
    }
  }
}

Json small_config(const std::string& device) {
  return Json::parse(R"({
    "name": "small",
    "task": {"type": "group_word", "group": "S3", "length": 6},
    "model": {"width": 8, "layers": [{"type": "embedding"}, {"type": "lie_ssm", "heads": 3},
                                     {"type": "dropout"}, {"type": "linear"}]},
    "train": {"steps": 8, "batch": 4, "optimizer": {"type": "adamw", "lr": 0.02}, "clip_norm": 1,
              "accumulate": 2, "seed": 5, "valid_sequences": 4},
    "eval": {"lengths": [6, 20], "sequences": 8},
    "precision": "f64"})")
      .patch(Json::array({{{"op", "add"}, {"path", "/device"}, {"value", device}}}));
}

// Trains to `until` in `folder` (resuming what is there); the parameters on the CPU.
std::vector<Tensor> train(const std::string& device, const std::filesystem::path& folder,
                          int64_t until, bool resume) {
  Experiment experiment(small_config(device), "small");
  RunFolder run =
      resume ? RunFolder::open(folder) : RunFolder::create(folder, experiment.resolved, true);
  Trainer trainer(experiment, run);
  if (resume) trainer.resume();
  trainer.run({.until = until});
  std::vector<Tensor> values;
  for (const Parameter& p : experiment.model.parameters().all())
    values.push_back(p.value.to(Device::cpu));
  return values;
}

TEST_CASE("training on CUDA goes where training on the CPU goes", "[cuda][train]") {
  const TemporaryFolder folder;
  const std::vector<Tensor> cpu = train("cpu", folder.path() / "cpu", 8, false);
  const std::vector<Tensor> cuda = train("cuda", folder.path() / "cuda", 8, false);
  const std::vector<Tensor> again = train("cuda", folder.path() / "again", 8, false);
  REQUIRE(cpu.size() == cuda.size());
  for (size_t i = 0; i < cpu.size(); ++i) {
    CHECK(relative_difference(cpu[i], cuda[i]) <= 1e-9);
    CHECK(same_bits(cuda[i], again[i]));
  }
}

TEST_CASE("a checkpoint goes from the CPU to CUDA and back", "[cuda][train]") {
  const TemporaryFolder folder;
  const std::vector<Tensor> whole = train("cpu", folder.path() / "whole", 8, false);
  const std::filesystem::path moved = folder.path() / "moved";
  train("cpu", moved, 3, false);
  train("cuda", moved, 5, true);
  const std::vector<Tensor> back = train("cpu", moved, 8, true);
  for (size_t i = 0; i < whole.size(); ++i) CHECK(relative_difference(whole[i], back[i]) <= 1e-9);
}

TEST_CASE("tokens and targets out of range never reach the device", "[cuda][layer]") {
  const ModelConfig config = test::model_config(R"([{"type": "embedding"}, {"type": "linear"}])");
  const Model model(config, {test::kVocabulary, test::kOutputs, test::kClassFactors}, 7, DType::f32,
                    Device::cuda);
  const auto loss = [&](double token, double target, Device device) {
    Tape tape;
    Context context{.tape = tape, .training = true, .seed = 3};
    model.loss(context, Tensor::from_host({1, 2}, {0, token}, DType::i32, device),
               Tensor::from_host({1, 2}, {target, 0}, DType::i32, device), Tensor());
  };
  for (const Device from : {Device::cpu, Device::cuda}) {
    loss(test::kVocabulary - 1, test::kOutputs - 1, from);
    CHECK_THROWS_WITH(loss(test::kVocabulary, 0, from), Catch::Matchers::StartsWith("tokens: "));
    CHECK_THROWS_WITH(loss(-1, 0, from), Catch::Matchers::Contains("index -1 is not in 0"));
    CHECK_THROWS_WITH(loss(0, test::kOutputs, from), Catch::Matchers::StartsWith("targets: "));
  }
}

TEST_CASE("memory that is not there is an error that says what was wanted", "[cuda]") {
  try {
    Tensor({int64_t(1) << 45}, DType::f32, Device::cuda);
    FAIL("a tensor of 128 TiB was made");
  } catch (const Error& error) {
    const std::string message = error.what();
    INFO(message);
    CHECK(message.find("tensor [35184372088832] of f32: out of memory on cuda") == 0);
    CHECK(message.find("140737488355328 bytes") != std::string::npos);
    CHECK(message.find("are free") != std::string::npos);
  }
}

}  // namespace
}  // namespace lssm
