// SPDX-License-Identifier: Apache-2.0
// The program and the emulation of CUDA beside it: how it finds its backend, and what it says where
// the device cannot be used.
#include "test/apps/program.h"

namespace lssm {
namespace {

ProcessResult train(const Workplace& work, const std::string& device,
                    const std::pair<std::string, std::string>& setting) {
  work.write("tiny.json", tiny_config_with({{"device", device}, {"train", {{"steps", 2}}}}));
  ProcessOptions options = work.options();
  options.environment = {setting};
  return work.lssm({"train", "tiny.json", "--quiet", "--force"}, options);
}

std::string device_of_run(const Workplace& work) {
  return read_json(work.tiny_run("runs") / "summary.json")["device"];
}

TEST_CASE("the program trains on the device beside it", "[apps]") {
  const Workplace work;
  for (const char* device : {"cuda", "auto"}) {
    const ProcessResult result = train(work, device, {"COH_DEVICES", "1"});
    INFO(device << ": " << result.err);
    REQUIRE(result.code == 0);
    CHECK(device_of_run(work) == "cuda");
  }
}

TEST_CASE("a device that cannot be used: cuda says why, auto takes the CPU", "[apps]") {
  const Workplace work;
  const std::pair<std::string, std::string> no_driver = {"COH_DEVICES", "0"};
  const std::pair<std::string, std::string> old = {"COH_CAPABILITY", "7"};
  check_error(train(work, "cuda", no_driver), 2,
              {"/device: cuda cannot be used here: there is no NVIDIA driver, or it is too old"});
  check_error(train(work, "cuda", old), 2,
              {"/device: cuda cannot be used here: the GPU is too old", "7.0"});
  for (const auto& setting : {no_driver, old}) {
    const ProcessResult result = train(work, "auto", setting);
    INFO(result.err);
    REQUIRE(result.code == 0);
    CHECK(device_of_run(work) == "cpu");
  }
}

}  // namespace
}  // namespace lssm
