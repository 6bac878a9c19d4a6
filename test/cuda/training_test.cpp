// SPDX-License-Identifier: Apache-2.0
// Training runs on CUDA against the CPU in f64. Built twice, as model_test.cpp.
#include <filesystem>

#include "apps/experiment/trainer.h"
#include "test/autodiff/op_cases.h"
#include "test/core/temporary_folder.h"
#include "test/test.h"

namespace lssm {
namespace {

using testing::relative_difference;
using testing::same_bits;

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

}  // namespace
}  // namespace lssm
