// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/watched_run.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "apps/experiment/folder_lock.h"
#include "core/file.h"

namespace lssm {
namespace {

namespace fs = std::filesystem;

// A JSON file of a run, or null if it cannot be read: it may be about to change.
Json read_quietly(const fs::path& file) {
  try {
    return parse_json(read_file(file), file.string());
  } catch (const Error&) {
    return {};
  }
}

double number(const Json& object, const char* key) {
  return object.contains(key) && object[key].is_number() ? object[key].get<double>() : NAN;
}

}  // namespace

WatchedRun::WatchedRun(fs::path folder)
    : folder_(std::move(folder)), metrics_(folder_ / "metrics.jsonl") {
  read_config();
}

void WatchedRun::read_config() {
  const Json config = read_quietly(folder_ / "config.json");
  const Json steps =
      config.is_object() ? config.value("/train/steps"_json_pointer, Json()) : Json();
  view_.steps = steps.is_number_integer() ? steps.get<int64_t>() : 0;
}

void WatchedRun::refresh() {
  const bool locked = is_locked(folder_);  // first: after that an ended run's files do not change
  const MetricsFollower::News news = metrics_.poll();
  if (news.restarted) {
    view_.step = 0;
    view_.tokens_per_s = NAN;
    for (auto* curve : {&view_.loss, &view_.valid_accuracy, &view_.valid_loss, &wall_})
      curve->clear();
    read_config();
  }
  for (const Json& line : news.lines) take(line);
  view_.seconds_left = seconds_left();
  view_.error.clear();
  if (locked) {
    view_.state =
        view_.steps > 0 && view_.step >= view_.steps ? WatchState::testing : WatchState::running;
  } else if (is_there(folder_ / "failure.json")) {
    view_.state = WatchState::failed;
    const Json failure = read_quietly(folder_ / "failure.json");
    if (failure.is_object() && failure.contains("error") && failure["error"].is_string())
      view_.error = failure["error"].get<std::string>();
  } else {
    view_.state = is_there(folder_ / "summary.json") ? WatchState::finished : WatchState::stopped;
  }
}

void WatchedRun::take(const Json& line) {
  const auto step = line["step"].get<int64_t>();
  const double x = double(step);
  view_.step = std::max(view_.step, step);
  if (line.contains("valid") && line["valid"].is_object()) {
    const Json& valid = line["valid"];
    const char* accuracy = valid.contains("prefix") ? "prefix" : "final";
    if (valid.contains(accuracy)) view_.valid_accuracy.push_back({x, number(valid, accuracy)});
    if (valid.contains("loss")) view_.valid_loss.push_back({x, number(valid, "loss")});
    return;
  }
  view_.loss.push_back({x, number(line, "loss")});
  view_.tokens_per_s = number(line, "tokens_per_s");
  wall_.push_back({x, number(line, "wall_s")});
}

// As the last quarter of the lines went; the time since the last one is taken off.
double WatchedRun::seconds_left() const {
  if (wall_.empty() || view_.steps <= 0) return NAN;
  const CurvePoint now = wall_.back();
  CurvePoint before = {0, 0};
  if (wall_.size() > 1) before = wall_[wall_.size() - 1 - (wall_.size() + 3) / 4];
  if (!(now.x > before.x) || !(now.y >= before.y)) return NAN;
  const double left = (double(view_.steps) - now.x) * (now.y - before.y) / (now.x - before.x);
  std::error_code error;
  const auto written = fs::last_write_time(folder_ / "metrics.jsonl", error);
  const auto age = std::chrono::duration<double>(fs::file_time_type::clock::now() - written);
  return error ? left : std::clamp(left - age.count(), 0.0, left);
}

void name_runs(std::vector<WatchedRun>& runs) {
  std::map<std::string, int> count;
  std::vector<std::string> names;
  for (const WatchedRun& run : runs) {
    std::error_code error;
    const fs::path path = fs::weakly_canonical(run.folder(), error);
    names.push_back((path.parent_path().filename() / path.filename()).string());
    ++count[names.back()];
  }
  for (size_t i = 0; i < runs.size(); ++i)
    runs[i].set_name(count[names[i]] == 1 ? names[i] : runs[i].folder().string());
}

}  // namespace lssm
