// SPDX-License-Identifier: Apache-2.0
// What tests ask of an HTML page, and runs to make reports of.
#pragma once

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "apps/report/results.h"
#include "core/file.h"
#include "test/core/temporary_folder.h"
#include "test/test.h"

namespace lssm {

// PATH for as long as the object lives.
class PathSetting {
 public:
  explicit PathSetting(const std::string& path) : before_(getenv("PATH") ? getenv("PATH") : "") {
    setenv("PATH", path.c_str(), 1);
  }
  PathSetting(const PathSetting&) = delete;
  PathSetting& operator=(const PathSetting&) = delete;
  ~PathSetting() { setenv("PATH", before_.c_str(), 1); }

 private:
  std::string before_;
};

inline void make_program(const std::filesystem::path& path, const std::string& script) {
  write_file_atomically(path, script);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

// Runs with seeds 1, 2, …: the final accuracies at length 8, as much less 0.05 at length 64.
inline Variant sample_variant(const std::string& name, const std::vector<double>& finals) {
  Variant variant = {name, {}};
  for (size_t i = 0; i < finals.size(); ++i) {
    RunResult run;
    run.seed = i + 1;
    run.config = {{"name", name},
                  {"task", {{"type", "group_word"}, {"length", 8}}},
                  {"eval", {{"checkpoint", "last"}}},
                  {"train", {{"seed", run.seed}}}};
    const auto tested = [&](double accuracy) {
      const Json curve = {
          {{"position", 1}, {"accuracy", 1.0}, {"exact_prefix", 1.0}},
          {{"position", 2}, {"exact_prefix", 1.0}},
          {{"position", 8}, {"accuracy", accuracy}, {"exact_prefix", accuracy / 2}}};
      return Json{{"final", accuracy}, {"sequences", 100}, {"drift", 1e-6}, {"curve", curve}};
    };
    run.summary = {{"name", name},
                   {"version", "0.1.0"},
                   {"device", "cpu"},
                   {"precision", "f32"},
                   {"seed", run.seed},
                   {"steps", 20},
                   {"parameters", 100},
                   {"state_size", 12},
                   {"cpu_s", 1.5},
                   {"wall_s", 1.5},
                   {"train_length", 8},
                   {"longest_99", 0},
                   {"drift", 1e-6},
                   {"test", {{"8", tested(finals[i])}, {"64", tested(finals[i] - 0.05)}}},
                   {"ceilings", {{"8", {{"chance", {{"final", 0.125}}}, {"parikh", nullptr}}}}}};
    for (const int step : {10, 20}) {
      const double loss = 1.0 / step + 0.01 * double(i);
      run.metrics.push_back({{"step", step}, {"loss", loss}});
      run.metrics.push_back(
          {{"step", step}, {"valid", {{"final", finals[i]}, {"loss", loss}, {"drift", nullptr}}}});
    }
    variant.runs.push_back(std::move(run));
  }
  return variant;
}

inline size_t count_of(const std::string& page, const std::string& words) {
  size_t count = 0;
  for (size_t at = page.find(words); at != std::string::npos; at = page.find(words, at + 1))
    ++count;
  return count;
}

// The tags of a page, without what is in <style>; "/name" for an end, "" for what ends itself.
inline std::vector<std::string> tags_of(const std::string& page) {
  std::vector<std::string> tags;
  for (size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    const size_t end = page.find('>', at);
    if (end == std::string::npos) return {"a tag without an end"};
    const std::string tag = page.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" \t\n/", 1));
    const bool empty = tag.ends_with("/") || name == "meta" || name == "!DOCTYPE";
    if (!empty) tags.push_back(name);
    if (name == "style") at = page.find("</style>", at) - 1;
  }
  return tags;
}

// "" if every tag is closed, in the right order.
inline std::string first_unbalanced_tag(const std::string& page) {
  std::vector<std::string> open;
  for (const std::string& tag : tags_of(page)) {
    if (tag[0] != '/') {
      open.push_back(tag);
    } else if (open.empty() || open.back() != tag.substr(1)) {
      return tag;
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back();
}

// The values of an attribute, as it is written: ` id=`, say.
inline std::vector<std::string> attributes(const std::string& page, const std::string& name) {
  std::vector<std::string> values;
  for (const char quote : {'"', '\''}) {
    const std::string begin = name + quote;
    for (size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at + 1)) {
      const size_t value = at + begin.size();
      values.push_back(page.substr(value, page.find(quote, value) - value));
    }
  }
  return values;
}

inline std::set<std::string> repeated_ids(const std::string& page) {
  std::set<std::string> seen, repeated;
  for (const std::string& id : attributes(page, " id="))
    if (!seen.insert(id).second) repeated.insert(id);
  return repeated;
}

// What points at an id that is not there.
inline std::set<std::string> dangling_references(const std::string& page) {
  const std::vector<std::string> ids = attributes(page, " id=");
  std::set<std::string> dangling;
  for (const std::string& target : attributes(page, "href=")) dangling.insert(target.substr(1));
  for (const std::string& target : attributes(page, "aria-labelledby=")) dangling.insert(target);
  for (const std::string& id : ids) dangling.erase(id);
  return dangling;
}

// What a reader sees: no tags, no style, and no space where tags were.
inline std::string visible_text(const std::string& page) {
  std::string words;
  for (size_t at = page.find("</style>"); at < page.size();) {
    if (page[at] == '<') {
      at = page.find('>', at) + 1;
    } else {
      words += page[at++];
    }
  }
  return words;
}

// Lower case, split at all that is no letter.
inline std::set<std::string> words_of(const std::string& page) {
  std::set<std::string> words;
  std::string word;
  for (const char c : page + " ") {
    if (std::isalpha(static_cast<unsigned char>(c))) {
      word += char(std::tolower(static_cast<unsigned char>(c)));
    } else {
      words.insert(std::move(word));
      word.clear();
    }
  }
  return words;
}

}  // namespace lssm
