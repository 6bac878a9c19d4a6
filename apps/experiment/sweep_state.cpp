// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/sweep_state.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>

#include "apps/experiment/config_file.h"
#include "apps/experiment/folder_lock.h"
#include "apps/experiment/run_finder.h"
#include "core/file.h"

namespace lssm {
namespace {

namespace fs = std::filesystem;

// The object in a file; null if there is no file or no object in it.
Json read_object(const fs::path& path) {
  if (!is_there(path)) return {};
  const Json json = Json::parse(read_file(path), nullptr, false);
  return json.is_object() ? json : Json();
}

// In what the config of a folder differs from that of the plan; seed and threads aside.
std::string differences(const SweepVariant& variant, Json config) {
  Json planned = variant.resolved;
  for (Json* json : {&planned, &config}) {
    json->erase("threads");
    if (json->contains("train") && (*json)["train"].is_object()) (*json)["train"].erase("seed");
  }
  std::vector<std::string> keys;
  for (const KeyDifference& d : config_differences(config, planned)) {
    const auto value = [](const std::string& text) { return text.empty() ? "nothing" : text; };
    keys.push_back(d.key + " is " + value(d.a) + ", not " + value(d.b));
  }
  constexpr size_t kShown = 3;
  if (keys.size() > kShown) {
    const size_t more = keys.size() - kShown;
    keys.resize(kShown);
    keys.push_back(text("and ", more, " more"));
  }
  return comma_list(keys);
}

// Why the run in a folder is not that of the plan; "" if it is, or if there is none.
std::string why_foreign(const SweepPlan& plan, const SweepRun& run) {
  const fs::path path = run.folder / "config.json";
  if (!is_there(path)) {
    const bool empty = !is_there(run.folder / "summary.json") &&
                       !is_there(run.folder / "checkpoint.safetensors") &&
                       !is_there(run.folder / "metrics.jsonl");
    return empty ? "" : "it has no config.json";
  }
  const Json config = read_object(path);
  if (config.is_null()) return "its config.json is not valid JSON";
  const std::string list = differences(plan.variant_of(run), config);
  if (!list.empty()) return list;
  const Json seed = config["train"].value("seed", Json());
  return seed == run.seed ? "" : "its seed is " + seed.dump();
}

}  // namespace

const char* state_name(RunState state) {
  switch (state) {
    case RunState::absent:
      return "absent";
    case RunState::running:
      return "running";
    case RunState::interrupted:
      return "interrupted";
    case RunState::failed:
      return "failed";
    case RunState::done:
      return "done";
    case RunState::foreign:
      return "foreign";
  }
  return "";
}

RunStatus run_status(const SweepPlan& plan, const SweepRun& run) {
  if (!is_there(run.folder)) return {};
  const std::string foreign = why_foreign(plan, run);
  if (!foreign.empty()) return {RunState::foreign, foreign};
  if (is_locked(run.folder)) return {RunState::running};  // before its summary is looked at
  if (!is_there(run.folder / "config.json")) return {};
  Json summary = read_object(run.folder / "summary.json");
  if (summary.is_object() && summary.value("config_hash", Json()) == plan.variant_of(run).hash)
    return {RunState::done, "", 0, std::move(summary)};
  const Json failure = read_object(run.folder / "failure.json");
  if (!failure.is_object()) return {RunState::interrupted};
  const Json error = failure.value("error", Json()), code = failure.value("exit_code", Json());
  return {RunState::failed, error.is_string() ? error.get<std::string>() : "for an unknown reason",
          code.is_number_integer() ? code.get<int>() : 1};
}

std::vector<RunStatus> run_statuses(const SweepPlan& plan) {
  std::vector<RunStatus> statuses;
  for (const SweepRun& run : plan.runs) statuses.push_back(run_status(plan, run));
  return statuses;
}

std::string runs_text(size_t count) { return text(count, count == 1 ? " run" : " runs"); }

int64_t logged_step(const SweepRun& run) {
  constexpr int64_t kTail = 4096;
  std::ifstream file(run.folder / "metrics.jsonl", std::ios::binary);
  file.seekg(0, std::ios::end);
  const int64_t size = int64_t(file.tellg());
  if (!file || size <= 0) return 0;
  file.seekg(std::max<int64_t>(0, size - kTail));
  int64_t step = 0;
  for (std::string line; std::getline(file, line);) {  // the first and the last may be cut
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_object() && json.contains("step") && json["step"].is_number_integer())
      step = json["step"];
  }
  return step;
}

std::vector<std::string> run_arguments(const SweepPlan& plan, const SweepRun& run, RunState state,
                                       int64_t threads) {
  if (state == RunState::interrupted || state == RunState::failed)
    return {"train", "--resume", run.folder.string()};
  std::vector<std::string> arguments = {"train",  plan.config_of(plan.variant_of(run)).string(),
                                        "--set",  text("train.seed=", run.seed),
                                        "--runs", plan.folder.string()};
  if (threads > 0) arguments.insert(arguments.end(), {"--set", text("threads=", threads)});
  if (state == RunState::foreign) arguments.push_back("--force");
  return arguments;
}

std::string shell_command(const std::vector<std::string>& arguments) {
  std::string line = "lssm";
  for (const std::string& word : arguments) {
    const auto plain = [](unsigned char c) {
      return std::isalnum(c) || std::strchr("._-+=,/:@%", c);
    };
    if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) {
      line += " " + word;
      continue;
    }
    line += " '";
    for (const char c : word) line += c == '\'' ? "'\\''" : std::string(1, c);
    line += "'";
  }
  return line;
}

void refuse_foreign(const SweepPlan& plan, const std::vector<RunStatus>& statuses) {
  std::string list;
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    if (statuses[i].state != RunState::foreign) continue;
    list += text("\nlssm:   ", plan.runs[i].folder.string(), ": ", statuses[i].message);
  }
  LSSM_CHECK(list.empty(), "sweep ", plan.file,
             ": these folders hold runs of other configs; keep them by another \"name\" of the "
             "sweep, or replace them by --force:",
             list);
}

std::string result_text(const Json& summary) {
  std::vector<std::pair<int64_t, double>> finals;
  if (!summary.is_object() || !summary.contains("test")) return "";
  for (const auto& [length, scores] : summary["test"].items()) {
    if (!scores.is_object() || !scores.contains("final") || !scores["final"].is_number()) continue;
    finals.emplace_back(std::strtoll(length.c_str(), nullptr, 10), scores["final"]);
  }
  if (finals.empty()) return "";
  std::sort(finals.begin(), finals.end());
  char line[128];
  int used = std::snprintf(line, sizeof line, "final %.2f %% at %lld", 100 * finals.front().second,
                           static_cast<long long>(finals.front().first));
  if (finals.size() > 1) {
    std::snprintf(line + used, sizeof line - size_t(used), ", %.2f %% at %lld",
                  100 * finals.back().second, static_cast<long long>(finals.back().first));
  }
  return line;
}

}  // namespace lssm
