// SPDX-License-Identifier: Apache-2.0
// Exact best accuracies for the word problem, for models that see only part of the input.
//
// Inputs x_1 … x_T are drawn uniformly and independently from a list of group elements; the target
// at step t is the running product y_t. The side on which it grows makes no difference: reversing
// the first t inputs turns x_1 … x_t into x_t … x_1, and keeps counts and probabilities.
#pragma once

#include <optional>
#include <vector>

#include "core/algebra/finite_group.h"
#include "core/algebra/subgroups.h"

namespace lssm::algebra {

// Accuracies as fractions.
struct Ceiling {
  double final;            // at the last step
  double prefix;           // mean over the steps
  std::vector<double> at;  // [length]: at[t - 1] at step t
};

// For a model that knows how often each token came, and no order (the Parikh vector): the bound of
// every commutative transition.
//   at[t - 1] = sum over count vectors n with |n| = t of max_g P(n, g)
// The work is C(length + k, k) k |G| multiply-adds for k tokens; nullopt when above `budget`.
// Throws Error when there are no inputs, an input is no element, or length < 1.
std::optional<Ceiling> parikh_ceiling(const FiniteGroup& group, const std::vector<int>& inputs,
                                      int length, double budget = 2e8);

// For a model that knows the coset of y_t in G / N, exactly, and nothing else:
//   at[t - 1] = sum over cosets of max_{g in coset} P_t(g)
// Throws Error as above, or when N is not normal.
Ceiling quotient_ceiling(const FiniteGroup& group, const std::vector<int>& inputs,
                         const Subgroup& normal, int length);

// The best constant answer at each step: the quotient by G itself.
Ceiling chance_ceiling(const FiniteGroup& group, const std::vector<int>& inputs, int length);

}  // namespace lssm::algebra
