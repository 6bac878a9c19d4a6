// SPDX-License-Identifier: Apache-2.0
// A model of a group's word problem as its transitions: what `lssm eval` explains and snaps.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "apps/experiment/config.h"
#include "core/algebra/finite_group.h"

namespace lssm {

// The task "group_word", as its config describes it.
struct WordProblem {
  algebra::FiniteGroup group;
  std::vector<int> inputs;  // elements
  bool right;               // the action: y_t = y_{t-1} x_t
  bool bos;

  // Throws Error for another task; `who` begins the message.
  WordProblem(const Experiment& experiment, const char* who);

  // The token of input number i.
  int token(size_t i) const { return bos ? inputs[i] : int(i); }
  // The token that every sequence starts with, if bos.
  int bos_token() const { return group.order() + 1; }
  // The answer after g when the element s is read.
  int step(int g, int s) const { return right ? group.product(g, s) : group.product(s, g); }
};

using Matrices = std::vector<Eigen::MatrixXd>;

// The matrix A(s) of one head for each input.   matrices: as in Inspection::Layer.
Matrices head_matrices(const WordProblem& problem, const Tensor& matrices, int64_t head);

// The transitions of a model's recurrent layers.
Inspection inspect(const Experiment& experiment);

// The key "readout" of the layer at a JSON pointer; empty if it has none.
std::string readout_of(const Experiment& experiment, const std::string& pointer);

// How far the matrices of one head are from a representation. M(g) is the product of A(s) along a
// shortest word of inputs that ends in g. M is a homomorphism for the action "left", and one to the
// opposite group for "right"; traces are a character of the group either way.
struct Relations {
  Matrices images;  // M(g) of each element
  double max = 0;   // of |M(g s) - A(s) M(g)| over elements g and inputs s (s g for "left")
  double mean = 0;
};
// Throws Error when the inputs do not generate the group; `who` begins the message.
Relations relations(const WordProblem& problem, const Matrices& inputs, const char* who);

}  // namespace lssm
