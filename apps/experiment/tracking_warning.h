// SPDX-License-Identifier: Apache-2.0
// Whether a config's model can hold the group of its task, before it is trained.
#pragma once

#include <optional>
#include <string>

#include "core/config.h"

namespace lssm {

// For a resolved config whose task is group_word: one line that says why the recurrent layers
// cannot hold the group that the inputs generate (core/algebra/tracking.h); nothing where they can,
// or where that is not known. With several recurrent layers only what no cascade of them can do
// counts, and with layers that can hold anything (gru, lstm) nothing does.
std::optional<std::string> tracking_warning(const Json& resolved);

}  // namespace lssm
