// SPDX-License-Identifier: Apache-2.0
// Times the scans of all groups and a training step on CUDA; prints JSON. scripts/gpu_check.sh runs
// it. The share of the copy bandwidth tells how far a scan, which is bound by memory, can still go.
//   cuda_timings [CONFIG [BATCH LENGTH HEADS RUNS]]
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "apps/experiment/config.h"
#include "core/file.h"
#include "core/lie/group.h"
#include "core/random.h"
#include "kernels/reduce.h"
#include "kernels/scan.h"

// Of the backend that is linked into this program: the real one or that of the emulation.
extern "C" const char* lssm_load_cuda_backend();
namespace lssm::kernels {
cudaStream_t cuda_stream();
}

namespace lssm {
namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) fail("CUDA: ", cudaGetErrorString(status));
}

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x.empty() ? 0 : (x[(x.size() - 1) / 2] + x[x.size() / 2]) / 2;
}

// What the GPU runs, timed by events: a warm-up, then `runs` times with a cold L2 cache.
class Stopwatch {
 public:
  Stopwatch(int runs, int64_t flush_bytes)
      : runs_(runs), flush_(Tensor({flush_bytes / 4}, DType::f32, Device::cuda)) {
    check(cudaEventCreate(&start_));
    check(cudaEventCreate(&stop_));
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }

  // Milliseconds.
  double operator()(const std::function<void()>& work) {
    for (int i = 0; i < 3; ++i) work();
    std::vector<double> times;
    for (int i = 0; i < runs_; ++i) {
      flush_.set_zero();
      check(cudaEventRecord(start_, kernels::cuda_stream()));
      work();
      check(cudaEventRecord(stop_, kernels::cuda_stream()));
      check(cudaEventSynchronize(stop_));
      float ms = 0;
      check(cudaEventElapsedTime(&ms, start_, stop_));
      times.push_back(double(ms));
    }
    return median(times);
  }

 private:
  int runs_;
  Tensor flush_;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

double gb_per_s(int64_t bytes, double ms) { return ms > 0 ? double(bytes) / ms * 1e-6 : 0; }

// Normal numbers; one row of the batch repeated, since they take longer to make than to use.
Tensor normal(const Shape& shape, uint32_t seed, double scale) {
  Random random(99, Stream::check, seed);
  std::vector<double> values(size_t(shape.numel()));
  const size_t row = values.size() / size_t(shape[0]);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = i < row ? scale * random.normal() : values[i - row];
  return Tensor::from_host(shape, values, DType::f32, Device::cuda);
}

struct Sizes {
  int64_t batch, length, heads;
  int runs;
};

// Both directions of one group, with and without injected inputs b.
template <class G>
void time_group(const Sizes& s, double copy, Stopwatch& stopwatch, Json& rows) {
  constexpr int k = G::algebra_dim, v = G::vector_dim;
  const Shape states = {s.batch, s.length, v, s.heads};
  kernels::ScanInputs in;
  in.group = G::name;
  in.a = normal({s.batch, s.length, k, s.heads}, 1, G::is_group ? 1 : 0.3);
  in.h0 = normal({1, v, s.heads}, 3, 1);
  const Tensor dh = normal(states, 6, 1);
  for (const bool inject : {false, true}) {
    in.b = inject ? normal(states, 2, 1) : Tensor();
    Tensor h(states, DType::f32, Device::cuda);
    kernels::ScanGradients out = {Tensor::like(in.a), inject ? Tensor::like(in.b) : Tensor(),
                                  Tensor({s.batch, v, s.heads}, DType::f32, Device::cuda),
                                  Tensor()};
    const double forward = stopwatch([&] { kernels::scan(in, h); });
    const double backward = stopwatch([&] { kernels::scan_backward(in, h, dh, out); });
    LSSM_CHECK(kernels::first_not_finite(h) < 0 && kernels::first_not_finite(out.da) < 0,
               "the scan of ", G::name, " gave numbers that are not finite");
    // Every array once: a, b -> h; a, h, dh -> da, db.
    const int64_t b_bytes = inject ? in.b.bytes() : 0;
    const int64_t forward_bytes = in.a.bytes() + b_bytes + h.bytes();
    const int64_t backward_bytes = 2 * in.a.bytes() + 2 * h.bytes() + b_bytes;
    const auto row = [&](const char* direction, int64_t bytes, double ms) {
      const double rate = gb_per_s(bytes, ms);
      rows.push_back({{"group", G::name},
                      {"direction", direction},
                      {"inject", inject},
                      {"ms", ms},
                      {"bytes", bytes},
                      {"gb_per_s", rate},
                      {"share_of_copy", copy > 0 ? rate / copy : 0}});
    };
    row("forward", forward_bytes, forward);
    row("backward", backward_bytes, backward);
  }
}

// A whole step of the experiment, from its batch to the new parameters, by the host's clock.
double training_step_ms(const std::string& file, const std::string& device, int runs) {
  Json json = parse_json(read_file(file), file);
  json["device"] = device;
  Experiment experiment(std::move(json), file);
  const TrainConfig& train = experiment.config.train;
  ParameterStore& parameters = experiment.model.parameters();
  const auto optimizer = train.optimizer->build(parameters);
  Tape tape;
  std::vector<double> times;
  for (int64_t step = 0; step < 5 + runs; ++step) {
    const auto start = std::chrono::steady_clock::now();
    parameters.zero_grad();
    const Batch batch = experiment.task->batch(Split::train, train.seed, step, train.batch, 0);
    Context context = experiment.context(tape);
    context.training = true;
    context.draw = uint32_t(step);
    const Var loss = experiment.model.loss(context, batch.tokens, batch.targets, batch.trained);
    LSSM_CHECK(std::isfinite(loss.value().item()), "the loss of a step is not finite");
    tape.backward(loss);
    tape.reset();
    const double scale = 1 / std::max(1.0, grad_norm(parameters));
    optimizer->step(parameters, step + 1, train.optimizer->lr(), scale);
    if (experiment.device == Device::cuda) check(cudaStreamSynchronize(kernels::cuda_stream()));
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (step >= 5) times.push_back(1e3 * time.count());
  }
  return median(times);
}

int run(int argc, char** argv) {
  const std::string config = argc > 1 ? argv[1] : "configs/quickstart.json";
  Sizes s = {64, 2048, 32, 20};
  if (argc == 6)
    s = {std::stoll(argv[2]), std::stoll(argv[3]), std::stoll(argv[4]), std::stoi(argv[5])};
  if (const char* reason = lssm_load_cuda_backend()) {
    std::fprintf(stderr, "cuda_timings: %s\n", reason);
    return 1;
  }
  cudaDeviceProp gpu;
  check(cudaGetDeviceProperties(&gpu, 0));
  int driver = 0, runtime = 0;
  check(cudaDriverGetVersion(&driver));
  check(cudaRuntimeGetVersion(&runtime));

  // More than the cache holds, and a copy as large as all arrays of a scan together.
  const int64_t elements = s.batch * s.length * s.heads;
  Stopwatch stopwatch(s.runs, std::max<int64_t>(4 * elements, 4 * int64_t(gpu.l2CacheSize)));
  double copy = 0;
  {
    const Tensor from = Tensor::zeros({32 * elements}, DType::f32, Device::cuda);
    Tensor to = Tensor::like(from);
    copy = gb_per_s(2 * from.bytes(), stopwatch([&] { to.copy_from(from); }));
  }
  Json rows = Json::array();
  lie::Groups::for_each([&](auto group) { time_group<decltype(group)>(s, copy, stopwatch, rows); });
  const Json report = {
      {"device", gpu.name},
      {"compute_capability", text(gpu.major, ".", gpu.minor)},
      {"multiprocessors", gpu.multiProcessorCount},
      {"memory_bytes", gpu.totalGlobalMem},
      {"l2_bytes", gpu.l2CacheSize},
      {"driver", driver},
      {"runtime", runtime},
      {"method", "median of the runs after a warm-up; L2 is flushed before each run by a memset"},
      {"runs", s.runs},
      {"copy_gb_per_s", copy},
      {"scan_sizes", {{"batch", s.batch}, {"length", s.length}, {"heads", s.heads}}},
      {"scan", rows},
      {"training_step",
       {{"config", config},
        {"cuda_ms", training_step_ms(config, "cuda", s.runs)},
        {"cpu_ms", training_step_ms(config, "cpu", s.runs)}}}};
  std::printf("%s\n", report.dump(2).c_str());
  return 0;
}

}  // namespace
}  // namespace lssm

int main(int argc, char** argv) {
  try {
    return lssm::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cuda_timings: %s\n", error.what());
    return 1;
  }
}
