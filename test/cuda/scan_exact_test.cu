// SPDX-License-Identifier: Apache-2.0
// The CUDA scan kernels with integer matrices that do not commute: exact, so a map that is left
// out, doubled or taken in the wrong order shows for certain. With 8x8 matrices the maps of a
// block, and in f64 those of half a block, outgrow its memory and its registers: what a large group
// needs.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "core/random.h"
#include "core/tensor.h"
#include "kernels/scan_cpu.h"
#include "kernels/scan_cuda.h"
#include "test/test.h"

namespace lssm::testing {
namespace {

#ifdef __CUDACC__
#define LSSM_UNROLL _Pragma("unroll")
#else
#define LSSM_UNROLL
#endif

// N x N matrices, row by row.
template <int N>
struct IntMatrix {
  static constexpr int algebra_dim = N * N, element_dim = N * N, vector_dim = N;

  template <class T>
  static LSSM_HD Vec<T, N * N> exp(const Vec<T, N * N>& a) {
    return a;
  }
  template <class T>
  static LSSM_HD Vec<T, N * N> compose(const Vec<T, N * N>& g, const Vec<T, N * N>& h) {
    Vec<T, N * N> y;
    LSSM_UNROLL
    for (int i = 0; i < N * N; ++i) {
      y[i] = T(0);
      LSSM_UNROLL
      for (int k = 0; k < N; ++k) y[i] += g[i / N * N + k] * h[k * N + i % N];
    }
    return y;
  }
  template <class T>
  static LSSM_HD Vec<T, N> act(const Vec<T, N * N>& g, const Vec<T, N>& x) {
    Vec<T, N> y;
    LSSM_UNROLL
    for (int i = 0; i < N; ++i) {
      y[i] = T(0);
      LSSM_UNROLL
      for (int k = 0; k < N; ++k) y[i] += g[i * N + k] * x[k];
    }
    return y;
  }
  template <class T>
  static LSSM_HD Vec<T, N> act_transpose(const Vec<T, N * N>& g, const Vec<T, N>& dy) {
    Vec<T, N> dx;
    LSSM_UNROLL
    for (int k = 0; k < N; ++k) {
      dx[k] = T(0);
      LSSM_UNROLL
      for (int i = 0; i < N; ++i) dx[k] += g[i * N + k] * dy[i];
    }
    return dx;
  }
  template <class T>
  static LSSM_HD Vec<T, N * N> exp_act_vjp(const Vec<T, N * N>&, const Vec<T, N * N>&,
                                           const Vec<T, N>& x, const Vec<T, N>&,
                                           const Vec<T, N>& dy) {
    Vec<T, N * N> da;
    LSSM_UNROLL
    for (int i = 0; i < N * N; ++i) da[i] = dy[i / N] * x[i % N];
    return da;
  }
};

#undef LSSM_UNROLL

// Numbers on the host, with a copy on the device.
template <class T>
struct Array {
  std::vector<T> host;
  Tensor device;

  T* data() const { return static_cast<T*>(device.raw()); }
};

template <class T>
Array<T> array(std::vector<T> host) {
  Tensor copy({int64_t(host.size())}, sizeof(T) == 4 ? DType::i32 : DType::f64);
  std::copy(host.begin(), host.end(), static_cast<T*>(copy.raw()));
  return {std::move(host), copy.to(Device::cuda)};
}

// Any numbers modulo 2^32, or small integers.
template <class T>
std::vector<T> integers(int64_t n, uint32_t seed) {
  Random random(7, Stream::check, seed);
  std::vector<T> x(static_cast<size_t>(n));
  for (T& e : x) e = std::is_integral_v<T> ? T(random.bits()) : T(int(random.below(7)) - 3);
  return x;
}

// The matrices of all steps [batch, length, N * N, heads]. In floating point permutations with
// signs, whose products stay exact.
template <int N, class T>
std::vector<T> matrices(const kernels::ScanShape& s, uint32_t seed) {
  const int64_t steps = s.batch * s.length;
  if constexpr (std::is_integral_v<T>) return integers<T>(steps * N * N * s.heads, seed);
  Random random(7, Stream::check, seed);
  std::vector<T> x(size_t(steps * N * N * s.heads), T(0));
  for (int64_t step = 0; step < steps; ++step) {
    for (int64_t head = 0; head < s.heads; ++head) {
      int column[N];
      for (int i = 0; i < N; ++i) {
        const int k = int(random.below(unsigned(i) + 1));
        column[i] = column[k];
        column[k] = i;
      }
      for (int i = 0; i < N; ++i) {
        const int64_t entry = step * N * N + i * N + column[i];
        x[size_t(entry * s.heads + head)] = random.below(2) ? T(1) : T(-1);
      }
    }
  }
  return x;
}

// Whether the device holds what the host computed.
template <class T>
bool same(const Array<T>& x) {
  const Tensor device = x.device.to(Device::cpu);
  return std::equal(x.host.begin(), x.host.end(), static_cast<const T*>(device.raw()));
}

template <int N, class T>
void check(kernels::ScanShape s, bool inject, bool resets, bool has_carried) {
  using G = IntMatrix<N>;
  const int64_t steps = s.batch * s.length * s.heads, states = s.batch * N * s.heads;
  const auto numbers = [](int64_t n, uint32_t seed) { return array(integers<T>(n, seed)); };
  Array<T> a = array(matrices<N, T>(s, 1)), b = numbers(steps * N, 2), h0 = numbers(states, 3);
  Array<T> dh = numbers(steps * N, 4), carried = numbers(states, 5);
  std::vector<int32_t> flags(size_t(s.batch * s.length));
  Random random(7, Stream::check, 6);
  for (int32_t& flag : flags) flag = random.below(9) == 0;
  const Array<int32_t> reset = array(flags);
  Array<T> h = numbers(steps * N, 7), da = numbers(steps * N * N, 8), db = numbers(steps * N, 9);
  Array<T> dh0 = numbers(states, 10), dcarried = numbers(states, 11);

  const auto call = [&](bool on_host) {
    const auto p = [&](Array<T>& x) { return on_host ? x.host.data() : x.data(); };
    const int32_t* fresh = on_host ? reset.host.data() : reset.data();
    const kernels::ScanStart<T> start = {p(h0), N * s.heads, resets ? fresh : nullptr,
                                         has_carried ? p(carried) : nullptr};
    const kernels::ScanForward<T> forward = {p(a), inject ? p(b) : nullptr, start, p(h)};
    const kernels::ScanBackward<T> backward = {p(a),
                                               inject ? p(b) : nullptr,
                                               start,
                                               p(h),
                                               p(dh),
                                               p(da),
                                               inject ? p(db) : nullptr,
                                               p(dh0),
                                               has_carried ? p(dcarried) : nullptr};
    if (on_host) {
      kernels::cpu::scan_forward<G, T, T, T>(s, forward, 1);
      kernels::cpu::scan_backward<G, T, T, T>(s, backward, 1);
    } else {
      if (inject) {
        kernels::launch_scan<kernels::ForwardWalk<G, T, true>>(s, forward);
      } else {
        kernels::launch_scan<kernels::ForwardWalk<G, T, false>>(s, forward);
      }
      kernels::launch_scan<kernels::BackwardWalk<G, T>>(s, backward);
    }
  };
  call(true);
  call(false);
  CHECK(same(h));
  CHECK(same(da));
  CHECK((!inject || same(db)));
  CHECK(same(dh0));
  CHECK((!has_carried || same(dcarried)));
}

TEST_CASE("cuda scan of integer matrices is exact", "[cuda][scan]") {
  for (const int64_t length : {0, 1, 2, 31, 33, 127, 129, 1000, 4099}) {
    for (const int64_t heads : {1, 3, 8, 13, 17}) {
      if (length > 129 && heads != 3) continue;
      for (int bits = 0; bits < 8; ++bits) {
        INFO("length " << length << ", heads " << heads << ", options " << bits);
        check<2, uint32_t>({2, length, heads}, bits & 1, bits & 2, bits & 4);
      }
    }
  }
}

TEST_CASE("cuda scan of large integer matrices is exact", "[cuda][scan]") {
  using Map32 = kernels::BackwardWalk<IntMatrix<8>, uint32_t>::Map;
  using Map64 = kernels::BackwardWalk<IntMatrix<8>, double>::Map;
  STATIC_REQUIRE(kernels::kWarps<Map32> == 8);
  STATIC_REQUIRE(kernels::kWarps<Map64> == 4);
  for (const int64_t length : {0, 1, 15, 16, 33, 75}) {  // chunks of 32 and 16 steps
    for (int bits = 0; bits < 8; bits += length == 33 ? 1 : 3) {
      INFO("length " << length << ", options " << bits);
      check<8, uint32_t>({1, length, 3}, bits & 1, bits & 2, bits & 4);
      check<8, double>({1, length, 3}, bits & 1, bits & 2, bits & 4);
    }
  }
  check<8, double>({2, 20, 11}, true, true, true);
}

}  // namespace
}  // namespace lssm::testing
