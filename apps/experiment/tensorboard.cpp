// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/tensorboard.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <boost/crc.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace lssm {
namespace {

constexpr std::string_view kPrefix = "events.out.tfevents.";

// Protocol buffers, as far as an Event needs them. A field is its number and wire type, then the
// value: a varint, eight bytes, four bytes, or a length and so many bytes.
//   Event:         1 double wall_time, 2 int64 step, 3 string file_version, 5 Summary, 7 SessionLog
//   Summary:       1 repeated Value
//   Summary.Value: 1 string tag, 2 float simple_value
//   SessionLog:    1 enum status (START is 1)
enum WireType { kVarint = 0, kEightBytes = 1, kBytes = 2, kFourBytes = 5 };

template <class Unsigned>
std::string little_endian(Unsigned number) {
  std::string bytes;
  for (size_t i = 0; i < sizeof number; ++i) bytes += char(number >> (8 * i) & 0xff);
  return bytes;
}

std::string varint(uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7) bytes += char((number & 0x7f) | 0x80);
  return bytes + char(number);
}

std::string key(unsigned field, WireType type) { return varint(field << 3 | type); }

std::string integer_field(unsigned field, int64_t value) {
  return key(field, kVarint) + varint(uint64_t(value));
}
std::string double_field(unsigned field, double value) {
  return key(field, kEightBytes) + little_endian(std::bit_cast<uint64_t>(value));
}
std::string float_field(unsigned field, float value) {
  return key(field, kFourBytes) + little_endian(std::bit_cast<uint32_t>(value));
}
std::string bytes_field(unsigned field, std::string_view bytes) {
  return key(field, kBytes) + varint(bytes.size()) + std::string(bytes);
}

std::string scalar(const std::string& tag, const Json& number) {
  return bytes_field(1, bytes_field(1, tag) + float_field(2, number.get<float>()));
}

// A checksum of bytes that may hold checksums themselves: CRC-32C, rotated and shifted.
uint32_t masked_crc(std::string_view bytes) {
  boost::crc_optimal<32, 0x1edc6f41, 0xffffffff, 0xffffffff, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return std::rotr(uint32_t(crc.checksum()), 15) + 0xa282ead8;
}

// How TensorFlow frames a record in a file.
std::string record(std::string_view bytes) {
  const std::string length = little_endian(uint64_t(bytes.size()));
  return length + little_endian(masked_crc(length)) + std::string(bytes) +
         little_endian(masked_crc(bytes));
}

std::vector<std::filesystem::path> event_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with(kPrefix)) files.push_back(entry.path());
  }
  return files;
}

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string new_name(const std::filesystem::path& folder) {
  auto seconds = static_cast<long long>(seconds_since_1970());
  for (const std::filesystem::path& file : event_files(folder)) {
    const std::string digits = file.filename().string().substr(kPrefix.size());
    seconds = std::max(seconds, std::strtoll(digits.c_str(), nullptr, 10) + 1);
  }
  char host[256] = "localhost", number[24];
  gethostname(host, sizeof host - 1);
  std::snprintf(number, sizeof number, "%010lld", seconds);
  return text(kPrefix, number, ".", host, ".", getpid());
}

bool is_finite(const Json& value) {
  return value.is_number() && std::isfinite(value.get<double>());
}

}  // namespace

EventFile::EventFile(const std::filesystem::path& folder) {
  const bool first = !any_in(folder);
  path_ = (folder / new_name(folder)).string();
  file_.open(path_, std::ios::binary);
  write_event(0, bytes_field(3, "brain.Event:2"));
  if (first) restart(0);  // TensorBoard takes only a second start in a folder for a restart
}

bool EventFile::any_in(const std::filesystem::path& folder) { return !event_files(folder).empty(); }

void EventFile::remove_all(const std::filesystem::path& folder) {
  for (const std::filesystem::path& file : event_files(folder)) {
    std::error_code error;
    std::filesystem::remove(file, error);
    if (error) fail_file(file.string(), ": cannot be removed: ", error.message());
  }
}

void EventFile::add(const Json& line) {
  std::string values;
  for (const auto& [name, value] : line.items()) {
    if (value.is_object()) {
      for (const auto& [part, number] : value.items())
        if (is_finite(number)) values += scalar(name + "/" + part, number);
    } else if (is_finite(value) && name != "step" && name != "wall_s" && name != "cpu_s") {
      values += scalar("train/" + name, value);
    }
  }
  if (!values.empty()) write_event(line.at("step").get<int64_t>(), bytes_field(5, values));
}

void EventFile::restart(int64_t step) {
  write_event(std::max<int64_t>(step, 0), bytes_field(7, integer_field(1, 1)));
}

void EventFile::write_event(int64_t step, std::string_view fields) {
  const std::string event =
      double_field(1, seconds_since_1970()) + integer_field(2, step) + std::string(fields);
  file_ << record(event) << std::flush;
  if (!file_) fail_file(path_, ": cannot be written");
}

}  // namespace lssm
