// SPDX-License-Identifier: Apache-2.0
// Streams and events. Lazy streams queue their work and run it at the latest moment: when the host
// waits for it, or when work of another stream depends on it.
#include <chrono>
#include <deque>
#include <vector>

#include "coh_internal.h"

namespace {

// The first `count` pieces of work of `stream`.
struct Dependency {
  CUstream_st* stream;
  uint64_t count;
};

}  // namespace

struct CUstream_st {
  struct Work {
    std::vector<Dependency> after;
    std::function<void()> run;
    uint64_t number;  // in the order of all submissions
  };
  bool blocking = true;  // ordered with the null stream
  bool open = true;      // not destroyed
  uint64_t submitted = 0, completed = 0;
  std::deque<Work> queue;
};

struct CUevent_st {
  Dependency recorded = {nullptr, 0};
  bool timing = true;
  std::chrono::steady_clock::time_point time;
};

namespace coh {
namespace {

// Never destroyed, so that statics of a test may use streams as late as they like. A destroyed
// stream stays here: events and other streams may still depend on it.
struct State {
  CUstream_st null;
  std::deque<CUstream_st> streams;
  int open_events = 0;
  uint64_t submissions = 0;
  Random random{0};
};
State& state() {
  static State* s = new State;
  return *s;
}

CUstream_st& stream_of(cudaStream_t handle) { return handle ? *handle : state().null; }

// Runs the first `count` pieces of work of a stream, and what they depend on.
void advance(CUstream_st& stream, uint64_t count) {
  while (stream.completed < count) {
    const CUstream_st::Work work = std::move(stream.queue.front());
    stream.queue.pop_front();
    for (const Dependency& d : work.after) advance(*d.stream, d.count);
    if (sticky() == cudaSuccess && work.run) work.run();
    ++stream.completed;
  }
}

cudaError_t submit_after(cudaStream_t handle, std::function<void()> run,
                         std::vector<Dependency> after) {
  CUstream_st& stream = stream_of(handle);
  if (!stream.open) return cudaErrorInvalidResourceHandle;
  if (!handle) {
    for (CUstream_st& other : state().streams)
      if (other.blocking) after.push_back({&other, other.submitted});
  } else if (stream.blocking) {
    after.push_back({&state().null, state().null.submitted});
  }
  stream.queue.push_back({std::move(after), std::move(run), ++state().submissions});
  ++stream.submitted;
  if (!settings().lazy) advance(stream, stream.submitted);
  return sticky();
}

}  // namespace

cudaError_t submit(cudaStream_t stream, std::function<void()> work) {
  return submit_after(stream, std::move(work), {});
}

void finish_stream(cudaStream_t handle) {
  CUstream_st& stream = stream_of(handle);
  // Waiting for the null stream means waiting for all blocking ones.
  if (!handle)
    for (CUstream_st& other : state().streams)
      if (other.blocking) advance(other, other.submitted);
  advance(stream, stream.submitted);
}

void finish_all_streams() {
  const Schedule schedule = settings().schedule;
  const bool mix =
      schedule.order == Schedule::Order::random || schedule.order == Schedule::Order::priority;
  for (;;) {
    std::vector<CUstream_st*> pending;
    if (!state().null.queue.empty()) pending.push_back(&state().null);
    for (CUstream_st& stream : state().streams)
      if (!stream.queue.empty()) pending.push_back(&stream);
    if (pending.empty()) return;
    // Streams are independent: take any one, or the one whose turn came last. Work that should
    // have waited for another stream then runs too early.
    CUstream_st* next = pending[0];
    if (mix) next = pending[state().random.below(unsigned(pending.size()))];
    for (CUstream_st* stream : pending)
      if (!mix && stream->queue.front().number > next->queue.front().number) next = stream;
    advance(*next, next->completed + 1);
  }
}

int open_streams() {
  int count = state().open_events;
  for (const CUstream_st& stream : state().streams) count += stream.open;
  return count;
}

}  // namespace coh

using namespace coh;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  Api api;
  state().streams.emplace_back().blocking = flags != cudaStreamNonBlocking;
  *stream = &state().streams.back();
  return api.done(cudaSuccess);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  Api api;
  if (!stream || !stream->open) {
    report("cudaStreamDestroy: not an open stream");
    return api.done(cudaErrorInvalidResourceHandle);
  }
  advance(*stream, stream->submitted);
  stream->open = false;
  return api.done(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  Api api;
  finish_stream(stream);
  return api.done(cudaSuccess);
}

cudaError_t cudaDeviceSynchronize() {
  Api api;
  finish_all_streams();
  return api.done(cudaSuccess);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  Api api;
  if (flags != 0) return api.done(cudaErrorInvalidValue);
  if (!event->recorded.stream) return api.done(cudaSuccess);
  return api.done(submit_after(stream, nullptr, {event->recorded}));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  Api api;
  *event = new CUevent_st;
  (*event)->timing = flags != cudaEventDisableTiming;
  ++state().open_events;
  return api.done(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  Api api;
  if (event->recorded.stream) advance(*event->recorded.stream, event->recorded.count);
  delete event;
  --state().open_events;
  return api.done(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  Api api;
  CUstream_st& stream = stream_of(handle);
  event->recorded = {&stream, stream.submitted + 1};
  return api.done(submit(handle, [event] { event->time = std::chrono::steady_clock::now(); }));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  Api api;
  if (event->recorded.stream) advance(*event->recorded.stream, event->recorded.count);
  return api.done(cudaSuccess);
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  Api api;
  for (cudaEvent_t event : {start, end}) {
    if (!event->timing || !event->recorded.stream) return api.done(cudaErrorInvalidResourceHandle);
    if (event->recorded.stream->completed < event->recorded.count)
      return api.done(cudaErrorNotReady);
  }
  *ms = std::chrono::duration<float, std::milli>(end->time - start->time).count();
  return api.done(cudaSuccess);
}
