// SPDX-License-Identifier: Apache-2.0
// What is known about a finite group: the numbers that decide which models can track it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/algebra/finite_group.h"

namespace lssm::algebra {

struct SylowFact {
  int prime;
  int exponent;  // the Sylow subgroups have prime^exponent elements
  int order;
  bool abelian;
};

struct GroupFacts {
  std::string name;
  std::string description;
  int order;
  bool abelian;
  bool simple;   // no normal subgroup but the trivial one and the group
  bool perfect;  // [G, G] = G
  bool solvable;
  int exponent;                       // least k with g^k = e for all g
  std::map<int, int> element_orders;  // order -> number of elements
  std::vector<int> class_sizes;       // of the conjugacy classes, ascending
  int centre_order;
  std::vector<int> derived_series;      // orders of G, G', G'', … until it stands still
  std::optional<int> derived_length;    // steps to the trivial group, when solvable
  std::optional<int> nilpotency_class;  // when nilpotent
  std::vector<int> abelianization;      // invariant factors of G / [G, G], each divides the next
  int abelianization_order;
  std::vector<SylowFact> sylow;  // by prime
};

GroupFacts group_facts(const FiniteGroup& group);

// Invariant factors of an abelian group: [2, 4] for C2 x C4, [] for the trivial group.
// Throws Error when the group is not abelian.
std::vector<int> invariant_factors(const FiniteGroup& group);

}  // namespace lssm::algebra
