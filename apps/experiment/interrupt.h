// SPDX-License-Identifier: Apache-2.0
// How a signal ends a run.
#pragma once

#include <atomic>
#include <csignal>
#include <exception>

namespace lssm {

// Set by a signal handler. Training ends after the step that it is in; a test ends by Interrupted.
inline std::atomic<bool> stop_requested = false;

// Gives the signals that ask a program to end to `handler`, but those that it was started without.
inline void catch_stop_signals(void (*handler)(int)) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (std::signal(signal, SIG_IGN) != SIG_IGN) std::signal(signal, handler);
  }
}

// Thrown out of a test that was asked to stop. Nothing is lost: a resumed run tests again.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

}  // namespace lssm
