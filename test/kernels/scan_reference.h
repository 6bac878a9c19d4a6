// SPDX-License-Identifier: Apache-2.0
// The scan of kernels/scan_cpu.h as plain f64 loops over dense matrices, for tests.
#pragma once

#include <vector>

#include "kernels/scan_cpu.h"
#include "test/core/lie_reference.h"

namespace lssm::testing {

// The dense action of step t for one head.
template <class G>
DenseAction<G> dense_step(const kernels::ScanShape& s, const double* a, int64_t row, int64_t t,
                          int64_t head) {
  Vec<double, G::algebra_dim> at;
  for (int i = 0; i < G::algebra_dim; ++i) {
    at[i] = a[((row * s.length + t) * G::algebra_dim + i) * s.heads + head];
  }
  return dense_action<G>(at);
}

template <class G>
void scan_reference(const kernels::ScanShape& s, const kernels::ScanForward<double>& p) {
  constexpr int v = G::vector_dim;
  for (int64_t row = 0; row < s.batch; ++row) {
    for (int64_t head = 0; head < s.heads; ++head) {
      const auto h0 = [&](int i) {
        return p.start.h0[row * p.start.h0_stride + i * s.heads + head];
      };
      const auto at = [&](int64_t t, int i) {
        return ((row * s.length + t) * v + i) * s.heads + head;
      };
      for (int64_t t = 0; t < s.length; ++t) {
        const bool fresh = t == 0 || (p.start.reset && p.start.reset[row * s.length + t]);
        const auto a = dense_step<G>(s, p.a, row, t, head).matrix;
        for (int i = 0; i < v; ++i) {
          double sum = p.b ? p.b[at(t, i)] : 0;
          for (int j = 0; j < v; ++j) sum += a(i, j) * (fresh ? h0(j) : p.h[at(t - 1, j)]);
          p.h[at(t, i)] = sum;
        }
      }
    }
  }
}

template <class G>
void scan_reference(const kernels::ScanShape& s, const kernels::ScanBackward<double>& p) {
  constexpr int k = G::algebra_dim, v = G::vector_dim;
  for (int64_t row = 0; row < s.batch; ++row) {
    for (int64_t head = 0; head < s.heads; ++head) {
      const auto h0 = [&](int i) {
        return p.start.h0[row * p.start.h0_stride + i * s.heads + head];
      };
      const auto at = [&](int64_t t, int i) {
        return ((row * s.length + t) * v + i) * s.heads + head;
      };
      const auto last = [&](int i) { return (row * v + i) * s.heads + head; };
      std::vector<double> l(v, 0.0), dh0(v, 0.0);
      for (int64_t t = s.length - 1; t >= 0; --t) {
        const bool fresh = t == 0 || (p.start.reset && p.start.reset[row * s.length + t]);
        const auto a = dense_step<G>(s, p.a, row, t, head);
        for (int i = 0; i < v; ++i) {
          l[size_t(i)] += p.dh[at(t, i)];
          if (p.db) p.db[at(t, i)] = l[size_t(i)];
        }
        for (int c = 0; c < k; ++c) {
          double sum = 0;
          for (int i = 0; i < v; ++i) {
            for (int j = 0; j < v; ++j) {
              const double x = fresh ? h0(j) : p.h[at(t - 1, j)];
              sum += l[size_t(i)] * a.derivative[size_t(c)](i, j) * x;
            }
          }
          p.da[((row * s.length + t) * k + c) * s.heads + head] = sum;
        }
        std::vector<double> carried(v, 0.0);
        for (int i = 0; i < v; ++i)
          for (int j = 0; j < v; ++j) carried[size_t(j)] += a.matrix(i, j) * l[size_t(i)];
        l = carried;
        if (fresh) {
          for (int i = 0; i < v; ++i) dh0[size_t(i)] += l[size_t(i)];
          l.assign(v, 0.0);
        }
      }
      for (int i = 0; i < v; ++i) p.dh0[last(i)] = dh0[size_t(i)] + l[size_t(i)];
    }
  }
}

}  // namespace lssm::testing
