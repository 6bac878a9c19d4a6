// SPDX-License-Identifier: Apache-2.0
// Help for misspelt names in error messages.
#pragma once

#include <string>
#include <vector>

namespace lssm {

// The candidate nearest to `word` by edit distance, or "" if none is near enough to be meant.
std::string nearest_spelling(const std::string& word, const std::vector<std::string>& candidates);

// `did you mean "heads"? ` or nothing, followed by `allowed: a, b, c`.
std::string spelling_help(const std::string& word, const std::vector<std::string>& candidates);

// "a, b, c"
std::string comma_list(const std::vector<std::string>& words);

}  // namespace lssm
