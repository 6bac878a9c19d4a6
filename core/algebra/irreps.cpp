// SPDX-License-Identifier: Apache-2.0
// A group acts on R^|G| by left multiplication; what commutes with that are the right
// multiplications. The eigenspaces of a random symmetric combination of these are irreducible, and
// every irreducible representation is among them.
#define EIGEN_DONT_PARALLELIZE  // many small products
#include "core/algebra/irreps.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "core/random.h"

namespace lssm::algebra {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

// M = sum_h c_h R_h with R_h e_x = e_{x h^-1}, so M_yx = c at y^-1 x; symmetric since c_h = c_h^-1.
MatrixXd random_commuting_matrix(const FiniteGroup& group, uint32_t attempt) {
  const int n = group.order();
  Random random(1, Stream::check, attempt);
  std::vector<double> c(static_cast<size_t>(n));
  for (double& x : c) x = random.normal();
  MatrixXd m(n, n);
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < n; ++x) {
      const int h = group.product(group.inverse(y), x);
      m(y, x) = c[size_t(h)] + c[size_t(group.inverse(h))];
    }
  }
  return m;
}

// The action on an invariant subspace with orthonormal columns: V^T L_g V, where row g x of L_g V
// is row x of V.
std::vector<double> restricted(const FiniteGroup& group, const MatrixXd& v) {
  const int n = group.order();
  const Index d = v.cols();
  std::vector<double> images(size_t(n) * size_t(d * d));
  MatrixXd moved(n, d);
  for (int g = 0; g < n; ++g) {
    for (int x = 0; x < n; ++x) moved.row(group.product(g, x)) = v.row(x);
    const MatrixXd image = (v.transpose() * moved).transpose();  // column-major: row by row
    std::copy_n(image.data(), d * d, images.begin() + int64_t(g) * d * d);
  }
  return images;
}

using ClassMembers = std::vector<std::vector<int>>;

// The trace of each class.
std::vector<double> character(const FiniteGroup& group, const ClassMembers& classes,
                              const MatrixXd& v) {
  std::vector<double> trace;
  for (const auto& members : classes) {
    double sum = 0;
    for (int x = 0; x < group.order(); ++x)
      sum += v.row(group.product(members[0], x)).dot(v.row(x));
    trace.push_back(sum);
  }
  return trace;
}

// The mean of a b over the group.
double inner(const ClassMembers& classes, const std::vector<double>& a,
             const std::vector<double>& b) {
  double sum = 0, order = 0;
  for (size_t i = 0; i < classes.size(); ++i) {
    sum += double(classes[i].size()) * a[i] * b[i];
    order += double(classes[i].size());
  }
  return sum / order;
}

Subgroup kernel_of(const ClassMembers& classes, const std::vector<double>& chi) {
  Subgroup kernel;
  for (size_t i = 0; i < classes.size(); ++i)
    if (std::abs(chi[i] - chi[0]) < 1e-6)
      kernel.insert(kernel.end(), classes[i].begin(), classes[i].end());
  std::sort(kernel.begin(), kernel.end());
  return kernel;
}

// Empty when two eigenspaces have fallen together.
std::vector<RealIrrep> attempt(const FiniteGroup& group, uint32_t number) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(random_commuting_matrix(group, number));
  const auto& values = solver.eigenvalues();
  const double close = 1e-7 * values.cwiseAbs().maxCoeff();
  const ClassMembers classes = conjugacy_classes(group);
  std::vector<RealIrrep> irreps;
  std::vector<std::vector<double>> characters;
  double total = 0;  // dim^2 / commutant adds up to the group's order
  for (Index first = 0, end = 0; first < values.size(); first = end) {
    for (end = first + 1; end < values.size() && values[end] - values[end - 1] < close;) ++end;
    const MatrixXd v = solver.eigenvectors().middleCols(first, end - first);
    const std::vector<double> chi = character(group, classes, v);
    const double norm = inner(classes, chi, chi);
    const int commutant = int(std::lround(norm));
    if (std::abs(norm - commutant) > 1e-6) return {};
    const auto is_same = [&](const auto& other) { return inner(classes, chi, other) > 0.5; };
    if (std::any_of(characters.begin(), characters.end(), is_same)) continue;
    const int d = int(v.cols());
    total += double(d) * d / commutant;
    irreps.push_back({d, commutant, restricted(group, v), kernel_of(classes, chi)});
    characters.push_back(chi);
  }
  return std::abs(total - group.order()) < 1e-6 ? irreps : std::vector<RealIrrep>{};
}

Eigen::Map<const MatrixXd> transposed_image(const RealIrrep& irrep, int a) {
  return {irrep.image(a), irrep.dim, irrep.dim};
}

}  // namespace

std::vector<RealIrrep> real_irreps(const FiniteGroup& group) {
  LSSM_CHECK(group.order() <= kMaxIrrepOrder, "real_irreps: ", group.name(), " has ", group.order(),
             " elements, expected at most ", kMaxIrrepOrder);
  std::vector<RealIrrep> irreps;
  for (uint32_t number = 0; irreps.empty() && number < 5; ++number) irreps = attempt(group, number);
  LSSM_CHECK(!irreps.empty(), "real_irreps: the eigenspaces of ", group.name(),
             " could not be told apart");
  std::stable_sort(irreps.begin(), irreps.end(), [&](const RealIrrep& a, const RealIrrep& b) {
    return std::pair(a.dim, -int(a.kernel.size())) < std::pair(b.dim, -int(b.kernel.size()));
  });
  return irreps;
}

std::vector<bool> odd_generators(const FiniteGroup& group, const RealIrrep& irrep) {
  std::vector<bool> odd;
  for (const Generator& g : group.generators())
    odd.push_back(MatrixXd(transposed_image(irrep, g.element)).determinant() < 0);
  return odd;
}

}  // namespace lssm::algebra
