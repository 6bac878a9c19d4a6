// SPDX-License-Identifier: Apache-2.0
// Mistakes that CUDA programs make, each beside its right form. bugs_test.cpp runs them:
//   planted_bugs NAME good|bad [SCHEDULE…]     ("lazy" is a schedule here)
// Exit status 0: the result is right in all schedules; 1: "wrong in SCHEDULE" was printed.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "coh.h"
#include "core/tensor.h"
#include "kernels/parallel_for.h"

extern "C" const char* lssm_load_cuda_backend();

namespace {

constexpr unsigned kFull = 0xffffffffu;
constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

template <class... Params, class... Args>
cudaError_t launch(int blocks, size_t shared, cudaStream_t stream, void (*kernel)(Params...),
                   Args... args) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(unsigned(blocks));
  config.blockDim = dim3(kThreads);
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, static_cast<Params>(args)...);
}

// n floats on the device, and back.
struct Floats {
  float* data = nullptr;
  int n;
  explicit Floats(int n) : n(n) { cudaMalloc(&data, size_t(n) * sizeof(float)); }
  explicit Floats(const std::vector<float>& from) : Floats(int(from.size())) {
    cudaMemcpy(data, from.data(), from.size() * sizeof(float), cudaMemcpyHostToDevice);
  }
  ~Floats() { cudaFree(data); }
  std::vector<float> host() const {
    std::vector<float> to(static_cast<size_t>(n), -1.0f);
    cudaMemcpy(to.data(), data, to.size() * sizeof(float), cudaMemcpyDeviceToHost);
    return to;
  }
};

std::vector<float> counting(int n) {
  std::vector<float> x(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) x[size_t(i)] = float(i % 7 + 1);
  return x;
}

// ---- Block scan: one block walks n numbers in chunks, with a carry.
enum class Scan { right, no_barrier, syncwarp, no_reuse_barrier, short_mask, half_width };

template <Scan kForm>
__global__ void scan(const float* in, float* out, int n) {
  __shared__ float totals[kWarps];
  constexpr unsigned kMask = kForm == Scan::short_mask ? 0x7fffffffu : kFull;
  constexpr int kWidth = kForm == Scan::half_width ? 16 : 32;
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  float carry = 0;
  for (int first = 0; first < n; first += kThreads) {
    const int i = first + int(threadIdx.x);
    float sum = i < n ? in[i] : 0.0f;
    for (int distance = 1; distance < 32; distance *= 2) {
      const float other = __shfl_up_sync(kMask, sum, unsigned(distance), kWidth);
      if (lane >= distance) sum += other;
    }
    if (lane == 31) totals[warp] = sum;
    if (kForm == Scan::syncwarp) __syncwarp();
    if (kForm != Scan::no_barrier && kForm != Scan::syncwarp) __syncthreads();
    float total = 0;
    for (int w = 0; w < kWarps; ++w) {
      if (w == warp) sum += total;
      total += totals[w];
    }
    if (i < n) out[i] = carry + sum;
    carry += total;
    if (kForm != Scan::no_reuse_barrier) __syncthreads();  // totals are written again
  }
}

template <Scan kForm>
bool scan_case() {
  const std::vector<float> x = counting(1000);
  const Floats in(x), out(1000);
  launch(1, 0, nullptr, scan<kForm>, in.data, out.data, 1000);
  const std::vector<float> y = out.host();
  float sum = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (y[i] != (sum += x[i])) return false;
  return true;
}

// ---- Convergence
template <bool kBad>
__global__ void pair_sums(float* x) {
  float value = x[threadIdx.x];
  if (kBad) {
    if (threadIdx.x % 32 < 16) value += __shfl_xor_sync(kFull, value, 1);
  } else {
    const float other = __shfl_xor_sync(kFull, value, 1);
    if (threadIdx.x % 32 < 16) value += other;
  }
  x[threadIdx.x] = value;
}

template <bool kBad>
__global__ void two_barriers(float* x) {
  __shared__ float tile[kThreads];
  tile[threadIdx.x] = x[threadIdx.x];
  if (!kBad || threadIdx.x / 32 != 1) __syncthreads();
  const float value = tile[kThreads - 1 - threadIdx.x];
  __syncthreads();
  tile[threadIdx.x] = value;
  x[threadIdx.x] = tile[threadIdx.x];
}

template <bool kBad>
__global__ void mixed_waits(float* x) {
  float value = x[threadIdx.x];
  if (kBad && threadIdx.x % 32 < 16) __syncthreads();
  value += __shfl_xor_sync(kFull, value, 1);
  if (!kBad || threadIdx.x % 32 >= 16) __syncthreads();
  x[threadIdx.x] = value;
}

// A shuffle does not order memory, though it makes the lanes wait.
template <bool kBad>
__global__ void neighbour(float* x) {
  __shared__ float tile[kThreads];
  tile[threadIdx.x] = x[threadIdx.x];
  const float mine = __shfl_xor_sync(kFull, x[threadIdx.x], 1);
  if (!kBad) __syncwarp();
  x[threadIdx.x] = tile[threadIdx.x ^ 1u] + 0 * mine;
}

bool one_block(void (*kernel)(float*)) {
  const Floats x(counting(kThreads));
  if (launch(1, 0, nullptr, kernel, x.data) != cudaSuccess) return false;
  for (float y : x.host())
    if (!(y >= 1 && y <= 14)) return false;
  return true;
}

// ---- Bounds
template <bool kBad>
__global__ void reverse_static(float* x) {
  __shared__ float tile[kBad ? kThreads - 1 : kThreads];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

__global__ void reverse_dynamic(float* x) {
  float* tile = static_cast<float*>(coh::dynamic_shared());
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

bool dynamic_case(bool bad) {
  const Floats x(counting(kThreads));
  launch(1, sizeof(float) * size_t(kThreads - bad), nullptr, reverse_dynamic, x.data);
  return x.host()[0] == counting(kThreads).back();
}

template <bool kBad>
__global__ void twice(const float* in, float* out, int n) {
  for (int i = int(blockIdx.x * blockDim.x + threadIdx.x); kBad ? i <= n : i < n;
       i += int(gridDim.x * blockDim.x))
    out[i] = 2 * in[i];
}

template <bool kBad>
bool tail_case() {
  const Floats in(counting(999)), out(999);
  launch(2, 0, nullptr, twice<kBad>, in.data, out.data, 999);
  return out.host()[998] == 2 * counting(999)[998];
}

// ---- Mistakes of the host
bool host_pointer_case(bool bad) {
  std::vector<float> x = counting(kThreads);
  const Floats in(x), out(kThreads);
  const float* from = bad ? x.data() : in.data;
  return launch(1, 0, nullptr, twice<false>, from, out.data, kThreads) == cudaSuccess;
}

struct Scale {
  int64_t n;
  float factor;
  float* x;
};
__global__ void scale(Scale s) {
  for (int64_t i = threadIdx.x; i < s.n; i += kThreads) s.x[i] *= s.factor;
}

bool host_pointer_in_struct_case(bool bad) {
  std::vector<float> x = counting(kThreads);
  const Floats in(x);
  const Scale s = {kThreads, 3, bad ? x.data() : in.data};
  return launch(1, 0, nullptr, scale, s) == cudaSuccess;
}

bool missing_sync_case(bool bad) {
  const Floats x(counting(kThreads)), y(kThreads);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  float* host;
  cudaMallocHost(&host, sizeof(float) * kThreads);
  std::memset(host, 0, sizeof(float) * kThreads);
  launch(1, 0, stream, twice<false>, x.data, y.data, kThreads);
  cudaMemcpyAsync(host, y.data, sizeof(float) * kThreads, cudaMemcpyDeviceToHost, stream);
  if (!bad) cudaStreamSynchronize(stream);
  const float last = host[kThreads - 1];
  cudaStreamDestroy(stream);
  cudaFreeHost(host);
  return last == 2 * counting(kThreads).back();
}

bool missing_event_case(bool bad) {
  const Floats x(counting(kThreads)), y(kThreads), z(kThreads);
  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaEvent_t ready;
  cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
  launch(1, 0, first, twice<false>, x.data, y.data, kThreads);
  cudaEventRecord(ready, first);
  if (!bad) cudaStreamWaitEvent(second, ready);
  launch(1, 0, second, twice<false>, y.data, z.data, kThreads);
  cudaDeviceSynchronize();
  cudaEventDestroy(ready);
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
  return z.host().back() == 4 * counting(kThreads).back();
}

bool use_after_free_case(bool bad) {
  float* x;
  const Floats y(kThreads);
  cudaMalloc(&x, sizeof(float) * kThreads);
  cudaMemset(x, 0, sizeof(float) * kThreads);
  if (bad) cudaFree(x);
  const cudaError_t error = launch(1, 0, nullptr, twice<false>, x, y.data, kThreads);
  if (!bad) cudaFree(x);
  return error == cudaSuccess && y.host()[0] == 0;
}

bool wrong_direction_case(bool bad) {
  const Floats x(counting(kThreads));
  std::vector<float> y(kThreads);
  return cudaMemcpy(y.data(), x.data, sizeof(float) * kThreads,
                    bad ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost) == cudaSuccess;
}

bool long_copy_case(bool bad) {
  const Floats x(counting(kThreads));
  std::vector<float> y(kThreads + 1);
  return cudaMemcpy(y.data(), x.data, sizeof(float) * size_t(kThreads + bad),
                    cudaMemcpyDeviceToHost) == cudaSuccess;
}

bool uninitialised_case(bool bad) {
  const Floats x(kThreads), y(kThreads);
  if (!bad) cudaMemset(x.data, 0, sizeof(float) * kThreads);
  launch(1, 0, nullptr, twice<false>, x.data, y.data, kThreads);
  return y.host()[5] == 0;
}

bool host_reads_device_case(bool bad) {
  const Floats x(counting(kThreads));
  return (bad ? x.data[1] : x.host()[1]) == counting(2)[1];
}

// ---- The same through tensors and the launches of lssm. Its pool would hide them: blocks that are
// larger than their tensor, with the numbers of the tensor before.
struct Twice {
  const float* in;
  float* out;
  void operator()(int64_t i) const { out[i] = 2 * in[i]; }
};

// out = 2 in for the first `count` numbers of a tensor, where another tensor held all of that.
bool tensor_case(int64_t n, int64_t count) {
  using lssm::Tensor;
  const Tensor in = Tensor::from_host({n}, std::vector<double>(size_t(n), 3), lssm::DType::f32,
                                      lssm::Device::cuda);
  const auto double_it = [&](int64_t items) {
    const Tensor out = Tensor::like(in);
    const Twice twice = {in.data<float>(), out.data<float>()};
    lssm::kernels::parallel_for(lssm::Device::cuda, items, twice);
    return out.to_host() == std::vector<double>(size_t(n), 6);
  };
  return double_it(n) && double_it(count);
}
bool tensor_case(int64_t count) {
  if (lssm_load_cuda_backend() != nullptr) return false;
  lssm::Pool::of(lssm::Device::cuda).use_exact_blocks();
  const bool right = tensor_case(999, count);
  cudaStreamDestroy(lssm::kernels::cuda_stream());
  return right;
}
bool tensor_overrun_case(bool bad) { return tensor_case(999 + bad); }
bool tensor_half_written_case(bool bad) { return tensor_case(bad ? 500 : 999); }

// By name; the argument says whether the bug is in.
template <auto kGood, auto kBad>
bool choose(bool bad) {
  return bad ? kBad() : kGood();
}
template <void (*kGood)(float*), void (*kBad)(float*)>
bool choose_kernel(bool bad) {
  return one_block(bad ? kBad : kGood);
}

struct Case {
  const char* name;
  bool (*run)(bool bad);
};
constexpr auto kRightScan = &scan_case<Scan::right>;
const Case kCases[] = {
    {"missing_barrier", choose<kRightScan, &scan_case<Scan::no_barrier>>},
    {"syncwarp_for_syncthreads", choose<kRightScan, &scan_case<Scan::syncwarp>>},
    {"reuse_hazard", choose<kRightScan, &scan_case<Scan::no_reuse_barrier>>},
    {"shuffle_mask", choose<kRightScan, &scan_case<Scan::short_mask>>},
    {"shuffle_width", choose<kRightScan, &scan_case<Scan::half_width>>},
    {"divergent_shuffle", choose_kernel<&pair_sums<false>, &pair_sums<true>>},
    {"skipped_barrier", choose_kernel<&two_barriers<false>, &two_barriers<true>>},
    {"deadlock", choose_kernel<&mixed_waits<false>, &mixed_waits<true>>},
    {"shuffle_as_barrier", choose_kernel<&neighbour<false>, &neighbour<true>>},
    {"static_shared", choose_kernel<&reverse_static<false>, &reverse_static<true>>},
    {"dynamic_shared", &dynamic_case},
    {"global_tail", choose<&tail_case<false>, &tail_case<true>>},
    {"host_pointer", &host_pointer_case},
    {"host_pointer_in_struct", &host_pointer_in_struct_case},
    {"host_reads_device", &host_reads_device_case},
    {"missing_sync", &missing_sync_case},
    {"missing_event", &missing_event_case},
    {"use_after_free", &use_after_free_case},
    {"wrong_direction", &wrong_direction_case},
    {"long_copy", &long_copy_case},
    {"uninitialised", &uninitialised_case},
    {"tensor_overrun", &tensor_overrun_case},
    {"tensor_half_written", &tensor_half_written_case},
};

}  // namespace

int main(int argc, char* argv[]) {
  const std::string name = argc > 1 ? argv[1] : "", form = argc > 2 ? argv[2] : "";
  for (const Case& c : kCases) {
    if (name != c.name || (form != "good" && form != "bad")) continue;
    int wrong = 0;
    for (int i = 3; i < argc; ++i) {
      const std::string schedule = argv[i];
      coh::set_lazy(schedule == "lazy");
      coh::set_schedule(schedule == "lazy" ? "forward" : argv[i]);
      if (c.run(form == "bad")) continue;
      std::printf("wrong in %s\n", argv[i]);
      ++wrong;
    }
    return wrong > 0;
  }
  std::fprintf(stderr, "usage: planted_bugs NAME good|bad SCHEDULE…, with NAME one of\n");
  for (const Case& c : kCases) std::fprintf(stderr, "  %s\n", c.name);
  return 2;
}
