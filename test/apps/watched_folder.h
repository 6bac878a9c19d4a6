// SPDX-License-Identifier: Apache-2.0
// Runs that are made by hand, for tests of lssm watch.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/config.h"
#include "core/file.h"
#include "test/test.h"

namespace lssm {

inline void append(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::app) << bytes;
}

// Holds a run folder as a trainer does.
class HeldFolder {
 public:
  explicit HeldFolder(const std::filesystem::path& folder)
      : file_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    REQUIRE(flock(file_, LOCK_EX | LOCK_NB) == 0);
  }
  HeldFolder(const HeldFolder&) = delete;
  HeldFolder& operator=(const HeldFolder&) = delete;
  ~HeldFolder() { close(file_); }

 private:
  int file_;
};

// A run of 100 steps of which some are done: loss 4 at the first, half of it every ten steps.
inline std::filesystem::path make_run(const std::filesystem::path& folder, int steps_done) {
  std::filesystem::create_directories(folder);
  write_file_atomically(folder / "config.json", R"({"train": {"steps": 100}})");
  write_file_atomically(folder / "log.txt", "");
  double loss = 4;
  for (int step = 10; step <= steps_done; step += 10, loss /= 2) {
    append(folder / "metrics.jsonl",
           Json{{"step", step}, {"loss", loss}, {"tokens_per_s", 2500.0}, {"wall_s", double(step)}}
                   .dump() +
               "\n");
  }
  return folder;
}

}  // namespace lssm
