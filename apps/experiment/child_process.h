// SPDX-License-Identifier: Apache-2.0
// This program again, with other arguments, as a child process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lssm {

class ChildProcess {
 public:
  // Starts it in a process group of its own, so that a terminal's Ctrl-C reaches only the parent.
  // It gets SIGTERM when the parent ends, however that comes. Its standard output is dropped.
  // `thread_limit`: of OpenMP; 0: none.
  ChildProcess(const std::vector<std::string>& arguments, int64_t thread_limit);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();  // stops a child that still runs, and waits for it

  // A descriptor that can be read when the child writes to stderr or ends; -1 after its end.
  int pipe() const { return pipe_; }
  // Reads what there is of stderr; whether the child has ended. Does not wait.
  bool poll();
  void send(int signal) const;

  // Once it has ended: how it did, as a shell says it (128 + the signal that killed it).
  int exit_code() const;
  int killed_by() const;  // 0: it ended by itself
  std::string last_line() const;

 private:
  void read_errors();

  pid_t child_ = -1;  // -1: ended, or moved away
  int pipe_ = -1;
  int status_ = 0;
  std::string errors_;  // the end of what it wrote to stderr
};

}  // namespace lssm
