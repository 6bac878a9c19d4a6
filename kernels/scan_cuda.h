// SPDX-License-Identifier: Apache-2.0
// The scan of kernels/scan_args.h and its gradient on CUDA, parallel over time too. Same inputs,
// same outputs, same formulas; only the order of the sums differs.
//
// A run of steps moves a state by one map (RunMap), and the maps of neighbouring runs make one:
//
//   forward     x = h_{t-1}  ->  h_t = exp(a_t) x + b_t
//   backward    x = what the steps after t hand back  ->  exp(a_t)^T (dh_t + x), walked from the
//   end
//
// A step that starts afresh ignores x: forward it moves h0, backward it hands back nothing (its
// share goes to dh0). Maps of runs that hold such a step ignore x too.
//
// One block walks kHeads neighbouring heads of one batch row through all time, in chunks of
// warps * kSegments * kSteps steps. Lane kHeads * segment + head takes kSteps steps of its head, so
// a warp reads whole rows of neighbouring heads. Per chunk, a thread
//   1. loads its steps and keeps them in registers; composes their map;
//   2. joins the scan of these maps over all segments (shuffles within the warp, then one exchange
//      through shared memory), which tells it the state before its first step;
//   3. walks its steps from that state as the CPU does, and writes the results.
// Every thread of a head carries the state between chunks. All trees are fixed by the sizes: two
// runs give equal bits. The products of a chunk must be finite: a recurrence that grows overflows
// here even where its state is 0.
//
// Where act is orthogonal, l_t = S_t sum_{s>=t} S_s^T dh_s, S_t the product of the elements since
// the last fresh start: a plain reverse sum in the body frame. It needs the frames S_t, which the
// states h_t do not determine (so3: any turn about h_t; every group at h = 0), so: a scan of
// elements first, then one of sums, two dependent exchanges per chunk for the same bytes. The map
// (g, b) of a run below is that sum, in the frame of its run, by one exchange, and it serves resets
// and the monoids too.
#pragma once

#include <bit>
#include <cstdint>

#include "core/small.h"
#include "kernels/cuda.h"
#include "kernels/scan_args.h"

// Steps live in registers only if loops over them are unrolled.
#ifdef __CUDACC__
#define LSSM_UNROLL _Pragma("unroll")
#else
#define LSSM_UNROLL
#endif

namespace lssm::kernels {
namespace {  // although a header: ASan guards shared arrays of functions with internal linkage only

constexpr int kHeads = 8;                   // heads of a block: 32 bytes in f32, a memory sector
constexpr int kSegments = kWarp / kHeads;   // of a warp
constexpr int kMaxWarps = 8;                // of a block
constexpr int64_t kSharedBytes = 48 << 10;  // of a block, static
constexpr int kStepBytes = 256;             // registers of a thread for its steps

// A step: the first one of the thread in its chunk, and how far from there. In two parts, since
// addresses of all steps in 64 bits would fill the registers.
struct Time {
  int64_t first;
  int offset;

  __device__ int64_t operator()() const { return first + offset; }
};

// What a thread walks: one head of one batch row. Heads past the last and steps past the end read
// as zeros and are not written; past the end the forward walk is over, and the backward walk brings
// zeros from there.
struct Chain {
  int64_t length, row, head;
  int heads;

  __device__ bool has(Time t) const { return head < heads && t() < length; }

  // Component 0 at step t of an array [batch, length, N, heads].
  template <int N, class T>
  __device__ T* at(T* array, Time t) const {
    return array + (row * length + t.first) * N * heads + head + t.offset * N * heads;
  }
  // Component 0 of an array [batch, N, heads].
  template <int N, class T>
  __device__ T* at(T* array) const {
    return array + row * N * heads + head;
  }

  // Through the read-only cache: these loads may overtake the stores before them.
  template <int N, class T>
  __device__ Vec<T, N> load(const T* p, bool there) const {
    Vec<T, N> x;
    LSSM_UNROLL
    for (int i = 0; i < N; ++i) x[i] = there ? __ldg(p + i * heads) : T(0);
    return x;
  }
  template <int N, class T>
  __device__ void store(const Vec<T, N>& x, T* p) const {
    LSSM_UNROLL
    for (int i = 0; i < N; ++i) p[i * heads] = x[i];
  }
};

// condition ? a : b for components. For whole vectors it would be a choice between two addresses,
// and neither vector could be in registers.
template <int N, class T>
__device__ Vec<T, N> choose(bool condition, const Vec<T, N>& a, const Vec<T, N>& b) {
  Vec<T, N> x;
  LSSM_UNROLL
  for (int i = 0; i < N; ++i) x[i] = select(condition, a[i], b[i]);
  return x;
}

template <int N, class T>
__device__ Vec<T, N> shuffle_up(Vec<T, N> x, int delta) {
  LSSM_UNROLL
  for (int i = 0; i < N; ++i) x[i] = __shfl_up_sync(kFullWarp, x[i], unsigned(delta));
  return x;
}

// Sum over the segments of all warps, at most kMost, by head; every thread gets it. Once per
// kernel.
template <int kMost, int N, class T>
__device__ Vec<T, N> sum_segments(Vec<T, N> x) {
  __shared__ Vec<T, N> sums[kMost][kHeads];
  for (int mask = kHeads; mask < kWarp; mask *= 2) {
    LSSM_UNROLL
    for (int i = 0; i < N; ++i) x[i] = x[i] + __shfl_xor_sync(kFullWarp, x[i], mask);
  }
  const int head = int(threadIdx.x) % kHeads;
  if (int(threadIdx.x) % kWarp < kHeads) sums[threadIdx.x / kWarp][head] = x;
  __syncthreads();
  x = sums[0][head];
  for (int w = 1; w < int(blockDim.x) / kWarp; ++w) x = x + sums[w][head];
  return x;
}

template <class State, bool kAdds>
struct Added {
  State b;
};
template <class State>
struct Added<State, false> {};

// What a run of steps does to a state: x -> A (fresh ? start : x) + b. The run starts afresh
// somewhere if `fresh`. Reversed, A is the transpose of g's action. Without kAdds, b is 0.
template <class G, class T, bool kReversed, bool kAdds>
struct RunMap : Added<Vec<T, G::vector_dim>, kAdds> {
  using Element = Vec<T, G::element_dim>;
  using State = Vec<T, G::vector_dim>;

  Element g;
  int fresh;

  static __device__ State move(const Element& g, const State& x) {
    if constexpr (kReversed) {
      return G::act_transpose(g, x);
    } else {
      return G::act(g, x);
    }
  }

  __device__ State operator()(const State& x, const State& start) const {
    State y = move(g, choose(fresh, start, x));
    if constexpr (kAdds) y = y + this->b;
    return y;
  }

  // Earlier and later in the order of the walk. (A B)^T = B^T A^T: reversed, the earlier element
  // stands left.
  static __device__ RunMap combine(const RunMap& earlier, const RunMap& later) {
    if (later.fresh) return later;
    RunMap both;
    if constexpr (kReversed) {
      both.g = G::compose(earlier.g, later.g);
    } else {
      both.g = G::compose(later.g, earlier.g);
    }
    if constexpr (kAdds) both.b = move(later.g, earlier.b) + later.b;
    both.fresh = earlier.fresh;
    return both;
  }

  friend __device__ RunMap shuffle_up(RunMap m, int delta) {
    m.g = kernels::shuffle_up(m.g, delta);
    if constexpr (kAdds) m.b = kernels::shuffle_up(m.b, delta);
    m.fresh = __shfl_up_sync(kFullWarp, m.fresh, unsigned(delta));
    return m;
  }
};

// The most warps of a block: their maps, in two buffers, and their sums share its memory.
template <class Map>
constexpr int kWarps = [] {
  constexpr int64_t bytes = kHeads * int64_t(2 * sizeof(Map) + sizeof(typename Map::State));
  int warps = kMaxWarps;
  while (warps > 1 && warps * bytes > kSharedBytes) warps /= 2;
  return warps;
}();

// A walk is what scan_chains() does with the steps of one head:
//   start            the state that fresh steps move
//   first_state()    before the walk
//   load(t), map(step), walk(step, t, x): one step; walk() returns the state after it
//   finish(x)        x is the state after the walk; all threads of the block call it together
template <class G, class T, bool kInject>
struct ForwardWalk {
  static constexpr bool kReversed = false;
  static constexpr int k = G::algebra_dim, v = G::vector_dim;
  static constexpr int kNumbers = k > v ? k : v;  // of one head in a step of an array
  using Args = ScanForward<T>;
  using Number = T;
  using State = Vec<T, v>;
  using Map = RunMap<G, T, kReversed, kInject>;
  using Step = Map;

  const Args& p;
  const Chain& chain;
  State start;

  __device__ ForwardWalk(const Args& args, const Chain& c) : p(args), chain(c) {
    start = chain.load<v>(p.start.h0 + chain.row * p.start.h0_stride + chain.head,
                          chain.head < chain.heads);
  }

  __device__ State first_state() const {
    return p.start.carried ? chain.load<v>(chain.at<v>(p.start.carried), chain.head < chain.heads)
                           : start;
  }

  __device__ Step load(Time t) const {
    const bool there = chain.has(t);
    Step step;
    step.g = G::exp(chain.load<k>(chain.at<k>(p.a, t), there));
    if constexpr (kInject) step.b = chain.load<v>(chain.at<v>(p.b, t), there);
    step.fresh = there && p.start.reset && __ldg(p.start.reset + chain.row * chain.length + t());
    return step;
  }

  static __device__ const Map& map(const Step& step) { return step; }

  __device__ State walk(const Step& step, Time t, const State& x) const {
    const State y = step(x, start);
    if (chain.has(t)) chain.store(y, chain.at<v>(p.h, t));
    return y;
  }

  __device__ void finish(const State&) const {}
};

template <class G, class T>
struct BackwardWalk {
  static constexpr bool kReversed = true;
  static constexpr int k = G::algebra_dim, v = G::vector_dim;
  static constexpr int kNumbers = k > v ? k : v;  // of one head in a step of an array
  using Args = ScanBackward<T>;
  using Number = T;
  using State = Vec<T, v>;
  using Map = RunMap<G, T, kReversed, true>;
  struct Step {
    Vec<T, k> a;
    Vec<T, G::element_dim> g;
    State dh;
    State before;  // the state that the step moved
    int fresh;
  };

  const Args& p;
  const Chain& chain;
  State start;
  State dh0;

  __device__ BackwardWalk(const Args& args, const Chain& c) : p(args), chain(c) {
    for (int i = 0; i < v; ++i) start[i] = dh0[i] = T(0);
  }

  __device__ State first_state() const { return start; }

  __device__ Step load(Time t) const {
    const bool there = chain.has(t);
    const auto& [h0, h0_stride, reset, carried] = p.start;
    Step step;
    step.fresh = starts_afresh(there && reset && __ldg(reset + chain.row * chain.length + t()), t(),
                               carried);
    const T* before = step.fresh ? h0 + chain.row * h0_stride + chain.head
                      : t() == 0 ? chain.at<v>(carried)
                                 : chain.at<v>(p.h, {t.first, t.offset - 1});
    step.a = chain.load<k>(chain.at<k>(p.a, t), there);
    step.dh = chain.load<v>(chain.at<v>(p.dh, t), there);
    step.before = chain.load<v>(before, there);
    step.g = G::exp(step.a);
    return step;
  }

  __device__ Map map(const Step& step) const {
    Map map;
    map.g = step.g;
    map.b = choose(step.fresh, start, G::act_transpose(step.g, step.dh));
    map.fresh = step.fresh;
    return map;
  }

  __device__ State walk(const Step& step, Time t, const State& x) {
    if (!chain.has(t)) return x;
    const State l = x + step.dh;
    if (p.db) chain.store(l, chain.at<v>(p.db, t));
    const State y = G::act(step.g, step.before);
    const auto gradient = step_gradient<G>(step.a, step.g, step.before, y, l);
    chain.store(gradient.a, chain.at<k>(p.da, t));
    dh0 = dh0 + choose(step.fresh, gradient.x, start);
    return choose(step.fresh, start, gradient.x);
  }

  __device__ void finish(const State& x) const {
    const State sum = sum_segments<kWarps<Map>>(dh0);
    if (int(threadIdx.x) >= kHeads || chain.head >= chain.heads) return;
    chain.store(sum, chain.at<v>(p.dh0));
    if (p.start.carried) chain.store(x, chain.at<v>(p.dcarried));
  }
};

// As many steps of a thread as fit in its registers, a power of two up to 8.
template <class Walk>
constexpr int kSteps = [] {
  const int fit = kStepBytes / int(sizeof(typename Walk::Step));
  return fit < 1 ? 1 : fit > 8 ? 8 : int(std::bit_floor(unsigned(fit)));
}();

// Blocks that a multiprocessor shall hold at once: two, so at most 128 registers, in f32 unless the
// elements are large. Without this bound some kernels take more, and some are given too few and
// spill.
template <class Walk>
constexpr int kBlocks = sizeof(typename Walk::Number) == 4 &&
                                sizeof(typename Walk::Map) <= kStepBytes / 3
                            ? 2
                            : 1;

template <class Walk>
__global__ void __launch_bounds__(kWarps<typename Walk::Map>* kWarp, kBlocks<Walk>)
    scan_chains(const ScanShape shape, const typename Walk::Args args) {
  using Map = typename Walk::Map;
  using State = typename Walk::State;
  constexpr int steps = kSteps<Walk>;
  // The maps of whole warps, in two buffers, since some threads still read those of one chunk while
  // others write those of the next. The barrier of the next chunk is late enough for the third.
  __shared__ Map exchange[2][kWarps<Map>][kHeads];

  const int lane = int(threadIdx.x) % kWarp, warp = int(threadIdx.x) / kWarp;
  const int warps = int(blockDim.x) / kWarp;
  const int head = lane % kHeads;
  const int64_t head_blocks = (shape.heads + kHeads - 1) / kHeads;
  const Chain chain = {shape.length, blockIdx.x / head_blocks,
                       blockIdx.x % head_blocks * kHeads + head, int(shape.heads)};
  Walk walk(args, chain);

  State carry = walk.first_state();
  const int64_t chunk = int64_t(warps) * kSegments * steps;
  const int64_t chunks = (shape.length + chunk - 1) / chunk;
  for (int64_t c = 0; c < chunks; ++c) {
    const int64_t position = c * chunk + int64_t(threadIdx.x / kHeads) * steps;
    const auto time = [=](int k) {
      return Walk::kReversed ? Time{chunks * chunk - 1 - position, -k} : Time{position, k};
    };

    typename Walk::Step step[steps];
    LSSM_UNROLL
    for (int k = 0; k < steps; ++k) step[k] = walk.load(time(k));
    Map run = walk.map(step[0]);
    LSSM_UNROLL
    for (int k = 1; k < steps; ++k) run = Map::combine(run, walk.map(step[k]));

    // run becomes the map of the segments of this warp up to this one.
    LSSM_UNROLL
    for (int delta = kHeads; delta < kWarp; delta *= 2) {
      const Map earlier = shuffle_up(run, delta);
      if (lane >= delta) run = Map::combine(earlier, run);
    }
    if (lane >= kWarp - kHeads) exchange[c % 2][warp][head] = run;
    __syncthreads();
    State x = carry;
    for (int w = 0; w < warps; ++w) {
      if (w == warp) x = carry;
      carry = exchange[c % 2][w][head](carry, walk.start);
    }

    // So far x is the state before the warp. Before a segment: the state after its neighbour.
    const State previous = shuffle_up(run(x, walk.start), kHeads);
    if (lane >= kHeads) x = previous;
    LSSM_UNROLL
    for (int k = 0; k < steps; ++k) x = walk.walk(step[k], time(k), x);
  }
  walk.finish(carry);
}

// A block has only the warps that a short sequence can use.
template <class Walk>
void launch_scan(const ScanShape& shape, const typename Walk::Args& args) {
  constexpr int64_t warp_steps = kSegments * kSteps<Walk>;
  constexpr int most_warps = kWarps<typename Walk::Map>;
  const int64_t warps = (shape.length + warp_steps - 1) / warp_steps;
  const int used = warps < 1 ? 1 : warps > most_warps ? most_warps : int(warps);
  const int64_t head_blocks = (shape.heads + kHeads - 1) / kHeads;
  // Offsets between the steps of a thread are int.
  constexpr int64_t most = INT32_MAX / ((kSteps<Walk> + 1) * Walk::kNumbers);
  LSSM_CHECK(shape.heads <= most, "scan: ", shape.heads, " heads, expected at most ", most);
  launch({shape.batch * head_blocks, used * kWarp}, &scan_chains<Walk>, shape, args);
}

}  // namespace
}  // namespace lssm::kernels

#undef LSSM_UNROLL
