// SPDX-License-Identifier: Apache-2.0
// Shortcuts for tests of the program: a tiny experiment, a workplace for its runs, its files.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <sstream>

#include "core/config.h"
#include "core/file.h"
#include "core/safetensors.h"
#include "test/apps/process.h"
#include "test/core/temporary_folder.h"
#include "test/test.h"

namespace lssm {

// S3 over eight steps: trains in milliseconds, and learns.
inline Json tiny_config() {
  return Json::parse(R"({
    "name": "tiny",
    "task": {"type": "group_word", "group": "S3", "inputs": "generators", "length": 8},
    "model": {"width": 8, "layers": [
      {"type": "embedding"}, {"type": "lie_ssm", "group": "so3", "heads": 4}, {"type": "linear"}]},
    "train": {"steps": 40, "batch": 8, "optimizer": {"type": "adam", "lr": 0.02},
              "clip_norm": 1.0, "seed": 7, "valid_sequences": 32, "log_every": 10},
    "eval": {"lengths": [8, 20], "sequences": 60}
  })");
}

inline Json tiny_config_with(const Json& patch) {
  Json config = tiny_config();
  config.merge_patch(patch);
  return config;
}

// The names of all files below a folder.
inline std::set<std::string> files_below(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    names.insert(std::filesystem::relative(entry.path(), folder).string());
  return names;
}

// A temporary folder in which the program runs.
class Workplace {
 public:
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  std::filesystem::path root() const { return folder_.path(); }
  // The run of the tiny config below the folder `runs`.
  std::filesystem::path tiny_run(const std::string& runs) const {
    return path(runs) / "tiny" / "seed-7";
  }
  void write(const std::string& name, const std::string& bytes) const {
    write_file_atomically(path(name), bytes);
  }
  void write(const std::string& name, const Json& json) const { write(name, json.dump(2)); }

  ProcessOptions options() const { return {.folder = root()}; }
  ProcessResult lssm(std::vector<std::string> arguments) const {
    return lssm(std::move(arguments), options());
  }
  ProcessResult lssm(std::vector<std::string> arguments, const ProcessOptions& options) const {
    arguments.insert(arguments.begin(), LSSM_PROGRAM);
    return run(arguments, options);
  }
  // The same, but the program must succeed. Returns its standard output.
  std::string good(std::vector<std::string> arguments) const {
    std::string line;
    for (const std::string& word : arguments) line += " " + word;
    const ProcessResult result = lssm(std::move(arguments));
    INFO("lssm" << line << "\n" << result.err);
    REQUIRE(result.code == 0);
    return result.out;
  }

 private:
  TemporaryFolder folder_;
};

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// `parts` must all appear in the one line of the error.
inline void check_error(const ProcessResult& result, int code,
                        const std::vector<std::string>& parts) {
  INFO("exit code " << result.code << ", stderr: " << result.err);
  CHECK(result.code == code);
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
  CHECK(result.err.starts_with("lssm: "));
  CHECK(result.out.empty());
  for (const std::string& part : parts) {
    INFO("expected: " << part);
    CHECK(result.err.find(part) != std::string::npos);
  }
}

// The lines of metrics.jsonl without what depends on the clock.
inline std::vector<Json> timeless_metrics(const std::filesystem::path& run) {
  std::vector<Json> all;
  std::istringstream lines(read_file(run / "metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    Json json = Json::parse(line);
    json.erase("wall_s");
    json.erase("cpu_s");
    json.erase("tokens_per_s");
    all.push_back(json);
  }
  return all;
}

inline Json read_json(const std::filesystem::path& path) { return Json::parse(read_file(path)); }

// summary.json without clocks and memory.
inline Json timeless_summary(const std::filesystem::path& run) {
  Json summary = read_json(run / "summary.json");
  for (const char* key : {"wall_s", "train_wall_s", "cpu_s", "peak_bytes"}) summary.erase(key);
  return summary;
}

// A function of its own, so that a failed check does not print the bytes.
inline bool same_bytes(const std::filesystem::path& a, const std::filesystem::path& b) {
  return read_file(a) == read_file(b);
}

// Name, dtype, shape and bytes of each array of a checkpoint.
inline std::map<std::string, std::string> arrays(const std::filesystem::path& checkpoint) {
  const SafetensorsFile file = read_safetensors(checkpoint);
  std::map<std::string, std::string> all;
  for (const SafetensorsEntry& e : file.entries)
    all[e.name] = e.dtype + Json(e.shape).dump() + std::string(e.bytes);
  return all;
}

inline int64_t checkpoint_step(const std::filesystem::path& checkpoint) {
  return Json::parse(read_safetensors(checkpoint).metadata.at("train"))["step"];
}

// Whether every f32 number of a checkpoint is finite.
inline bool all_finite(const std::filesystem::path& checkpoint) {
  const SafetensorsFile file = read_safetensors(checkpoint);
  for (const SafetensorsEntry& e : file.entries) {
    std::vector<float> numbers(e.bytes.size() / sizeof(float));
    std::memcpy(numbers.data(), e.bytes.data(), numbers.size() * sizeof(float));
    for (const float x : numbers)
      if (!std::isfinite(x)) return false;
  }
  return true;
}

// Whether python3 can import a module. Tests that need it say when they are skipped.
inline bool python_has(const std::string& module) {
  if (run({"python3", "-c", "import " + module}).code == 0) return true;
  WARN("skipped: python3 cannot import " << module);
  return false;
}

}  // namespace lssm
