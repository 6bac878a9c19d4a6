// SPDX-License-Identifier: Apache-2.0
#include "apps/report/results.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>

#include "apps/experiment/config_file.h"
#include "core/file.h"

namespace lssm {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool is_run(const fs::path& folder) {
  return is_there(folder / "summary.json") || is_there(folder / "config.json");
}

// Runs of numbers count as numbers: seed-42 comes before seed-123.
bool natural_less(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const auto number = [&digit](const std::string& word, size_t& at) {
      while (at + 1 < word.size() && word[at] == '0' && digit(word[at + 1])) ++at;
      const size_t begin = at;
      while (at < word.size() && digit(word[at])) ++at;
      return word.substr(begin, at - begin);
    };
    const std::string x = number(a, i), y = number(b, j);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  return a.size() - i < b.size() - j;
}

void find_runs(const fs::path& folder, std::vector<fs::path>& runs) {
  if (is_run(folder)) {
    runs.push_back(folder);
    return;
  }
  std::error_code error;
  std::vector<fs::path> below;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory() && !entry.is_symlink()) below.push_back(entry.path());
  }
  if (is_there(folder / "sweep.json")) std::erase(below, folder / "configs");  // holds no runs
  if (error) fail_file(folder.string(), ": cannot be read: ", error.message());
  std::sort(below.begin(), below.end(), [](const fs::path& a, const fs::path& b) {
    return natural_less(a.filename().string(), b.filename().string());
  });
  for (const fs::path& path : below) find_runs(path, runs);
}

// Each run folder once, however often the paths lead to it.
std::vector<fs::path> all_runs(const std::vector<fs::path>& paths) {
  std::vector<fs::path> runs;
  std::set<fs::path> seen;
  for (const fs::path& path : paths) {
    std::error_code error;
    if (!fs::exists(path, error)) fail_file(path.string(), ": there is no such folder");
    if (!fs::is_directory(path, error)) {
      fail_file(path.string(), ": expected the folder of a run or of runs, got a file");
    }
    std::vector<fs::path> found;
    find_runs(path, found);
    if (found.empty()) fail_file(path.string(), ": there is no run in it");
    for (const fs::path& run : found) {
      if (seen.insert(fs::weakly_canonical(run, error)).second) runs.push_back(run);
    }
  }
  return runs;
}

Json read_json_file(const fs::path& path) {
  try {
    return parse_json(read_file(path), path.string());
  } catch (const Error& error) {
    fail_file(error.what());
  }
}

// "0.12.1" as numbers; what is no number counts as 0.
std::array<int64_t, 3> version_numbers(const std::string& version) {
  std::array<int64_t, 3> numbers = {};
  const char* at = version.data();
  const char* const end = at + version.size();
  for (int64_t& number : numbers) {
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc() || next == end || *next != '.') break;
    at = next + 1;
  }
  return numbers;
}

void check_summary(const Json& summary, const fs::path& path) {
  const auto need = [&](const char* key, bool good, const char* expected) {
    if (good) return;
    fail_file(path.string(), ": is no summary of a run: /", key, ": expected ", expected, ", got ",
              json_at(summary, {key}).dump(-1, ' ', true, Json::error_handler_t::replace));
  };
  if (!summary.is_object()) fail_file(path.string(), ": is no summary of a run: no JSON object");
  const Json& version = json_at(summary, {"version"});
  need("version", version.is_string(), "a string");
  if (version_numbers(version) > version_numbers(LSSM_VERSION)) {
    fail_file(path.string(), ": written by lssm ", version.get<std::string>(),
              ", which is newer than this one, ", LSSM_VERSION);
  }
  const Json& name = json_at(summary, {"name"});
  need("name", name.is_string() && !name.get_ref<const std::string&>().empty(), "a string");
  need("seed", json_at(summary, {"seed"}).is_number_unsigned(), "a whole number from 0");
  const Json& test = json_at(summary, {"test"});
  need("test", test.is_object(), "an object with a key for each length");
  for (const auto& [length, figures] : test.items()) {
    int64_t number = 0;
    std::from_chars(length.data(), length.data() + length.size(), number);
    const bool is_length = number >= 0 && std::to_string(number) == length;
    need("test", is_length && figures.is_object(), "an object with a key for each length");
  }
}

std::vector<Json> read_metrics(const fs::path& path) {
  std::vector<Json> lines;
  if (!is_there(path)) return lines;
  std::istringstream file(read_file(path));
  for (std::string line; std::getline(file, line);) {
    Json json = Json::parse(line, nullptr, false);  // the last line of a killed run may be cut
    if (json.is_object()) lines.push_back(std::move(json));
  }
  return lines;
}

// Errors of other programs may have several lines; a note has one.
std::string one_line(std::string words) {
  std::replace_if(
      words.begin(), words.end(), [](unsigned char c) { return c < ' ' || c == 127; }, ' ');
  return words;
}

// Why a run has no summary.
std::string unfinished_note(const fs::path& folder) {
  const Json config = Json::parse(read_file(folder / "config.json"), nullptr, false);
  const Json &name = json_at(config, {"name"}), &seed = json_at(config, {"train", "seed"});
  const std::string who = name.is_string() && seed.is_number_unsigned()
                              ? text(name.get<std::string>(), " seed ", seed.get<uint64_t>())
                              : folder.string();
  if (is_there(folder / "failure.json")) {
    const Json failure = Json::parse(read_file(folder / "failure.json"), nullptr, false);
    const Json& error = json_at(failure, {"error"});
    return who + ": failed: " +
           (error.is_string() ? one_line(error.get<std::string>()) : "failure.json is broken");
  }
  double step = 0;
  for (const Json& line : read_metrics(folder / "metrics.jsonl"))
    step = std::max(step, number_at(line, {"step"}).value_or(0));
  const std::optional<double> steps = number_at(config, {"train", "steps"});
  return text(who, ": not finished (step ", int64_t(step), " of ",
              steps ? std::to_string(int64_t(*steps)) : "an unknown number", ")");
}

void add_run(RunResult run, std::vector<Variant>& variants) {
  const std::string name = run.summary["name"];
  auto variant = std::find_if(variants.begin(), variants.end(),
                              [&name](const Variant& v) { return v.name == name; });
  if (variant == variants.end()) {
    variants.push_back({name, {}});
    variant = variants.end() - 1;
  }
  for (const RunResult& other : variant->runs) {
    LSSM_CHECK(other.seed != run.seed, name, " seed ", run.seed, ": there are two runs of it, ",
               other.folder.string(), " and ", run.folder.string(),
               "; give one of them, or another name");
    const auto differences =
        config_differences(shared_config(other.config), shared_config(run.config));
    if (differences.empty()) continue;
    const auto value = [](const std::string& json) { return json.empty() ? "absent" : json; };
    fail(name, ": seeds ", other.seed, " and ", run.seed, " differ in ", differences[0].key, " (",
         value(differences[0].a), " and ", value(differences[0].b),
         "): give the two variants two names");
  }
  variant->runs.push_back(std::move(run));
}

// The sweep.json of a sweep's folder, null elsewhere.
Json read_sweep(const fs::path& folder) {
  return is_there(folder / "sweep.json") ? read_json_file(folder / "sweep.json") : Json();
}

// What sweep.json knows of the runs in its folder: the order of the variants, and the runs that
// have not begun. The first `placed` variants have their place already.
void follow_sweep(const fs::path& folder, Results& results, int64_t& placed) {
  const Json sweep = read_sweep(folder);
  const Json &listed = json_at(sweep, {"variants"}), &seeds = json_at(sweep, {"seeds"});
  if (!listed.is_array() || !seeds.is_array()) return;
  for (const Json& variant : listed) {
    if (!json_at(variant, {"name"}).is_string()) continue;
    const std::string name = variant["name"];
    std::vector<std::string> absent;
    for (const Json& seed : seeds) {
      if (!is_run(folder / name / ("seed-" + seed.dump()))) absent.push_back(seed.dump());
    }
    if (!absent.empty()) {
      results.notes.push_back(name + (absent.size() > 1 ? " seeds " : " seed ") +
                              comma_list(absent) + ": not started");
    }
    const auto place = results.variants.begin() + placed;
    const auto found = std::find_if(place, results.variants.end(),
                                    [&name](const Variant& v) { return v.name == name; });
    if (found == results.variants.end()) continue;
    std::rotate(place, found, found + 1);
    ++placed;
  }
}

}  // namespace

Results read_results(const std::vector<fs::path>& paths) {
  Results results;
  const std::vector<fs::path> folders = all_runs(paths);
  for (const fs::path& folder : folders) {
    if (!is_there(folder / "summary.json")) {
      results.notes.push_back(unfinished_note(folder));
      continue;
    }
    RunResult run;
    run.folder = folder;
    run.summary = read_json_file(folder / "summary.json");
    check_summary(run.summary, folder / "summary.json");
    run.seed = run.summary["seed"].get<uint64_t>();
    run.config = read_json_file(folder / "config.json");
    if (!run.config.is_object()) fail_file((folder / "config.json").string(), ": is no config");
    run.metrics = read_metrics(folder / "metrics.jsonl");
    add_run(std::move(run), results.variants);
  }
  if (results.variants.empty()) {
    const size_t more = results.notes.size() - 1;
    fail_file("there is no finished run; ", results.notes.front(),
              more > 0 ? text(", and ", more, " more") : "");
  }
  int64_t placed = 0;
  for (const fs::path& path : paths) follow_sweep(path, results, placed);
  for (Variant& variant : results.variants) {
    std::sort(variant.runs.begin(), variant.runs.end(),
              [](const RunResult& a, const RunResult& b) { return a.seed < b.seed; });
  }
  return results;
}

std::string sweep_baseline(const std::vector<fs::path>& paths) {
  for (const fs::path& path : paths) {
    const Json sweep = read_sweep(path);
    const Json& baseline = json_at(sweep, {"baseline"});
    if (baseline.is_string() && baseline != "") return baseline;
  }
  return "";
}

size_t find_baseline(const Results& results, const std::string& name) {
  std::vector<std::string> names;
  for (const Variant& variant : results.variants) names.push_back(variant.name);
  const auto found = std::find(names.begin(), names.end(), name);
  LSSM_CHECK(found != names.end(), "report: there is no variant \"", name,
             "\" to be the baseline; ", spelling_help(name, names));
  return size_t(found - names.begin());
}

Json shared_config(Json config) {
  config.erase("threads");
  if (config.contains("train") && config["train"].is_object()) config["train"].erase("seed");
  return config;
}

const Json& json_at(const Json& json, const std::vector<std::string>& keys) {
  static const Json nothing;
  const Json* at = &json;
  for (const std::string& key : keys) {
    if (!at->is_object()) return nothing;
    const auto found = at->find(key);
    if (found == at->end()) return nothing;
    at = &*found;
  }
  return *at;
}

std::optional<double> number_at(const Json& json, const std::vector<std::string>& keys) {
  const Json& value = json_at(json, keys);
  if (!value.is_number() || !std::isfinite(value.get<double>())) return {};
  return value.get<double>();
}

std::vector<int64_t> test_lengths(const RunResult& run) {
  std::vector<int64_t> lengths;
  for (const auto& [length, figures] : run.summary["test"].items())
    lengths.push_back(std::stoll(length));
  std::sort(lengths.begin(), lengths.end());
  return lengths;
}

}  // namespace lssm
