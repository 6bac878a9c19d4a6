// SPDX-License-Identifier: Apache-2.0
// The part that all recurrent layers share: a scan with its learned start, injection and state
// carry.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "layers/affine.h"

namespace lssm {

// A layer whose states are those of a scan.
class RecurrentLayer : public Layer {
 public:
  // What the layer after it sees of the state after each step, and before it.
  struct Views {
    Sequence after, before;
  };
  virtual Views views(Context& context, const Sequence& x) const = 0;
};

class Recurrence {
 public:
  struct Options {
    std::string group;  // of core/lie/group.h
    int64_t heads;
    bool inject;                     // h_t = A_t h_{t-1} + b_t with b_t = x_t w + b
    bool unit_start;                 // the learned h0 of each head is a direction
    bool keeps_length = false;       // the given A_t do, though the group as a whole may not
    std::vector<double> start = {};  // [v, heads], if h0 is fixed instead of learned
  };
  Recurrence(const BuildContext& context, const Options& options);

  struct States {
    Var h;        // [batch, length, v, heads]
    Var start;    // h0, [1, v, heads]
    Var carried;  // [batch, v, heads], or no Var at the start of a sequence
  };
  // All states of the scan.   a: [batch * length, k * heads] or one row for each entry of x.index;
  // shift: alike with v * heads, or no Var: added to each state besides b_t.
  States states(Context& context, const Sequence& x, Var a, Var shift = Var()) const;

  int64_t vector_dim() const { return vector_dim_; }
  int64_t algebra_dim() const { return algebra_dim_; }
  int64_t state_size() const { return vector_dim_ * options_.heads; }

 private:
  // The scan's group and parameters, which are replaced or recorded if the pass asks for that.
  struct Transitions {
    std::string group;
    Var a;
    int64_t algebra_dim;
  };
  Transitions transitions(Context& context, const Sequence& x, Var a) const;

  Options options_;
  std::string pointer_;  // of the layer's JSON
  int64_t algebra_dim_ = 0, vector_dim_ = 0;
  bool orthogonal_ = false;
  Parameter* h0_ = nullptr;  // null: the start is fixed
  Tensor fixed_start_;
  std::optional<Affine> inject_;
};

// What a readout, a map of [rows, v, heads], makes of states: rows [batch * length, out].
Sequence after_each_step(const Sequence& x, const Recurrence::States& states,
                         const std::function<Var(Var)>& readout);
// The same of the states after and before each step.
RecurrentLayer::Views views_of(const Context& context, const Sequence& x,
                               const Recurrence::States& states,
                               const std::function<Var(Var)>& readout);

}  // namespace lssm
