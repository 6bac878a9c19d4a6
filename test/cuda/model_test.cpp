// SPDX-License-Identifier: Apache-2.0
// Models on CUDA against the CPU in f64. This file is built twice: for a GPU (test_cuda, which is
// skipped where there is none) and for the emulation on the host (test_cuda_on_host).
#include "test/autodiff/op_cases.h"
#include "test/layers/layer_cases.h"
#include "test/test.h"

namespace lssm {
namespace {

using testing::relative_difference;

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
