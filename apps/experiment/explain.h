// SPDX-License-Identifier: Apache-2.0
// What the heads of a trained model carry of its group: which are representations, of which
// characters, and how much the readout listens to them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/experiment/word_problem.h"
#include "core/algebra/characters.h"

namespace lssm {

// A head is called a representation if |M(g s) - A(s) M(g)| (Frobenius) is below this for all
// elements g and inputs s; with rotations of R^n it can be up to 2 sqrt(n).
constexpr double kRelationTolerance = 0.1;
// Multiplicities count as whole numbers if they are within this of one.
constexpr double kMultiplicityTolerance = 0.1;

struct HeadExplanation {
  int64_t head;       // the first of `count` neighbours with the same transitions
  int64_t count = 1;  // more than one where the state is an element of the group: its columns
  double error_max, error_mean;
  bool representation;
  std::vector<double> character;  // the mean of tr M(g) over each class
  double norm;                    // its mean square over the group: 1 if irreducible
  // How often it contains each irreducible character; empty if these are not near whole numbers
  // that make up the dimension. From there the kernel: elements mapped to the identity (0:
  // unknown).
  std::vector<int> multiplicities;
  int kernel_order = 0;
  // Of the linear layer that follows: the norm of the weights of this head, and its share of the
  // sum of all squared weights.
  std::optional<double> readout, share;
};

struct LayerExplanation {
  std::string pointer;  // of the layer's JSON
  std::string type, readout;
  int64_t dimension;  // of the matrices
  std::vector<HeadExplanation> heads;
};

struct Explanation {
  algebra::FiniteGroup group;
  algebra::CharacterTable table;
  std::vector<LayerExplanation> layers;
  std::vector<std::string> others;  // as Inspection::others
};

// Matrices are those that the next layer sees: with the readout "bloch" the rotations of the Bloch
// vector, and with "direction", which does not see lengths, A(s) / |det A(s)|^(1/v).
// Throws Error for another task than group_word, for inputs that do not generate the group, and for
// a group whose characters cannot be had (core/algebra/characters.h).
Explanation explain(const Experiment& experiment);

// For people, 100 columns.
std::string explanation_text(const Explanation& explanation);
// {"group", "tolerance", "classes": [{"element", "size"}], "characters": [{"name", "degree",
// "indicator", "kernel", "values": [[re, im]]}], "layers": [{"pointer", "type", "dimension",
// "representations", "heads": [{"head", "count", "relation_error": {"max", "mean"},
// "representation", "character", "norm", "multiplicities": {name: times} or null, "kernel" or null,
// "readout" or null, "share" or null}]}], "others": [pointer]}
Json explanation_json(const Explanation& explanation);

}  // namespace lssm
