// SPDX-License-Identifier: Apache-2.0
// The CUDA scan kernels with integer matrices that do not commute: exact modulo 2^32, so a map that
// is left out, doubled or taken in the wrong order shows for certain.
#include <vector>

#include "core/random.h"
#include "core/tensor.h"
#include "kernels/scan_cpu.h"
#include "kernels/scan_cuda.h"
#include "test/test.h"

namespace lssm::testing {
namespace {

// 2x2 matrices, row by row.
struct IntMatrix {
  static constexpr int algebra_dim = 4, element_dim = 4, vector_dim = 2;

  template <class T>
  static LSSM_HD Vec<T, 4> exp(const Vec<T, 4>& a) {
    return a;
  }
  template <class T>
  static LSSM_HD Vec<T, 4> compose(const Vec<T, 4>& g, const Vec<T, 4>& h) {
    return {{g[0] * h[0] + g[1] * h[2], g[0] * h[1] + g[1] * h[3], g[2] * h[0] + g[3] * h[2],
             g[2] * h[1] + g[3] * h[3]}};
  }
  template <class T>
  static LSSM_HD Vec<T, 2> act(const Vec<T, 4>& g, const Vec<T, 2>& x) {
    return {{g[0] * x[0] + g[1] * x[1], g[2] * x[0] + g[3] * x[1]}};
  }
  template <class T>
  static LSSM_HD Vec<T, 2> act_transpose(const Vec<T, 4>& g, const Vec<T, 2>& dy) {
    return {{g[0] * dy[0] + g[2] * dy[1], g[1] * dy[0] + g[3] * dy[1]}};
  }
  template <class T>
  static LSSM_HD Vec<T, 4> exp_act_vjp(const Vec<T, 4>&, const Vec<T, 4>&, const Vec<T, 2>& x,
                                       const Vec<T, 2>&, const Vec<T, 2>& dy) {
    return {{dy[0] * x[0], dy[0] * x[1], dy[1] * x[0], dy[1] * x[1]}};
  }
};

// Numbers of uint32_t on the host, with a copy on the device.
struct Array {
  std::vector<uint32_t> host;
  Tensor device;

  uint32_t* data() const { return reinterpret_cast<uint32_t*>(device.data<int32_t>()); }
};

Array array(int64_t n, uint32_t seed) {
  Array x{std::vector<uint32_t>(size_t(n)), {}};
  Random random(7, Stream::check, seed);
  Tensor host({n}, DType::i32);
  for (int64_t i = 0; i < n; ++i) {
    x.host[size_t(i)] = random.bits();
    host.data<int32_t>()[i] = int32_t(x.host[size_t(i)]);
  }
  x.device = host.to(Device::cuda);
  return x;
}

// Whether the device holds what the host computed.
bool same(const Array& x) {
  const Tensor device = x.device.to(Device::cpu);
  for (size_t i = 0; i < x.host.size(); ++i) {
    if (uint32_t(device.data<int32_t>()[i]) != x.host[i]) return false;
  }
  return true;
}

void check(kernels::ScanShape s, bool inject, bool resets, bool has_carried) {
  const int64_t steps = s.batch * s.length * s.heads, states = s.batch * 2 * s.heads;
  Array a = array(steps * 4, 1), b = array(steps * 2, 2), h0 = array(states, 3);
  Array dh = array(steps * 2, 4), carried = array(states, 5), reset = array(s.batch * s.length, 6);
  for (uint32_t& r : reset.host) r = r % 9 == 0;
  Tensor flags =
      Tensor::from_host({s.batch * s.length}, {reset.host.begin(), reset.host.end()}, DType::i32);
  flags = flags.to(Device::cuda);
  Array h = array(steps * 2, 7), da = array(steps * 4, 8), db = array(steps * 2, 9);
  Array dh0 = array(states, 10), dcarried = array(states, 11);

  const auto call = [&](bool on_host) {
    const auto p = [&](Array& x) { return on_host ? x.host.data() : x.data(); };
    const int32_t* fresh =
        on_host ? reinterpret_cast<int32_t*>(reset.host.data()) : flags.data<int32_t>();
    const kernels::ScanStart<uint32_t> start = {p(h0), 2 * s.heads, resets ? fresh : nullptr,
                                                has_carried ? p(carried) : nullptr};
    const kernels::ScanForward<uint32_t> forward = {p(a), inject ? p(b) : nullptr, start, p(h)};
    const kernels::ScanBackward<uint32_t> backward = {p(a),   inject ? p(b) : nullptr,
                                                      start,  p(h),
                                                      p(dh),  nullptr,
                                                      p(da),  inject ? p(db) : nullptr,
                                                      p(dh0), has_carried ? p(dcarried) : nullptr};
    if (on_host) {
      kernels::cpu::scan_forward<IntMatrix, uint32_t, uint32_t, uint32_t>(s, forward, 1);
      kernels::cpu::scan_backward<IntMatrix, uint32_t, uint32_t, uint32_t>(s, backward, 1);
    } else {
      if (inject) {
        kernels::launch_scan<kernels::ForwardWalk<IntMatrix, uint32_t, true>>(s, forward);
      } else {
        kernels::launch_scan<kernels::ForwardWalk<IntMatrix, uint32_t, false>>(s, forward);
      }
      kernels::launch_scan<kernels::BackwardWalk<IntMatrix, uint32_t>>(s, backward);
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
        check({2, length, heads}, bits & 1, bits & 2, bits & 4);
      }
    }
  }
}

}  // namespace
}  // namespace lssm::testing
