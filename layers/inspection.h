// SPDX-License-Identifier: Apache-2.0
// The transitions of a model's recurrent layers: read out, and replaced by others. For tools that
// look into a trained model.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace lssm {

// What a pass through a model finds (Context::inspection).
struct Inspection {
  struct Layer {
    std::string pointer;  // of the layer's JSON
    // For each token the matrix A of h_t = A h_{t-1} + b: [tokens, v, v, heads], f64, on the host.
    Tensor matrices;
  };
  std::vector<Layer> layers;
  // Pointers of layers whose transitions are no function of one token: they depend on states, or on
  // several tokens.
  std::vector<std::string> others;
};

// Matrices as above that layers use instead of their own (Context::replacement), by pointer. v is 3
// to 8: what scans of matrices know (core/lie/group.h).
using Replacement = std::map<std::string, Tensor>;

// The linear maps of a scan's parameters.   group: of lie::Groups, a: [tokens, k * heads]; result:
// [tokens, v, v, heads], computed in f64 from the numbers of a.
Tensor transition_matrices(const std::string& group, const Tensor& a, int64_t heads);

}  // namespace lssm
