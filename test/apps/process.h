// SPDX-License-Identifier: Apache-2.0
// Runs the real program as a child process: arguments in, exit code and output back.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace lssm {

struct ProcessOptions {
  std::filesystem::path folder = {};  // working directory; empty: the test's own
  std::vector<std::pair<std::string, std::string>> environment = {};  // added to the test's own
  int64_t file_size_limit = -1;  // bytes a file may have; -1: no limit
  bool unprivileged = false;     // as the user nobody, if the test runs as root
  std::string stdout_to = {};    // a file; empty: captured
  double timeout_s = 300;        // then the child is killed and wait() throws
};

struct ProcessResult {
  int code;  // exit code, or 128 + the signal that ended it
  std::string out, err;
};

class Process {
 public:
  explicit Process(const std::vector<std::string>& arguments, const ProcessOptions& options = {});
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();  // kills a child that still runs

  // Waits until the child has written so many lines to stderr, or ended.
  void wait_for_lines(int64_t lines);
  void send(int signal);
  ProcessResult wait();

 private:
  // Reads what there is, for up to 100 ms. False at the end of both pipes.
  bool read_some();

  std::string name_;
  double deadline_;
  pid_t child_ = -1;
  int out_ = -1, err_ = -1;  // reading ends of the pipes; -1: at the end
  ProcessResult result_{-1, "", ""};
};

ProcessResult run(const std::vector<std::string>& arguments, const ProcessOptions& options = {});

}  // namespace lssm
