// SPDX-License-Identifier: Apache-2.0
// The CUDA backend as a whole: its memory, its stream, and how it is loaded. It is a library of its
// own (liblssm_cuda.so), so that a machine without CUDA libraries can run the program all the same.
#include <string>

#include "core/device.h"
#include "kernels/cuda.h"

namespace lssm::kernels {
namespace {

cudaStream_t stream = nullptr;

// Null when memory is exhausted.
void* try_to_allocate(size_t bytes) {
  void* pointer = nullptr;
  const cudaError_t status = cudaMallocAsync(&pointer, bytes, stream);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // so that the next call does not report it
    return nullptr;
  }
  cuda_check(status, "cudaMallocAsync", __FILE__, __LINE__);
  return pointer;
}

void* allocate(size_t bytes) {
  if (void* pointer = try_to_allocate(bytes)) return pointer;
  LSSM_CUDA_CHECK(cudaStreamSynchronize(stream));  // what was freed returns to the device with this
  return try_to_allocate(bytes);
}

// Destructors call this. A failure here is one of earlier work, which the next call reports.
void release(void* pointer) { cudaFreeAsync(pointer, stream); }

void zero(void* pointer, size_t bytes) {
  if (bytes > 0) LSSM_CUDA_CHECK(cudaMemsetAsync(pointer, 0, bytes, stream));
}

void copy_and_wait(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return;
  LSSM_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, kind, stream));
  LSSM_CUDA_CHECK(cudaStreamSynchronize(stream));
}

void copy(void* to, const void* from, size_t bytes) {
  if (bytes > 0)
    LSSM_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
}
void copy_from_host(void* to, const void* from, size_t bytes) {
  copy_and_wait(to, from, bytes, cudaMemcpyHostToDevice);
}
void copy_to_host(void* to, const void* from, size_t bytes) {
  copy_and_wait(to, from, bytes, cudaMemcpyDeviceToHost);
}

size_t free_bytes() {
  size_t free = 0, total = 0;
  LSSM_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return free;
}

constexpr DeviceMemory kMemory = {&allocate,       &release,      &zero,      &copy,
                                  &copy_from_host, &copy_to_host, &free_bytes};

// Why this program cannot use the first GPU, or "".
std::string why_not() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  cudaGetLastError();
  const char* problem = status == cudaErrorInsufficientDriver
                            ? "there is no NVIDIA driver, or it is too old"
                        : status == cudaErrorNoDevice ? "there is no GPU"
                                                      : "the GPUs cannot be counted";
  if (status != cudaSuccess) return text(problem, ": ", cudaGetErrorString(status));
  if (devices == 0) return "there is no GPU";

  const auto attribute = [](cudaDeviceAttr which) {
    int value = 0;
    LSSM_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
  };
  constexpr int kOldest = 8;  // the kernels are compiled for sm_80 and later
  const int major = attribute(cudaDevAttrComputeCapabilityMajor);
  if (major < kOldest)
    return text("the GPU is too old: its compute capability is ", major, ".",
                attribute(cudaDevAttrComputeCapabilityMinor), ", expected ", kOldest,
                ".0 or later");
  if (!attribute(cudaDevAttrMemoryPoolsSupported))
    return "the GPU has no memory pools (cudaMallocAsync)";
  const cudaError_t made = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaGetLastError();
  if (made != cudaSuccess)
    return text("no stream could be made on the GPU: ", cudaGetErrorString(made));
  return "";
}

}  // namespace

cudaStream_t cuda_stream() { return stream; }

}  // namespace lssm::kernels

// Makes the device usable. Returns null, or in words why it is not. Called once, after dlopen.
extern "C" const char* lssm_load_cuda_backend() {
  using namespace lssm::kernels;
  static std::string reason;
  try {
    reason = why_not();
  } catch (const lssm::Error& error) {
    reason = error.what();
  }
  if (!reason.empty()) return reason.c_str();
  lssm::register_device(lssm::Device::cuda, &kMemory);
  register_conv();
  register_elementwise();
  register_head_matrix();
  register_lie_map();
  register_linear_cross_entropy();
  register_matmul();
  register_optimizer();
  register_parts();
  register_previous();
  register_readout();
  register_reduce();
  register_rnn();
  register_rows();
  register_scan();
  return nullptr;
}
