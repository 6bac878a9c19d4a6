// SPDX-License-Identifier: Apache-2.0
#include "apps/report/results.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <sstream>

#include "apps/experiment/config_file.h"
#include "apps/experiment/run_finder.h"
#include "apps/report/format.h"
#include "core/file.h"

namespace lssm {
namespace {

namespace fs = std::filesystem;

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
std::string unfinished(const fs::path& folder, const Json& config) {
  if (is_there(folder / "failure.json")) {
    const Json failure = Json::parse(read_file(folder / "failure.json"), nullptr, false);
    const Json& error = json_at(failure, {"error"});
    return "failed: " +
           (error.is_string() ? one_line(error.get<std::string>()) : "failure.json is broken");
  }
  double step = 0;
  for (const Json& line : read_metrics(folder / "metrics.jsonl"))
    step = std::max(step, number_at(line, {"step"}).value_or(0));
  const std::optional<double> steps = number_at(config, {"train", "steps"});
  return text("not finished (step ", int64_t(step), " of ",
              steps ? std::to_string(int64_t(*steps)) : "an unknown number", ")");
}

// "a seeds 1, 2"
std::string seeds_of(const std::string& name, const std::vector<uint64_t>& seeds) {
  return name + (seeds.size() > 1 ? " seeds " : " seed ") + seeds_text(seeds);
}

void add_run(RunResult run, const std::string& plain, std::vector<Variant>& variants) {
  const std::string name = run.summary["name"];
  auto variant = std::find_if(variants.begin(), variants.end(),
                              [&name](const Variant& v) { return v.name == name; });
  if (variant == variants.end()) {
    variants.push_back({name, {}, plain});
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

// What the sweep.json of a sweep's folder says.
struct Sweep {
  struct Config {
    std::string name, variant, hash;
  };
  std::string baseline;
  std::vector<Config> configs;
  std::vector<uint64_t> seeds;
};

// Absent where there is none. Other files may have this name, such as the sweep's own: the record
// of a sweep knows the hashes of its configs.
std::optional<Sweep> read_sweep(const fs::path& folder) {
  if (!is_there(folder / "sweep.json")) return {};
  const Json json = read_json_file(folder / "sweep.json");
  const Json &listed = json_at(json, {"variants"}), &seeds = json_at(json, {"seeds"});
  if (!listed.is_array() || !seeds.is_array()) return {};
  Sweep sweep;
  for (const Json& seed : seeds) {
    if (!seed.is_number_unsigned()) return {};
    sweep.seeds.push_back(seed);
  }
  for (const Json& entry : listed) {
    const Json &name = json_at(entry, {"name"}), &hash = json_at(entry, {"config_hash"});
    const Json& variant = json_at(entry, {"variant"});
    if (!name.is_string() || !hash.is_string()) return {};
    sweep.configs.push_back({name, variant.is_string() ? variant : name, hash});
  }
  const Json& baseline = json_at(json, {"baseline"});
  if (baseline.is_string()) sweep.baseline = baseline;
  return sweep;
}

// The runs of one variant that are none of their sweep, for one reason.
struct Strangers {
  std::string name, reason;
  std::vector<uint64_t> seeds;
};

class Reader {
 public:
  void read(const fs::path& folder);
  Results finish(const std::vector<fs::path>& paths);

 private:
  // The sweep that a run's folder lies in, as <sweep>/<variant>/seed-<seed>; null: in none.
  const Sweep* sweep_of(const fs::path& run);
  // Whether a run is none of its sweep any more, which becomes a note.
  bool is_stranger(const fs::path& folder, const std::string& name, uint64_t seed,
                   const Json& hash);
  void follow_sweep(const fs::path& folder);

  std::map<fs::path, std::optional<Sweep>> sweeps_;
  std::vector<Strangers> strangers_;
  size_t placed_ = 0;  // so many variants have their place already
  Results results_;
};

const Sweep* Reader::sweep_of(const fs::path& run) {
  const fs::path whole = (fs::absolute(run) / "").lexically_normal().parent_path();
  const fs::path folder = whole.parent_path().parent_path();
  if (!sweeps_.count(folder)) sweeps_[folder] = read_sweep(folder);
  return sweeps_[folder] ? &*sweeps_[folder] : nullptr;
}

bool Reader::is_stranger(const fs::path& folder, const std::string& name, uint64_t seed,
                         const Json& hash) {
  const Sweep* sweep = sweep_of(folder);
  if (!sweep) return false;
  const auto config = std::find_if(sweep->configs.begin(), sweep->configs.end(),
                                   [&name](const Sweep::Config& c) { return c.name == name; });
  std::string reason;
  if (config == sweep->configs.end()) {
    reason = "not of this sweep any more";
  } else if (std::find(sweep->seeds.begin(), sweep->seeds.end(), seed) == sweep->seeds.end()) {
    reason = "no seed of this sweep any more";
  } else if (hash.is_string() && hash != config->hash) {
    reason = "not of the sweep's config any more";
  }
  if (reason.empty()) return false;
  const auto same = std::find_if(strangers_.begin(), strangers_.end(), [&](const Strangers& s) {
    return s.name == name && s.reason == reason;
  });
  if (same != strangers_.end()) {
    same->seeds.push_back(seed);
  } else {
    strangers_.push_back({name, reason, {seed}});
  }
  return true;
}

void Reader::read(const fs::path& folder) {
  if (!is_there(folder / "summary.json")) {
    const Json config = Json::parse(read_file(folder / "config.json"), nullptr, false);
    const Json &name = json_at(config, {"name"}), &seed = json_at(config, {"train", "seed"});
    std::string who = folder.string();
    if (name.is_string() && seed.is_number_unsigned()) {
      if (is_stranger(folder, name, seed, {})) return;
      who = text(name.get<std::string>(), " seed ", seed.get<uint64_t>());
    }
    results_.notes.push_back(who + ": " + unfinished(folder, config));
    return;
  }
  RunResult run;
  run.folder = folder;
  run.summary = read_json_file(folder / "summary.json");
  check_summary(run.summary, folder / "summary.json");
  run.seed = run.summary["seed"].get<uint64_t>();
  const std::string name = run.summary["name"];
  if (is_stranger(folder, name, run.seed, json_at(run.summary, {"config_hash"}))) return;
  run.config = read_json_file(folder / "config.json");
  if (!run.config.is_object()) fail_file((folder / "config.json").string(), ": is no config");
  run.metrics = read_metrics(folder / "metrics.jsonl");
  std::string plain = name;
  if (const Sweep* sweep = sweep_of(folder)) {
    for (const Sweep::Config& config : sweep->configs)
      if (config.name == name) plain = config.variant;
  }
  add_run(std::move(run), plain, results_.variants);
}

// What sweep.json knows of the runs in its folder: the order of the variants, and the runs that
// have not begun.
void Reader::follow_sweep(const fs::path& folder) {
  const std::optional<Sweep> sweep = read_sweep(folder);
  if (!sweep) return;
  for (const Sweep::Config& config : sweep->configs) {
    std::vector<uint64_t> absent;
    for (const uint64_t seed : sweep->seeds)
      if (!is_run(folder / config.name / text("seed-", seed))) absent.push_back(seed);
    if (!absent.empty()) results_.notes.push_back(seeds_of(config.name, absent) + ": not started");
    const auto place = results_.variants.begin() + int64_t(placed_);
    const auto found = std::find_if(place, results_.variants.end(),
                                    [&config](const Variant& v) { return v.name == config.name; });
    if (found == results_.variants.end()) continue;
    std::rotate(place, found, found + 1);
    ++placed_;
  }
}

Results Reader::finish(const std::vector<fs::path>& paths) {
  for (const Strangers& s : strangers_)
    results_.notes.push_back(seeds_of(s.name, s.seeds) + ": " + s.reason + ", left out");
  if (results_.variants.empty()) {
    const size_t more = results_.notes.size() - 1;
    fail_file("there is no finished run; ", results_.notes.front(),
              more > 0 ? text(", and ", more, " more") : "");
  }
  for (const fs::path& path : paths) follow_sweep(path);
  for (Variant& variant : results_.variants) {
    std::sort(variant.runs.begin(), variant.runs.end(),
              [](const RunResult& a, const RunResult& b) { return a.seed < b.seed; });
  }
  return std::move(results_);
}

}  // namespace

Results read_results(const std::vector<fs::path>& paths) {
  Reader reader;
  for (const fs::path& folder : find_runs(paths)) reader.read(folder);
  return reader.finish(paths);
}

std::string sweep_baseline(const std::vector<fs::path>& paths) {
  for (const fs::path& path : paths) {
    const std::optional<Sweep> sweep = read_sweep(path);
    if (sweep && !sweep->baseline.empty()) return sweep->baseline;
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
