// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/run_folder.h"

#include <sstream>
#include <system_error>

#include "core/file.h"

namespace lssm {
namespace {

constexpr const char* kFiles[] = {"config.json",      "metrics.jsonl", "checkpoint.safetensors",
                                  "best.safetensors", "summary.json",  "log.txt",
                                  "failure.json"};

}  // namespace

std::filesystem::path RunFolder::path_of(const std::filesystem::path& root,
                                         const Experiment& experiment) {
  return root / experiment.config.name / ("seed-" + std::to_string(experiment.config.train.seed));
}

RunFolder::RunFolder(std::filesystem::path path)
    : path_(std::move(path)), lock_(path_, "run folder") {}

RunFolder RunFolder::create(const std::filesystem::path& path, const Json& resolved, bool force) {
  const std::string config = resolved.dump(2) + "\n";
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) fail_file(path.string(), ": the run folder cannot be made: ", error.message());
  RunFolder folder(path);  // locked before it is looked at
  for (const char* file : kFiles) {
    LSSM_CHECK(force || !std::filesystem::exists(path / file, error), "run folder ", path.string(),
               " already holds a run; go on with it by --resume, or replace it by --force");
  }
  for (const char* file : kFiles) {
    std::filesystem::remove(path / file, error);
    if (error) fail_file((path / file).string(), ": cannot be removed: ", error.message());
  }
  folder.remove_temporary_files();
  EventFile::remove_all(path);
  write_file_atomically(folder.config(), config);
  return folder;
}

RunFolder RunFolder::open(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    fail_file(path.string(), ": holds no run: there is no config.json");
  }
  RunFolder folder(path);
  if (!std::filesystem::exists(folder.config(), error) &&
      !std::filesystem::exists(folder.checkpoint(), error)) {
    fail_file(path.string(), ": holds no run: there is no config.json");
  }
  return folder;
}

void RunFolder::append_metrics(const Json& line) {
  if (!metrics_.is_open()) metrics_.open(metrics(), std::ios::app);
  metrics_ << line.dump() << '\n' << std::flush;
  if (!metrics_) fail_file(metrics(), ": cannot be written");
  if (events_) events_->add(line);
}

SpentTime RunFolder::rewind_metrics(int64_t step, bool validates_again) {
  std::error_code missing;
  if (!std::filesystem::exists(metrics(), missing)) return {};
  std::istringstream lines(read_file(metrics()));
  std::string kept;
  if (events_) events_->restart(step);
  SpentTime spent;
  for (std::string line; std::getline(lines, line);) {
    const Json json =
        Json::parse(line, nullptr, false);  // the last line of a killed run may be cut
    if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer()) continue;
    if (json["step"] > step || (json["step"] == step && validates_again && json.contains("valid")))
      continue;
    kept += line + "\n";
    if (events_ && json["step"] == step) events_->add(json);  // TensorBoard drops that step too
    const auto seconds = [&json](const char* key, double before) {
      return json.contains(key) && json[key].is_number() ? json[key].get<double>() : before;
    };
    spent = {seconds("wall_s", spent.wall), seconds("cpu_s", spent.cpu)};
  }
  write_file_atomically(metrics(), kept);
  return spent;
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

void RunFolder::write_failure(const std::string& error, int exit_code) const {
  const Json failure = {{"error", error}, {"exit_code", exit_code}};
  write_file_atomically(path_ / "failure.json",
                        failure.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void RunFolder::remove_failure() const {
  std::error_code ignored;
  std::filesystem::remove(path_ / "failure.json", ignored);
}

void RunFolder::write_summary(const Json& summary) const {
  write_file_atomically(path_ / "summary.json", summary.dump(2) + "\n");
}

}  // namespace lssm
