// SPDX-License-Identifier: Apache-2.0
#include "core/algebra/irrep_facts.h"

#include <cmath>
#include <complex>
#include <numbers>

#include "core/algebra/characters.h"

namespace lssm::algebra {
namespace {

constexpr size_t kMaxClassesHere = 300;

using Complex = std::complex<double>;

// det(g) = exp(2 pi i k / m) with m the order of g; returns k. The eigenvalue exp(2 pi i j / m) of
// g comes (1 / m) sum_s chi(g^s) exp(-2 pi i j s / m) times.
int determinant_phase(const FiniteGroup& group, const CharacterTable& table, const Character& chi,
                      int g, int m) {
  int phase = 0;
  for (int j = 1; j < m; ++j) {
    Complex sum = 0;
    for (int s = 0, power = 0; s < m; ++s, power = group.product(power, g)) {
      const double angle = -2 * std::numbers::pi * (int64_t(j) * s % m) / m;
      sum += chi.values[size_t(table.class_of[size_t(power)])] * std::polar(1.0, angle);
    }
    phase += j * int(std::lround(sum.real() / m));
  }
  return phase % m;
}

// Of two conjugate characters, the one whose first value off the real line is above it.
bool is_listed(const Character& chi) {
  for (const Complex& value : chi.values)
    if (std::abs(value.imag()) > 1e-9) return value.imag() > 0;
  return true;
}

}  // namespace

std::optional<std::vector<IrrepFacts>> irrep_facts(const FiniteGroup& group) {
  if (conjugacy_classes(group).size() > kMaxClassesHere) return std::nullopt;
  const CharacterTable table = character_table(group);
  std::vector<IrrepFacts> all;
  for (const Character& chi : table.characters) {
    if (!is_listed(chi)) continue;
    const bool real = chi.indicator == 1;
    IrrepFacts facts{chi.degree, real ? chi.degree : 2 * chi.degree, {}, true, {}};
    for (int a = 0; a < group.order(); ++a) {
      const Complex value = chi.values[size_t(table.class_of[size_t(a)])];
      if (std::abs(value - double(chi.degree)) < 1e-6) facts.kernel.push_back(a);
    }
    for (const Generator& g : group.generators()) {
      const int m = group.element_order(g.element);
      const int phase = determinant_phase(group, table, chi, g.element, m);
      facts.special_unitary &= phase == 0;
      facts.odd.push_back(real && phase != 0);
    }
    all.push_back(std::move(facts));
  }
  return all;
}

}  // namespace lssm::algebra
