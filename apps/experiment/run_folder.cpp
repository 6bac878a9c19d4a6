// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/run_folder.h"

#include <sstream>
#include <system_error>

#include "core/file.h"

namespace lssm {
namespace {

constexpr const char* kFiles[] = {"config.json",      "metrics.jsonl", "checkpoint.safetensors",
                                  "best.safetensors", "summary.json",  "log.txt"};

}  // namespace

std::filesystem::path RunFolder::path_of(const std::filesystem::path& root,
                                         const Experiment& experiment) {
  return root / experiment.config.name / ("seed-" + std::to_string(experiment.config.train.seed));
}

RunFolder RunFolder::create(const std::filesystem::path& path, const Json& resolved, bool force) {
  for (const char* file : kFiles) {
    std::error_code error;
    if (!std::filesystem::exists(path / file, error)) continue;
    LSSM_CHECK(force, "run folder ", path.string(),
               " already holds a run; go on with it by --resume, or replace it by --force");
    std::filesystem::remove(path / file, error);
    if (error) fail_file((path / file).string(), ": cannot be removed: ", error.message());
  }
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) fail_file(path.string(), ": the run folder cannot be made: ", error.message());
  RunFolder folder(path);
  folder.remove_temporary_files();
  write_file_atomically(folder.config(), resolved.dump(2) + "\n");
  return folder;
}

RunFolder RunFolder::open(const std::filesystem::path& path) {
  RunFolder folder(path);
  std::error_code error;
  if (!std::filesystem::exists(folder.config(), error)) {
    fail_file(path.string(), ": holds no run: there is no config.json");
  }
  return folder;
}

void RunFolder::append_metrics(const Json& line) {
  if (!metrics_.is_open()) metrics_.open(metrics(), std::ios::app);
  metrics_ << line.dump() << '\n' << std::flush;
  if (!metrics_) fail_file(metrics(), ": cannot be written");
}

double RunFolder::rewind_metrics(int64_t step, bool validates_again) {
  std::error_code missing;
  if (!std::filesystem::exists(metrics(), missing)) return 0;
  std::istringstream lines(read_file(metrics()));
  std::string kept;
  double wall = 0;
  for (std::string line; std::getline(lines, line);) {
    const Json json =
        Json::parse(line, nullptr, false);  // the last line of a killed run may be cut
    if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer()) continue;
    if (json["step"] > step || (json["step"] == step && validates_again && json.contains("valid")))
      continue;
    kept += line + "\n";
    wall = json.value("wall_s", wall);
  }
  write_file_atomically(metrics(), kept);
  return wall;
}

void RunFolder::remove_temporary_files() const {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path_, ignored)) {
    const std::string name = entry.path().filename().string();
    for (const char* file : kFiles) {
      if (name.starts_with(std::string(file) + ".tmp-"))
        std::filesystem::remove(entry.path(), ignored);
    }
  }
}

void RunFolder::write_summary(const Json& summary) const {
  write_file_atomically(path_ / "summary.json", summary.dump(2) + "\n");
}

}  // namespace lssm
