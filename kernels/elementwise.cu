// SPDX-License-Identifier: Apache-2.0
#include "core/random.h"
#include "core/special.h"
#include "kernels/elementwise.h"
#include "kernels/parallel_for.h"

namespace lssm::kernels {
namespace {

template <class T>
struct Fill {
  double value;  // in f64, so that the struct has no padding
  T* y;
  LSSM_HD void operator()(int64_t i) const { y[i] = T(value); }
};

template <class T>
struct Add {
  const T* a;
  const T* b;
  T* y;
  LSSM_HD void operator()(int64_t i) const { y[i] = a[i] + b[i]; }
};

template <class T>
struct Multiply {
  const T* a;
  const T* b;
  T* y;
  LSSM_HD void operator()(int64_t i) const { y[i] = a[i] * b[i]; }
};

template <class T>
struct Scale {
  const T* x;
  const T* factor;
  T* y;
  LSSM_HD void operator()(int64_t i) const { y[i] = *factor * x[i]; }
};

// Each activation: its value and its derivative at x.
struct Sigmoid {
  template <class T>
  LSSM_HD static T value(T x) {
    return logistic(x);
  }
  template <class T>
  LSSM_HD static T derivative(T x) {
    const T s = value(x);
    return s * (1 - s);
  }
};

struct Tanh {
  template <class T>
  LSSM_HD static T value(T x) {
    return hyperbolic_tangent(x);
  }
  template <class T>
  LSSM_HD static T derivative(T x) {
    const T y = value(x);
    return 1 - y * y;
  }
};

struct Gelu {
  template <class T>
  LSSM_HD static T value(T x) {
    return x * normal(x).cdf;
  }
  template <class T>
  LSSM_HD static T derivative(T x) {
    const Normal<T> n = normal(x);
    return n.cdf + x * (T(0.3989422804014327) * n.bell);  // 1 / sqrt(2 pi)
  }
};

struct Silu {
  template <class T>
  LSSM_HD static T value(T x) {
    return x * logistic(x);
  }
  template <class T>
  LSSM_HD static T derivative(T x) {
    const T s = logistic(x);
    return s * (1 + x * (1 - s));
  }
};

template <class A, class T>
struct Activate {
  const T* x;
  T* y;
  LSSM_HD void operator()(int64_t i) const { y[i] = A::value(x[i]); }
};

template <class A, class T>
struct ActivateBackward {
  const T* x;
  const T* dy;
  T* dx;
  LSSM_HD void operator()(int64_t i) const { dx[i] = dy[i] * A::derivative(x[i]); }
};

template <class F>
void with_activation(Activation kind, F f) {
  switch (kind) {
    case Activation::sigmoid:
      return f(Sigmoid{});
    case Activation::tanh:
      return f(Tanh{});
    case Activation::gelu:
      return f(Gelu{});
    case Activation::silu:
      return f(Silu{});
  }
}

template <class T>
struct Dropout {
  DropoutCoins coins;
  const T* x;
  T* y;
  LSSM_HD void operator()(int64_t i) const {
    const uint64_t block = (uint64_t(coins.site) << 48) | (uint64_t(i) / 4);
    const r123array4x32 bits = random_block(coins.seed, Stream::dropout, coins.draw, block);
    const bool keep = uniform_from_bits(bits.v[i % 4]) >= float(coins.rate);
    y[i] = keep ? x[i] / (1 - T(coins.rate)) : T(0);
  }
};

void fill_map(Tensor& y, double value) {
  with_real(y.dtype(), [&]<class T>(T) {
    parallel_for(y.device(), y.numel(), Fill<T>{value, y.data<T>()});
  });
}

void add_map(const Tensor& a, const Tensor& b, Tensor& y) {
  with_real(y.dtype(), [&]<class T>(T) {
    parallel_for(y.device(), y.numel(), Add<T>{a.data<T>(), b.data<T>(), y.data<T>()});
  });
}

void multiply_map(const Tensor& a, const Tensor& b, Tensor& y) {
  with_real(y.dtype(), [&]<class T>(T) {
    parallel_for(y.device(), y.numel(), Multiply<T>{a.data<T>(), b.data<T>(), y.data<T>()});
  });
}

void scale_map(const Tensor& x, const Tensor& factor, Tensor& y) {
  with_real(y.dtype(), [&]<class T>(T) {
    parallel_for(y.device(), y.numel(), Scale<T>{x.data<T>(), factor.data<T>(), y.data<T>()});
  });
}

void activation_map(Activation kind, const Tensor& x, Tensor& y) {
  with_real(y.dtype(), [&]<class T>(T) {
    with_activation(kind, [&]<class A>(A) {
      parallel_for(y.device(), y.numel(), Activate<A, T>{x.data<T>(), y.data<T>()});
    });
  });
}

void activation_backward_map(Activation kind, const Tensor& x, const Tensor& dy, Tensor& dx) {
  with_real(dx.dtype(), [&]<class T>(T) {
    with_activation(kind, [&]<class A>(A) {
      parallel_for(dx.device(), dx.numel(),
                   ActivateBackward<A, T>{x.data<T>(), dy.data<T>(), dx.data<T>()});
    });
  });
}

void dropout_map(const DropoutCoins& coins, const Tensor& x, Tensor& y) {
  with_real(y.dtype(), [&]<class T>(T) {
    parallel_for(y.device(), y.numel(), Dropout<T>{coins, x.data<T>(), y.data<T>()});
  });
}

}  // namespace

#define LSSM_ELEMENTWISE(X) \
  X(fill) X(add) X(multiply) X(scale) X(activation) X(activation_backward) X(dropout)
LSSM_MAP_KERNELS(elementwise, LSSM_ELEMENTWISE)

}  // namespace lssm::kernels
