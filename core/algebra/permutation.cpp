// SPDX-License-Identifier: Apache-2.0
#include "core/algebra/permutation.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "core/check.h"

namespace lssm::algebra {
namespace {

// "1 2 3" or "1,2,3" -> {"1", "2", "3"}; a lone run of digits "123" -> {"1", "2", "3"}.
std::vector<std::string> split_points(const std::string& body) {
  std::vector<std::string> points;
  bool inside = false;
  for (char c : body) {
    const bool separator = c == ',' || std::isspace(static_cast<unsigned char>(c));
    if (!separator && !inside) points.emplace_back();
    if (!separator) points.back() += c;
    inside = !separator;
  }
  if (points.size() != 1 || points[0].size() == 1) return points;
  std::vector<std::string> digits;
  for (char c : points[0]) digits.emplace_back(1, c);
  return digits;
}

int parse_point(const std::string& point, const std::string& text, int limit) {
  const bool digits = std::all_of(point.begin(), point.end(), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c));
  });
  LSSM_CHECK(digits, "permutation '", text, "': '", point, "' is not a point (a whole number)");
  const int value = point.size() <= 6 ? std::stoi(point) : kMaxPoints + 1;
  LSSM_CHECK(value >= 1 && value <= limit, "permutation '", text, "': point ", point,
             " is out of range, points run from 1 to ", limit);
  return value;
}

// "(1 2 3)(4 5)" -> {{1, 2, 3}, {4, 5}}.
std::vector<std::vector<int>> parse_cycles(const std::string& text, int limit) {
  std::vector<std::vector<int>> cycles;
  const std::string blank = " \t\r\n";
  for (size_t at = text.find_first_not_of(blank); at != std::string::npos;
       at = text.find_first_not_of(blank, at)) {
    LSSM_CHECK(text[at] == '(', "permutation '", text, "': expected '(' at column ", at + 1,
               ", got '", text[at], "'; write cycles like \"(1 2 3)(4 5)\"");
    const size_t end = text.find(')', at);
    LSSM_CHECK(end != std::string::npos, "permutation '", text, "': the '(' at column ", at + 1,
               " has no ')'");
    cycles.emplace_back();
    for (const std::string& point : split_points(text.substr(at + 1, end - at - 1)))
      cycles.back().push_back(parse_point(point, text, limit));
    at = end + 1;
  }
  LSSM_CHECK(!cycles.empty(),
             "permutation '': expected cycles like \"(1 2 3)(4 5)\", or \"()\" for the identity");
  return cycles;
}

}  // namespace

Permutation parse_permutation(const std::string& text, int degree) {
  LSSM_CHECK(degree >= 0 && degree <= kMaxPoints, "permutation: degree ", degree,
             " is out of range, expected 0 to ", kMaxPoints);
  const auto cycles = parse_cycles(text, degree > 0 ? degree : kMaxPoints);
  int points = degree;
  for (const auto& cycle : cycles)
    for (int point : cycle) points = std::max(points, point);

  Permutation p = identity_permutation(points);
  std::vector<bool> seen(size_t(points) + 1);
  for (const auto& cycle : cycles) {
    for (size_t i = 0; i < cycle.size(); ++i) {
      LSSM_CHECK(!seen[size_t(cycle[i])], "permutation '", text, "': point ", cycle[i],
                 " appears twice, cycles must be disjoint");
      seen[size_t(cycle[i])] = true;
      p[size_t(cycle[i]) - 1] = cycle[(i + 1) % cycle.size()] - 1;
    }
  }
  return p;
}

std::string to_cycles(const Permutation& p) {
  std::string out;
  std::vector<bool> seen(p.size());
  for (size_t first = 0; first < p.size(); ++first) {
    if (seen[first] || p[first] == int(first)) continue;
    out += '(';
    for (size_t i = first; !seen[i]; i = size_t(p[i])) {
      if (i != first) out += ' ';
      out += std::to_string(i + 1);
      seen[i] = true;
    }
    out += ')';
  }
  return out.empty() ? "()" : out;
}

Permutation identity_permutation(int degree) {
  Permutation p(static_cast<size_t>(degree));
  std::iota(p.begin(), p.end(), 0);
  return p;
}

Permutation extended(const Permutation& p, int degree) {
  LSSM_CHECK(degree >= int(p.size()) && degree <= kMaxPoints, "permutation ", to_cycles(p),
             ": cannot act on ", degree, " points, expected ", p.size(), " to ", kMaxPoints);
  Permutation out = identity_permutation(degree);
  std::copy(p.begin(), p.end(), out.begin());
  return out;
}

Permutation compose(const Permutation& a, const Permutation& b) {
  LSSM_CHECK(a.size() == b.size(), "compose: degrees differ, ", a.size(), " and ", b.size());
  Permutation out(a.size());
  for (size_t i = 0; i < a.size(); ++i) out[i] = a[size_t(b[i])];
  return out;
}

Permutation inverse(const Permutation& p) {
  Permutation out(p.size());
  for (size_t i = 0; i < p.size(); ++i) out[size_t(p[i])] = int(i);
  return out;
}

int sign(const Permutation& p) {
  int result = 1;
  std::vector<bool> seen(p.size());
  for (size_t first = 0; first < p.size(); ++first) {
    int length = 0;
    for (size_t i = first; !seen[i]; i = size_t(p[i]), ++length) seen[i] = true;
    if (length % 2 == 0 && length > 0) result = -result;
  }
  return result;
}

}  // namespace lssm::algebra
