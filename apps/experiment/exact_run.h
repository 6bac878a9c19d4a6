// SPDX-License-Identifier: Apache-2.0
// Heads that carry an exact representation of a finite group, run for long.
#pragma once

#include <string>
#include <vector>

#include "core/tensor.h"

namespace lssm {

struct ExactRun {
  double norm_drift;     // largest | |h_t| - 1 |
  double angular_drift;  // largest angle between h_t and M(y_t) h_0, in radians
  double half_margin;    // half the least angle between two places: drift below it decodes right
  int64_t wrong;         // steps where the nearest of the |G| places is not that of y_t
};

// "S5" in so5 (by the exponential map), "A5" in so3, "2I" or "Q8" in su2. One head starts at a
// place h_0 in general position and reads `length` random generators and inverses; y_t = x_t
// y_{t-1}. States come from the program's scan in the given precision. Throws Error for another
// group.
ExactRun exact_run(const std::string& group, DType dtype, int64_t length);

}  // namespace lssm
