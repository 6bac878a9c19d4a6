// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/sweep.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include "apps/experiment/config_file.h"
#include "apps/experiment/run_folder.h"
#include "core/file.h"

namespace lssm {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxName = 200;  // bytes; file systems take 255, and ".json.tmp-…" is added
const std::vector<std::string> kReserved = {"configs", "report", "results.json", "slurm",
                                            "sweep.json"};

void check_folder_name(const Fields& f, const std::string& name) {
  const auto is_plain = [](unsigned char c) { return c > ' ' && c != '/' && c != 127; };
  f.check(!name.empty() && name[0] != '.' && std::all_of(name.begin(), name.end(), is_plain) &&
              name.size() <= kMaxName,
          "name",
          text("expected a folder name without spaces, of at most ", kMaxName, " bytes, got ",
               Json(name).dump(-1, ' ', true, Json::error_handler_t::replace)));
}

// Dotted keys with values, as "set" and the entries of "list" are; these may have a name.
void check_keys(const Fields& f, const char* key, const Json& object, bool may_have_name = false) {
  f.check(object.is_object(), key, "expected an object of dotted keys, got " + object.dump());
  for (const auto& [name, value] : object.items()) {
    if (may_have_name && name == "name") {
      f.check(value.is_string(), key, "name: expected a word, got " + value.dump());
      continue;
    }
    f.check(name != "name" && name != "train.seed", key,
            "\"" + name + "\" belongs to the sweep: say it by \"variants\" or \"seeds\"");
  }
}

struct VariantConfig final : Configurable {
  void fields(Fields& f) override {
    f.require("name", name, "name of the variant, and of the folder of its runs");
    check_folder_name(f, name);
    f.check(std::find(kReserved.begin(), kReserved.end(), name) == kReserved.end(), "name",
            "the sweep's folder has a \"" + name + "\" of its own");
    f.add_json("config", config, "a config instead of the sweep's: a path or an object");
    f.add_json("set", set, "keys that this variant changes");
    check_keys(f, "set", set);
  }

  std::string name;
  Json config, set = Json::object();
};

void check_seeds(const Fields& f, const std::vector<int64_t>& seeds) {
  f.check(!seeds.empty(), "seeds", "an empty list, expected at least one seed");
  std::set<int64_t> seen;
  for (const int64_t seed : seeds)
    f.check(seen.insert(seed).second, "seeds", text("the seed ", seed, " stands there twice"));
}

}  // namespace

void SweepConfig::fields(Fields& f) {
  f.require("name", name, "name of the sweep's folder");
  check_folder_name(f, name);
  f.add_json("config", config, "the experiment: the path of a config, from this file, or a config");
  f.check(!config.is_null(), "config", "this key is missing");
  f.add_json("set", set, "keys that are set in all runs");
  check_keys(f, "set", set);
  f.add_json("variants", variants, "what is compared: objects with name, set, config");
  f.check(variants.is_null() || (variants.is_array() && !variants.empty()), "variants",
          "expected a list of objects with a name, got " + variants.dump());
  f.add_json("grid", grid, "values of keys; every combination is run");
  f.check(grid.is_null() || (grid.is_object() && !grid.empty()), "grid",
          "expected an object with a list of values for each key, got " + grid.dump());
  if (grid.is_object()) check_keys(f, "grid", grid);
  for (const auto& [key, values] : grid.items()) {
    f.check(values.is_array() && !values.empty(), "grid",
            key + ": expected a list of values, got " + values.dump());
    for (size_t i = 0; i < values.size(); ++i) {
      f.check(std::count(values.begin(), values.end(), values[i]) == 1, "grid",
              key + ": the value " + values[i].dump() + " stands there twice");
    }
  }
  f.add_json("list", list, "objects of keys; each is run, under its \"name\" if it has one");
  f.check(list.is_null() || (list.is_array() && !list.empty()), "list",
          "expected a list of objects, got " + list.dump());
  for (const Json& entry : list) {
    check_keys(f, "list", entry, true);
    for (const auto& [key, value] : entry.items())
      f.check(!grid.contains(key), "list", "the key \"" + key + "\" stands in the grid too");
  }
  f.add("seeds", seeds, "every variant is run with each of them", at_least(0));
  check_seeds(f, seeds);
  f.add("baseline", baseline, "the variant that reports compare with");
  f.add_json("slurm", slurm, "options for sbatch");
  f.check(slurm.is_object(), "slurm", "expected an object, got " + slurm.dump());
}

std::string SweepPlan::name_of(const SweepRun& run) const {
  return text(variant_of(run).name, ", seed ", run.seed);
}

namespace {

// The same error with what it is about in front.
template <class F>
auto in(const std::string& what, F f) {
  try {
    return f();
  } catch (const Error& error) {
    throw Error(error.kind(), what + ": " + error.what());
  }
}

// One point of grid and list: what it adds to a name, and what it sets.
struct Point {
  std::string suffix;
  std::vector<std::pair<std::string, Json>> keys;
};

// "=0.01" and "=so2"; what a folder name should not have becomes a dash.
std::string name_of_value(const Json& value) {
  std::string name = value.is_string() ? value.get<std::string>() : value.dump();
  for (char& c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) ||
                       std::string_view("._-+=,").find(c) != std::string_view::npos;
    if (!plain) c = '-';
  }
  return "=" + name;
}

// What each key of grid and list is called in names: its last component if only one has that.
std::map<std::string, std::string> key_labels(const SweepConfig& sweep) {
  std::set<std::string> keys;
  for (const auto& [key, values] : sweep.grid.items()) keys.insert(key);
  for (const Json& entry : sweep.list)
    for (const auto& [key, value] : entry.items())
      if (key != "name") keys.insert(key);
  const auto last = [](const std::string& key) { return key.substr(key.rfind('.') + 1); };
  std::map<std::string, int> count;
  for (const std::string& key : keys) ++count[last(key)];
  std::map<std::string, std::string> labels;
  for (const std::string& key : keys) labels[key] = count[last(key)] == 1 ? last(key) : key;
  return labels;
}

std::vector<Point> points_of(const SweepConfig& sweep) {
  const std::map<std::string, std::string> labels = key_labels(sweep);
  const auto extend = [&labels](Point point, const std::string& key, const Json& value) {
    point.suffix += "_" + labels.at(key) + name_of_value(value);
    point.keys.emplace_back(key, value);
    return point;
  };
  std::vector<Point> points = {{}};
  for (const auto& [key, values] : sweep.grid.items()) {
    std::vector<Point> next;
    for (const Point& point : points)
      for (const Json& value : values) next.push_back(extend(point, key, value));
    points = std::move(next);
  }
  if (sweep.list.is_null()) return points;
  std::vector<Point> next;
  for (Point point : points) {
    for (const Json& entry : sweep.list) {
      Point longer = point;
      for (const auto& [key, value] : entry.items())
        if (key != "name") longer = extend(std::move(longer), key, value);
      if (entry.contains("name"))
        longer.suffix = point.suffix + "_" + entry["name"].get<std::string>();
      next.push_back(std::move(longer));
    }
  }
  return next;
}

Json config_named(const Json& config, const std::string& sweep_file) {
  if (config.is_object()) return resolve_config(config, sweep_file);
  LSSM_CHECK(config.is_string(), "config: expected a path or an object, got ", config.dump());
  const fs::path path = fs::path(sweep_file).parent_path() / config.get<std::string>();
  Json json = read_config(path.string());
  LSSM_CHECK(json.is_object(), path.string(), ": holds no object");
  return json;
}

void set_keys(Json& config, const Json& keys) {
  for (const auto& [key, value] : keys.items()) set_key(config, key, value);
}

// The variants of the sweep; one that changes nothing if it names none.
std::vector<VariantConfig> read_variants(const SweepConfig& sweep, const std::string& file) {
  std::vector<VariantConfig> variants;
  if (sweep.variants.is_null()) {
    const Json config = config_named(sweep.config, file);
    Json only = {{"name", config.value("name", Json(sweep.name))}};
    variants.emplace_back();
    Fields::read(only, "/config", variants.back());
    return variants;
  }
  std::set<std::string> names;
  for (size_t i = 0; i < sweep.variants.size(); ++i) {
    const std::string pointer = text("/variants/", i);
    Json json = sweep.variants[i];
    variants.emplace_back();
    Fields::read(json, pointer, variants.back());
    LSSM_CHECK(names.insert(variants.back().name).second, pointer, "/name: there are two variants ",
               variants.back().name);
  }
  return variants;
}

// Checks a config by building its experiment.
SweepVariant build_variant(SweepVariant result, Json json, const SweepPlan& plan, bool runs_here) {
  const std::string& source = result.name;
  LSSM_CHECK(source.size() <= kMaxName, source, ": the name is longer than ", kMaxName, " bytes");
  json["name"] = result.name;
  // Built on the CPU: the device of the runs may be on another machine.
  ExperimentConfig::read(json, source);
  const Json device = json["device"];
  result.on_cuda = runs_here && in(source, [&] { return parse_device(device); }) != Device::cpu;
  json["device"] = "cpu";
  Experiment experiment(std::move(json), source);
  experiment.resolved["device"] = device;
  result.hash = experiment.hash();
  result.resolved = std::move(experiment.resolved);
  result.steps = experiment.config.train.steps;
  result.threads = experiment.config.threads;
  for (const Json& seed : plan.sweep["seeds"]) {
    experiment.config.train.seed = seed;
    result.folders.push_back(RunFolder::path_of(plan.folder, experiment));
  }
  return result;
}

// Errors of several variants; those that say the same share a line.
class ErrorList {
 public:
  // The message begins with the variant.
  void add(const std::string& variant, const Error& error) {
    if (errors_.empty()) kind_ = error.kind();
    const std::string message = std::string(error.what()).substr(variant.size());
    const auto same = std::find_if(errors_.begin(), errors_.end(),
                                   [&](const auto& e) { return e.first == message; });
    if (same == errors_.end()) {
      errors_.push_back({message, {variant}});
    } else {
      same->second.push_back(variant);
    }
  }
  void throw_if_any(const std::string& prefix) const {
    std::string all;
    for (const auto& [message, names] : errors_) {
      all += text(all.empty() ? "" : "\nlssm: ", prefix,
                  names.size() > 1 ? "variants " : "variant ", comma_list(names), message);
    }
    if (!all.empty()) throw Error(kind_, all);
  }

 private:
  Error::Kind kind_ = Error::Kind::usage;  // of the first
  std::vector<std::pair<std::string, std::vector<std::string>>> errors_;
};

// The config of a variant at a point, as yet unchecked.
Json config_at(const SweepConfig& sweep, const VariantConfig& variant, const Point& point,
               const std::string& sweep_file) {
  Json json = config_named(variant.config.is_null() ? sweep.config : variant.config, sweep_file);
  set_keys(json, sweep.set);
  set_keys(json, variant.set);
  for (const auto& [key, value] : point.keys) set_key(json, key, value);
  set_key(json, "train.seed", uint64_t(sweep.seeds.front()));
  return json;
}

void build_variants(SweepPlan& plan, const SweepConfig& sweep,
                    const std::vector<VariantConfig>& variants, bool runs_here) {
  const std::vector<Point> points = points_of(sweep);
  ErrorList errors;
  std::set<std::string> names;
  for (const VariantConfig& variant : variants) {
    for (const Point& point : points) {
      const std::string name = variant.name + point.suffix;
      try {
        LSSM_CHECK(names.insert(name).second, name, ": two configs of the sweep have this name");
        Json json = in(name, [&] { return config_at(sweep, variant, point, plan.file); });
        plan.variants.push_back(build_variant({.name = name, .variant = variant.name},
                                              std::move(json), plan, runs_here));
      } catch (const Error& error) {
        errors.add(name, error);
      }
    }
  }
  errors.throw_if_any("sweep " + plan.file + ": ");
}

// The runs of the variants that the options choose.
void choose_runs(SweepPlan& plan, const SweepConfig& sweep, const SweepOptions& options) {
  std::vector<std::string> names;
  for (const SweepVariant& v : plan.variants)
    for (const std::string& name : {v.variant, v.name})
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  for (const std::string& word : options.only) {
    LSSM_CHECK(std::find(names.begin(), names.end(), word) != names.end(), "sweep ", plan.file,
               ": --only: there is no variant \"", word, "\"; ", spelling_help(word, names));
  }
  LSSM_CHECK(sweep.baseline.empty() ||
                 std::find(names.begin(), names.end(), sweep.baseline) != names.end(),
             "sweep ", plan.file, ": /baseline: there is no variant \"", sweep.baseline, "\"; ",
             spelling_help(sweep.baseline, names));
  for (size_t i = 0; i < plan.variants.size(); ++i) {
    const SweepVariant& v = plan.variants[i];
    const auto is_this = [&v](const std::string& word) {
      return word == v.name || word == v.variant;
    };
    if (!options.only.empty() && std::none_of(options.only.begin(), options.only.end(), is_this)) {
      continue;
    }
    for (size_t s = 0; s < sweep.seeds.size(); ++s)
      plan.runs.push_back({i, uint64_t(sweep.seeds[s]), v.folders[s]});
  }
}

// At one seed all variants see the same data if these keys of their configs are the same.
void note_unequal_data(SweepPlan& plan) {
  std::set<std::string> keys;
  const auto data_of = [](const Json& config) {
    const Json& train = config["train"];
    return Json{{"task", config["task"]},
                {"train", {{"batch", train["batch"]}, {"accumulate", train["accumulate"]}}}};
  };
  for (const SweepVariant& v : plan.variants) {
    const Json first = data_of(plan.variants.front().resolved);
    for (const KeyDifference& d : config_differences(first, data_of(v.resolved)))
      keys.insert(d.key);
  }
  if (keys.empty()) return;
  plan.notes.push_back(
      "note: at one seed the variants do not all see the same data: they differ in " +
      comma_list({keys.begin(), keys.end()}));
}

void write_if_changed(const fs::path& path, const std::string& bytes) {
  std::error_code error;
  if (fs::exists(path, error) && read_file(path) == bytes) return;
  write_file_atomically(path, bytes);
}

}  // namespace

SweepPlan plan_sweep(const std::string& name, const SweepOptions& options) {
  std::string file = name;
  Json json = parse_json(read_file(file), file);
  if (json.is_object() && json.contains("rows") && json.value("sweep", Json()).is_string()) {
    file = (fs::path(file).parent_path() / json["sweep"].get<std::string>()).string();
    json = parse_json(read_file(file), file);
  }
  SweepPlan plan;
  plan.file = file;
  plan.sweep = std::move(json);
  SweepConfig sweep;
  std::vector<VariantConfig> variants;
  in("sweep " + file, [&] {
    if (!options.seeds.empty() && plan.sweep.is_object()) plan.sweep["seeds"] = options.seeds;
    Fields::read(plan.sweep, "", sweep);
    plan.folder = fs::path(options.runs) / sweep.name;
    variants = read_variants(sweep, file);
  });
  build_variants(plan, sweep, variants, options.runs_here);
  choose_runs(plan, sweep, options);
  note_unequal_data(plan);
  return plan;
}

void make_sweep_folder(const SweepPlan& plan) {
  std::error_code error;
  fs::create_directories(plan.folder / "configs", error);
  if (error)
    fail_file(plan.folder.string(), ": the sweep's folder cannot be made: ", error.message());
}

void write_config(const SweepPlan& plan, const SweepVariant& variant) {
  make_sweep_folder(plan);
  write_if_changed(plan.config_of(variant), variant.resolved.dump(2) + "\n");
}

namespace {

// The seeds of this plan and of those before it: their runs are the sweep's too.
std::set<int64_t> all_seeds(const SweepPlan& plan) {
  std::set<int64_t> seeds;
  const fs::path path = plan.folder / "sweep.json";
  std::error_code error;
  Json before;
  if (fs::exists(path, error)) before = Json::parse(read_file(path), nullptr, false);
  for (const Json& json : {plan.sweep, before}) {
    if (!json.is_object() || !json.contains("seeds")) continue;
    for (const Json& seed : json["seeds"])
      if (seed.is_number_integer()) seeds.insert(seed.get<int64_t>());
  }
  return seeds;
}

}  // namespace

void write_plan(const SweepPlan& plan) {
  Json variants = Json::array();
  for (const SweepVariant& v : plan.variants) {
    write_config(plan, v);
    const fs::path config = plan.config_of(v);
    variants.push_back({{"name", v.name},
                        {"variant", v.variant},
                        {"config", config.lexically_relative(plan.folder).string()},
                        {"config_hash", v.hash}});
  }
  const Json json = {{"name", plan.sweep["name"]},
                     {"baseline", plan.sweep["baseline"]},
                     {"seeds", all_seeds(plan)},
                     {"variants", variants},
                     {"sweep", plan.sweep}};
  write_if_changed(plan.folder / "sweep.json", json.dump(2) + "\n");
}

}  // namespace lssm
