// SPDX-License-Identifier: Apache-2.0
// The scan on CUDA against the scan on the CPU in f64.
#include "kernels/scan.h"

#include <cmath>
#include <string>
#include <vector>

#include "core/lie/group.h"
#include "test/kernels/kernel_test_tools.h"
#include "test/test.h"

namespace lssm::testing {
namespace {

using kernels::ScanGradients;
using kernels::ScanInputs;

struct Sizes {
  int64_t batch, length, heads;
};

struct Options {
  bool inject, resets, shared_h0, carried;
};

Options options(int bits) { return {(bits & 1) > 0, (bits & 2) > 0, (bits & 4) > 0, bits >= 8}; }

struct Problem {
  ScanInputs in;
  Tensor dh;
};

// Parameters of the monoids are kept small, so that products stay bounded.
template <class G>
Problem problem(Sizes s, Options o, DType dtype) {
  constexpr int k = G::algebra_dim, v = G::vector_dim;
  const Tensor none;
  const Shape states = {s.batch, v, s.heads}, steps = {s.batch, s.length, v, s.heads};
  Problem p;
  p.in.group = G::name;
  p.in.a = normal({s.batch, s.length, k, s.heads}, 1, dtype, G::is_group ? 1 : 0.3);
  p.in.b = o.inject ? normal(steps, 2, dtype) : none;
  p.in.h0 = normal(o.shared_h0 ? Shape{1, v, s.heads} : states, 3, dtype);
  p.in.carried = o.carried ? normal(states, 4, dtype) : none;
  if (o.resets) {
    Random random(99, Stream::check, 5);
    std::vector<double> reset(size_t(s.batch * s.length));
    for (double& r : reset) r = random.below(20) == 0 ? 7 : 0;
    p.in.reset = Tensor::from_host({s.batch, s.length}, reset, DType::i32);
  }
  p.dh = normal(steps, 6, dtype);
  return p;
}

Tensor move_to(const Tensor& x, Device device) { return x ? x.to(device) : Tensor(); }

// h, da, db, dh0, dcarried on the host; db and dcarried may be empty. Outputs start as NaN.
std::vector<Tensor> run(const Problem& p, Device device) {
  const auto unset = [&](const Tensor& like) {
    if (!like) return Tensor();
    return Tensor::from_host(like.shape(), std::vector<double>(size_t(like.numel()), NAN),
                             like.dtype(), device);
  };
  const ScanInputs in = {p.in.group,
                         move_to(p.in.a, device),
                         move_to(p.in.b, device),
                         move_to(p.in.h0, device),
                         move_to(p.in.reset, device),
                         move_to(p.in.carried, device)};
  Tensor h = unset(p.dh);
  kernels::scan(in, h);
  const Tensor state({in.a.dim(0), in.h0.dim(1), in.h0.dim(2)}, h.dtype());
  ScanGradients out = {unset(in.a), unset(in.b), unset(state), unset(in.carried)};
  kernels::scan_backward(in, h, move_to(p.dh, device), out);
  std::vector<Tensor> results;
  for (const Tensor& x : {h, out.da, out.db, out.dh0, out.dcarried}) {
    results.push_back(move_to(x, Device::cpu));
  }
  return results;
}

// The largest difference of all outputs from the CPU's in f64.
template <class G>
double error(Sizes s, Options o, DType dtype, const std::vector<Tensor>& oracle) {
  const std::vector<Tensor> results = run(problem<G>(s, o, dtype), Device::cuda);
  double largest = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    REQUIRE(bool(results[i]) == bool(oracle[i]));
    if (!results[i]) continue;
    const std::vector<double> values = oracle[i].to_host();
    const double e = worst(results[i], {values.begin(), values.end()});
    largest = e > largest ? e : largest;
  }
  return largest;
}

// ThreadSanitizer takes a minute for what takes a second. Both types run the same threads, which
// few lengths, heads and options tell apart.
#ifdef __SANITIZE_THREAD__
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif

template <class G>
void check(Sizes s, int bits) {
  INFO(G::name << ", batch " << s.batch << ", length " << s.length << ", heads " << s.heads
               << ", options " << bits);
  const std::vector<Tensor> oracle = run(problem<G>(s, options(bits), DType::f64), Device::cpu);
  if (!kThreadSanitizer) CHECK(error<G>(s, options(bits), DType::f64, oracle) < 1e-10);
  CHECK(error<G>(s, options(bits), DType::f32, oracle) < 1e-4);
}

// Large matrices have short chunks, and cost the most.
template <class G>
constexpr bool kLarge = G::vector_dim > 4;

TEST_CASE("cuda scan of every group agrees with the CPU", "[cuda][scan]") {
  lie::Groups::for_each([](auto group) {
    using G = decltype(group);
    int count = 0;
    for (const int64_t length : {0, 1, 2, 31, 33, 127, 129}) {
      if (kLarge<G> && length > 33) continue;
      if (kThreadSanitizer && length != 1 && length != 33 && length != 129) continue;
      for (const int64_t heads : {1, 3, 8, 13, 17}) {
        if (kThreadSanitizer && heads != 1 && heads != 13) continue;
        const int64_t batch = count % 3 == 0 ? 1 : count % 3 == 1 ? 2 : 5;
        // Each combination of options with several lengths and head counts; all of them with 33.
        if (length == 33 && heads == 13) {
          for (int bits = 0; bits < 16; bits += kThreadSanitizer ? 5 : 1)
            check<G>({kLarge<G> ? 1 : 2, length, heads}, bits);
        } else {
          check<G>({batch, length, heads}, count % 16);
        }
        count += 7;
      }
    }
  });
}

TEST_CASE("cuda scan carries states through many chunks", "[cuda][scan]") {
  lie::Groups::for_each([](auto group) {
    using G = decltype(group);
    check<G>({2, kLarge<G> ? 129 : kThreadSanitizer ? 300 : 1000, 3}, 1);
    if (kThreadSanitizer) return;
    check<G>({1, kLarge<G> ? 300 : 1000, 13}, 14);
    check<G>({1, kLarge<G> ? 515 : 4099, 1}, 0);
    if (!kLarge<G>) check<G>({1, 4099, 8}, 11);
  });
}

TEST_CASE("cuda scan takes more than 65,535 blocks", "[cuda][scan]") {
  using G = lie::Real;
  const Sizes sizes = {257, 1, 2041};
  const std::vector<Tensor> oracle = run(problem<G>(sizes, options(15), DType::f64), Device::cpu);
  CHECK(error<G>(sizes, options(15), DType::f32, oracle) < 1e-4);
}

TEST_CASE("cuda scan has the same bits in every run", "[cuda][scan]") {
  lie::Groups::for_each([](auto group) {
    using G = decltype(group);
    INFO(G::name);
    const Problem p = problem<G>({2, 300, 5}, options(11), DType::f32);
    const std::vector<Tensor> first = run(p, Device::cuda), second = run(p, Device::cuda);
    for (size_t i = 0; i < first.size(); ++i) CHECK((!first[i] || same_bits(first[i], second[i])));
  });
}

}  // namespace
}  // namespace lssm::testing
