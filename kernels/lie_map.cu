// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "core/lie/group.h"
#include "core/lie/se3.h"
#include "kernels/columns.h"
#include "kernels/lie_map.h"
#include "kernels/parallel_for.h"

namespace lssm::kernels {
namespace {

// Coordinates and skew matrices of a group; the maps from there depend on the size alone, so that
// groups of one size share them.
template <class G, class T>
struct Skew {
  static constexpr int k = G::algebra_dim, n = G::vector_dim;
  int64_t heads;
  const T* a;
  T* omega;
  LSSM_HD void operator()(int64_t row, int64_t head) const {
    const auto x = G::skew(Columns<k>{heads}.load(a, row, head));
    Columns<n * n>{heads}.store(x.entries, omega, row, head);
  }
};

template <class G, class T>
struct SkewBackward {
  static constexpr int k = G::algebra_dim, n = G::vector_dim;
  int64_t heads;
  const T* domega;
  T* da;
  LSSM_HD void operator()(int64_t row, int64_t head) const {
    const lie::Square<T, n> d = {Columns<n * n>{heads}.load(domega, row, head)};
    Columns<k>{heads}.store(G::skew_vjp(d), da, row, head);
  }
};

// In place.
template <int n, class T>
struct SkewToMatrix {
  Columns<n * n> at;
  lie::SkewMap map;
  T* g;
  LSSM_HD void operator()(int64_t row, int64_t head) const {
    const lie::Square<T, n> omega = {at.load(g, row, head)};
    at.store(lie::skew_map(map, omega).entries, g, row, head);
  }
};

// In place: omega becomes its gradient.
template <int n, class T>
struct SkewToMatrixBackward {
  Columns<n * n> at;
  lie::SkewMap map;
  T* omega;
  const T* g;
  const T* dg;
  LSSM_HD void operator()(int64_t row, int64_t head) const {
    const lie::Square<T, n> x = {at.load(omega, row, head)}, r = {at.load(g, row, head)},
                            dr = {at.load(dg, row, head)};
    at.store(lie::skew_map_vjp(map, x, r, dr).entries, omega, row, head);
  }
};

template <class T>
struct Translation {
  Columns<3> at;
  const T* omega;
  const T* v;
  T* b;
  LSSM_HD void operator()(int64_t row, int64_t head) const {
    at.store(lie::translation(at.load(omega, row, head), at.load(v, row, head)), b, row, head);
  }
};

template <class T>
struct TranslationBackward {
  Columns<3> at;
  const T* omega;
  const T* v;
  const T* db;
  T* domega;
  T* dv;
  LSSM_HD void operator()(int64_t row, int64_t head) const {
    const auto d = lie::translation_vjp(at.load(omega, row, head), at.load(v, row, head),
                                        at.load(db, row, head));
    at.store(d.omega, domega, row, head);
    at.store(d.v, dv, row, head);
  }
};

template <class F>
void with_size(int n, F f) {
  switch (n) {
    case 4:
      return f(std::integral_constant<int, 4>{});
    case 5:
      return f(std::integral_constant<int, 5>{});
    case 6:
      return f(std::integral_constant<int, 6>{});
    case 7:
      return f(std::integral_constant<int, 7>{});
    case 8:
      return f(std::integral_constant<int, 8>{});
    default:
      fail("group_matrix: matrices of size ", n, ", expected 4 to 8");
  }
}

// Writes the skew matrices; returns their size.
template <class T>
int skew_matrices(const std::string& group, const Tensor& a, Tensor& omega) {
  int size = 0;
  lie::MatrixGroups::with(group, [&]<class G>(G) {
    const Skew<G, T> f = {a.dim(2), a.data<T>(), omega.data<T>()};
    parallel_for_rows(a.device(), a.dim(0), a.dim(2), f);
    size = G::vector_dim;
  });
  return size;
}

void group_matrix_map(const std::string& group, lie::SkewMap map, const Tensor& a, Tensor& g) {
  with_real(a.dtype(), [&]<class T>(T) {
    with_size(skew_matrices<T>(group, a, g), [&]<int n>(std::integral_constant<int, n>) {
      const SkewToMatrix<n, T> f = {{a.dim(2)}, map, g.data<T>()};
      parallel_for_rows(a.device(), a.dim(0), a.dim(2), f);
    });
  });
}

void group_matrix_backward_map(const std::string& group, lie::SkewMap map, const Tensor& a,
                               const Tensor& g, const Tensor& dg, Tensor& da) {
  with_real(a.dtype(), [&]<class T>(T) {
    Tensor omega = Tensor::like(g);
    with_size(skew_matrices<T>(group, a, omega), [&]<int n>(std::integral_constant<int, n>) {
      const SkewToMatrixBackward<n, T> f = {
          {a.dim(2)}, map, omega.data<T>(), g.data<T>(), dg.data<T>()};
      parallel_for_rows(a.device(), a.dim(0), a.dim(2), f);
    });
    lie::MatrixGroups::with(group, [&]<class G>(G) {
      const SkewBackward<G, T> f = {a.dim(2), omega.data<T>(), da.data<T>()};
      parallel_for_rows(a.device(), a.dim(0), a.dim(2), f);
    });
  });
}

void translation_map(const Tensor& omega, const Tensor& v, Tensor& b) {
  with_real(b.dtype(), [&]<class T>(T) {
    const Translation<T> f = {{b.dim(2)}, omega.data<T>(), v.data<T>(), b.data<T>()};
    parallel_for_rows(b.device(), b.dim(0), b.dim(2), f);
  });
}

void translation_backward_map(const Tensor& omega, const Tensor& v, const Tensor& db,
                              Tensor& domega, Tensor& dv) {
  with_real(db.dtype(), [&]<class T>(T) {
    const TranslationBackward<T> f = {{db.dim(2)},  omega.data<T>(),  v.data<T>(),
                                      db.data<T>(), domega.data<T>(), dv.data<T>()};
    parallel_for_rows(db.device(), db.dim(0), db.dim(2), f);
  });
}

}  // namespace

#define LSSM_LIE_MAP(X) \
  X(group_matrix) X(group_matrix_backward) X(translation) X(translation_backward)
LSSM_MAP_KERNELS(lie_map, LSSM_LIE_MAP)

}  // namespace lssm::kernels
