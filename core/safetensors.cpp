// SPDX-License-Identifier: Apache-2.0
#include "core/safetensors.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/check.h"
#include "core/file.h"

namespace lssm {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers");

constexpr const char* kMetadata = "__metadata__";
constexpr size_t kLengthBytes = 8;            // of the header length at the start of a file
constexpr uint64_t kMaxHeader = 100'000'000;  // the limit of the reference implementation
constexpr const char* kDtypes = "F64, F32, I64, I32 or U8";

// Bytes per number; 0 for a dtype that lssm does not know.
int64_t dtype_size(std::string_view dtype) {
  if (dtype == "F64" || dtype == "I64") return 8;
  if (dtype == "F32" || dtype == "I32") return 4;
  if (dtype == "U8") return 1;
  return 0;
}

// Bytes of an array, or -1 where a size is negative or the product is past 2^63.
int64_t byte_size(std::string_view dtype, const std::vector<int64_t>& shape) {
  int64_t bytes = dtype_size(dtype);
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes)) return -1;
  return bytes;
}

// For messages: text of a file may hold anything and be of any length.
std::string show(const json& value) {
  constexpr size_t kMaxShown = 200;
  std::string shown = value.dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace);
  if (shown.size() > kMaxShown) shown.replace(kMaxShown, shown.npos, "...");
  return shown;
}

// Reads one file; every failure names it.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& path)
      : path_(path.string()), content_(std::make_shared<const std::string>(read_file(path))) {}

  SafetensorsFile read() {
    const json header = parse(header_text());
    SafetensorsFile file;
    file.content = content_;
    for (const std::string& name : names_) {
      const json& value = header.at(name);
      if (name == kMetadata)
        file.metadata = metadata(value);
      else
        file.entries.push_back(entry(name, value));
    }
    check_layout(file.entries);
    return file;
  }

 private:
  template <class... Parts>
  [[noreturn]] void bad(const Parts&... parts) const {
    fail_file(path_, ": not a valid safetensors file: ", parts...);
  }

  // Also sets data_.
  std::string_view header_text() {
    const std::string_view content = *content_;
    if (content.size() < kLengthBytes)
      bad("got ", content.size(), " bytes, expected at least ", kLengthBytes);
    uint64_t length = 0;
    for (size_t i = kLengthBytes; i-- > 0;) length = length << 8 | uint8_t(content[i]);
    const size_t rest = content.size() - kLengthBytes;
    if (length > kMaxHeader)
      bad("the header length is ", length, ", expected at most ", kMaxHeader);
    if (length > rest)
      bad("truncated: the header length is ", length, ", but only ", rest, " bytes follow it");
    const std::string_view header = content.substr(kLengthBytes, length);
    data_ = content.substr(kLengthBytes + length);
    if (!header.starts_with('{')) bad("the header does not start with '{'");
    // The JSON parser would take a zero byte for the end and ignore what follows.
    if (header.find('\0') != header.npos) bad("there is a zero byte in the header");
    return header;
  }

  // Also sets names_. A valid header is three levels deep; a deeper one could exhaust the stack of
  // those who walk it. A repeated key would silently hide an array, so it is an error at any depth.
  json parse(std::string_view text) {
    std::vector<std::set<std::string>> keys;  // of the objects that are open
    const auto watch = [&](int depth, json::parse_event_t event, json& value) {
      if (depth > 8) bad("the header is nested too deeply");
      if (event == json::parse_event_t::object_start) keys.emplace_back();
      if (event == json::parse_event_t::object_end) keys.pop_back();
      if (event == json::parse_event_t::key) {
        const auto& key = value.get_ref<const std::string&>();
        if (!keys.back().insert(key).second) bad("duplicate name ", show(key));
        if (keys.size() == 1) names_.push_back(key);
      }
      return true;
    };
    try {
      return json::parse(text, watch);
    } catch (const json::exception& error) {
      bad("the header is not JSON: ", show(error.what()));
    }
  }

  SafetensorsMetadata metadata(const json& value) const {
    if (!value.is_object()) bad(kMetadata, " is ", show(value), ", expected an object");
    SafetensorsMetadata metadata;
    for (const auto& [key, item] : value.items()) {
      if (!item.is_string())
        bad(kMetadata, ": the value of ", show(key), " is ", show(item), ", expected a string");
      metadata[key] = item.get<std::string>();
    }
    return metadata;
  }

  SafetensorsEntry entry(const std::string& name, const json& value) const {
    if (!value.is_object() || value.size() != 3 || !value.contains("dtype") ||
        !value.contains("shape") || !value.contains("data_offsets"))
      bad(show(name), " is ", show(value), ", expected the keys dtype, shape and data_offsets");
    SafetensorsEntry entry{name, {}, numbers(name, "shape", value), {}};

    const json& dtype = value.at("dtype");
    if (!dtype.is_string() || dtype_size(dtype.get_ref<const std::string&>()) == 0)
      bad(show(name), ": dtype is ", show(dtype), ", expected ", kDtypes);
    entry.dtype = dtype.get<std::string>();

    const std::vector<int64_t> offsets = numbers(name, "data_offsets", value);
    if (offsets.size() != 2 || offsets[0] > offsets[1])
      bad(show(name), ": data_offsets is ", show(offsets), ", expected [begin, end]");
    if (offsets[1] > int64_t(data_.size()))
      bad(show(name), ": data_offsets is ", show(offsets), ", but there are ", data_.size(),
          " bytes of data (is the file truncated?)");
    const int64_t expected = byte_size(entry.dtype, entry.shape), got = offsets[1] - offsets[0];
    if (expected < 0) bad(show(name), ": shape ", show(entry.shape), " is too large");
    if (got != expected)
      bad(show(name), ": shape ", show(entry.shape), " of ", entry.dtype, " needs ", expected,
          " bytes, but data_offsets ", show(offsets), " has ", got);
    entry.bytes = data_.substr(size_t(offsets[0]), size_t(got));
    return entry;
  }

  std::vector<int64_t> numbers(const std::string& name, const char* key, const json& value) const {
    const json& list = value.at(key);
    const auto good = [](const json& item) {
      return item.is_number_unsigned() && item.get<uint64_t>() <= uint64_t(INT64_MAX);
    };
    if (!list.is_array() || !std::all_of(list.begin(), list.end(), good))
      bad(show(name), ": ", key, " is ", show(list), ", expected a list of integers >= 0");
    return list.get<std::vector<int64_t>>();
  }

  // Arrays must fill the data exactly: overlaps and holes can hide bytes or point to foreign ones.
  void check_layout(const std::vector<SafetensorsEntry>& entries) const {
    std::vector<const SafetensorsEntry*> order;
    for (const SafetensorsEntry& entry : entries) order.push_back(&entry);
    const auto begin = [&](const SafetensorsEntry* e) { return e->bytes.data() - data_.data(); };
    std::sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
      return std::pair(begin(a), a->bytes.size()) < std::pair(begin(b), b->bytes.size());
    });
    int64_t end = 0;
    for (const SafetensorsEntry* entry : order) {
      if (begin(entry) != end)
        bad(show(entry->name), ": data_offsets begins at ", begin(entry), ", expected ", end,
            begin(entry) < end ? " (it overlaps another array)" : " (there is a hole before it)");
      end += int64_t(entry->bytes.size());
    }
    if (end != int64_t(data_.size()))
      bad("the arrays end at byte ", end, " of the data, but there are ", data_.size(), " bytes");
  }

  std::string path_;
  std::shared_ptr<const std::string> content_;
  std::string_view data_;           // what follows the header
  std::vector<std::string> names_;  // keys of the header, in its order
};

// A JSON string. Names and metadata must be UTF-8.
std::string quote(const std::string& s) {
  try {
    return json(s).dump();
  } catch (const json::exception& error) {
    fail("write_safetensors: a name or metadata is not UTF-8: ", error.what());
  }
}

// Joins what `write` makes of each item with commas.
template <class Items, class Write>
std::string join(const Items& items, Write write) {
  std::string joined;
  for (const auto& item : items) {
    if (!joined.empty()) joined += ',';
    joined += write(item);
  }
  return joined;
}

void check_entries(const std::vector<SafetensorsEntry>& entries) {
  std::set<std::string_view> names;
  for (const SafetensorsEntry& e : entries) {
    LSSM_CHECK(e.name != kMetadata, "write_safetensors: the name ", kMetadata, " is taken");
    LSSM_CHECK(names.insert(e.name).second, "write_safetensors: two arrays named ", show(e.name));
    LSSM_CHECK(dtype_size(e.dtype) > 0, "write_safetensors: ", show(e.name), ": dtype is ",
               show(e.dtype), ", expected ", kDtypes);
    LSSM_CHECK(byte_size(e.dtype, e.shape) == int64_t(e.bytes.size()),
               "write_safetensors: ", show(e.name), ": shape ", show(e.shape), " of ", e.dtype,
               " does not make ", e.bytes.size(), " bytes");
  }
}

}  // namespace

const SafetensorsEntry* SafetensorsFile::find(std::string_view name) const {
  for (const SafetensorsEntry& entry : entries)
    if (entry.name == name) return &entry;
  return nullptr;
}

SafetensorsFile read_safetensors(const std::filesystem::path& path) { return Reader(path).read(); }

void write_safetensors(const std::filesystem::path& path,
                       const std::vector<SafetensorsEntry>& entries,
                       const SafetensorsMetadata& metadata) {
  check_entries(entries);

  // By hand, since JSON objects of the library are sorted by name.
  std::vector<std::string> items;
  if (!metadata.empty()) {
    const auto pair = [](const auto& item) {
      return text(quote(item.first), ":", quote(item.second));
    };
    items.push_back(text(quote(kMetadata), ":{", join(metadata, pair), "}"));
  }
  size_t end = 0;
  for (const SafetensorsEntry& e : entries) {
    const size_t begin = end;
    end += e.bytes.size();
    const json value = {{"dtype", e.dtype}, {"shape", e.shape}, {"data_offsets", {begin, end}}};
    items.push_back(text(quote(e.name), ":", value.dump()));
  }
  std::string header = text("{", join(items, [](const std::string& item) { return item; }), "}");
  header.resize((header.size() + 7) / 8 * 8, ' ');  // so that the data is aligned
  LSSM_CHECK(header.size() <= kMaxHeader, "write_safetensors: names and metadata take ",
             header.size(), " bytes, expected at most ", kMaxHeader);

  std::string bytes;
  bytes.reserve(kLengthBytes + header.size() + end);
  for (size_t i = 0; i < kLengthBytes; ++i) bytes += char(header.size() >> (8 * i) & 0xff);
  bytes += header;
  for (const SafetensorsEntry& e : entries) bytes += e.bytes;
  write_file_atomically(path, bytes);
}

}  // namespace lssm
