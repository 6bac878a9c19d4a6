// SPDX-License-Identifier: Apache-2.0
// From inputs to the transitions of a Lie group's recurrence, as a scan takes them.
#pragma once

#include <optional>
#include <string>

#include "layers/recurrence.h"

namespace lssm {

class LieTransitions {
 public:
  struct Options {
    void fields(Fields& f);

    std::string group = "so3", map = "exp", gate = "none", contraction = "none";
    int64_t heads = 16, frames = 0;
    double angle_std = 1, contraction_rate = 0.95;
    bool commutative = false;
  };
  LieTransitions(const BuildContext& context, const Options& options);

  // The scan's parameters and what is added to the state (no Var but for rigid motions), one row
  // for each row of x: [rows, k, heads] and [rows, v, heads].
  struct Step {
    Var a, shift;
  };
  Step operator()(Tape& tape, Var x) const;

  const std::string& scan_group() const { return scan_group_; }  // of lie::Groups
  int64_t vector_dim() const { return vector_dim_; }
  // Vectors that make a matrix of the group: its columns (of complex numbers, for su(N)), and the
  // translation of a rigid motion. One for so2 and su2, whose elements move like a vector.
  int64_t columns() const { return columns_; }
  bool keeps_length() const { return keeps_length_; }

 private:
  Affine coordinates(const BuildContext& context, const char* name, int64_t per_head) const;

  Options options_;
  std::string scan_group_;
  int64_t algebra_dim_ = 0, vector_dim_ = 0, columns_ = 0;
  bool as_matrix_ = false;  // by group_matrix(): there is no compact form of the elements
  bool keeps_length_ = false;
  std::optional<Affine> algebra_, shift_, gate_, frame_gates_;
  Parameter* rate_ = nullptr;    // [1, heads]: the logit of a learned rate
  Tensor fixed_rate_;            // [1, heads]
  Parameter* frames_ = nullptr;  // [N * c, heads]
};

}  // namespace lssm
