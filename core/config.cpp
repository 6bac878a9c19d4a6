// SPDX-License-Identifier: Apache-2.0
#include "core/config.h"

#include <algorithm>
#include <cstdio>
#include <type_traits>

namespace lssm {
namespace {

template <class T>
struct JsonType;  // what the schema calls it, and what error messages call it
template <>
struct JsonType<bool> {
  static constexpr const char* kName = "boolean";
  static bool matches(const Json& json) { return json.is_boolean(); }
};
template <>
struct JsonType<int64_t> {
  static constexpr const char* kName = "integer";
  static bool matches(const Json& json) {
    return json.is_number_integer() &&
           !(json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX);
  }
};
template <>
struct JsonType<uint64_t> {
  static constexpr const char* kName = "integer";
  static bool matches(const Json& json) { return json.is_number_unsigned(); }
};
template <>
struct JsonType<double> {
  static constexpr const char* kName = "number";
  static bool matches(const Json& json) { return json.is_number(); }
};
template <>
struct JsonType<std::string> {
  static constexpr const char* kName = "string";
  static bool matches(const Json& json) { return json.is_string(); }
};

template <class T>
struct ListOf : std::false_type {
  using Item = T;
};
template <class T>
struct ListOf<std::vector<T>> : std::true_type {
  using Item = T;
};

std::string range_text(const Rule& rule) {
  const bool has_max = rule.max < std::numeric_limits<double>::infinity();
  if (has_max) return text("from ", rule.min, " to ", rule.max);
  return text(rule.open_min ? "above " : "at least ", rule.min);
}

template <class T>
void read_scalar(const std::string& where, const Json& json, T& value, const Rule& rule) {
  LSSM_CHECK(JsonType<T>::matches(json), where, ": expected ",
             std::is_same_v<T, uint64_t> ? "integer from 0" : JsonType<T>::kName, ", got ",
             json.dump());
  value = json.get<T>();
  if constexpr (std::is_same_v<T, std::string>) {
    const bool known = rule.allowed.empty() || std::find(rule.allowed.begin(), rule.allowed.end(),
                                                         value) != rule.allowed.end();
    LSSM_CHECK(known, where, ": got \"", value, "\"; ", spelling_help(value, rule.allowed));
  } else {
    const double number = double(value);
    LSSM_CHECK(number >= rule.min && number <= rule.max && !(rule.open_min && number == rule.min),
               where, ": got ", json.dump(), ", expected a number ", range_text(rule));
  }
}

template <class T>
Json scalar_schema(const Rule& rule) {
  Json schema = {{"type", JsonType<T>::kName}};
  if (!rule.allowed.empty()) schema["enum"] = rule.allowed;
  if constexpr (!std::is_same_v<T, std::string>) {
    const double min = std::is_unsigned_v<T> ? std::max(rule.min, 0.0) : rule.min;
    if (min > -std::numeric_limits<double>::infinity() && !std::is_same_v<T, bool>) {
      schema[rule.open_min ? "exclusiveMinimum" : "minimum"] = min;
    }
    if (rule.max < std::numeric_limits<double>::infinity()) schema["maximum"] = rule.max;
  }
  return schema;
}

constexpr int kMaxDepth = 64;  // of objects and lists; recursion over a config goes as deep

// Refuses deep nesting, and remembers the keys of every open object to refuse a duplicate.
class StrictCheck {
 public:
  explicit StrictCheck(std::string source) : source_(std::move(source)) {}

  bool operator()(int depth, Json::parse_event_t event, const Json& value) {
    const bool opens =
        event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    LSSM_CHECK(!opens || depth < kMaxDepth, source_, ": nested more than ", kMaxDepth, " deep");
    if (event == Json::parse_event_t::object_start) open_.emplace_back();
    if (event == Json::parse_event_t::object_end) open_.pop_back();
    if (event == Json::parse_event_t::key) {
      std::vector<std::string>& keys = open_.back();
      const std::string key = value.get<std::string>();
      LSSM_CHECK(std::find(keys.begin(), keys.end(), key) == keys.end(), source_, ": the key \"",
                 key, "\" appears twice in one object");
      keys.push_back(key);
    }
    return true;
  }

 private:
  std::string source_;
  std::vector<std::vector<std::string>> open_;
};

}  // namespace

void Fields::read(Json& object, const std::string& pointer, Configurable& target) {
  LSSM_CHECK(object.is_object(), pointer.empty() ? "/" : pointer, ": expected an object, got ",
             object.dump());
  Fields fields(&object, pointer);
  target.fields(fields);
  fields.refuse_unknown_keys(true);
}

Json Fields::schema(Configurable& target) {
  Json definitions = Json::object();
  Json schema = describe_object(target, &definitions, "");
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["$defs"] = definitions;
  return schema;
}

Json Fields::describe_object(Configurable& target, Json* definitions, const std::string& type) {
  Schema schema;
  schema.definitions = definitions;
  if (!type.empty()) {
    schema.properties["type"] = {{"const", type}};
    schema.required.push_back("type");
  }
  Fields fields(&schema);
  target.fields(fields);
  return {{"type", "object"},
          {"properties", schema.properties},
          {"required", schema.required},
          {"additionalProperties", false}};
}

Json* Fields::find(const char* key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  const auto found = object_->find(key);
  return found == object_->end() ? nullptr : &*found;
}

Json* Fields::find_required(const char* key) {
  Json* json = find(key);
  LSSM_CHECK(json, path(key), ": this key is missing");
  return json;
}

template <class T>
void Fields::read_value(const char* key, const Json& json, T& value, const Rule& rule) const {
  if constexpr (ListOf<T>::value) {
    LSSM_CHECK(json.is_array(), path(key), ": expected a list, got ", json.dump());
    value.clear();
    for (size_t i = 0; i < json.size(); ++i) {
      typename ListOf<T>::Item item{};
      read_scalar(path(key) + "/" + std::to_string(i), json[i], item, rule);
      value.push_back(item);
    }
  } else {
    read_scalar(path(key), json, value, rule);
  }
}

template <class T>
void Fields::describe_value(const char* key, const T& value, const char* about, const Rule& rule) {
  Json schema = scalar_schema<typename ListOf<T>::Item>(rule);
  if constexpr (ListOf<T>::value) schema = {{"type", "array"}, {"items", schema}};
  schema["default"] = value;
  describe(key, std::move(schema), about, false);
}

#define LSSM_FIELD_TYPE(T)                                                              \
  template void Fields::read_value<T>(const char*, const Json&, T&, const Rule&) const; \
  template void Fields::describe_value<T>(const char*, const T&, const char*, const Rule&);
LSSM_FIELD_TYPE(bool)
LSSM_FIELD_TYPE(int64_t)
LSSM_FIELD_TYPE(uint64_t)
LSSM_FIELD_TYPE(double)
LSSM_FIELD_TYPE(std::string)
LSSM_FIELD_TYPE(std::vector<int64_t>)
#undef LSSM_FIELD_TYPE

void Fields::describe(const char* key, Json schema, const char* about, bool required) {
  schema["description"] = about;
  schema_->properties[key] = std::move(schema);
  if (required) schema_->required.push_back(key);
}

void Fields::add_json(const char* key, Json& value, const char* about) {
  if (describing()) return describe(key, {{"default", value}}, about, false);
  if (const Json* json = find(key)) {
    value = *json;
  } else {
    (*object_)[key] = value;
  }
}

void Fields::add_object(const char* key, Configurable& value, const char* about) {
  if (describing())
    return describe(key, describe_object(value, schema_->definitions, ""), about, false);
  if (!find(key)) (*object_)[key] = Json::object();
  Json& object = (*object_)[key];
  LSSM_CHECK(object.is_object(), path(key), ": expected an object, got ", object.dump());
  Fields fields(&object, path(key));
  value.fields(fields);
  fields.refuse_unknown_keys(false);
}

void Fields::check(bool condition, const char* key, const std::string& message) const {
  if (!describing()) LSSM_CHECK(condition, path(key), ": ", message);
}

void Fields::refuse_unknown_keys(bool may_have_type) const {
  for (const auto& [key, value] : object_->items()) {
    if (key == "type" && may_have_type) continue;
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    fail(path(key), ": unknown key; ", spelling_help(key, known_));
  }
}

Json parse_json(const std::string& text, const std::string& source) {
  try {
    return Json::parse(text, StrictCheck(source), true, true);
  } catch (const Json::exception& error) {  // no JSON, or a number that is too large
    std::string message = error.what();
    message =
        message.substr(std::min(message.size(), message.find("] ") + 2));  // drop the library's tag
    fail(source, ": not valid JSON: ", message);
  }
}

namespace {

void check_utf8(const std::string& assignment) {
  const Json json = assignment;
  try {
    json.dump();
  } catch (const Json::exception&) {
    fail("--set: not valid UTF-8: ", json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
}

// What is no JSON stands for itself, as a string.
Json override_value(const std::string& text, const std::string& source) {
  try {
    return Json::parse(text, StrictCheck(source));
  } catch (const Json::exception&) {
    return text;
  }
}

}  // namespace

void apply_override(Json& config, const std::string& assignment) {
  check_utf8(assignment);
  const size_t equals = assignment.find('=');
  LSSM_CHECK(equals != std::string::npos && equals > 0, "--set: got \"", assignment,
             "\", expected a.b.c=value");
  const std::string key = assignment.substr(0, equals);
  const Json value = override_value(assignment.substr(equals + 1), "--set " + key);
  try {
    set_key(config, key, value);
  } catch (const Error& error) {
    fail("--set ", error.what());
  }
}

void set_key(Json& config, const std::string& path, const Json& value) {
  LSSM_CHECK(std::count(path.begin(), path.end(), '.') < kMaxDepth, path.substr(0, 16),
             "...: nested more than ", kMaxDepth, " deep");
  Json* node = &config;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const std::string key = path.substr(begin, end - begin);
    if (node->is_array()) {
      const bool is_index =
          !key.empty() && key.size() < 9 &&
          std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
      LSSM_CHECK(is_index && std::stoul(key) < node->size(), path, ": \"", key,
                 "\" is no index of a list of ", node->size());
      node = &(*node)[std::stoul(key)];
    } else {
      LSSM_CHECK(node->is_object() || node->is_null(), path, ": \"", key,
                 "\" is inside a value that is no object");
      LSSM_CHECK(!key.empty(), path, ": an empty key");
      node = &(*node)[key];
    }
    begin = end + 1;
  }
  *node = value;
}

std::string config_hash(const Json& config) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : config.dump()) hash = (hash ^ uint64_t(uint8_t(c))) * 0x100000001b3u;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

}  // namespace lssm
