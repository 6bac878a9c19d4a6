// SPDX-License-Identifier: Apache-2.0
// What the layers "gru" and "lstm" share: gates x_t W + b, made for all steps at once, and the
// recurrence (kernels/rnn.h), started from a learned state that is 0 before training.
#pragma once

#include "kernels/rnn.h"
#include "layers/recurrence.h"

namespace lssm {

class Rnn final : public RecurrentLayer {
 public:
  // All weights and biases are uniform in [-1, 1] / sqrt(width), as in PyTorch, but `gate_bias` is
  // added to the biases of the second gate: the forget gate of lstm.
  Rnn(const BuildContext& context, kernels::RnnCell cell, int64_t width, double gate_bias);

  Sequence forward(Context& context, const Sequence& x) const override;
  Views views(Context& context, const Sequence& x) const override;
  int64_t out_width() const override { return width_; }
  int64_t state_size() const override { return kernels::rnn_parts(cell_) * width_; }

 private:
  Recurrence::States states(Context& context, const Sequence& x) const;
  // h of states [rows, parts, width].
  Var hidden(Var states) const;

  kernels::RnnCell cell_;
  int64_t width_;
  Affine gates_;
  Parameter& u_;
  Parameter* bias_;  // of the products of gru; for lstm it would add to that of the gates
  Parameter& h0_;
  Parameter* c0_;  // of lstm
};

}  // namespace lssm
