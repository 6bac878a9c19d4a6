// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/metrics.h"

#include <algorithm>
#include <numeric>

namespace lssm {
namespace {

double share(int64_t part, int64_t all) { return all > 0 ? double(part) / double(all) : 0; }

int64_t total(const std::vector<int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t(0));
}

}  // namespace

void AccuracyCount::add(const Batch& batch, const Tensor& predicted) {
  const int64_t rows = batch.targets.dim(0), length = batch.targets.dim(1);
  for (int64_t row = 0; row < rows; ++row) {
    const int32_t* targets = batch.targets.data<int32_t>() + row * length;
    const int32_t* answers = predicted.data<int32_t>() + row * length;
    const int32_t* scored = batch.scored ? batch.scored.data<int32_t>() + row * length : nullptr;
    ++sequences_;
    if (length == 0 || (scored && std::count(scored, scored + length, 0) == length)) continue;
    bool right = false, exact = true;
    for (int64_t t = 0; t < length; ++t) {
      if (!scored || scored[t]) {
        right = answers[t] == targets[t];
        exact = exact && right;
        right_[size_t(t)] += right;
        ++all_[size_t(t)];
      }
      exact_[size_t(t)] += exact;
    }
    final_right_ += right;
    ++final_all_;
  }
}

double AccuracyCount::final_accuracy() const { return share(final_right_, final_all_); }

double AccuracyCount::prefix_accuracy() const { return share(total(right_), total(all_)); }

Json AccuracyCount::summary() const {
  Json curve = Json::array();
  const int64_t length = int64_t(right_.size());
  for (int64_t position = 1; position <= length;
       position = position == length ? length + 1 : std::min(2 * position, length)) {
    const size_t t = size_t(position - 1);
    Json point = {{"position", position}, {"exact_prefix", share(exact_[t], final_all_)}};
    if (all_[t] > 0) point["accuracy"] = share(right_[t], all_[t]);
    curve.push_back(point);
  }
  return {{"final", final_accuracy()},
          {"prefix", prefix_accuracy()},
          {"exact_prefix", share(exact_.empty() ? 0 : exact_.back(), final_all_)},
          {"sequences", sequences_},
          {"curve", curve}};
}

}  // namespace lssm
