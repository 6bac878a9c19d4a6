// SPDX-License-Identifier: Apache-2.0
// Barriers and warp operations, and the diagnosis of their misuse.
#include <cstdio>

#include "coh_block.h"

namespace coh {
namespace {

const char* name_of(WarpOp op) {
  constexpr const char* kNames[] = {"__syncwarp", "__shfl_sync", "__shfl_up_sync",
                                    "__shfl_down_sync", "__shfl_xor_sync"};
  return kNames[int(op)];
}

bool same_place(const Site& a, const Site& b) {
  return a.line() == b.line() && a.file_name() == b.file_name();
}

// Where the threads of the block wait.
std::string waiting_places() {
  std::string text;
  bool listed[kMaxThreads] = {};
  for (int i = 0; i < block.warp_count * kWarpSize; ++i) {
    const Lane& lane = block.lanes[i];
    if (listed[i] || lane.wait == Wait::none) continue;
    int threads = 0;
    for (int k = i; k < block.warp_count * kWarpSize; ++k) {
      if (block.lanes[k].wait != lane.wait || !same_place(block.lanes[k].site, lane.site)) continue;
      listed[k] = true;
      ++threads;
    }
    char line[512];
    std::snprintf(line, sizeof line,
                  "\n  %d thread(s) from (%u,%u,%u) wait at %s:%u in a %s operation", threads,
                  lane.index.x, lane.index.y, lane.index.z, lane.site.file_name(),
                  unsigned(lane.site.line()), lane.wait == Wait::warp ? "warp" : "block");
    text += line;
  }
  return text;
}

void set_ready(int w, unsigned mask) {
  block.warps[w].ready |= mask;
  block.ready_warps |= 1u << w;
}

void set_waiting(Lane& lane, Wait wait, Site site) {
  Warp& warp = block.warps[lane.id / kWarpSize];
  warp.ready &= ~(1u << lane.id % kWarpSize);
  if (warp.ready == 0) block.ready_warps &= ~(1u << lane.id / kWarpSize);
  lane.wait = wait;
  lane.site = site;
}

// A mistake of the thread that runs.
template <class... Args>
[[noreturn]] void fail_thread(const Site& site, const char* format, Args... args) {
  char text[512];
  std::snprintf(text, sizeof text, format, args...);
  fail("%s:%u: thread (%u,%u,%u) of block (%u,%u,%u): %s", site.file_name(), unsigned(site.line()),
       block.current->index.x, block.current->index.y, block.current->index.z, blockIdx.x,
       blockIdx.y, blockIdx.z, text);
}

// The lane whose value `lane` receives, or itself.
int source_lane(WarpOp op, int lane, unsigned argument, int width) {
  const int first = lane & ~(width - 1), last = first + width - 1;
  const int distance = int(argument < unsigned(kWarpSize) ? argument : kWarpSize);
  switch (op) {
    case WarpOp::shfl:
      return first + int(argument & unsigned(width - 1));
    case WarpOp::shfl_up:
      return lane - distance >= first ? lane - distance : lane;
    case WarpOp::shfl_down:
      return lane + distance <= last ? lane + distance : lane;
    default: {
      const int source = lane ^ int(argument & (kWarpSize - 1));
      return source <= last ? source : lane;
    }
  }
}

// Everyone is here: hands each lane its result.
void complete(int w, const Meeting& meeting) {
  Lane* warp = block.lanes + w * kWarpSize;
  uint64_t values[kWarpSize];
  for (unsigned rest = meeting.mask; rest; rest &= rest - 1) {
    values[lowest(rest)] = warp[lowest(rest)].value;
  }
  for (unsigned rest = meeting.mask; rest; rest &= rest - 1) {
    const int i = lowest(rest);
    Lane& lane = warp[i];
    lane.wait = Wait::none;
    if (meeting.op == WarpOp::sync) continue;
    const int source = source_lane(meeting.op, i, lane.argument, lane.width);
    if (!(meeting.mask >> source & 1))
      fail_thread(meeting.site, "%s: lane %d reads from lane %d, which mask %08x does not name",
                  name_of(meeting.op), i, source, meeting.mask);
    lane.value = values[source];
  }
  set_ready(w, meeting.mask);
}

void complete_barrier() {
  for (int w = 0; w < block.warp_count; ++w) {
    if (block.warps[w].in_barrier == 0) continue;
    for (unsigned rest = block.warps[w].in_barrier; rest; rest &= rest - 1)
      block.lanes[w * kWarpSize + lowest(rest)].wait = Wait::none;
    set_ready(w, block.warps[w].in_barrier);
    block.warps[w].in_barrier = 0;
  }
  block.barrier.waiting = 0;
  block.barrier.turn ^= 1;
}

}  // namespace

void fail_deadlock() {
  fail_launch(*block.kernel, "deadlock in block (%u,%u,%u)%s", blockIdx.x, blockIdx.y, blockIdx.z,
              waiting_places().c_str());
}

void leave() {
  Lane& self = *block.current;
  Warp& warp = block.warps[self.id / kWarpSize];
  const unsigned bit = 1u << self.id % kWarpSize;
  for (int i = 0; i < warp.meetings; ++i)
    if (warp.meeting[i].mask & bit)
      fail_thread(warp.meeting[i].site, "%s waits for lane %d, which has returned",
                  name_of(warp.meeting[i].op), int(self.id) % kWarpSize);
  set_waiting(self, Wait::none, {});
  warp.running &= ~bit;
  --block.running;
  if (block.barrier.waiting > 0 && block.barrier.waiting == block.running) complete_barrier();
  run_next();
}

uint64_t warp_collective(WarpOp op, unsigned mask, uint64_t value, unsigned argument, int width,
                         Site site) {
  Lane& self = *block.current;
  const int w = int(self.id) / kWarpSize, l = int(self.id) % kWarpSize;
  Warp& warp = block.warps[w];
  const unsigned bit = 1u << l;
  if (!(mask & bit))
    fail_thread(site, "%s: mask %08x does not name the calling lane %d", name_of(op), mask, l);
  if (mask & ~warp.running)
    fail_thread(site, "%s: mask %08x names lanes %08x, which have returned or do not exist",
                name_of(op), mask, mask & ~warp.running);
  if (width < 1 || width > kWarpSize || (width & (width - 1)))
    fail_thread(site, "%s: width %d is not a power of two up to 32", name_of(op), width);

  int m = 0;
  for (; m < warp.meetings && warp.meeting[m].mask != mask; ++m) {
    const Meeting& other = warp.meeting[m];
    if ((other.mask & bit) && (mask & other.arrived))
      fail_thread(site, "%s with mask %08x, while lanes %08x wait for it with mask %08x at %s:%u",
                  name_of(op), mask, other.arrived, other.mask, other.site.file_name(),
                  unsigned(other.site.line()));
  }
  if (m == warp.meetings) warp.meeting[warp.meetings++] = {op, mask, 0, site};
  Meeting& meeting = warp.meeting[m];
  if (meeting.op != op || !same_place(meeting.site, site))
    fail_thread(site, "%s, while lanes %08x of the mask wait in %s at %s:%u", name_of(op),
                meeting.arrived, name_of(meeting.op), meeting.site.file_name(),
                unsigned(meeting.site.line()));

  char* token = nullptr;
  if (op == WarpOp::sync) {
    const int set = lowest(mask);
    token = &warp.token[set][warp.turn[set] & 1];
    if (__tsan_release) __tsan_release(token);
  }
  self.value = value;
  self.argument = argument;
  self.width = width;
  set_waiting(self, Wait::warp, site);
  meeting.arrived |= bit;
  if (meeting.arrived == mask) {
    complete(w, meeting);
    if (token) ++warp.turn[lowest(mask)];
    meeting = warp.meeting[--warp.meetings];
  }
  run_next();
  if (token && __tsan_acquire) __tsan_acquire(token);
  return self.value;
}

void block_barrier(Site site) {
  Lane& self = *block.current;
  if (block.barrier.waiting == 0) {
    block.barrier.site = site;
  } else if (!same_place(block.barrier.site, site)) {
    fail_thread(site, "__syncthreads, while %u threads of the block wait in another one at %s:%u",
                block.barrier.waiting, block.barrier.site.file_name(),
                unsigned(block.barrier.site.line()));
  }
  const unsigned turn = block.barrier.turn;
  if (__tsan_release) __tsan_release(&block.barrier.token[turn]);
  ++block.barrier.waiting;
  block.warps[self.id / kWarpSize].in_barrier |= 1u << self.id % kWarpSize;
  set_waiting(self, Wait::block, site);
  if (block.barrier.waiting == block.running) complete_barrier();
  run_next();
  if (__tsan_acquire) __tsan_acquire(&block.barrier.token[turn]);
}

}  // namespace coh
