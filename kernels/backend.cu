// SPDX-License-Identifier: Apache-2.0
// The CUDA backend as a whole: its memory, its stream, and how it is loaded. It is a library of its
// own (liblssm_cuda.so), so that a machine without CUDA libraries can run the program all the same.
#include "core/device.h"
#include "kernels/cuda.h"

namespace lssm::kernels {
namespace {

cudaStream_t stream = nullptr;

void* allocate(size_t bytes) {
  void* pointer = nullptr;
  const cudaError_t status = cudaMallocAsync(&pointer, bytes, stream);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  LSSM_CUDA_CHECK(status);
  return pointer;
}

void release(void* pointer) { LSSM_CUDA_CHECK(cudaFreeAsync(pointer, stream)); }

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

}  // namespace

cudaStream_t cuda_stream() { return stream; }

}  // namespace lssm::kernels

// Makes the device usable. Returns null, or in words why it is not. Called once, after dlopen.
extern "C" const char* lssm_load_cuda_backend() {
  using namespace lssm::kernels;
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  cudaGetLastError();
  if (status == cudaErrorInsufficientDriver) return "there is no NVIDIA driver, or it is too old";
  if (status == cudaErrorNoDevice || (status == cudaSuccess && devices == 0))
    return "there is no GPU";
  if (status != cudaSuccess) return cudaGetErrorString(status);
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) {
    cudaGetLastError();
    return "the GPU cannot be used: no stream could be made on it";
  }
  lssm::register_device(lssm::Device::cuda, &kMemory);
  register_elementwise();
  register_linear_cross_entropy();
  register_matmul();
  register_optimizer();
  register_readout();
  register_reduce();
  register_rows();
  register_scan();
  return nullptr;
}
