// SPDX-License-Identifier: Apache-2.0
#include "core/safetensors.h"

#include <cstdlib>
#include <fstream>

#include "core/check.h"
#include "core/file.h"
#include "test/core/temporary_folder.h"
#include "test/test.h"

namespace lssm {
namespace {

namespace fs = std::filesystem;

template <class T>
std::string bytes_of(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

// A file of this header and this data, whatever they hold.
std::string file_of(const std::string& header, const std::string& data) {
  std::string bytes;
  for (size_t i = 0; i < 8; ++i) bytes += char(header.size() >> (8 * i));
  return bytes + header + data;
}

// What read_safetensors says to these bytes. Every failure must be an Error of kind `file` that
// names the path; anything else fails the test.
std::string verdict(const std::string& bytes) {
  static const TemporaryFolder folder;
  const fs::path path = folder / "x.safetensors";
  fs::remove(path);  // thousands of files: some file systems sync one that is overwritten
  std::ofstream(path, std::ios::binary) << bytes;
  try {
    read_safetensors(path);
    return "ok";
  } catch (const Error& error) {
    CHECK(error.kind() == Error::Kind::file);
    const std::string message = error.what(),
                      start = path.string() + ": not a valid safetensors file: ";
    REQUIRE(message.substr(0, start.size()) == start);
    CHECK(message.find('\n') == message.npos);
    CHECK(message.size() < start.size() + 1000);
    return message.substr(start.size());
  }
}

std::string verdict(const std::string& header, size_t data_size) {
  return verdict(file_of(header, std::string(data_size, 'd')));
}

void check_contains(const std::string& message, const std::string& part) {
  INFO(message);
  CHECK(message.find(part) != message.npos);
}

const std::vector<double> kF64 = {-0.0, 1e-310, 3.141592653589793};
const std::vector<float> kF32 = {1.5f, -2.25f, 1e38f, 0, 5, 6};
const std::vector<int64_t> kI64 = {-(int64_t(1) << 62), 7};
const std::vector<int32_t> kI32 = {-2147483647, 42};
const std::vector<uint8_t> kU8 = {0, 255, 10};

// One array of each dtype, an empty one and a scalar; `storage` holds their bytes.
std::vector<SafetensorsEntry> all_dtypes(std::vector<std::string>& storage) {
  storage = {bytes_of(kF64), bytes_of(kI64), "", bytes_of(kF32),
             bytes_of(kI32), bytes_of(kU8),  "s"};
  return {{"f64", "F64", {3}, storage[0]},      {"i64", "I64", {2, 1}, storage[1]},
          {"empty", "F32", {4, 0}, storage[2]}, {"layers.0.weight", "F32", {2, 3}, storage[3]},
          {"i32", "I32", {2}, storage[4]},      {"\"u8\" \\ \xc3\xa4", "U8", {3, 1}, storage[5]},
          {"scalar", "U8", {}, storage[6]}};
}

}  // namespace

TEST_CASE("safetensors: entries and metadata come back as written") {
  TemporaryFolder folder;
  std::vector<std::string> storage;
  const auto entries = all_dtypes(storage);
  const SafetensorsMetadata metadata = {
      {"step", "200"}, {"config", "{\"a\": \"line\\n\"}\n"}, {"", ""}};
  write_safetensors(folder / "x", entries, metadata);

  const SafetensorsFile file = read_safetensors(folder / "x");
  CHECK(file.metadata == metadata);
  REQUIRE(file.entries.size() == entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    CHECK(file.entries[i].name == entries[i].name);
    CHECK(file.entries[i].dtype == entries[i].dtype);
    CHECK(file.entries[i].shape == entries[i].shape);
    CHECK(file.entries[i].bytes == entries[i].bytes);
  }
  REQUIRE(file.find("i32"));
  CHECK(file.find("i32")->bytes == bytes_of(kI32));
  CHECK_FALSE(file.find("i33"));

  // Reading and writing again changes no byte, and a copy outlives the object it was made from.
  SafetensorsFile copy = SafetensorsFile(file);
  write_safetensors(folder / "y", copy.entries, copy.metadata);
  CHECK(read_file(folder / "y") == read_file(folder / "x"));
}

TEST_CASE("safetensors: the bytes are those of the format") {
  TemporaryFolder folder;
  const std::string a = bytes_of<float>({1, 2}), b = "xyz";
  write_safetensors(folder / "x", {{"b", "F32", {2, 1}, a}, {"a", "U8", {3}, b}},
                    {{"z", "1"}, {"k", "v"}});
  std::string header = R"({"__metadata__":{"k":"v","z":"1"},)"
                       R"("b":{"data_offsets":[0,8],"dtype":"F32","shape":[2,1]},)"
                       R"("a":{"data_offsets":[8,11],"dtype":"U8","shape":[3]}})";
  while (header.size() % 8 != 0) header += ' ';
  CHECK(read_file(folder / "x") == file_of(header, std::string("\0\0\x80\x3f\0\0\0\x40xyz", 11)));

  write_safetensors(folder / "x", {});
  CHECK(read_file(folder / "x") == std::string("\x08\0\0\0\0\0\0\0{}      ", 16));
  CHECK(read_safetensors(folder / "x").entries.empty());
}

TEST_CASE("safetensors: a hand-made file is read") {
  // Header order differs from data order, there is white space, and no padding to 8 bytes.
  const std::string bytes = file_of(
      R"({ "late": {"shape": [1], "dtype": "I32", "data_offsets": [3, 7]},
           "early": {"dtype": "U8", "data_offsets": [0, 3], "shape": [3]} })",
      std::string("abc\x05\0\0\0", 7));
  TemporaryFolder folder;
  write_file_atomically(folder / "x", bytes);
  const SafetensorsFile file = read_safetensors(folder / "x");
  REQUIRE(file.entries.size() == 2);
  CHECK(file.entries[0].name == "late");
  CHECK(file.find("late")->bytes == bytes_of<int32_t>({5}));
  CHECK(file.find("early")->bytes == "abc");
  CHECK(file.metadata.empty());
}

TEST_CASE("safetensors: a file cut short anywhere is refused") {
  TemporaryFolder folder;
  std::vector<std::string> storage;
  write_safetensors(folder / "x", all_dtypes(storage), {{"step", "200"}});
  const std::string bytes = read_file(folder / "x");
  for (size_t size = 0; size < bytes.size(); ++size) {
    INFO("cut to " << size);
    CHECK(verdict(bytes.substr(0, size)) != "ok");
  }
  CHECK(verdict(bytes) == "ok");
  CHECK(verdict(bytes + '\0') != "ok");
  CHECK(verdict("") == "got 0 bytes, expected at least 8");
  CHECK(verdict(bytes.substr(0, 20)) == text("truncated: the header length is ",
                                             uint8_t(bytes[0]) + 256 * uint8_t(bytes[1]),
                                             ", but only 12 bytes follow it"));
}

TEST_CASE("safetensors: a flipped byte is refused or harmless, never a crash") {
  TemporaryFolder folder;
  std::vector<std::string> storage;
  write_safetensors(folder / "x", all_dtypes(storage), {{"step", "200"}});
  const std::string bytes = read_file(folder / "x");
  const size_t header_end = bytes.find("}}") + 2;
  int refused = 0, flips = 0;
  for (size_t i = 0; i < header_end; ++i)
    for (const int mask : {0x01, 0x10, 0x80, 0xff}) {
      std::string flipped = bytes;
      flipped[i] = char(flipped[i] ^ mask);
      refused += verdict(flipped) != "ok";
      ++flips;
    }
  // Letters of names and metadata may change unnoticed; structure may not.
  CHECK(refused > flips * 3 / 4);
}

TEST_CASE("safetensors: each way to break the header is named") {
  const auto x = [](const std::string& value) { return "{\"x\":" + value + "}"; };
  const auto offsets = [&](const std::string& list) {
    return x(R"({"dtype":"U8","shape":[4],"data_offsets":)" + list + "}");
  };
  const auto shape = [&](const std::string& list) {
    return x(R"({"dtype":"F32","shape":)" + list + R"(,"data_offsets":[0,8]})");
  };
  CHECK(verdict(offsets("[0,4]"), 4) == "ok");
  CHECK(verdict(shape("[2]"), 8) == "ok");
  CHECK(verdict(shape("[1,2,1]"), 8) == "ok");

  // The length.
  CHECK(verdict(std::string(8, '\xff')) ==
        "the header length is 18446744073709551615, expected at most 100000000");
  CHECK(verdict(std::string("\x03\0\0\0\0\0\0\0{}", 10)) ==
        "truncated: the header length is 3, but only 2 bytes follow it");
  // The JSON.
  CHECK(verdict("", 0) == "the header does not start with '{'");
  CHECK(verdict("[]", 0) == "the header does not start with '{'");
  CHECK(verdict(std::string("{}\0junk", 7), 0) == "there is a zero byte in the header");
  for (const char* header :
       {"{", "{}{}", "{\"x\":}", "{\"x\" 1}", "{\"\xff\": 1}", "{\"x\": 1e999}"})
    check_contains(verdict(header, 0), "the header is not JSON: ");
  check_contains(verdict(x(std::string(100'000, '[') + std::string(100'000, ']')), 0),
                 "too deeply");
  check_contains(verdict("{\"" + std::string(100'000, 'x') + "\": }", 0), "not JSON");
  // Names.
  const std::string one = R"("x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  CHECK(verdict("{" + one + "," + one + "}", 1) == "duplicate name \"x\"");
  CHECK(verdict(x(R"({"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]})"), 0) ==
        "duplicate name \"dtype\"");
  // Keys of an array.
  for (const char* value : {"1", "[]", "{}", R"({"dtype":"U8","shape":[0]})",
                            R"({"data_offsets":[0,0],"dtype":"U8","more":1,"shape":[0]})",
                            R"({"dtype":"U8","offsets":[0,0],"shape":[0]})"})
    CHECK(verdict(x(value), 0) ==
          text("\"x\" is ", value, ", expected the keys dtype, shape and data_offsets"));
  // dtype.
  for (const char* dtype : {"\"F16\"", "\"f32\"", "\"\"", "1", "null"})
    CHECK(verdict(x(text(R"({"data_offsets":[0,0],"dtype":)", dtype, R"(,"shape":[0]})")), 0) ==
          text("\"x\": dtype is ", dtype, ", expected F64, F32, I64, I32 or U8"));
  // shape.
  for (const char* list :
       {"[-2]", "[2.0]", "[\"2\"]", "[[2]]", "2", "{}", "[18446744073709551615]"})
    CHECK(verdict(shape(list), 8) ==
          text("\"x\": shape is ", list, ", expected a list of integers >= 0"));
  CHECK(verdict(shape("[3]"), 8) ==
        "\"x\": shape [3] of F32 needs 12 bytes, but data_offsets [0,8] has 8");
  check_contains(verdict(shape("[]"), 8), "needs 4 bytes");
  CHECK(verdict(shape("[4611686018427387904,4611686018427387904]"), 8) ==
        "\"x\": shape [4611686018427387904,4611686018427387904] is too large");
  CHECK(verdict(shape("[4611686018427387906]"), 8) ==
        "\"x\": shape [4611686018427387906] is too large");
  // data_offsets.
  for (const char* list : {"[-1,3]", "[0,4.0]", "[0,null]", "\"\"", "[0,9223372036854775808]"})
    CHECK(verdict(offsets(list), 4) ==
          text("\"x\": data_offsets is ", list, ", expected a list of integers >= 0"));
  for (const char* list : {"[]", "[4]", "[0,4,4]", "[4,0]"})
    CHECK(verdict(offsets(list), 4) ==
          text("\"x\": data_offsets is ", list, ", expected [begin, end]"));
  CHECK(verdict(offsets("[0,4]"), 3) ==
        "\"x\": data_offsets is [0,4], but there are 3 bytes of data (is the file truncated?)");
  check_contains(verdict(offsets("[9223372036854775803,9223372036854775807]"), 4),
                 "4 bytes of data");
  // Layout.
  CHECK(verdict(offsets("[0,4]"), 5) ==
        "the arrays end at byte 4 of the data, but there are 5 bytes");
  CHECK(verdict("{}", 1) == "the arrays end at byte 0 of the data, but there are 1 bytes");
  CHECK(verdict(offsets("[1,5]"), 5) ==
        "\"x\": data_offsets begins at 1, expected 0 (there is a hole before it)");
  const auto two = [](const std::string& a, const std::string& b) {
    return R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)" + a +
           R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)" + b + "}}";
  };
  CHECK(verdict(two("[0,2]", "[2,4]"), 4) == "ok");
  CHECK(verdict(two("[2,4]", "[0,2]"), 4) == "ok");
  CHECK(verdict(two("[0,2]", "[1,3]"), 3) ==
        "\"b\": data_offsets begins at 1, expected 2 (it overlaps another array)");
  check_contains(verdict(two("[0,2]", "[0,2]"), 2), "overlaps");
  CHECK(verdict(two("[0,2]", "[3,5]"), 5) ==
        "\"b\": data_offsets begins at 3, expected 2 (there is a hole before it)");
  // Metadata.
  CHECK(verdict(R"({"__metadata__":[]})", 0) == "__metadata__ is [], expected an object");
  CHECK(verdict(R"({"__metadata__":{"k":1}})", 0) ==
        "__metadata__: the value of \"k\" is 1, expected a string");
}

TEST_CASE("safetensors: what cannot be written is refused before the file is touched") {
  TemporaryFolder folder;
  write_safetensors(folder / "x", {{"old", "U8", {1}, "o"}});
  const std::string old = read_file(folder / "x");
  const std::vector<std::vector<SafetensorsEntry>> wrong = {
      {{"a", "F16", {1}, "12"}},
      {{"a", "F32", {2}, "1234"}},
      {{"a", "U8", {-1}, ""}},
      {{"a", "F64", {int64_t(1) << 62}, ""}},
      {{"a", "U8", {1}, "1"}, {"a", "U8", {1}, "1"}},
      {{"__metadata__", "U8", {1}, "1"}},
      {{"\xff", "U8", {1}, "1"}},
  };
  for (const auto& entries : wrong)
    CHECK_THROWS_AS(write_safetensors(folder / "x", entries), Error);
  CHECK_THROWS_AS(write_safetensors(folder / "x", {}, {{"key", "\xc3"}}), Error);
  CHECK(read_file(folder / "x") == old);
}

// Files move between lssm and the reference implementation, where that is installed.
TEST_CASE("safetensors: the Python package agrees") {
  if (std::system("python3 -c 'import safetensors.numpy' 2>/dev/null") != 0) {
    WARN("skipped: python3 has no safetensors package");
    return;
  }
  TemporaryFolder folder;
  std::vector<std::string> storage;
  write_safetensors(folder / "ours", all_dtypes(storage), {{"step", "200"}});
  write_file_atomically(folder / "check.py", R"(
import sys, numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
folder = sys.argv[1]
x = load_file(folder + '/ours')
want = {
    'f64': np.array([-0.0, 1e-310, 3.141592653589793]),
    'i64': np.array([[-(1 << 62)], [7]]),
    'empty': np.zeros((4, 0), np.float32),
    'layers.0.weight': np.array([[1.5, -2.25, 1e38], [0, 5, 6]], np.float32),
    'i32': np.array([-2147483647, 42], np.int32),
    '"u8" \\ ä': np.array([[0], [255], [10]], np.uint8),
    'scalar': np.array(ord('s'), np.uint8),
}
assert x.keys() == want.keys(), x.keys()
for name in want:
    assert x[name].dtype == want[name].dtype and x[name].shape == want[name].shape, name
    assert x[name].tobytes() == want[name].tobytes(), name
assert safe_open(folder + '/ours', 'numpy').metadata() == {'step': '200'}
save_file(want, folder + '/theirs', {'step': '200'})
)");
  REQUIRE(std::system(
              ("python3 '" + (folder / "check.py").string() + "' '" + folder.path().string() + "'")
                  .c_str()) == 0);
  const SafetensorsFile theirs = read_safetensors(folder / "theirs");
  CHECK(theirs.metadata == SafetensorsMetadata{{"step", "200"}});
  CHECK(theirs.entries.size() == 7);
  for (const auto& entry : all_dtypes(storage)) {
    const SafetensorsEntry* their = theirs.find(entry.name);
    REQUIRE(their);
    CHECK(their->dtype == entry.dtype);
    CHECK(their->shape == entry.shape);
    CHECK(their->bytes == entry.bytes);
  }
}

}  // namespace lssm
