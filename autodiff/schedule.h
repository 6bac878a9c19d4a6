// SPDX-License-Identifier: Apache-2.0
// Learning-rate schedules: a factor for each step. JSON: {"type": "cosine", "warmup": 50}.
#pragma once

#include <memory>

#include "core/config.h"

namespace lssm {

class Schedule : public Configurable {
 public:
  // The factor on the peak learning rate for step `step` (from 0) of `steps`.
  double factor(int64_t step, int64_t steps) const;

 protected:
  void warmup_field(Fields& f);
  // The factor after the warm-up: `done` of `total` steps are over.
  virtual double after_warmup(int64_t done, int64_t total) const = 0;

 private:
  int64_t warmup_ = 0;
};

const Registry<Schedule>& schedule_registry();

}  // namespace lssm
