// SPDX-License-Identifier: Apache-2.0
// Self-consistent snapping: a model whose inputs are closed under composition answers every word of
// two tokens, and its own products then average the noise out of its transitions.
#pragma once

#include <string>
#include <vector>

#include "apps/experiment/word_problem.h"

namespace lssm {

struct Snapped {
  struct Layer {
    std::string pointer;
    // Of each head: the largest |A(ab) - A(b) A(a)| (Frobenius), ab the model's own product.
    std::vector<double> before, after;
  };
  Replacement transitions;  // for Experiment::replacement
  std::vector<Layer> layers;
  int rounds;               // the last one moved nothing by more than 1e-13, or it is the limit
  int64_t products, right;  // answers, and how many of them are right (which is not used)
};

// For each head, in f64: A(b) <- the nearest orthogonal matrix to the mean over a of A(ab) A(a)^T,
// all b at once, round by round. Heads that carry no representation may stay far from one. With the
// readout "bloch", which does not see signs, products hold up to a sign. Layers are left as they
// are if their transitions depend on more than a token, are not orthogonal or have not 3 to 8
// dimensions.
// Throws Error when the task is no group_word, its inputs are not closed under composition, the
// model's products are no group's, or no layer can be snapped.
Snapped snap(const Experiment& experiment);

// One line for people.
std::string snapped_text(const Snapped& snapped);
// {"rounds", "products", "products_right", "layers": [{"pointer", "before": [..], "after": [..]}]}
Json snapped_json(const Snapped& snapped);

}  // namespace lssm
