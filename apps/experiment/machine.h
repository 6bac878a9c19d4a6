// SPDX-License-Identifier: Apache-2.0
// The machine that a run runs on, and the program that runs.
#pragma once

#include <string>

namespace lssm {

// The processor's name, "unknown" where the system does not tell.
std::string processor_name();

// The commit that this program was built from, with "-dirty" for changes that are in no commit;
// "unknown" without git.
std::string build_commit();

}  // namespace lssm
