// SPDX-License-Identifier: Apache-2.0
#include "core/lie/group.h"
#include "core/lie/se3.h"
#include "kernels/columns.h"
#include "kernels/lie_map.h"
#include "kernels/parallel_for.h"

namespace lssm::kernels {
namespace {

template <class G, class T>
struct GroupMatrix {
  static constexpr int k = G::algebra_dim, n = G::vector_dim;
  lie::SkewMap map;
  int64_t heads;
  const T* a;
  T* g;
  LSSM_HD void operator()(int64_t row, int64_t head) const {
    const auto omega = G::skew(Columns<k>{heads}.load(a, row, head));
    Columns<n * n>{heads}.store(lie::skew_map(map, omega).entries, g, row, head);
  }
};

template <class G, class T>
struct GroupMatrixBackward {
  static constexpr int k = G::algebra_dim, n = G::vector_dim;
  lie::SkewMap map;
  int64_t heads;
  const T* a;
  const T* g;
  const T* dg;
  T* da;
  LSSM_HD void operator()(int64_t row, int64_t head) const {
    const Columns<n* n> entries = {heads};
    const auto omega = G::skew(Columns<k>{heads}.load(a, row, head));
    const lie::Square<T, n> r = {entries.load(g, row, head)}, dr = {entries.load(dg, row, head)};
    const auto d = lie::skew_map_vjp(map, omega, r, dr);
    Columns<k>{heads}.store(G::skew_vjp(d), da, row, head);
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

void group_matrix_map(const std::string& group, lie::SkewMap map, const Tensor& a, Tensor& g) {
  with_real(a.dtype(), [&]<class T>(T) {
    lie::MatrixGroups::with(group, [&]<class G>(G) {
      const GroupMatrix<G, T> f = {map, a.dim(2), a.data<T>(), g.data<T>()};
      parallel_for_rows(a.device(), a.dim(0), a.dim(2), f);
    });
  });
}

void group_matrix_backward_map(const std::string& group, lie::SkewMap map, const Tensor& a,
                               const Tensor& g, const Tensor& dg, Tensor& da) {
  with_real(a.dtype(), [&]<class T>(T) {
    lie::MatrixGroups::with(group, [&]<class G>(G) {
      const GroupMatrixBackward<G, T> f = {map,         a.dim(2),     a.data<T>(),
                                           g.data<T>(), dg.data<T>(), da.data<T>()};
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
