// SPDX-License-Identifier: Apache-2.0
// Event files: what TensorBoard reads. They lie beside metrics.jsonl and hold the same numbers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "core/config.h"

namespace lssm {

class EventFile {
 public:
  // Makes a new file in a run folder. Its name comes after those of earlier sessions, since
  // TensorBoard reads a folder's files in the order of their names.
  explicit EventFile(const std::filesystem::path& folder);

  static bool any_in(const std::filesystem::path& folder);
  static void remove_all(const std::filesystem::path& folder);

  // One object of metrics.jsonl: its numbers become scalars, {"loss": 1, "valid": {"final": 2}} the
  // tags train/loss and valid/final. Clocks, and what is no finite number, are left out.
  void add(const Json& line);
  // A session that goes on from a checkpoint: TensorBoard forgets what earlier files say about
  // `step` and later ones.
  void restart(int64_t step);

 private:
  // Writes the fields of an Event after its time and step.
  void write_event(int64_t step, std::string_view fields);

  std::string path_;
  std::ofstream file_;
};

}  // namespace lssm
