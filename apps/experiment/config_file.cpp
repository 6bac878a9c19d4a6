// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/config_file.h"

#include <algorithm>
#include <filesystem>

#include "core/file.h"

namespace lssm {
namespace {

bool same_type(const Json& a, const Json& b) {
  return !b.contains("type") || a.value("type", Json()) == b["type"];
}

void merge(Json& base, const Json& changes) {
  for (const auto& [key, value] : changes.items()) {
    Json& mine = base[key];
    if (mine.is_object() && value.is_object() && same_type(mine, value)) {
      merge(mine, value);
    } else {
      mine = value;
    }
  }
}

void set_keys(Json& config, const Json& keys, const std::string& path) {
  LSSM_CHECK(keys.is_object(), path, ": /set: expected an object of dotted keys, got ",
             keys.dump());
  for (const auto& [key, value] : keys.items()) {
    try {
      set_key(config, key, value);
    } catch (const Error& error) {
      fail(path, ": /set: ", error.what());
    }
  }
}

// `path` is the file that the config stands in, `chain` the files that extend each other down to
// it.
Json resolve(Json config, const std::string& path, std::vector<std::filesystem::path> chain) {
  constexpr size_t kMaxChain = 16;
  if (!config.is_object()) return config;  // refused by whoever reads its keys
  const auto take = [&config](const char* key) {
    const Json value = config.value(key, Json());
    config.erase(key);
    return value;
  };
  take("$schema");
  const Json set = take("set"), extends = take("extends");
  if (!extends.is_null()) {
    LSSM_CHECK(extends.is_string(), path, ": /extends: expected the path of a config, got ",
               extends.dump());
    const std::string file =
        (std::filesystem::path(path).parent_path() / extends.get<std::string>()).string();
    std::error_code error;
    const auto real = std::filesystem::weakly_canonical(file, error);
    LSSM_CHECK(std::find(chain.begin(), chain.end(), real) == chain.end(), path,
               ": /extends: the config extends itself");
    LSSM_CHECK(chain.size() < kMaxChain, path, ": /extends: more than ", kMaxChain, " configs");
    chain.push_back(real);
    Json base = resolve(parse_json(read_file(file), file), file, std::move(chain));
    LSSM_CHECK(base.is_object(), path, ": /extends: ", extends.dump(), " holds no object");
    merge(base, config);
    config = std::move(base);
  }
  if (!set.is_null()) set_keys(config, set, path);
  return config;
}

void collect(const Json* a, const Json* b, const std::string& key,
             std::vector<KeyDifference>& differences) {
  if (a && b && *a == *b) return;
  const bool same_kind = a && b && a->type() == b->type();
  const std::string dot = key.empty() ? "" : key + ".";
  if (same_kind && a->is_object() && same_type(*a, *b)) {
    Json keys = *a;
    keys.update(*b);
    const auto find = [](const Json& object, const std::string& name) {
      return object.contains(name) ? &object[name] : nullptr;
    };
    for (const auto& [name, value] : keys.items())
      collect(find(*a, name), find(*b, name), dot + name, differences);
  } else if (same_kind && a->is_array() && (a->empty() || a->front().is_object())) {
    for (size_t i = 0; i < std::max(a->size(), b->size()); ++i) {
      collect(i < a->size() ? &(*a)[i] : nullptr, i < b->size() ? &(*b)[i] : nullptr,
              dot + std::to_string(i), differences);
    }
  } else {
    differences.push_back({key, a ? a->dump() : "", b ? b->dump() : ""});
  }
}

}  // namespace

Json read_config(const std::string& path) {
  std::error_code error;
  return resolve(parse_json(read_file(path), path), path,
                 {std::filesystem::weakly_canonical(path, error)});
}

Json resolve_config(Json config, const std::string& path) {
  return resolve(std::move(config), path, {});
}

std::vector<KeyDifference> config_differences(const Json& a, const Json& b) {
  std::vector<KeyDifference> differences;
  collect(&a, &b, "", differences);
  return differences;
}

}  // namespace lssm
