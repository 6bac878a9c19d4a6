// SPDX-License-Identifier: Apache-2.0
// Reads the lines of a metrics.jsonl while another process writes it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/config.h"

namespace lssm {

class MetricsFollower {
 public:
  explicit MetricsFollower(std::filesystem::path file) : path_(std::move(file)) {}

  struct News {
    bool restarted = false;   // the file was replaced or cut: forget all earlier lines
    std::vector<Json> lines;  // complete lines since the last poll that are objects with a step
  };
  // The file need not be there yet. A last line without its end waits for the next poll.
  News poll();

 private:
  struct CloseFile {
    void operator()(const int* file) const;
  };
  // Whether `path_` is still the open file, and not shorter than what was read of it.
  bool same_file() const;

  std::filesystem::path path_;
  // Kept open: no later file can get the same number while it is.
  std::unique_ptr<const int, CloseFile> file_;
  int64_t position_ = 0;
  std::string unfinished_;  // the part of a line that has been read
};

}  // namespace lssm
