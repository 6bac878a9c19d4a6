// SPDX-License-Identifier: Apache-2.0
#include "core/algebra/ceilings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace lssm::algebra {
namespace {

void check_inputs(const FiniteGroup& group, const std::vector<int>& inputs, int length) {
  LSSM_CHECK(length >= 1, "ceiling: length must be at least 1, got ", length);
  LSSM_CHECK(!inputs.empty(), "ceiling: expected at least one input element of ", group.name());
  for (int x : inputs)
    LSSM_CHECK(x >= 0 && x < group.order(), "ceiling: input ", x, " is no element of ",
               group.name(), ", expected 0 to ", group.order() - 1);
}

Ceiling with_means(std::vector<double> at) {
  const double prefix = std::accumulate(at.begin(), at.end(), 0.0) / double(at.size());
  const double final = at.back();
  return {final, prefix, std::move(at)};
}

// source[x][g] = g x^-1, the product one step before it became g by the input x.
std::vector<std::vector<uint16_t>> sources(const FiniteGroup& group,
                                           const std::vector<int>& inputs) {
  std::vector<std::vector<uint16_t>> out;
  for (int x : inputs) {
    out.emplace_back();
    for (int g = 0; g < group.order(); ++g)
      out.back().push_back(uint16_t(group.product(g, group.inverse(x))));
  }
  return out;
}

// A row of probabilities one step earlier, and where its entries move to.
struct Predecessor {
  const double* row;
  const uint16_t* source;
};

// to[g] = sum over the predecessors of row[source[g]], four at a time: the loads are what costs.
void gather(double* to, const std::vector<Predecessor>& from, int order) {
  std::fill(to, to + order, 0.0);
  size_t i = 0;
  for (; i + 4 <= from.size(); i += 4) {
    const auto [a, sa] = from[i];
    const auto [b, sb] = from[i + 1];
    const auto [c, sc] = from[i + 2];
    const auto [d, sd] = from[i + 3];
    for (int g = 0; g < order; ++g) to[g] += (a[sa[g]] + b[sb[g]]) + (c[sc[g]] + d[sd[g]]);
  }
  for (; i < from.size(); ++i) {
    const auto [a, sa] = from[i];
    for (int g = 0; g < order; ++g) to[g] += a[sa[g]];
  }
}

// Largest of n numbers >= 0, in eight lanes that do not wait for each other.
double largest_of(const double* x, int n) {
  std::array<double, 8> lanes{};
  int i = 0;
  for (; i + 8 <= n; i += 8)
    for (size_t k = 0; k < 8; ++k)
      lanes[k] = x[size_t(i) + k] > lanes[k] ? x[size_t(i) + k] : lanes[k];
  for (; i < n; ++i) lanes[0] = std::max(lanes[0], x[i]);
  return *std::max_element(lanes.begin(), lanes.end());
}

double binomial(int n, int k) {
  double c = 1;
  for (int i = 1; i <= k; ++i) c = c * (n - k + i) / i;
  return c;
}

// All count vectors n_1 … n_k with sum t, by falling rank. A vector is kept as its partial sums
// s_j = n_1 + … + n_j for j < k, and
//   rank = sum_j C(s_j + j - 1, j)
// does not involve t: one more of the last token keeps the rank, one more of an earlier token
// raises it. So a table over count vectors can step from t to t + 1 in place, highest rank first.
class CountVectors {
 public:
  CountVectors(int tokens, int length)
      : sums_(size_t(tokens)), step_(size_t(tokens), std::vector<size_t>(size_t(length) + 1)) {
    // step[j][s] = C(s + j - 1, j) - C(s + j - 2, j) = C(s + j - 2, j - 1), for j >= 1, s >= 1.
    for (size_t j = 1; j < size_t(tokens); ++j)
      for (int s = 1; s <= length; ++s)
        step_[j][size_t(s)] = size_t(std::llround(binomial(s + int(j) - 2, int(j) - 1)));
  }

  static size_t count(int tokens, int total) {
    return size_t(std::llround(binomial(total + tokens - 1, tokens - 1)));
  }

  // The last vector with this total: all tokens are the first one.
  void start(int total) { std::fill(sums_.begin(), sums_.end(), total); }

  // To the vector of the next smaller rank, which must exist.
  void advance() {
    size_t j = 0;
    while (sums_[j] == 0) ++j;
    std::fill(sums_.begin(), sums_.begin() + int64_t(j) + 1, sums_[j] - 1);
  }

  // Calls visit(token, rank of the vector with one token less) for every token that occurs.
  template <class Visit>
  void predecessors(size_t rank, Visit visit) const {
    for (size_t token = sums_.size(); token-- > 0;) {
      if (sums_[token] == 0) return;  // neither this token nor an earlier one occurs
      if (token + 1 < sums_.size()) rank -= step_[token + 1][size_t(sums_[token])];
      if (token == 0 || sums_[token] > sums_[token - 1]) visit(token, rank);
    }
  }

 private:
  std::vector<int> sums_;                  // sums_[k - 1] is the total
  std::vector<std::vector<size_t>> step_;  // [j][s]: how much the rank falls with s_j
};

}  // namespace

std::optional<Ceiling> parikh_ceiling(const FiniteGroup& group, const std::vector<int>& inputs,
                                      int length, double budget) {
  check_inputs(group, inputs, length);
  const int tokens = int(inputs.size()), order = group.order();
  if (binomial(length + tokens, tokens) * tokens * order > budget) return std::nullopt;

  const auto source = sources(group, inputs);
  CountVectors counts(tokens, length);
  std::vector<double> table(CountVectors::count(tokens, length) * size_t(order));  // [rank, g]
  std::vector<double> sum(static_cast<size_t>(order));
  std::vector<Predecessor> from;
  std::vector<double> at;
  const double weight = 1.0 / tokens;
  table[0] = 1;
  for (int t = 1; t <= length; ++t) {
    double best = 0;
    counts.start(t);
    for (size_t rank = CountVectors::count(tokens, t); rank-- > 0;) {
      from.clear();
      counts.predecessors(rank, [&](size_t token, size_t earlier) {
        from.push_back({&table[earlier * size_t(order)], source[token].data()});
      });
      gather(sum.data(), from, order);
      double* row = &table[rank * size_t(order)];
      for (int g = 0; g < order; ++g) row[g] = sum[size_t(g)] * weight;
      best += largest_of(row, order);
      if (rank > 0) counts.advance();
    }
    at.push_back(best);
  }
  return with_means(std::move(at));
}

Ceiling quotient_ceiling(const FiniteGroup& group, const std::vector<int>& inputs,
                         const Subgroup& normal, int length) {
  check_inputs(group, inputs, length);
  const Quotient quotient = quotient_map(group, normal);
  const auto source = sources(group, inputs);
  const size_t order = size_t(group.order());
  std::vector<double> now(order), next(order), at;
  std::vector<Predecessor> from;
  now[0] = 1;
  bool still = false;  // the distribution has settled, to rounding
  for (int t = 1; t <= length; ++t) {
    if (!still) {
      from.clear();
      for (const auto& of_input : source) from.push_back({now.data(), of_input.data()});
      gather(next.data(), from, group.order());
      for (double& p : next) p /= double(inputs.size());
      double moved = 0;
      for (size_t g = 0; g < order; ++g) moved += std::abs(next[g] - now[g]);
      still = moved < 1e-15;
      std::swap(now, next);
    }
    std::vector<double> best(static_cast<size_t>(quotient.order));
    for (size_t g = 0; g < order; ++g) {
      double& b = best[size_t(quotient.coset[g])];
      b = std::max(b, now[g]);
    }
    at.push_back(std::accumulate(best.begin(), best.end(), 0.0));
  }
  return with_means(std::move(at));
}

Ceiling chance_ceiling(const FiniteGroup& group, const std::vector<int>& inputs, int length) {
  return quotient_ceiling(group, inputs, whole_group(group), length);
}

}  // namespace lssm::algebra
