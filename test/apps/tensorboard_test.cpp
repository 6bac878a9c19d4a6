// SPDX-License-Identifier: Apache-2.0
// Event files, read back by a reader that shares nothing with the writer, and by TensorBoard's own.
#include "apps/experiment/tensorboard.h"

#include <chrono>

#include "test/apps/program.h"

namespace lssm {
namespace {

using Path = std::filesystem::path;

// CRC-32C bit by bit: the reflected polynomial, one shift a bit.
uint32_t crc32c(const std::string& bytes) {
  uint32_t crc = 0xffffffff;
  for (const unsigned char byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc;
}

uint32_t masked(uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8; }

// Takes bytes from the front of a message.
struct Bytes {
  std::string rest;

  std::string take(size_t count) {
    REQUIRE(count <= rest.size());
    const std::string front = rest.substr(0, count);
    rest.erase(0, count);
    return front;
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);  // little-endian, as x86 is
    return value;
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = number<unsigned char>();
      value |= uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }
  std::string bytes() { return take(varint()); }
};

struct Event {
  double wall_time = 0;
  int64_t step = 0;
  std::string version;
  bool start = false;
  std::map<std::string, float> scalars;
};

void read_value(Bytes message, Event& event) {
  std::string tag;
  float value = 0;
  while (!message.rest.empty()) {
    const uint64_t key = message.varint();
    if (key == 0x0a)
      tag = message.bytes();  // field 1, bytes
    else if (key == 0x15)
      value = message.number<float>();  // field 2, four bytes
    else
      FAIL("unexpected key in Summary.Value: " << key);
  }
  CHECK(event.scalars.emplace(tag, value).second);
}

Event read_event(Bytes message) {
  Event event;
  while (!message.rest.empty()) {
    const uint64_t key = message.varint();
    if (key == 0x09) {  // field 1, eight bytes
      event.wall_time = message.number<double>();
    } else if (key == 0x10) {  // field 2, varint
      event.step = int64_t(message.varint());
    } else if (key == 0x1a) {  // field 3, bytes
      event.version = message.bytes();
    } else if (key == 0x2a) {  // field 5, bytes
      for (Bytes summary{message.bytes()}; !summary.rest.empty();) {
        REQUIRE(summary.varint() == 0x0a);
        read_value({summary.bytes()}, event);
      }
    } else if (key == 0x3a) {  // field 7, bytes: status (field 1, varint) is START
      CHECK(message.bytes() == "\x08\x01");
      event.start = true;
    } else {
      FAIL("unexpected key in Event: " << key);
    }
  }
  return event;
}

std::vector<Event> read_events(const Path& file) {
  std::vector<Event> events;
  for (Bytes bytes{read_file(file)}; !bytes.rest.empty();) {
    const std::string length = bytes.take(8);
    CHECK(bytes.number<uint32_t>() == masked(crc32c(length)));
    const std::string message = bytes.take(Bytes{length}.number<uint64_t>());
    CHECK(bytes.number<uint32_t>() == masked(crc32c(message)));
    events.push_back(read_event({message}));
  }
  return events;
}

// In the order of their names.
std::vector<Path> event_files(const Path& folder) {
  std::vector<Path> files;
  for (const std::string& name : files_below(folder))
    if (name.starts_with("events.out.tfevents.")) files.push_back(folder / name);
  return files;
}

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

const Json kTrainLine = {
    {"step", 300},   {"loss", 0.5}, {"grad_norm", 2.0}, {"lr", 0.25}, {"tokens_per_s", 4096.0},
    {"wall_s", 1.5}, {"cpu_s", 1.5}};
const Json kValidLine = {
    {"step", 300},
    {"valid", {{"final", 0.75}, {"prefix", 0.875}, {"loss", 1.25}, {"drift", nullptr}}},
    {"wall_s", 1.5},
    {"cpu_s", 1.5}};

TEST_CASE("the checksum of this test is the one of RFC 3720", "[tensorboard]") {
  CHECK(crc32c("123456789") == 0xe3069283);
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aa);
}

TEST_CASE("an event file holds the numbers of metrics.jsonl", "[tensorboard]") {
  const TemporaryFolder folder;
  const double before = now();
  {
    EventFile file(folder.path());
    file.add(kTrainLine);
    file.add(kValidLine);
  }
  const std::vector<Path> files = event_files(folder.path());
  REQUIRE(files.size() == 1);
  const std::vector<Event> events = read_events(files[0]);
  REQUIRE(events.size() == 4);
  for (const Event& event : events) {
    CHECK(event.wall_time >= before);
    CHECK(event.wall_time <= now());
  }
  CHECK(events[0].version == "brain.Event:2");
  CHECK(events[0].scalars.empty());
  CHECK(events[1].start);
  CHECK(events[1].step == 0);
  CHECK(events[2].step == 300);
  CHECK(events[2].scalars == std::map<std::string, float>{{"train/loss", 0.5f},
                                                          {"train/grad_norm", 2.0f},
                                                          {"train/lr", 0.25f},
                                                          {"train/tokens_per_s", 4096.0f}});
  CHECK(events[3].step == 300);
  CHECK(events[3].scalars == std::map<std::string, float>{{"valid/final", 0.75f},
                                                          {"valid/prefix", 0.875f},
                                                          {"valid/loss", 1.25f}});
}

TEST_CASE("steps and tags of any length", "[tensorboard]") {
  const TemporaryFolder folder;
  const std::string name(300, 'x');
  EventFile file(folder.path());
  const std::vector<int64_t> steps = {0, 127, 128, 16383, 16384, int64_t(1) << 40};
  for (const int64_t step : steps) file.add({{"step", step}, {name, double(step)}});
  file.add({{"step", 1}, {"loss", nullptr}});  // nothing to say
  const std::vector<Event> events = read_events(event_files(folder.path()).at(0));
  REQUIRE(events.size() == 2 + steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    CHECK(events[i + 2].step == steps[i]);
    CHECK(events[i + 2].scalars.at("train/" + name) == float(steps[i]));
  }
}

TEST_CASE("every session has a file that sorts after the others", "[tensorboard]") {
  const TemporaryFolder folder;
  CHECK_FALSE(EventFile::any_in(folder.path()));
  for (int64_t session = 0; session < 4; ++session) {  // all within a second
    EventFile file(folder.path());
    file.restart(session);
  }
  CHECK(EventFile::any_in(folder.path()));
  const std::vector<Path> files = event_files(folder.path());
  REQUIRE(files.size() == 4);
  for (size_t i = 0; i < files.size(); ++i) {
    const std::vector<Event> events = read_events(files[i]);
    REQUIRE(events.size() == (i == 0 ? 3 : 2));
    CHECK(events.back().start);
    CHECK(events.back().step == int64_t(i));
  }
  write_file_atomically(folder / "metrics.jsonl", "");
  EventFile::remove_all(folder.path());
  CHECK(files_below(folder.path()) == std::set<std::string>{"metrics.jsonl"});
}

TEST_CASE("a folder that cannot be written is an error", "[tensorboard]") {
  CHECK_THROWS_WITH(EventFile("/proc/no-such-folder"), Catch::Contains("cannot be written"));
}

// What TensorBoard shows of a folder, by the reader of its pages and by the one that its users call
// from Python: {tag: [[step, value], …]} twice.
Json seen_by_tensorboard(const Path& folder) {
  const char* script = R"(
import json, sys
from tensorboard.backend.event_processing import event_accumulator, plugin_event_accumulator
from tensorboard.util import tensor_util
pages = plugin_event_accumulator.EventAccumulator(sys.argv[1]).Reload()
users = event_accumulator.EventAccumulator(sys.argv[1]).Reload()
number = lambda e: float(tensor_util.make_ndarray(e.tensor_proto))
print(json.dumps([
    {tag: [[e.step, number(e)] for e in pages.Tensors(tag)] for tag in pages.Tags()['tensors']},
    {tag: [[e.step, e.value] for e in users.Scalars(tag)] for tag in users.Tags()['scalars']}]))
)";
  const ProcessResult result = run({"python3", "-c", script, folder.string()});
  INFO(result.err);
  REQUIRE(result.code == 0);
  return Json::parse(result.out);
}

TEST_CASE("TensorBoard forgets what a resumed run takes back", "[tensorboard]") {
  if (!python_has("tensorboard")) return;
  const TemporaryFolder folder;
  {
    EventFile first(folder.path());
    for (const int step : {10, 20, 30, 40}) first.add({{"step", step}, {"loss", step / 16.0}});
    first.add({{"step", 20}, {"valid", {{"prefix", 0.5}}}});
    first.add({{"step", 40}, {"valid", {{"prefix", 0.25}}}});
  }
  EventFile second(folder.path());  // from the checkpoint at step 20, whose lines are kept
  second.restart(20);
  second.add({{"step", 20}, {"loss", 20 / 16.0}});
  second.add({{"step", 20}, {"valid", {{"prefix", 0.5}}}});
  second.add({{"step", 30}, {"loss", 7.0}});
  const Json expected = Json::parse(
      R"({"train/loss": [[10, 0.625], [20, 1.25], [30, 7.0]], "valid/prefix": [[20, 0.5]]})");
  const Json seen = seen_by_tensorboard(folder.path());
  CHECK(seen[0] == expected);
  CHECK(seen[1] == expected);
}

TEST_CASE("train --tensorboard writes what metrics.jsonl says, also over a resume",
          "[tensorboard]") {
  const Workplace place;
  place.write("tiny.json", tiny_config_with({{"train", {{"validate_every", 10}}}}));
  place.good({"train", "tiny.json", "--tensorboard", "--until", "25"});
  // Resumed runs go on with event files by themselves. The third session validates step 40 again.
  for (int session = 2; session <= 3; ++session) place.good({"train", "tiny.json", "--resume"});
  const Path run = place.tiny_run("runs");
  const std::vector<Path> files = event_files(run);
  REQUIRE(files.size() == 3);

  std::map<std::string, std::map<int64_t, float>> written, expected;
  for (const Path& file : files) {
    for (const Event& event : read_events(file)) {
      for (auto& [tag, curve] : written)
        if (event.start) curve.erase(curve.lower_bound(event.step), curve.end());
      for (const auto& [tag, value] : event.scalars) {
        CHECK(written[tag].emplace(event.step, value).second);
      }
    }
  }
  std::istringstream lines(read_file(run / "metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line);
    for (const char* name : {"loss", "grad_norm", "lr", "tokens_per_s"})
      if (json.contains(name)) expected[text("train/", name)][json["step"]] = json[name];
    for (const char* name : {"final", "prefix", "loss", "drift"})
      if (json.contains("valid"))
        expected[text("valid/", name)][json["step"]] = json["valid"][name];
  }
  CHECK(written == expected);
  CHECK(expected["valid/prefix"].size() == 4);

  place.good({"train", "tiny.json", "--force"});
  CHECK(event_files(run).empty());
}

}  // namespace
}  // namespace lssm
