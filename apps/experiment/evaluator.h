// SPDX-License-Identifier: Apache-2.0
// Scores of a model on fresh sequences.
#pragma once

#include "apps/experiment/config.h"
#include "apps/experiment/metrics.h"

namespace lssm {

struct Score {
  AccuracyCount accuracy;
  double loss;  // mean cross-entropy over trained positions
  double
      drift;  // largest | |h| - 1 | of the final states that stay on a sphere; -1: there are none
};

// `sequences` sequences of a split. `length` 0: the training length or mixture of lengths. Throws
// Interrupted when a test is asked to stop.
Score evaluate(const Experiment& experiment, Split split, int64_t sequences, int64_t length);

// A drift as it is reported: null where there is none.
Json drift_json(double drift);

// Tests every length of the config. The result holds what summary.json has under "test",
// "longest_90", "longest_99", "drift" and "ceilings".
Json test_summary(const Experiment& experiment);

// The same as a table for people, with the ceilings beside each accuracy.
std::string test_table(const Json& summary);

}  // namespace lssm
