// SPDX-License-Identifier: Apache-2.0
// The part that all recurrent layers share: a scan with its learned start, injection and state
// carry.
#pragma once

#include <optional>
#include <string>

#include "layers/affine.h"

namespace lssm {

class Recurrence {
 public:
  struct Options {
    std::string group;  // of core/lie/group.h
    int64_t heads;
    bool inject;      // h_t = A_t h_{t-1} + b_t with b_t = x_t w + b
    bool unit_start;  // the learned h0 of each head is a direction
  };
  Recurrence(const BuildContext& context, const Options& options);

  // All states of the scan.   a: [batch * length, k * heads] or one row for each entry of x.index;
  // result: [batch * length, v, heads].
  Var states(Context& context, const Sequence& x, Var a) const;

  int64_t vector_dim() const { return vector_dim_; }
  int64_t algebra_dim() const { return algebra_dim_; }
  int64_t state_size() const { return vector_dim_ * options_.heads; }

 private:
  Options options_;
  int64_t algebra_dim_ = 0, vector_dim_ = 0;
  bool orthogonal_ = false;
  Parameter* h0_;
  std::optional<Affine> inject_;
};

}  // namespace lssm
