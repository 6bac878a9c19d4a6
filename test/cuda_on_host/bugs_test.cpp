// SPDX-License-Identifier: Apache-2.0
// The detectors of CUDA on host find the bugs that planted_bugs.cu plants, and nothing else.
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "test/test.h"

namespace {

// What finds a bug: a diagnosis of the runtime, a wrong result in at least one schedule, a
// sanitizer.
enum Detector { unseen, shim, wrong, asan, ubsan, race };

#if defined(__SANITIZE_THREAD__)
constexpr int kBuild = 2;
// Races do not depend on the schedule; each switch is costly here.
const std::vector<std::string> kSchedules = {"forward", "priority:1", "lazy"};
#elif defined(__SANITIZE_ADDRESS__)
constexpr int kBuild = 1;
#else
constexpr int kBuild = 0;
#endif
#ifndef __SANITIZE_THREAD__
const std::vector<std::string> kSchedules = {"forward",    "reverse",    "random:1",
                                             "priority:1", "priority:2", "priority:3",
                                             "priority:4", "priority:5", "lazy"};
#endif

struct Row {
  const char* bug;
  Detector found_by[3];  // in builds without sanitizer, with ASan and UBSan, with TSan
};
constexpr Row kRows[] = {
    {"missing_barrier", {wrong, wrong, race}},
    {"syncwarp_for_syncthreads", {wrong, wrong, race}},
    {"reuse_hazard", {wrong, wrong, race}},
    {"shuffle_mask", {shim, shim, shim}},
    {"shuffle_width", {wrong, wrong, wrong}},
    {"divergent_shuffle", {shim, shim, shim}},
    {"skipped_barrier", {shim, shim, shim}},
    {"deadlock", {shim, shim, shim}},
    {"shuffle_as_barrier", {unseen, unseen, race}},
    {"static_shared", {unseen, ubsan, unseen}},
    {"dynamic_shared", {shim, asan, shim}},
    {"global_tail", {shim, asan, shim}},
    {"host_pointer", {shim, shim, shim}},
    {"host_pointer_in_struct", {shim, shim, shim}},
    {"host_reads_device", {unseen, asan, unseen}},
    {"missing_sync", {wrong, wrong, wrong}},
    {"missing_event", {wrong, wrong, wrong}},
    {"use_after_free", {shim, shim, shim}},
    {"wrong_direction", {shim, shim, shim}},
    {"long_copy", {shim, shim, shim}},
    {"uninitialised", {wrong, wrong, wrong}},
    {"tensor_overrun", {shim, asan, shim}},
    {"tensor_half_written", {wrong, wrong, wrong}},
};

struct Verdict {
  std::set<Detector> found_by;
  bool failed;
  std::string output;
};

Verdict run(const std::string& bug, const std::string& form) {
  std::string command = "TSAN_OPTIONS=atexit_sleep_ms=0 " LSSM_PLANTED_BUGS " " + bug + " " + form;
  for (const std::string& schedule : kSchedules) command += " " + schedule;
  command = "(" + command + ") 2>&1";  // the shell's "Aborted" also goes there
  Verdict verdict;
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe);
  char buffer[4096];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, pipe))
    verdict.output.append(buffer, n);
  verdict.failed = pclose(pipe) != 0;
  const std::pair<const char*, Detector> signs[] = {{"coh: ", shim},
                                                    {"wrong in ", wrong},
                                                    {"ERROR: AddressSanitizer", asan},
                                                    {"runtime error: ", ubsan},
                                                    {"ThreadSanitizer: data race", race}};
  for (const auto& [text, detector] : signs)
    if (verdict.output.find(text) != std::string::npos) verdict.found_by.insert(detector);
  return verdict;
}

}  // namespace

TEST_CASE("planted bugs are found", "[bugs]") {
  for (const Row& row : kRows) {
    const Detector expected = row.found_by[kBuild];
    const Verdict verdict = run(row.bug, "bad");
    INFO(row.bug << ": " << verdict.output);
    CHECK(verdict.failed == (expected != unseen));
    if (expected == unseen)
      CHECK(verdict.found_by.empty());
    else
      CHECK(verdict.found_by.count(expected) == 1);
  }
}

TEST_CASE("the right forms pass", "[bugs]") {
  for (const Row& row : kRows) {
    const Verdict verdict = run(row.bug, "good");
    INFO(row.bug << ": " << verdict.output);
    CHECK(!verdict.failed);
    CHECK(verdict.output.empty());
  }
}
