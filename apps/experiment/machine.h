// SPDX-License-Identifier: Apache-2.0
// The machine that a run runs on.
#pragma once

#include <string>

namespace lssm {

// The processor's name, "unknown" where the system does not tell.
std::string processor_name();

}  // namespace lssm
