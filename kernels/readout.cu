// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/small.h"
#include "kernels/parallel_for.h"
#include "kernels/readout.h"

namespace lssm::kernels {
namespace {

// Vectors of N components, `heads` numbers apart, in an array [rows, N, heads]. The number of
// components is a constant, so that the loop over heads is vectorised.
template <int N>
struct Columns {
  int64_t heads;
  template <class T>
  LSSM_HD Vec<T, N> load(const T* p, int64_t row, int64_t head) const {
    Vec<T, N> x;
    for (int k = 0; k < N; ++k) x[k] = p[(row * N + k) * heads + head];
    return x;
  }
  template <class T>
  LSSM_HD void store(const Vec<T, N>& x, T* p, int64_t row, int64_t head) const {
    for (int k = 0; k < N; ++k) p[(row * N + k) * heads + head] = x[k];
  }
};

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

// Calls f with the number of components as a constant.
template <class F>
void with_components(int64_t n, F f) {
  switch (n) {
    case 1:
      return f(std::integral_constant<int, 1>{});
    case 2:
      return f(std::integral_constant<int, 2>{});
    case 3:
      return f(std::integral_constant<int, 3>{});
    case 4:
      return f(std::integral_constant<int, 4>{});
    default:
      fail("direction: states of ", n, " components, expected 1 to 4");
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

#define LSSM_READOUT(X) X(direction) X(direction_backward) X(bloch) X(bloch_backward)
LSSM_MAP_KERNELS(readout, LSSM_READOUT)

}  // namespace lssm::kernels
