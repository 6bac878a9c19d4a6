// SPDX-License-Identifier: Apache-2.0
#include "layers/inspection.h"

#include "autodiff/ops.h"
#include "core/lie/group.h"

namespace lssm {

// Columns are what one step of the scan makes of the basis vectors.
Tensor transition_matrices(const std::string& group, const Tensor& a, int64_t heads) {
  int64_t k = 0, v = 0;
  lie::with_group(group, [&]<class G>(G) { k = G::algebra_dim, v = G::vector_dim; });
  const int64_t tokens = a.dim(0);
  Tape tape(false);
  const Var steps = tape.leaf(Tensor::from_host({tokens, 1, k, heads}, a.to_host(), DType::f64));
  Tensor matrices({tokens, v, v, heads}, DType::f64);
  for (int64_t j = 0; j < v; ++j) {
    Tensor basis = Tensor::zeros({1, v, heads}, DType::f64);
    for (int64_t head = 0; head < heads; ++head) basis.data<double>()[j * heads + head] = 1;
    const std::vector<double> column =
        scan(group, steps, Var(), tape.leaf(basis), Tensor()).value().to_host();
    for (int64_t i = 0; i < tokens * v; ++i)
      for (int64_t head = 0; head < heads; ++head)
        matrices.data<double>()[(i * v + j) * heads + head] = column[size_t(i * heads + head)];
  }
  return matrices;
}

}  // namespace lssm
