// SPDX-License-Identifier: Apache-2.0
// Dispatch: a kernel is one function pointer per device. It is called like a function and runs
// where its tensors are:
//   extern Kernel<void(const Tensor& x, Tensor& y)> argmax_rows;     in rows.h
//   Kernel<void(const Tensor&, Tensor&)> argmax_rows = {"argmax_rows", &argmax_rows_cpu};   in
//   rows.cpp
#pragma once

#include <optional>
#include <tuple>

#include "core/check.h"
#include "core/device.h"
#include "core/tensor.h"

namespace lssm::kernels {

// The one device of all tensors among the arguments of a kernel: of those that are not empty, also
// in structs, which name theirs by tensors().
class OneDevice {
 public:
  explicit OneDevice(const char* kernel) : kernel_(kernel) {}

  template <class Argument>
  void add(const Argument& argument) {
    if constexpr (requires { argument.tensors(); }) {
      std::apply([this](const auto&... tensors) { (add(tensors), ...); }, argument.tensors());
    }
  }
  void add(const Tensor& x) {
    if (!x) return;
    LSSM_CHECK(!device_ || *device_ == x.device(), kernel_, ": got tensors on ",
               device_name(*device_), " and on ", device_name(x.device()), ", expected one device");
    device_ = x.device();
  }

  Device get() const { return device_.value_or(Device::cpu); }

 private:
  const char* kernel_;
  std::optional<Device> device_;
};

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
    OneDevice device(name);
    (device.add(arguments), ...);
    const auto function = device.get() == Device::cpu ? cpu : cuda;
    LSSM_CHECK(function, name, ": this build has no kernel for ", device_name(device.get()));
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
