// SPDX-License-Identifier: Apache-2.0
// The safetensors file format: named arrays and a string map. A file is
//   8 bytes, little-endian: the length n of the header
//   n bytes of JSON:        {"__metadata__": {"key": "value", ...},
//                            "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
//                            ...}
//   the data:               row-major, little-endian; offsets count from its start
// The arrays lie one after the other without holes, up to the end of the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lssm {

// One array. It does not own its bytes.
struct SafetensorsEntry {
  std::string name;
  std::string dtype;  // "F64", "F32", "I64", "I32" or "U8"
  std::vector<int64_t> shape;
  std::string_view bytes;
};

using SafetensorsMetadata = std::map<std::string, std::string>;

struct SafetensorsFile {
  std::vector<SafetensorsEntry> entries;  // in the order of the header
  SafetensorsMetadata metadata;
  std::shared_ptr<const std::string> content;  // the whole file: keeps the bytes of entries alive

  // nullptr where there is no such name.
  const SafetensorsEntry* find(std::string_view name) const;
};

// Throws an Error of kind `file` that names what is wrong, wherever the file breaks the format: no
// bytes are ever taken on trust.
SafetensorsFile read_safetensors(const std::filesystem::path& path);

// The same arguments give the same bytes: entries in the order given, metadata sorted. Atomic as
// write_file_atomically. Other readers may map a file into memory, so put wide dtypes first: then
// each array is aligned.
void write_safetensors(const std::filesystem::path& path,
                       const std::vector<SafetensorsEntry>& entries,
                       const SafetensorsMetadata& metadata = {});

}  // namespace lssm
