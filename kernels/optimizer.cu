// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "core/small.h"
#include "kernels/optimizer.h"
#include "kernels/parallel_for.h"

namespace lssm::kernels {
namespace {

template <class T>
struct Adam {
  T step_size, beta1, beta2, rest1, rest2, eps, decay, root2;
  double grad_scale;  // in f64, so that the struct has no padding: kernels get no stray bytes
  const T* grad;
  T* m;
  T* v;
  T* w;
  LSSM_HD void operator()(int64_t i) const {
    const T g = T(grad_scale) * grad[i];
    m[i] = beta1 * m[i] + rest1 * g;
    v[i] = beta2 * v[i] + rest2 * g * g;
    w[i] = decay * w[i] - step_size * m[i] / (std::sqrt(v[i]) * root2 + eps);
  }
};

template <class T>
struct Sgd {
  T lr, momentum, decay, grad_scale;
  const T* grad;
  T* u;
  T* w;
  LSSM_HD void operator()(int64_t i) const {
    u[i] = momentum * u[i] + grad_scale * grad[i];
    w[i] = decay * w[i] - lr * u[i];
  }
};

void adam_map(const AdamStep& s, const Tensor& grad, Tensor& m, Tensor& v, Tensor& w) {
  with_real(w.dtype(), [&]<class T>(T) {
    const Adam<T> update = {T(s.lr / s.correction1),
                            T(s.beta1),
                            T(s.beta2),
                            T(1 - s.beta1),  // in f32 1 - beta would lose digits
                            T(1 - s.beta2),
                            T(s.eps),
                            T(1 - s.lr * s.weight_decay),
                            T(1 / std::sqrt(s.correction2)),
                            s.grad_scale,
                            grad.data<T>(),
                            m.data<T>(),
                            v.data<T>(),
                            w.data<T>()};
    parallel_for(w.device(), w.numel(), update);
  });
}

void sgd_map(const SgdStep& s, const Tensor& grad, Tensor& u, Tensor& w) {
  with_real(w.dtype(), [&]<class T>(T) {
    const Sgd<T> update = {T(s.lr),         T(s.momentum),  T(1 - s.lr * s.weight_decay),
                           T(s.grad_scale), grad.data<T>(), u.data<T>(),
                           w.data<T>()};
    parallel_for(w.device(), w.numel(), update);
  });
}

}  // namespace

#define LSSM_OPTIMIZER(X) X(adam) X(sgd)
LSSM_MAP_KERNELS(optimizer, LSSM_OPTIMIZER)

}  // namespace lssm::kernels
