// SPDX-License-Identifier: Apache-2.0
// Burnside's method. With omega_i = |C_i| chi(C_i) / chi(1), class sums multiply like
//   omega_i omega_j = sum_k a_ijk omega_k,   a_ijk = the number of x in C_i, y in C_j with x y =
//   z_k,
// so omega is an eigenvector, with the eigenvalue omega_i, of each matrix M_i = (a_ijk)_jk. Scaled
// by the square roots of class sizes these matrices are normal, and the one of the inverse class is
// the adjoint: a combination whose coefficients there are conjugate is Hermitian.
#include "core/algebra/characters.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "core/algebra/subgroups.h"
#include "core/random.h"

namespace lssm::algebra {
namespace {

using Complex = std::complex<double>;
using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::VectorXcd;

constexpr double kTolerance = 1e-9;

// Class functions as vectors whose entries are values times sqrt(|C|): an orthonormal system in it
// is one of the group.
class Classes {
 public:
  Classes(const FiniteGroup& group, const CharacterTable& table) : group_(group), table_(table) {}

  Index count() const { return Index(table_.classes.size()); }
  double size(Index k) const { return double(table_.classes[size_t(k)].size()); }
  Index inverse(Index k) const {
    return table_.class_of[size_t(group_.inverse(table_.classes[size_t(k)][0]))];
  }

  // sum_i c_i M_i with c_i random and conjugate to that of the inverse class.
  MatrixXcd random_combination(uint32_t number) const {
    Random random(3, Stream::check, number);
    std::vector<Complex> draw, c;
    for (Index i = 0; i < count(); ++i) draw.emplace_back(random.normal(), random.normal());
    for (Index i = 0; i < count(); ++i) {
      c.push_back((draw[size_t(i)] + std::conj(draw[size_t(inverse(i))])) / std::sqrt(2 * size(i)));
    }
    MatrixXcd m(count(), count());
    for (Index j = 0; j < count(); ++j) {
      for (Index k = 0; k < count(); ++k) {
        Complex sum = 0;
        const int z = table_.classes[size_t(k)][0];
        for (const int y : table_.classes[size_t(j)]) {
          sum += c[size_t(table_.class_of[size_t(group_.product(z, group_.inverse(y)))])];
        }
        m(j, k) = sum * std::sqrt(size(k) / size(j));
      }
    }
    return m;
  }

 private:
  const FiniteGroup& group_;
  const CharacterTable& table_;
};

double tidy(double x) { return std::abs(x - std::round(x)) < kTolerance ? std::round(x) + 0.0 : x; }

// From an eigenvector u of length 1: omega_k / sqrt(|C_k|) is proportional to chi_k sqrt(|C_k|),
// whose length is sqrt(|G|).
Character character_of(const FiniteGroup& group, const Classes& classes, const VectorXcd& u) {
  Character chi = {};
  const double degree = std::abs(u[0]) * std::sqrt(group.order());
  chi.degree = int(std::lround(degree));
  if (chi.degree < 1 || std::abs(degree - chi.degree) > 1e-6 || group.order() % chi.degree != 0)
    fail_numeric("characters of ", group.name(), ": got a degree of ", degree,
                 ", expected a divisor of ", group.order());
  for (Index k = 0; k < classes.count(); ++k) {
    const Complex value = u[k] / u[0] * double(chi.degree) / std::sqrt(classes.size(k));
    chi.values.emplace_back(tidy(value.real()), tidy(value.imag()));
  }
  return chi;
}

// By degree, then by values; those that differ by rounding alone are equal.
bool before(const Character& a, const Character& b) {
  if (a.degree != b.degree) return a.degree < b.degree;
  for (size_t k = 0; k < a.values.size(); ++k) {
    const Complex difference = a.values[k] - b.values[k];
    if (std::abs(difference.real()) > 1e-6) return difference.real() > 0;
    if (std::abs(difference.imag()) > 1e-6) return difference.imag() > 0;
  }
  return false;
}

// The place of a character among those of its degree, counted from 0: a … z, aa, ab …
std::string letters(int place) {
  std::string text;
  for (int i = place; i >= 0; i = i / 26 - 1) text.insert(text.begin(), char('a' + i % 26));
  return text;
}

void name_and_classify(const FiniteGroup& group, CharacterTable& table) {
  int place = 0;
  for (size_t i = 0; i < table.characters.size(); ++i) {
    Character& chi = table.characters[i];
    place = i > 0 && table.characters[i - 1].degree == chi.degree ? place + 1 : 0;
    chi.name = std::to_string(chi.degree) + letters(place);
    Complex sum = 0;
    for (size_t k = 0; k < table.classes.size(); ++k) {
      const int g = table.classes[k][0], square = group.product(g, g);
      sum += double(table.classes[k].size()) * chi.values[size_t(table.class_of[size_t(square)])];
      if (std::abs(chi.values[k] - double(chi.degree)) < 1e-6)
        chi.kernel_order += int(table.classes[k].size());
    }
    chi.indicator = int(std::lround(sum.real() / group.order()));
  }
}

void check_rows(const FiniteGroup& group, const CharacterTable& table) {
  const Index n = Index(table.classes.size());
  MatrixXcd rows(n, n);
  int64_t squares = 0;
  for (Index i = 0; i < n; ++i) {
    const Character& chi = table.characters[size_t(i)];
    squares += int64_t(chi.degree) * chi.degree;
    for (Index k = 0; k < n; ++k) {
      const double share = double(table.classes[size_t(k)].size()) / group.order();
      rows(i, k) = chi.values[size_t(k)] * std::sqrt(share);
    }
  }
  const double error = (rows * rows.adjoint() - MatrixXcd::Identity(n, n)).cwiseAbs().maxCoeff();
  if (!(error < kTolerance))
    fail_numeric("characters of ", group.name(), ": rows are not orthonormal, off by ", error);
  if (squares != group.order())
    fail_numeric("characters of ", group.name(), ": the squares of the degrees add up to ", squares,
                 ", expected ", group.order());
}

}  // namespace

CharacterTable character_table(const FiniteGroup& group) {
  CharacterTable table = {conjugacy_classes(group), std::vector<int>(size_t(group.order())), {}};
  LSSM_CHECK(table.classes.size() <= size_t(kMaxClasses), "characters: ", group.name(), " has ",
             table.classes.size(), " conjugacy classes, expected at most ", kMaxClasses);
  for (size_t k = 0; k < table.classes.size(); ++k)
    for (const int g : table.classes[k]) table.class_of[size_t(g)] = int(k);

  const Classes classes(group, table);
  const Eigen::SelfAdjointEigenSolver<MatrixXcd> solver(classes.random_combination(0));
  const MatrixXcd& vectors = solver.eigenvectors();
  // Two characters whose eigenvalues fell together would not be eigenvectors of another
  // combination.
  const MatrixXcd other = classes.random_combination(1);
  const MatrixXcd image = other * vectors;
  const VectorXcd values = (vectors.conjugate().cwiseProduct(image)).colwise().sum();
  const double error = (image - vectors * values.asDiagonal()).norm() / other.norm();
  if (!(error < kTolerance))
    fail_numeric("characters of ", group.name(), ": not common eigenvectors, off by ", error);

  for (Index i = 0; i < classes.count(); ++i)
    table.characters.push_back(character_of(group, classes, vectors.col(i)));
  std::sort(table.characters.begin(), table.characters.end(), before);
  name_and_classify(group, table);
  check_rows(group, table);
  return table;
}

std::vector<Complex> multiplicities(const CharacterTable& table,
                                    const std::vector<Complex>& class_function) {
  LSSM_CHECK(class_function.size() == table.classes.size(), "multiplicities: got ",
             class_function.size(), " values, the group has ", table.classes.size(), " classes");
  std::vector<Complex> out;
  for (const Character& chi : table.characters) {
    Complex sum = 0;
    for (size_t k = 0; k < chi.values.size(); ++k)
      sum += double(table.classes[k].size()) * class_function[k] * std::conj(chi.values[k]);
    out.push_back(sum / double(table.class_of.size()));
  }
  return out;
}

}  // namespace lssm::algebra
