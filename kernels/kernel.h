// SPDX-License-Identifier: Apache-2.0
// Dispatch of tuned kernels: one function pointer per device.
#pragma once

#include "core/check.h"
#include "core/device.h"

namespace lssm::kernels {

// A kernel with an implementation for each device. The CUDA backend fills its pointer when it is
// loaded; until then a call for that device says what is missing.
template <class Function>
struct Kernel {
  const char* name;
  Function* cpu;
  Function* cuda = nullptr;

  Function& on(Device device) const {
    Function* function = device == Device::cpu ? cpu : cuda;
    LSSM_CHECK(function, name, ": no kernel for ", device_name(device));
    return *function;
  }
};

}  // namespace lssm::kernels
