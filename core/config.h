// SPDX-License-Identifier: Apache-2.0
// Strict reading of JSON configs. Every configurable thing lists its keys once, in fields(); that
// one list reads the JSON, checks types and ranges, writes defaults back, and makes the JSON
// Schema.
//
//   struct DropoutConfig : LayerConfig {
//     double rate = 0.1;                                  // the default
//     void fields(Fields& f) override { f.add("rate", rate, "share of values set to 0", between(0,
//     1)); }
//   };
//
// Errors carry the JSON pointer: `/model/layers/1/haeds: unknown key; did you mean "heads"? …`.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/check.h"
#include "core/spelling.h"

namespace lssm {

using Json = nlohmann::json;

// What values a key may have.
struct Rule {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool open_min = false;                  // min itself is excluded
  std::vector<std::string> allowed = {};  // for strings
};

inline Rule at_least(double min) { return {.min = min}; }
inline Rule above(double min) { return {.min = min, .open_min = true}; }
inline Rule between(double min, double max) { return {.min = min, .max = max}; }
inline Rule one_of(std::vector<std::string> names) { return {.allowed = std::move(names)}; }

class Fields;

// Anything that is read from one JSON object.
class Configurable {
 public:
  virtual ~Configurable() = default;
  virtual void fields(Fields& f) = 0;
};

// The types that a JSON object with a "type" key may name, and how to make each one's config.
template <class Base>
struct Registry {
  struct Entry {
    const char* name;
    std::unique_ptr<Base> (*make)();
  };
  const char*
      kind;  // "layer", "task", …: used in error texts and as the name of the schema definition
  std::vector<Entry> entries;

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Entry& entry : entries) all.push_back(entry.name);
    return all;
  }
  std::unique_ptr<Base> make(const std::string& type) const {
    for (const Entry& entry : entries)
      if (type == entry.name) return entry.make();
    return nullptr;
  }
};

// One JSON object while it is being read (or described).
class Fields {
 public:
  // Reads `object` into `target`, adds the defaults to `object`, refuses unknown keys.
  static void read(Json& object, const std::string& pointer, Configurable& target);
  // The JSON Schema (draft 2020-12) of `target`; types named by registries go to "$defs".
  static Json schema(Configurable& target);

  // A key with a default: the value that the variable has now.
  template <class T>
  void add(const char* key, T& value, const char* about, const Rule& rule = {});
  // A key that must be there.
  template <class T>
  void require(const char* key, T& value, const char* about, const Rule& rule = {});
  // A key whose value is any JSON; the caller checks it.
  void add_json(const char* key, Json& value, const char* about);
  // A nested object.
  void add_object(const char* key, Configurable& value, const char* about);
  // A nested object with a "type" key. Without a default type the key must be there.
  template <class Base>
  void add_variant(const char* key, std::unique_ptr<Base>& value, const Registry<Base>& registry,
                   const char* about, const char* default_type = nullptr);
  // A list of objects of one kind; empty if the key is absent.
  template <class Object>
  void add_objects(const char* key, std::vector<Object>& values, const char* about);
  // A list of objects with "type" keys; the key must be there.
  template <class Base>
  void add_variants(const char* key, std::vector<std::unique_ptr<Base>>& values,
                    const Registry<Base>& registry, const char* about);
  // A condition between keys; `message` is reported at `key`.
  void check(bool condition, const char* key, const std::string& message) const;
  // The same for a value that some other code checks: any Error is reported at `key`.
  template <class F>
  void check_with(const char* key, F f) const {
    if (describing()) return;
    try {
      f();
    } catch (const Error& error) {
      fail(path(key), ": ", error.what());
    }
  }

 private:
  struct Schema {
    Json properties = Json::object();
    Json required = Json::array();
    Json* definitions = nullptr;  // shared by the whole document
  };
  Fields(Json* object, std::string pointer) : object_(object), pointer_(std::move(pointer)) {}
  explicit Fields(Schema* schema) : schema_(schema) {}

  bool describing() const { return schema_ != nullptr; }
  std::string path(const std::string& key) const { return pointer_ + "/" + key; }
  // The value of `key`, or null if it is absent. Notes that the key is known.
  Json* find(const char* key);
  Json* find_required(const char* key);
  template <class T>
  void read_value(const char* key, const Json& json, T& value, const Rule& rule) const;
  template <class T>
  void describe_value(const char* key, const T& value, const char* about, const Rule& rule);
  void describe(const char* key, Json schema, const char* about, bool required);
  static Json describe_object(Configurable& target, Json* definitions, const std::string& type);
  void refuse_unknown_keys(bool may_have_type) const;
  // Reads the object at `pointer` as the type it names.
  template <class Base>
  static std::unique_ptr<Base> read_variant(Json& object, const std::string& pointer,
                                            const Registry<Base>& registry);
  // A reference to the definition of a registry's types, made on first use.
  template <class Base>
  Json describe_variant(const Registry<Base>& registry);

  Json* object_ = nullptr;
  std::string pointer_;
  std::vector<std::string> known_;
  Schema* schema_ = nullptr;
};

// Parses JSON text. Comments are allowed, duplicate keys are not; `source` names it in errors.
Json parse_json(const std::string& text, const std::string& source);

// Sets the key "a.b.2.c" to a value. Missing objects are made, a list index must exist.
void set_key(Json& config, const std::string& key, const Json& value);

// Applies "a.b.2.c=value": the value is JSON where it parses as JSON, else a string.
void apply_override(Json& config, const std::string& assignment);

// A hash of the canonical text of `config`, as 16 hexadecimal digits (FNV-1a, 64 bits).
std::string config_hash(const Json& config);

// ---- templates ----

template <class T>
void Fields::add(const char* key, T& value, const char* about, const Rule& rule) {
  if (describing()) {
    describe_value(key, value, about, rule);
  } else if (const Json* json = find(key)) {
    read_value(key, *json, value, rule);
  } else {
    (*object_)[key] = value;
  }
}

template <class T>
void Fields::require(const char* key, T& value, const char* about, const Rule& rule) {
  if (describing()) {
    describe_value(key, value, about, rule);
    schema_->properties[key].erase("default");
    schema_->required.push_back(key);
  } else {
    read_value(key, *find_required(key), value, rule);
  }
}

template <class Base>
void Fields::add_variant(const char* key, std::unique_ptr<Base>& value,
                         const Registry<Base>& registry, const char* about,
                         const char* default_type) {
  if (describing()) return describe(key, describe_variant(registry), about, !default_type);
  if (default_type && !find(key)) (*object_)[key] = {{"type", default_type}};
  value = read_variant(*find_required(key), path(key), registry);
}

template <class Object>
void Fields::add_objects(const char* key, std::vector<Object>& values, const char* about) {
  if (describing()) {
    Object one;
    const Json item = describe_object(one, schema_->definitions, "");
    return describe(key, {{"type", "array"}, {"items", item}, {"default", Json::array()}}, about,
                    false);
  }
  values.clear();
  if (!find(key)) (*object_)[key] = Json::array();
  Json& list = (*object_)[key];
  LSSM_CHECK(list.is_array(), path(key), ": expected a list of objects, got ", list.dump());
  for (size_t i = 0; i < list.size(); ++i)
    read(list[i], path(key) + "/" + std::to_string(i), values.emplace_back());
}

template <class Base>
void Fields::add_variants(const char* key, std::vector<std::unique_ptr<Base>>& values,
                          const Registry<Base>& registry, const char* about) {
  if (describing()) {
    return describe(key, {{"type", "array"}, {"items", describe_variant(registry)}}, about, true);
  }
  Json& list = *find_required(key);
  LSSM_CHECK(list.is_array(), path(key), ": expected a list of objects, got ", list.dump());
  values.clear();
  for (size_t i = 0; i < list.size(); ++i) {
    values.push_back(read_variant(list[i], path(key) + "/" + std::to_string(i), registry));
  }
}

template <class Base>
std::unique_ptr<Base> Fields::read_variant(Json& object, const std::string& pointer,
                                           const Registry<Base>& registry) {
  LSSM_CHECK(object.is_object() && object.contains("type") && object["type"].is_string(), pointer,
             ": expected an object with a \"type\" key (", comma_list(registry.names()), "), got ",
             object.dump());
  const std::string type = object["type"].get<std::string>();
  std::unique_ptr<Base> value = registry.make(type);
  LSSM_CHECK(value, pointer, "/type: there is no ", registry.kind, " \"", type, "\"; ",
             spelling_help(type, registry.names()));
  read(object, pointer, *value);
  return value;
}

template <class Base>
Json Fields::describe_variant(const Registry<Base>& registry) {
  if (!schema_->definitions->contains(registry.kind)) {
    (*schema_->definitions)[registry.kind] = Json::object();  // a layer may contain layers
    Json choices = Json::array();
    for (const auto& entry : registry.entries) {
      choices.push_back(describe_object(*entry.make(), schema_->definitions, entry.name));
    }
    (*schema_->definitions)[registry.kind] = {{"oneOf", choices}};
  }
  return {{"$ref", std::string("#/$defs/") + registry.kind}};
}

}  // namespace lssm
