// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/columns.h"
#include "kernels/parallel_for.h"
#include "kernels/readout.h"

namespace lssm::kernels {
namespace {

// 1 / |h|, 0 where h is 0. The largest component is divided out first: the squares of a state that
// a contraction has made tiny leave the range of T. Denormal states count as 0: 1 / |h| overflows.
// (`inline`: GCC calls it otherwise, and the loop over heads is not vectorised, five times slower.)
template <class T, int N>
LSSM_HD inline T inverse_length(const Vec<T, N>& h) {
  constexpr T kSmallest = std::numeric_limits<T>::min();
  T largest = 0;
  for (int k = 0; k < N; ++k) largest = std::abs(h[k]) > largest ? std::abs(h[k]) : largest;
  const T scale = largest >= kSmallest ? 1 / largest : T(0);
  const Vec<T, N> unit = scale * h;
  const T squares = dot(unit, unit);
  return squares > 0 ? scale / std::sqrt(squares) : squares;
}

template <int N, class T>
struct Direction {
  Columns<N> at;
  const T* h;
  T* y;
  LSSM_HD void operator()(int64_t row, int64_t head) const {
    const Vec<T, N> x = at.load(h, row, head);
    at.store(inverse_length(x) * x, y, row, head);
  }
};

template <int N, class T>
struct DirectionBackward {
  Columns<N> at;
  const T* h;
  const T* y;
  const T* dy;
  T* dh;
  LSSM_HD void operator()(int64_t row, int64_t head) const {
    const Vec<T, N> u = at.load(y, row, head), du = at.load(dy, row, head);
    at.store(inverse_length(at.load(h, row, head)) * (du - dot(u, du) * u), dh, row, head);
  }
};

// The length of h, given 1 / |h|: exact where that is, 0 where |h| counts as 0.
template <class T, int N>
LSSM_HD inline T length_of(const Vec<T, N>& h, T inverse) {
  return dot(inverse * h, h);
}

template <int N, class T>
struct DirectionRadial {
  Columns<N> from;
  Columns<N + 1> to;
  const T* h;
  T* y;
  LSSM_HD void operator()(int64_t row, int64_t head) const {
    const Vec<T, N> x = from.load(h, row, head);
    const T inverse = inverse_length(x);
    Vec<T, N + 1> out;
    for (int k = 0; k < N; ++k) out[k] = inverse * x[k];
    out[N] = std::log1p(length_of(x, inverse));
    to.store(out, y, row, head);
  }
};

// d log(1 + |h|) = u / (1 + |h|)
template <int N, class T>
struct DirectionRadialBackward {
  Columns<N> from;
  Columns<N + 1> to;
  const T* h;
  const T* dy;
  T* dh;
  LSSM_HD void operator()(int64_t row, int64_t head) const {
    const Vec<T, N> x = from.load(h, row, head);
    const Vec<T, N + 1> d = to.load(dy, row, head);
    const T inverse = inverse_length(x);
    const Vec<T, N> u = inverse * x;
    Vec<T, N> du;
    for (int k = 0; k < N; ++k) du[k] = d[k];
    const T radial = d[N] / (1 + length_of(x, inverse));
    from.store(inverse * (du - dot(u, du) * u) + radial * u, dh, row, head);
  }
};

// Calls f with the number of components as a constant.
template <class F, int N = 1>
void with_components(int64_t n, F f, std::integral_constant<int, N> = {}) {
  constexpr int kMost = 8;
  if (n == N) return f(std::integral_constant<int, N>{});
  if constexpr (N < kMost) {
    with_components(n, f, std::integral_constant<int, N + 1>{});
  } else {
    fail("direction: states of ", n, " components, expected 1 to ", kMost);
  }
}

template <class T>
struct Bloch {
  Columns<4> from;
  Columns<3> to;
  const T* h;
  T* out;
  LSSM_HD void operator()(int64_t row, int64_t head) const {
    const Vec<T, 4> q = from.load(h, row, head);
    const T w = q[0], x = q[1], y = q[2], z = q[3];
    to.store(Vec<T, 3>{{2 * (w * y + z * x), 2 * (z * y - w * x), w * w + z * z - x * x - y * y}},
             out, row, head);
  }
};

template <class T>
struct BlochBackward {
  Columns<4> from;
  Columns<3> to;
  const T* h;
  const T* dout;
  T* dh;
  LSSM_HD void operator()(int64_t row, int64_t head) const {
    const Vec<T, 4> q = from.load(h, row, head);
    const Vec<T, 3> d = to.load(dout, row, head);
    const T w = q[0], x = q[1], y = q[2], z = q[3], a = d[0], b = d[1], c = d[2];
    const Vec<T, 4> dq = {{a * y - b * x + c * w, a * z - b * w - c * x, a * w + b * z - c * y,
                           a * x + b * y + c * z}};
    from.store(T(2) * dq, dh, row, head);
  }
};

void direction_map(const Tensor& h, Tensor& y) {
  with_real(h.dtype(), [&]<class T>(T) {
    with_components(h.dim(1), [&]<int N>(std::integral_constant<int, N>) {
      const Direction<N, T> map = {{h.dim(2)}, h.data<T>(), y.data<T>()};
      parallel_for_rows(h.device(), h.dim(0), h.dim(2), map);
    });
  });
}

void direction_backward_map(const Tensor& h, const Tensor& y, const Tensor& dy, Tensor& dh) {
  with_real(h.dtype(), [&]<class T>(T) {
    with_components(h.dim(1), [&]<int N>(std::integral_constant<int, N>) {
      const DirectionBackward<N, T> map = {
          {h.dim(2)}, h.data<T>(), y.data<T>(), dy.data<T>(), dh.data<T>()};
      parallel_for_rows(h.device(), h.dim(0), h.dim(2), map);
    });
  });
}

void direction_radial_map(const Tensor& h, Tensor& y) {
  with_real(h.dtype(), [&]<class T>(T) {
    with_components(h.dim(1), [&]<int N>(std::integral_constant<int, N>) {
      const DirectionRadial<N, T> map = {{h.dim(2)}, {h.dim(2)}, h.data<T>(), y.data<T>()};
      parallel_for_rows(h.device(), h.dim(0), h.dim(2), map);
    });
  });
}

void direction_radial_backward_map(const Tensor& h, const Tensor& dy, Tensor& dh) {
  with_real(h.dtype(), [&]<class T>(T) {
    with_components(h.dim(1), [&]<int N>(std::integral_constant<int, N>) {
      const DirectionRadialBackward<N, T> map = {
          {h.dim(2)}, {h.dim(2)}, h.data<T>(), dy.data<T>(), dh.data<T>()};
      parallel_for_rows(h.device(), h.dim(0), h.dim(2), map);
    });
  });
}

void bloch_map(const Tensor& h, Tensor& out) {
  with_real(h.dtype(), [&]<class T>(T) {
    const Bloch<T> map = {{h.dim(2)}, {h.dim(2)}, h.data<T>(), out.data<T>()};
    parallel_for_rows(h.device(), h.dim(0), h.dim(2), map);
  });
}

void bloch_backward_map(const Tensor& h, const Tensor& dout, Tensor& dh) {
  with_real(h.dtype(), [&]<class T>(T) {
    const BlochBackward<T> map = {
        {h.dim(2)}, {h.dim(2)}, h.data<T>(), dout.data<T>(), dh.data<T>()};
    parallel_for_rows(h.device(), h.dim(0), h.dim(2), map);
  });
}

}  // namespace

#define LSSM_READOUT(X) \
  X(direction)          \
  X(direction_backward) X(direction_radial) X(direction_radial_backward) X(bloch) X(bloch_backward)
LSSM_MAP_KERNELS(readout, LSSM_READOUT)

}  // namespace lssm::kernels
