// SPDX-License-Identifier: Apache-2.0
// Runs the threads of a block as fibers. A fiber leaves the processor only when it waits or
// returns, and hands over to the next one directly.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <numeric>

#include "coh_block.h"

uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;

extern "C" {
// Bounds of the section of shared variables, made by the linker; null where there are none.
[[gnu::weak]] extern char __start_coh_shared[];
[[gnu::weak]] extern char __stop_coh_shared[];
}

namespace coh {

Block block;

namespace {

constexpr size_t kStackBytes = 256 << 10;

Fiber host;
Fiber* current_fiber = &host;
Fiber* previous_fiber = &host;
char start_token, end_token;  // of ThreadSanitizer: the host before and after the threads

// The order of the threads.
Schedule::Order thread_order;
Random random_state(0);
int warp_order[kMaxWarps];
int most_urgent;  // its place in warp_order; the others follow, all around
bool lanes_backwards;

unsigned from_bit(int bit) { return ~0u << bit; }
unsigned below_bit(int bit) { return (1u << bit) - 1; }

void switch_to(Fiber& to) {
  Fiber& from = *current_fiber;
  previous_fiber = &from;
  current_fiber = &to;
  ++block.counters.switches;
  if (__sanitizer_start_switch_fiber)
    __sanitizer_start_switch_fiber(&from.asan_stack, to.stack, to.stack_bytes);
  if (__tsan_switch_to_fiber) __tsan_switch_to_fiber(to.tsan, 1);  // 1: without synchronising
  switch_context(from.context, to.context);
  if (__sanitizer_finish_switch_fiber)
    __sanitizer_finish_switch_fiber(from.asan_stack, &previous_fiber->stack,
                                    &previous_fiber->stack_bytes);
}

// The next thread to run, or null when all have returned.
Lane* pick() {
  if (block.ready_warps == 0) {
    if (block.running != 0) fail_deadlock();
    return nullptr;
  }
  const int warp = block.current ? int(block.current->id) / kWarpSize : 0;
  const int lane = block.current ? int(block.current->id) % kWarpSize : 0;
  int w = warp, l = lane;
  switch (thread_order) {
    case Schedule::Order::forward: {  // the nearest one after the current, all around
      const unsigned after = block.warps[warp].ready & from_bit(lane) & ~(1u << lane);
      if (block.current && after) return &block.lanes[warp * kWarpSize + lowest(after)];
      const unsigned later = block.ready_warps & from_bit(warp) & ~(1u << warp);
      w = lowest(block.current && later ? later : block.ready_warps);
      l = lowest(block.warps[w].ready);
      break;
    }
    case Schedule::Order::reverse: {
      const unsigned before = block.warps[warp].ready & below_bit(lane);
      if (block.current && before) return &block.lanes[warp * kWarpSize + highest(before)];
      const unsigned earlier = block.ready_warps & below_bit(warp);
      w = highest(block.current && earlier ? earlier : block.ready_warps);
      l = highest(block.warps[w].ready);
      break;
    }
    case Schedule::Order::random: {
      const unsigned warps_after = block.ready_warps & from_bit(int(random_state.below(kWarpSize)));
      w = lowest(warps_after ? warps_after : block.ready_warps);
      const unsigned after = block.warps[w].ready & from_bit(int(random_state.below(kWarpSize)));
      l = lowest(after ? after : block.warps[w].ready);
      break;
    }
    case Schedule::Order::priority: {
      // Now and then the most urgent warp becomes the last one.
      if (random_state.below(256) == 0) ++most_urgent;
      int i = most_urgent;
      while (!(block.ready_warps >> warp_order[i % block.warp_count] & 1)) ++i;
      w = warp_order[i % block.warp_count];
      l = lanes_backwards ? highest(block.warps[w].ready) : lowest(block.warps[w].ready);
      break;
    }
  }
  return &block.lanes[w * kWarpSize + l];
}

// The life of a fiber: one thread after another.
void fiber_main() {
  if (__sanitizer_finish_switch_fiber)
    __sanitizer_finish_switch_fiber(nullptr, &previous_fiber->stack, &previous_fiber->stack_bytes);
  for (;;) {
    if (__tsan_acquire) __tsan_acquire(&start_token);
    block.kernel->run_thread(block.kernel->values.get());
    if (__tsan_release) __tsan_release(&end_token);
    leave();
  }
}

// Stacks are kept: AddressSanitizer's and ThreadSanitizer's state of them is costly to make.
void make_fiber(Fiber& fiber) {
  const size_t page = size_t(sysconf(_SC_PAGESIZE));  // the lowest one traps overflows
  char* memory = static_cast<char*>(mmap(nullptr, page + kStackBytes, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0)
    fail_launch(*block.kernel, "no memory for the stacks of its threads");
  fiber.stack = memory + page;
  fiber.stack_bytes = kStackBytes;
  if (__tsan_create_fiber) fiber.tsan = __tsan_create_fiber(0);
  make_context(fiber.context, memory + page, kStackBytes, &fiber_main);
}

// Shared memory holds NaN when a block starts. Not memset: AddressSanitizer would check that, and
// finds its guards between the variables of the section.
void fill_static_shared() {
  if (!__start_coh_shared) return;
  char* p = __start_coh_shared;
  size_t bytes = size_t(__stop_coh_shared - __start_coh_shared);
#ifdef __x86_64__
  asm volatile("rep stosb" : "+D"(p), "+c"(bytes) : "a"(kFill) : "memory");
#else
  for (volatile char* q = p; bytes-- > 0;) *q++ = char(kFill);
#endif
}

// Exactly the bytes that a launch asks for, and a guard.
class DynamicShared {
 public:
  explicit DynamicShared(size_t bytes) : size_(bytes) {
    if (bytes == 0) return;
    bytes_ = static_cast<char*>(std::aligned_alloc(128, (bytes + kGuard + 127) / 128 * 128));
    set_guard(bytes_ + size_);
  }
  ~DynamicShared() {
    if (bytes_) unpoison(bytes_ + size_, kGuard);
    std::free(bytes_);
  }
  DynamicShared(const DynamicShared&) = delete;

  char* bytes() const { return bytes_; }
  void fill() const {
    if (bytes_) std::memset(bytes_, kFill, size_);
  }
  bool guard_intact() const { return !bytes_ || coh::guard_intact(bytes_ + size_); }

 private:
  size_t size_;
  char* bytes_ = nullptr;
};

void start_block(unsigned threads) {
  for (int w = 0; w < block.warp_count; ++w) block.warps[w] = {};
  for (unsigned i = 0; i < threads; ++i) {
    Warp& warp = block.warps[i / kWarpSize];
    warp.running = warp.ready |= 1u << i % kWarpSize;
  }
  block.ready_warps = block.warp_count == kMaxWarps ? ~0u : below_bit(block.warp_count);
  block.running = threads;
  block.barrier = {};
  for (int i = 0; i < block.warp_count; ++i) {
    const int k = int(random_state.below(unsigned(i) + 1));
    warp_order[i] = warp_order[k];
    warp_order[k] = i;
  }
  most_urgent = 0;
  lanes_backwards = random_state.below(2) == 1;
}

// The order of blocks: forward, reverse, or i -> (a i + b) mod n with a prime to n.
struct BlockOrder {
  uint64_t n, a = 1, b = 0;

  explicit BlockOrder(uint64_t blocks) : n(blocks) {
    if (thread_order == Schedule::Order::reverse) {
      a = b = n - 1;
    } else if (thread_order != Schedule::Order::forward) {
      const unsigned limit = unsigned(n < 1u << 20 ? n : 1u << 20);
      do a = 1 + random_state.below(limit);
      while (std::gcd(a, n) != 1);
      b = random_state.below(limit);
    }
  }
  uint64_t operator()(uint64_t i) const { return (a * i + b) % n; }
};

}  // namespace

void run_next() {
  Lane* next = pick();
  if (next == block.current) return;
  block.current = next;
  if (next) threadIdx = next->index;
  switch_to(next ? next->fiber : host);
}

void* dynamic_shared() {
  if (!block.dynamic_shared)
    fail_launch(*block.kernel, "uses dynamic shared memory, but the launch gave none");
  return block.dynamic_shared;
}

void run_grid(const Kernel& kernel, dim3 grid, dim3 shape, size_t shared_bytes) {
  const unsigned threads = shape.x * shape.y * shape.z;
  const uint64_t blocks = uint64_t(grid.x) * grid.y * grid.z;
  gridDim = grid;
  blockDim = shape;
  block.kernel = &kernel;
  block.warp_count = int(threads + kWarpSize - 1) / kWarpSize;
  thread_order = settings().schedule.order;
  random_state = Random(settings().schedule.seed + ++block.counters.launches * 1000003);
  for (unsigned i = 0; i < unsigned(block.warp_count * kWarpSize); ++i) {
    Lane& lane = block.lanes[i];
    lane.id = i;
    lane.wait = Wait::none;
    lane.index = {i % shape.x, i / shape.x % shape.y, i / shape.x / shape.y};
    if (i < threads && !lane.fiber.stack) make_fiber(lane.fiber);
  }
  if (__tsan_get_current_fiber) host.tsan = __tsan_get_current_fiber();

  const DynamicShared shared(shared_bytes);
  block.dynamic_shared = shared.bytes();
  const BlockOrder order(blocks);
  for (uint64_t i = 0; i < blocks; ++i) {
    const uint64_t b = order(i);
    blockIdx = {unsigned(b % grid.x), unsigned(b / grid.x % grid.y), unsigned(b / grid.x / grid.y)};
    fill_static_shared();
    shared.fill();
    start_block(threads);
    if (__tsan_release) __tsan_release(&start_token);
    run_next();
    if (__tsan_acquire) __tsan_acquire(&end_token);
    ++block.counters.blocks;
    if (!shared.guard_intact())
      fail_launch(kernel, "block (%u,%u,%u) wrote past its %zu bytes of dynamic shared memory",
                  blockIdx.x, blockIdx.y, blockIdx.z, shared_bytes);
  }
}

bool inside_kernel() { return block.current != nullptr; }

Counters& mutable_counters() { return block.counters; }

}  // namespace coh
