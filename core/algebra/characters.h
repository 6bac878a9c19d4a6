// SPDX-License-Identifier: Apache-2.0
// The complex characters of a finite group.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "core/algebra/finite_group.h"

namespace lssm::algebra {

struct Character {
  std::string name;  // the degree and a letter: 1a, 1b, 4a
  int degree;
  // Frobenius and Schur's, the mean of chi(g^2): 1 where the representation is real, -1 where it is
  // quaternionic (it has a real character but no real matrices), 0 where the character is not real.
  int indicator;
  int kernel_order;                          // of the elements that are mapped to the identity
  std::vector<std::complex<double>> values;  // one for each class
};

struct CharacterTable {
  std::vector<std::vector<int>> classes;  // as conjugacy_classes() gives them
  std::vector<int> class_of;              // [group order]
  // All irreducible characters by degree, the trivial one first; of one degree by their values on
  // the classes, the larger first.
  std::vector<Character> characters;
};

constexpr int kMaxClasses = 1024;  // the work is cubic in the number of classes: seconds

// By Burnside's method: a random Hermitian combination of the class-multiplication matrices has the
// characters as its eigenvectors. Checked: degrees are whole numbers that divide |G| and whose
// squares add up to |G|, the rows are orthonormal to 1e-9, and class sums multiply as the group
// says. Values are good to about 1e-12; where they are whole numbers, they are exactly that.
// Throws Error for a group of more than kMaxClasses classes, or (numeric) when a check fails.
CharacterTable character_table(const FiniteGroup& group);

// How often each irreducible character is contained in a class function, given by its values on the
// classes: <f, chi> = the mean over the group of f times the conjugate of chi.
std::vector<std::complex<double>> multiplicities(
    const CharacterTable& table, const std::vector<std::complex<double>>& class_function);

}  // namespace lssm::algebra
