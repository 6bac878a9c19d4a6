// SPDX-License-Identifier: Apache-2.0
// Checkpoints that are cut, edited or no checkpoints at all.
#include <algorithm>

#include "core/random.h"
#include "test/apps/program.h"

namespace lssm {
namespace {

// A trained run, and copies of its checkpoint to spoil.
class Spoiled {
 public:
  Spoiled() {
    place_.write("tiny.json", tiny_config());
    place_.good({"train", "tiny.json", "--until", "20", "--quiet"});
    good_ = read_file(checkpoint());
    file_ = read_safetensors(checkpoint());
  }

  std::filesystem::path checkpoint() const {
    return place_.tiny_run("runs") / "checkpoint.safetensors";
  }
  const std::string& good() const { return good_; }
  SafetensorsFile& file() { return file_; }
  SafetensorsEntry& entry(const std::string& name) {
    return *std::find_if(file_.entries.begin(), file_.entries.end(),
                         [&](const SafetensorsEntry& e) { return e.name == name; });
  }

  // Writes these bytes, or the edited file, and checks that eval and resume refuse them.
  void check_refused(const std::string& bytes, const std::vector<std::string>& parts) {
    write_file_atomically(checkpoint(), bytes);
    check_both(parts);
    CHECK((read_file(checkpoint()) == bytes));
  }
  void check_edited_refused(const std::vector<std::string>& parts) {
    write_safetensors(checkpoint(), file_.entries, file_.metadata);
    check_both(parts);
  }
  ProcessResult eval() const { return place_.lssm({"eval", checkpoint().string()}); }

 private:
  void check_both(const std::vector<std::string>& parts) const {
    const std::string folder = place_.tiny_run("runs").string();
    for (const ProcessResult& result :
         {eval(), place_.lssm({"train", "--quiet", "--resume", folder})}) {
      INFO(result.err);
      CHECK(result.code == 3);
      CHECK(result.out.empty());
      CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
      CHECK(result.err.starts_with("lssm: "));
      CHECK(result.err.find("checkpoint.safetensors") != std::string::npos);
      for (const std::string& part : parts) {
        INFO("expected: " << part);
        CHECK(result.err.find(part) != std::string::npos);
      }
    }
    CHECK_FALSE(std::filesystem::exists(place_.tiny_run("runs") / "summary.json"));
  }

  Workplace place_;
  std::string good_;
  SafetensorsFile file_;
};

TEST_CASE("a cut checkpoint is refused", "[bad]") {
  Spoiled spoiled;
  const size_t size = spoiled.good().size();
  uint64_t header = 0;
  for (size_t i = 8; i-- > 0;) header = header << 8 | uint8_t(spoiled.good()[i]);
  std::vector<size_t> cuts = {0, 1, 7, 8, 9, header / 2, 8 + header, size - 1};
  Random random(7, Stream::check, 0);
  for (int i = 0; i < 4; ++i) cuts.push_back(random.below(uint32_t(size)));
  for (const size_t cut : cuts) {
    INFO("cut at " << cut << " of " << size);
    spoiled.check_refused(spoiled.good().substr(0, cut), {"not a valid safetensors file"});
  }
  spoiled.check_refused(spoiled.good() + "x", {"not a valid safetensors file"});
}

TEST_CASE("a random file is no checkpoint", "[bad]") {
  Spoiled spoiled;
  Random random(8, Stream::check, 0);
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes += char(random.below(256));
  spoiled.check_refused(bytes, {"not a valid safetensors file"});
  spoiled.check_refused(tiny_config().dump(), {"not a valid safetensors file"});
}

TEST_CASE("all differences to the model are listed", "[bad]") {
  Spoiled spoiled;
  const std::string extra(12, '\0');
  SafetensorsEntry& start = spoiled.entry("layers.1.h0");
  REQUIRE(start.shape == std::vector<int64_t>{3, 4});
  start.shape = {4, 3};
  SafetensorsEntry& weight = spoiled.entry("layers.2.weight");
  const int64_t numbers = weight.shape.at(0) * weight.shape.at(1);
  weight.shape = {1, 1, 1, 1, numbers};  // of more dimensions than a tensor of lssm has
  SafetensorsEntry& bias = spoiled.entry("layers.2.bias");
  bias.dtype = "I32";
  spoiled.entry("layers.1.algebra.bias").name = "layers.1.algebra.bais";
  spoiled.file().entries.push_back({"more", "F32", {3}, extra});
  spoiled.check_edited_refused({"does not fit the model", "layers.1.h0 has shape", "4", "[3, 4]",
                                "layers.2.weight has shape [1,1,1,1", "layers.2.bias is I32",
                                "expected F32", "layers.1.algebra.bias is missing",
                                "layers.1.algebra.bais is not in the model",
                                "more is not in the model"});
}

TEST_CASE("moments are needed to resume, not to evaluate", "[bad]") {
  Spoiled spoiled;
  auto& entries = spoiled.file().entries;
  std::erase_if(entries, [](const SafetensorsEntry& e) { return e.name.starts_with("adam."); });
  write_safetensors(spoiled.checkpoint(), entries, spoiled.file().metadata);
  CHECK(spoiled.eval().code == 0);
}

TEST_CASE("metadata that is missing or wrong", "[bad]") {
  Spoiled spoiled;
  const SafetensorsMetadata good = spoiled.file().metadata;
  const auto refused = [&](const std::string& key, const char* value,
                           const std::vector<std::string>& parts, int code = 3) {
    spoiled.file().metadata = good;
    if (value) {
      spoiled.file().metadata[key] = value;
    } else {
      spoiled.file().metadata.erase(key);
    }
    INFO(key << " = " << (value ? value : "nothing"));
    write_safetensors(spoiled.checkpoint(), spoiled.file().entries, spoiled.file().metadata);
    const ProcessResult result = spoiled.eval();
    INFO(result.err);
    CHECK(result.code == code);
    CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
    for (const std::string& part : parts) CHECK(result.err.find(part) != std::string::npos);
  };
  refused("format", nullptr, {"no checkpoint of lssm", "format"});
  refused("format", "lssm-999", {"lssm-999", "lssm-1"});
  refused("config", nullptr, {"config"});
  refused("config", "{\"name\": ", {"config"});
  refused("config", "[]", {"config"});
  // A config that another version of lssm wrote.
  Json config = Json::parse(good.at("config"));
  config["train"]["later"] = 1;
  refused("config", config.dump().c_str(), {"checkpoint.safetensors", "/train/later"}, 2);
  config = Json::parse(good.at("config"));
  config["eval"] = 5;
  refused("config", config.dump().c_str(), {"checkpoint.safetensors", "/eval"}, 2);
  refused("train", nullptr, {"train"});
  refused("train", "{}", {"step"});
  refused("train", R"({"step": "x", "best_accuracy": 0, "best_loss": 0})", {"step"});
  refused("train", R"({"step": 20, "best_accuracy": 0.5, "best_loss": null})", {"best_loss"});
}

}  // namespace
}  // namespace lssm
