// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/simd.h"
#include "kernels/head_matrix.h"
#include "kernels/parallel_for.h"

namespace lssm::kernels {
namespace {

// 1 / the largest of the sizes, by which vectors are scaled before they are squared. As in
// readout.cu, denormal vectors count as 0.
template <class T>
LSSM_HD inline T inverse_of_largest(T largest) {
  return largest >= std::numeric_limits<T>::min() ? 1 / largest : T(0);
}

// ---- products of reflections ----

// H = I - beta inverse v v^T
template <int d, class T>
struct Reflection {
  Vec<T, d> v;
  T scale;    // v = scale k
  T inverse;  // 1 / v.v, or 0
  T beta;

  LSSM_HD Vec<T, d> operator()(const Vec<T, d>& x) const {
    return x - (beta * inverse * dot(v, x)) * v;
  }
};

template <int d, class T>
struct Reflections {
  int64_t count, heads;
  int64_t k_step;  // numbers from one row of k to the next
  const T* k;
  const T* beta;

  LSSM_HD inline Reflection<d, T> operator()(int64_t row, int64_t j, int64_t head) const {
    Reflection<d, T> h;
    T largest = 0;
    for (int i = 0; i < d; ++i) {
      h.v[i] = k[row * k_step + (j * d + i) * heads + head];
      largest = std::abs(h.v[i]) > largest ? std::abs(h.v[i]) : largest;
    }
    h.scale = inverse_of_largest(largest);
    h.v = h.scale * h.v;
    const T squares = dot(h.v, h.v);
    h.inverse = squares > 0 ? 1 / squares : squares;
    h.beta = beta[(row * count + j) * heads + head];
    return h;
  }
};

template <int d, class T>
Reflections<d, T> reflections(const Tensor& k, const Tensor& beta) {
  const int64_t step = k.dim(0) == 1 ? 0 : k.dim(1) * k.dim(2);
  return {beta.dim(1), beta.dim(2), step, k.data<T>(), beta.data<T>()};
}

// A column at a time: few enough numbers for registers.
template <int d, class T>
struct HouseholderProduct {
  Reflections<d, T> h;
  T* a;
  LSSM_HD void operator()(int64_t column, int64_t head) const {
    const int64_t row = column / d, c = column % d;
    Vec<T, d> y;
    for (int i = 0; i < d; ++i) y[i] = T(i == c ? 1 : 0);
    for (int64_t j = 0; j < h.count; ++j) y = h(row, j, head)(y);
    for (int i = 0; i < d; ++i) a[((row * d + i) * d + c) * h.heads + head] = y[i];
  }
};

// A reflection at a time. With A = S H P, M = S^T dA P^T and w = (M + M^T) v:
//   dbeta = -(v . M v) / v.v,  dv = -beta / v.v (w - (v . w) / v.v v)
// and M v, M^T v need vectors only. dv is at right angles to v, so the scale is a constant.
template <int d, class T>
struct HouseholderProductBackward {
  Reflections<d, T> h;
  const T* da;
  T* dk;
  T* dbeta;
  LSSM_HD void operator()(int64_t reflection, int64_t head) const {
    const int64_t row = reflection / h.count, j = reflection % h.count;
    const Reflection<d, T> own = h(row, j, head);
    Vec<T, d> before = own.v, after = own.v;  // P^T v, S v
    for (int64_t i = j - 1; i >= 0; --i) before = h(row, i, head)(before);
    for (int64_t i = j + 1; i < h.count; ++i) after = h(row, i, head)(after);
    Vec<T, d> mv = {}, mtv = {};
    for (int r = 0; r < d; ++r) {
      for (int c = 0; c < d; ++c) {
        const T g = da[((row * d + r) * d + c) * h.heads + head];
        mv[r] = mul_add(g, before[c], mv[r]);
        mtv[c] = mul_add(g, after[r], mtv[c]);
      }
    }
    for (int64_t i = h.count - 1; i > j; --i) mv = h(row, i, head)(mv);
    for (int64_t i = 0; i < j; ++i) mtv = h(row, i, head)(mtv);

    const Vec<T, d> w = mv + mtv;
    const Vec<T, d> tangent = w - (own.inverse * dot(own.v, w)) * own.v;
    const T factor = -own.scale * own.beta * own.inverse;
    for (int i = 0; i < d; ++i) {
      dk[(reflection * d + i) * h.heads + head] = factor * tangent[i];
    }
    dbeta[reflection * h.heads + head] = -own.inverse * dot(own.v, mv);
  }
};

template <class F, int d = kLeastReflected>
void with_reflected(int64_t size, F f, std::integral_constant<int, d> = {}) {
  if (size == d) return f(std::integral_constant<int, d>{});
  if constexpr (d < kMostReflected) {
    with_reflected(size, f, std::integral_constant<int, d + 1>{});
  } else {
    fail("householder_product: vectors of ", size, " components, expected ", kLeastReflected,
         " to ", kMostReflected);
  }
}

void householder_product_map(const Tensor& k, const Tensor& beta, Tensor& a) {
  with_real(a.dtype(), [&]<class T>(T) {
    with_reflected(k.dim(1) / beta.dim(1), [&]<int d>(std::integral_constant<int, d>) {
      const HouseholderProduct<d, T> f = {reflections<d, T>(k, beta), a.data<T>()};
      parallel_for_rows(a.device(), a.dim(0) * d, a.dim(2), f);
    });
  });
}

void householder_product_backward_map(const Tensor& k, const Tensor& beta, const Tensor& da,
                                      Tensor& dk, Tensor& dbeta) {
  with_real(da.dtype(), [&]<class T>(T) {
    with_reflected(k.dim(1) / beta.dim(1), [&]<int d>(std::integral_constant<int, d>) {
      const HouseholderProductBackward<d, T> f = {reflections<d, T>(k, beta), da.data<T>(),
                                                  dk.data<T>(), dbeta.data<T>()};
      parallel_for_rows(da.device(), beta.dim(0) * beta.dim(1), beta.dim(2), f);
    });
  });
}

// ---- products of two matrices ----

template <class T>
struct Matrices {
  const T* p;
  int64_t step, down, right;  // numbers to the next row of the array, row and column of a matrix

  LSSM_HD T operator()(int64_t row, int64_t i, int64_t j, int64_t head) const {
    return p[row * step + i * down + j * right + head];
  }
};

template <class T>
Matrices<T> matrices(const Tensor& x, bool transposed, int64_t n) {
  const int64_t heads = x.dim(2), step = x.dim(0) == 1 ? 0 : n * n * heads;
  return transposed ? Matrices<T>{x.data<T>(), step, heads, n * heads}
                    : Matrices<T>{x.data<T>(), step, n * heads, heads};
}

// An entry at a time.
template <class T>
struct HeadMatmul {
  int64_t n, heads;
  Matrices<T> a, b;
  T* y;
  LSSM_HD void operator()(int64_t entry, int64_t head) const {
    const int64_t row = entry / (n * n), i = entry / n % n, j = entry % n;
    T sum = 0;
    for (int64_t k = 0; k < n; ++k) sum = mul_add(a(row, i, k, head), b(row, k, j, head), sum);
    y[entry * heads + head] = sum;
  }
};

void head_matmul_map(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b,
                     Tensor& y) {
  int64_t n = 0;
  while (n * n < y.dim(1)) ++n;
  with_real(y.dtype(), [&]<class T>(T) {
    const HeadMatmul<T> f = {n, y.dim(2), matrices<T>(a, transpose_a, n),
                             matrices<T>(b, transpose_b, n), y.data<T>()};
    parallel_for_rows(y.device(), y.dim(0) * n * n, y.dim(2), f);
  });
}

// ---- orthonormal frames ----

// S = U diag(p) V^T / scale, by Jacobi rotations of the columns of S until they stand at right
// angles (Hestenes 1958). They diagonalise S^T S without forming it, which would lose half of the
// digits of small singular values. Sizes are no constants: frames are few, and code for each pair
// of sizes would be much.
template <class T>
struct Svd {
  int d, c;
  T u[kMostInFrame * kMostInFrame];  // column by column
  T v[kMostInFrame * kMostInFrame];
  T p[kMostInFrame], inverse[kMostInFrame];  // 1 / p, 0 where p counts as 0
  T scale;

  LSSM_HD T dot_columns(int i, int j) const {
    T sum = 0;
    for (int r = 0; r < d; ++r) sum = mul_add(u[i * d + r], u[j * d + r], sum);
    return sum;
  }

  LSSM_HD static void rotate(T* x, int rows, int i, int j, T cosine, T sine) {
    for (int r = 0; r < rows; ++r) {
      const T xi = x[i * rows + r], xj = x[j * rows + r];
      x[i * rows + r] = cosine * xi - sine * xj;
      x[j * rows + r] = sine * xi + cosine * xj;
    }
  }

  // Whether the columns i and j had to be turned.
  LSSM_HD bool make_orthogonal(int i, int j) {
    const T ii = dot_columns(i, i), jj = dot_columns(j, j), ij = dot_columns(i, j);
    const T tolerance = T(d) * std::numeric_limits<T>::epsilon();
    if (!(std::abs(ij) > tolerance * std::sqrt(ii) * std::sqrt(jj))) return false;
    const T cotangent = (jj - ii) / (2 * ij);  // of twice the angle
    const T tangent = (cotangent < 0 ? T(-1) : T(1)) /
                      (std::abs(cotangent) + std::sqrt(1 + cotangent * cotangent));
    const T cosine = 1 / std::sqrt(1 + tangent * tangent);
    rotate(u, d, i, j, cosine, cosine * tangent);
    rotate(v, c, i, j, cosine, cosine * tangent);
    return true;
  }

  LSSM_HD void decompose() {
    constexpr int kMostSweeps = 30;  // about 8 are needed
    for (int k = 0; k < c * c; ++k) v[k] = T(k % (c + 1) == 0 ? 1 : 0);
    bool turned = true;
    for (int sweep = 0; sweep < kMostSweeps && turned; ++sweep) {
      turned = false;
      for (int i = 0; i < c; ++i)
        for (int j = i + 1; j < c; ++j) turned = make_orthogonal(i, j) || turned;
    }
    T largest = 0;
    for (int j = 0; j < c; ++j) {
      p[j] = std::sqrt(dot_columns(j, j));
      largest = p[j] > largest ? p[j] : largest;
    }
    for (int j = 0; j < c; ++j) {
      inverse[j] = p[j] > T(d) * std::numeric_limits<T>::epsilon() * largest ? 1 / p[j] : T(0);
      for (int r = 0; r < d; ++r) u[j * d + r] *= inverse[j];
    }
  }
};

// Frames of c columns of d numbers in an array.
struct Frames {
  int64_t d, c, heads;

  LSSM_HD int64_t at(int64_t row, int i, int j, int64_t head) const {
    return ((row * c + j) * d + i) * heads + head;
  }

  template <class T>
  LSSM_HD Svd<T> svd(const T* s, int64_t row, int64_t head) const {
    Svd<T> x;
    x.d = int(d), x.c = int(c);
    T largest = 0;
    for (int j = 0; j < c; ++j) {
      for (int i = 0; i < d; ++i) {
        const T size = std::abs(s[at(row, i, j, head)]);
        largest = size > largest ? size : largest;
      }
    }
    x.scale = inverse_of_largest(largest);
    for (int j = 0; j < c; ++j)
      for (int i = 0; i < d; ++i) x.u[j * x.d + i] = x.scale * s[at(row, i, j, head)];
    x.decompose();
    return x;
  }
};

// y x^T for x = V: back from the columns of singular vectors.
template <class T>
LSSM_HD inline T times_vt(const Svd<T>& x, const T* y, int i, int j) {
  T sum = 0;
  for (int k = 0; k < x.c; ++k) sum = mul_add(y[k * x.d + i], x.v[k * x.c + j], sum);
  return sum;
}

template <class T>
struct Polar {
  Frames frames;
  const T* s;
  T* q;
  LSSM_HD void operator()(int64_t row, int64_t head) const {
    const Svd<T> x = frames.svd(s, row, head);
    for (int j = 0; j < x.c; ++j)
      for (int i = 0; i < x.d; ++i) q[frames.at(row, i, j, head)] = times_vt(x, x.u, i, j);
  }
};

template <class T>
struct PolarBackward {
  Frames frames;
  const T* s;
  const T* dq;
  T* ds;
  LSSM_HD void operator()(int64_t row, int64_t head) const {
    const Svd<T> x = frames.svd(s, row, head);
    const int d = x.d, c = x.c;
    T y[kMostInFrame * kMostInFrame], b[kMostInFrame * kMostInFrame];
    for (int j = 0; j < c; ++j) {
      for (int i = 0; i < d; ++i) {
        y[j * d + i] = 0;
        for (int k = 0; k < c; ++k)
          y[j * d + i] = mul_add(dq[frames.at(row, i, k, head)], x.v[j * c + k], y[j * d + i]);
      }
      for (int k = 0; k < c; ++k) {
        b[k * c + j] = 0;
        for (int i = 0; i < d; ++i)
          b[k * c + j] = mul_add(x.u[k * d + i], y[j * d + i], b[k * c + j]);
      }
    }
    // y becomes dS V. In a square frame Y - U B is 0, and here exactly so.
    for (int j = 0; j < c; ++j) {
      const T outside = c < d ? x.inverse[j] : T(0);
      for (int i = 0; i < d; ++i) {
        T sum = outside * y[j * d + i];
        for (int k = 0; k < c; ++k) {
          const T pair = x.inverse[j] > 0 && x.inverse[k] > 0
                             ? (b[k * c + j] - b[j * c + k]) / (x.p[k] + x.p[j])
                             : T(0);
          sum = mul_add(x.u[k * d + i], pair - outside * b[k * c + j], sum);
        }
        y[j * d + i] = sum;
      }
    }
    for (int j = 0; j < c; ++j)
      for (int i = 0; i < d; ++i) ds[frames.at(row, i, j, head)] = x.scale * times_vt(x, y, i, j);
  }
};

Frames frames_of(const Tensor& s, int64_t c) { return {s.dim(1) / c, c, s.dim(2)}; }

void polar_map(const Tensor& s, int64_t c, Tensor& q) {
  with_real(s.dtype(), [&]<class T>(T) {
    const Polar<T> f = {frames_of(s, c), s.data<T>(), q.data<T>()};
    parallel_for_rows(s.device(), s.dim(0), s.dim(2), f);
  });
}

void polar_backward_map(const Tensor& s, int64_t c, const Tensor& dq, Tensor& ds) {
  with_real(s.dtype(), [&]<class T>(T) {
    const PolarBackward<T> f = {frames_of(s, c), s.data<T>(), dq.data<T>(), ds.data<T>()};
    parallel_for_rows(s.device(), s.dim(0), s.dim(2), f);
  });
}

}  // namespace

#define LSSM_HEAD_MATRIX(X) \
  X(householder_product) X(householder_product_backward) X(head_matmul) X(polar) X(polar_backward)
LSSM_MAP_KERNELS(head_matrix, LSSM_HEAD_MATRIX)

}  // namespace lssm::kernels
