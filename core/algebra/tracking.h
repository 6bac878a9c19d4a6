// SPDX-License-Identifier: Apache-2.0
// Which transitions can hold a finite group, that is solve its word problem at every length, and
// which cannot. What a single layer can do is to divide: some finite group of its transitions has a
// subgroup with the group as a quotient (Lie-SSM paper, theorem 1). If it is even isomorphic to the
// subgroup, a linear readout is enough; else the readout has to put several states into one class
// that no linear map can join, and needs a hidden layer.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/algebra/ceilings.h"
#include "core/algebra/laws.h"

namespace lssm::algebra {

enum class Answer { no, unknown, yes };

const char* to_string(Answer answer);

struct Verdict {
  Answer linear;                         // with a linear readout of the state
  Answer any;                            // with any readout
  std::string reason;                    // one line
  std::optional<WordPair> witness = {};  // two words that collide, where one is known
};

// Recurrences without injection whose transitions commute: so2 and diagonal layers. The state
// depends on how often each token came, so the group must be abelian (ceilings.h says how well a
// model that counts can do). Real eigenvalues have signs alone: every element must be its own
// inverse; positive ones hold only the trivial group.
enum class Eigenvalues { positive, real, complex };
Verdict diagonal_verdict(const FiniteGroup& group, Eigenvalues eigenvalues);

// h_t = diag(x_t) h_{t-1} + b(x_t), complex, in `layers` layers with perceptrons between. One layer
// is a group of derived length 2 (Lie group paper, lemma 1), but its finite subgroups are abelian:
// what goes beyond is held by counters that grow with the length. k layers hold derived length k by
// tracking the abelian quotients of the derived series one after the other, and at most 2k.
Verdict affine_diagonal_verdict(const FiniteGroup& group, int layers);

// Division of SO(3)^m (so3 heads, and su2 heads that are read by their Bloch vectors), of SU(2)^m
// and of SO(n)^m, n from 4 to 8, for some number m of heads.
Verdict so3_verdict(const FiniteGroup& group);
Verdict su2_verdict(const FiniteGroup& group);
Verdict so_n_verdict(const FiniteGroup& group, int n);
// Of SU(n)^m acting on C^n, n = 3 or 4.
Verdict su_n_verdict(const FiniteGroup& group, int n);

// The same heads with an injection: h_t = A_t h_{t-1} + b_t, as in se3 for so3. A finite group of
// such maps has a fixed point, so it is none that the heads without injection do not have. But
// growing translations may hold an abelian normal subgroup, up to a length.
Verdict injected_verdict(const FiniteGroup& group,
                         const std::function<Verdict(const FiniteGroup&)>& heads);

// Two layers of so3 heads, the second steered by the state of the first: a normal subgroup N and
// G / N that divide SO(3)^m (Lie-SSM paper, theorem 3).
Verdict so3_cascade_verdict(const FiniteGroup& group);
// Any number of layers, each with so2, so3, su2, so4 or se3 heads or diagonal: every simple factor
// of a composition series that is not abelian must be A5 (theorem 2).
Verdict deep_cascade_verdict(const FiniteGroup& group);

// The kernel of all homomorphisms from G to SO(3): heads that represent G on Bloch or rotation
// vectors show no more than G / N. Trivial exactly where so3_verdict() says yes for linear
// readouts.
Subgroup rotation_kernel(const FiniteGroup& group);

struct NamedVerdict {
  std::string transition;  // as in configs: "so3", "su2, bloch", "diagonal, 2 layers, inject"
  Verdict verdict;
};

// Of everything above, for every transition that the program has.
std::vector<NamedVerdict> transition_verdicts(const FiniteGroup& group);

}  // namespace lssm::algebra
