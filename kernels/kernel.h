// SPDX-License-Identifier: Apache-2.0
// Dispatch: a kernel is one function pointer per device. It is called like a function and runs
// where its tensors are:
//   extern Kernel<void(const Tensor& x, Tensor& y)> argmax_rows;     in rows.h
//   Kernel<void(const Tensor&, Tensor&)> argmax_rows = {"argmax_rows", &argmax_rows_cpu};   in
//   rows.cpp
#pragma once

#include "core/check.h"
#include "core/device.h"

namespace lssm::kernels {

// The device of the first argument that has one.
template <class First, class... Rest>
Device device_of(const First& first, const Rest&... rest) {
  if constexpr (requires { first.device(); }) {
    return first.device();
  } else {
    return device_of(rest...);
  }
}

template <class Function>
struct Kernel;

// The CUDA backend fills in its pointer when it is loaded; until then a call for that device says
// what is missing.
template <class Result, class... Arguments>
struct Kernel<Result(Arguments...)> {
  const char* name;
  Result (*cpu)(Arguments...);
  Result (*cuda)(Arguments...) = nullptr;

  Result operator()(Arguments... arguments) const {
    const Device device = device_of(arguments...);
    const auto function = device == Device::cpu ? cpu : cuda;
    LSSM_CHECK(function, name, ": this build has no kernel for ", device_name(device));
    return function(arguments...);
  }
};

}  // namespace lssm::kernels

// The end of a .cu file whose functions x_map() serve both devices by parallel_for: the CPU build
// defines the kernels, the CUDA backend fills in their pointers. KERNELS(X) lists the names.
#ifdef LSSM_CUDA_BACKEND
#define LSSM_SET_KERNEL(name) name.cuda = &name##_map;
#define LSSM_MAP_KERNELS(family, KERNELS) \
  void register_##family() { KERNELS(LSSM_SET_KERNEL) }
#else
#define LSSM_DEFINE_KERNEL(name) decltype(name) name = {#name, &name##_map};
#define LSSM_MAP_KERNELS(family, KERNELS) KERNELS(LSSM_DEFINE_KERNEL)
#endif
