// SPDX-License-Identifier: Apache-2.0
#include "autodiff/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lssm {
namespace {

class Constant final : public Schedule {
 public:
  void fields(Fields& f) override { warmup_field(f); }

 protected:
  double after_warmup(int64_t, int64_t) const override { return 1; }
};

// From 1 to `final` along half a period of the cosine (Loshchilov & Hutter 2017, without restarts).
class Cosine final : public Schedule {
 public:
  void fields(Fields& f) override {
    warmup_field(f);
    f.add("final", final_, "factor at the end", between(0, 1));
  }

 protected:
  double after_warmup(int64_t done, int64_t total) const override {
    const double share = done < total ? double(done) / double(total) : 1;
    return final_ + (1 - final_) * (1 + std::cos(std::numbers::pi * share)) / 2;
  }

 private:
  double final_ = 0;
};

// Multiplied by `factor` after every `every` steps.
class Step final : public Schedule {
 public:
  void fields(Fields& f) override {
    warmup_field(f);
    f.require("every", every_, "steps between two drops", at_least(1));
    f.add("factor", factor_, "the learning rate is multiplied by this at each drop", between(0, 1));
  }

 protected:
  double after_warmup(int64_t done, int64_t) const override {
    return std::pow(factor_, double(done / every_));
  }

 private:
  int64_t every_ = 1;
  double factor_ = 0.1;
};

template <class T>
std::unique_ptr<Schedule> make() {
  return std::make_unique<T>();
}

}  // namespace

void Schedule::warmup_field(Fields& f) {
  f.add("warmup", warmup_, "steps over which the learning rate rises linearly from 0", at_least(0));
}

double Schedule::factor(int64_t step, int64_t steps) const {
  if (step < warmup_) return double(step + 1) / double(warmup_);
  return after_warmup(step - warmup_, std::max<int64_t>(steps - warmup_, 0));
}

const Registry<Schedule>& schedule_registry() {
  static const Registry<Schedule> registry = {
      "schedule",
      {{"constant", &make<Constant>}, {"cosine", &make<Cosine>}, {"step", &make<Step>}}};
  return registry;
}

}  // namespace lssm
