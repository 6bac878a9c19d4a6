// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "apps/experiment/machine.h"
#include "apps/lssm/commands.h"
#include "core/device.h"
#include "core/simd.h"
#include "core/tensor.h"
#include "kernels/matmul.h"

namespace lssm {
namespace {

// A small product with a known result, so that a build for another processor is found here and not
// in the middle of a run.
bool kernels_work() {
  const Tensor x = Tensor::from_host({2, 2}, {1, 2, 3, 4}, DType::f32);
  Tensor y = Tensor::like(x);
  kernels::linear(x, x, Tensor(), y);
  return y.to_host() == std::vector<double>{7, 10, 15, 22};
}

void print_doctor(bool json) {
  const double memory =
      double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGE_SIZE)) / (1 << 30);
  const Json report = {
      {"version", LSSM_VERSION},       {"compiler", __VERSION__},
      {"processor", processor_name()}, {"cores", std::thread::hardware_concurrency()},
      {"memory_gib", memory},          {"simd_lanes_f32", PackTraits<WidePack<float>>::width},
      {"cpu", kernels_work()},         {"cuda", load_cuda().empty()},
      {"cuda_status", load_cuda()}};
  if (json) {
    std::printf("%s\n", report.dump(2).c_str());
    return;
  }
  std::printf("lssm %s, built by g++ %s\n", LSSM_VERSION, __VERSION__);
  std::printf("processor   %s, %u cores, %.0f GiB\n",
              report["processor"].get<std::string>().c_str(), report["cores"].get<unsigned>(),
              memory);
  std::printf("SIMD        %d numbers of f32 at once\n", report["simd_lanes_f32"].get<int>());
  std::printf("CPU         %s\n",
              report["cpu"].get<bool>() ? "works" : "kernels give wrong results");
  std::printf("CUDA        %s\n", load_cuda().empty() ? "works" : load_cuda().c_str());
}

}  // namespace

void add_doctor(CLI::App& app) {
  CLI::App* command = app.add_subcommand("doctor", "what this program found on this machine");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "print as JSON");
  command->callback([json] { print_doctor(*json); });
}

}  // namespace lssm
