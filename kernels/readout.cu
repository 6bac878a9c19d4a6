// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "core/small.h"
#include "kernels/parallel_for.h"
#include "kernels/readout.h"

namespace lssm::kernels {
namespace {

// Vectors of `n` components, `heads` numbers apart; vector i is (row i / heads, head i % heads).
struct Columns {
  int64_t n;
  int64_t heads;
  LSSM_HD int64_t first(int64_t i) const { return i / heads * (n * heads) + i % heads; }
};

template <class T>
struct Direction {
  Columns at;
  const T* h;
  T* y;
  LSSM_HD void operator()(int64_t i) const {
    const int64_t first = at.first(i);
    T squares = 0;
    for (int64_t k = 0; k < at.n; ++k) squares += h[first + k * at.heads] * h[first + k * at.heads];
    const T inverse = squares > 0 ? 1 / std::sqrt(squares) : T(0);
    for (int64_t k = 0; k < at.n; ++k) y[first + k * at.heads] = inverse * h[first + k * at.heads];
  }
};

template <class T>
struct DirectionBackward {
  Columns at;
  const T* h;
  const T* y;
  const T* dy;
  T* dh;
  LSSM_HD void operator()(int64_t i) const {
    const int64_t first = at.first(i);
    T squares = 0, along = 0;
    for (int64_t k = 0; k < at.n; ++k) {
      const int64_t j = first + k * at.heads;
      squares += h[j] * h[j];
      along += y[j] * dy[j];
    }
    const T inverse = squares > 0 ? 1 / std::sqrt(squares) : T(0);
    for (int64_t k = 0; k < at.n; ++k) {
      const int64_t j = first + k * at.heads;
      dh[j] = inverse * (dy[j] - along * y[j]);
    }
  }
};

template <class T>
struct Bloch {
  int64_t heads;
  const T* h;
  T* out;
  LSSM_HD void operator()(int64_t i) const {
    const int64_t from = Columns{4, heads}.first(i), to = Columns{3, heads}.first(i);
    const T w = h[from], x = h[from + heads], y = h[from + 2 * heads], z = h[from + 3 * heads];
    out[to] = 2 * (w * y + z * x);
    out[to + heads] = 2 * (z * y - w * x);
    out[to + 2 * heads] = w * w + z * z - x * x - y * y;
  }
};

template <class T>
struct BlochBackward {
  int64_t heads;
  const T* h;
  const T* dout;
  T* dh;
  LSSM_HD void operator()(int64_t i) const {
    const int64_t from = Columns{4, heads}.first(i), to = Columns{3, heads}.first(i);
    const T w = h[from], x = h[from + heads], y = h[from + 2 * heads], z = h[from + 3 * heads];
    const T a = dout[to], b = dout[to + heads], c = dout[to + 2 * heads];
    dh[from] = 2 * (a * y - b * x + c * w);
    dh[from + heads] = 2 * (a * z - b * w - c * x);
    dh[from + 2 * heads] = 2 * (a * w + b * z - c * y);
    dh[from + 3 * heads] = 2 * (a * x + b * y + c * z);
  }
};

}  // namespace

void direction(const Tensor& h, Tensor& y) {
  const Columns at = {h.dim(1), h.dim(2)};
  with_real(h.dtype(), [&]<class T>(T) {
    parallel_for(h.device(), h.dim(0) * at.heads, Direction<T>{at, h.data<T>(), y.data<T>()});
  });
}

void direction_backward(const Tensor& h, const Tensor& y, const Tensor& dy, Tensor& dh) {
  const Columns at = {h.dim(1), h.dim(2)};
  with_real(h.dtype(), [&]<class T>(T) {
    parallel_for(h.device(), h.dim(0) * at.heads,
                 DirectionBackward<T>{at, h.data<T>(), y.data<T>(), dy.data<T>(), dh.data<T>()});
  });
}

void bloch(const Tensor& h, Tensor& out) {
  with_real(h.dtype(), [&]<class T>(T) {
    parallel_for(h.device(), h.dim(0) * h.dim(2), Bloch<T>{h.dim(2), h.data<T>(), out.data<T>()});
  });
}

void bloch_backward(const Tensor& h, const Tensor& dout, Tensor& dh) {
  with_real(h.dtype(), [&]<class T>(T) {
    parallel_for(h.device(), h.dim(0) * h.dim(2),
                 BlochBackward<T>{h.dim(2), h.data<T>(), dout.data<T>(), dh.data<T>()});
  });
}

}  // namespace lssm::kernels
