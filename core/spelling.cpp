// SPDX-License-Identifier: Apache-2.0
#include "core/spelling.h"

#include <algorithm>
#include <numeric>

namespace lssm {
namespace {

// Levenshtein distance: insertions, deletions and substitutions that turn `a` into `b`.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_spelling(const std::string& word, const std::vector<std::string>& candidates) {
  std::string best;
  size_t best_distance =
      std::max<size_t>(2, word.size() / 3) + 1;  // further away is no typing error
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string spelling_help(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_spelling(word, candidates);
  const std::string hint = nearest.empty() ? "" : "did you mean \"" + nearest + "\"? ";
  return hint + "allowed: " + comma_list(candidates);
}

std::string comma_list(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

}  // namespace lssm
