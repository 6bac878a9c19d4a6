// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/run_finder.h"

#include <algorithm>
#include <set>
#include <string>

#include "core/check.h"

namespace lssm {
namespace {

namespace fs = std::filesystem;

bool natural_less(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const auto number = [&digit](const std::string& word, size_t& at) {
      while (at + 1 < word.size() && word[at] == '0' && digit(word[at + 1])) ++at;
      const size_t begin = at;
      while (at < word.size() && digit(word[at])) ++at;
      return word.substr(begin, at - begin);
    };
    const std::string x = number(a, i), y = number(b, j);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

// What lies in a folder: folders first, then links to folders.
std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::directory_entry> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code unknown;
    if (at->is_directory(unknown)) entries.push_back(*at);
  }
  // Folders may go while they are watched.
  if (error && error != std::errc::no_such_file_or_directory) {
    fail_file(folder.string(), ": cannot be read: ", error.message());
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    if (a.is_symlink() != b.is_symlink()) return b.is_symlink();
    return natural_less(a.path().filename().string(), b.path().filename().string());
  });
  return {entries.begin(), entries.end()};
}

// `seen`: the real folders so far, so that links cannot lead round and round.
void find_below(const fs::path& folder, std::set<fs::path>& seen, std::vector<fs::path>& found) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error || !seen.insert(real).second) return;
  if (is_run(folder)) {
    found.push_back(folder);
    return;
  }
  for (const fs::path& path : folders_in(folder)) find_below(path, seen, found);
}

}  // namespace

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool is_run(const fs::path& folder) {
  if (is_there(folder / "summary.json")) return true;
  if (!is_there(folder / "config.json")) return false;
  if (folder.filename().string().starts_with("seed-")) return true;
  return is_there(folder / "log.txt") || is_there(folder / "metrics.jsonl") ||
         is_there(folder / "failure.json");
}

std::vector<fs::path> find_runs(const std::vector<fs::path>& paths) {
  std::vector<fs::path> runs;
  std::set<fs::path> known;
  for (const fs::path& path : paths) {
    std::error_code error;
    if (!fs::exists(path, error)) fail_file(path.string(), ": there is no such folder");
    if (!fs::is_directory(path, error)) {
      fail_file(path.string(), ": expected the folder of a run or of runs, got a file");
    }
    std::vector<fs::path> found;
    std::set<fs::path> seen;
    find_below(path, seen, found);
    if (found.empty()) fail_file(path.string(), ": holds no run, nor does any folder below it");
    for (const fs::path& run : found)
      if (known.insert(fs::weakly_canonical(run, error)).second) runs.push_back(run);
  }
  return runs;
}

}  // namespace lssm
