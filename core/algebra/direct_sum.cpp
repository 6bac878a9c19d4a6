// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/algebra/faithful.h"
#include "core/algebra/sections.h"

namespace lssm::algebra {
namespace {

constexpr size_t kMaxStates =
    20000;  // kernels that are looked at; elementary abelian groups have more
constexpr int kDet = -1;

// What a partial sum is like. Blocks are added in the order of their cost, so the first complete
// sum is the smallest.
using State = std::pair<Subgroup, std::vector<bool>>;  // kernel, odd generators

struct Step {
  int cost;
  State before;
  int block;  // that was added, or kDet
};

bool any(const std::vector<bool>& odd) {
  return std::find(odd.begin(), odd.end(), true) != odd.end();
}

State with(const State& state, const Block& block) {
  State next{intersection(state.first, block.kernel), state.second};
  for (size_t k = 0; k < next.second.size(); ++k) next.second[k] = next.second[k] != block.odd[k];
  return next;
}

Block det_block(const std::vector<bool>& odd) {
  Block block{1, {}, odd, {}};
  for (const bool negative : odd) block.generators.push_back({negative ? -1.0 : 1.0});
  return block;
}

DirectSum collect(std::vector<Block> blocks, bool smallest) {
  DirectSum sum{0, std::move(blocks), smallest};
  for (const Block& block : sum.blocks) sum.dim += block.dim;
  return sum;
}

// The block that shrinks the kernel most for its dimension, again and again.
std::optional<DirectSum> greedy(State state, const std::vector<Block>& available) {
  std::vector<Block> blocks;
  while (state.first.size() > 1) {
    const Block* best = nullptr;
    double most = 0;
    for (const Block& block : available) {
      const size_t kernel = intersection(state.first, block.kernel).size();
      const double gain = std::log(double(state.first.size()) / double(kernel)) / block.dim;
      if (gain <= most) continue;
      best = &block;
      most = gain;
    }
    if (!best) return std::nullopt;
    state = with(state, *best);
    blocks.push_back(*best);
  }
  if (any(state.second)) blocks.push_back(det_block(state.second));
  return collect(std::move(blocks), false);
}

}  // namespace

std::optional<DirectSum> smallest_direct_sum(const FiniteGroup& group,
                                             const std::vector<Block>& available) {
  const State start{whole_group(group), std::vector<bool>(group.generators().size())};
  std::map<State, Step> known{{start, {0, start, kDet}}};
  std::set<std::pair<int, State>> frontier{{0, start}};
  const auto reach = [&](const State& from, const State& to, int cost, int block) {
    const auto [at, is_new] = known.try_emplace(to, Step{cost, from, block});
    if (!is_new && at->second.cost <= cost) return;
    if (!is_new) frontier.erase({at->second.cost, to});
    at->second = {cost, from, block};
    frontier.insert({cost, to});
  };
  while (!frontier.empty()) {
    if (known.size() > kMaxStates) return greedy(start, available);
    const auto [cost, state] = *frontier.begin();
    frontier.erase(frontier.begin());
    if (state.first.size() == 1 && !any(state.second)) {
      std::vector<Block> blocks;
      for (State at = state; at != start; at = known.at(at).before) {
        const Step& step = known.at(at);
        blocks.push_back(step.block == kDet ? det_block(step.before.second)
                                            : available[size_t(step.block)]);
      }
      if (blocks.empty()) blocks.push_back(det_block(start.second));  // the trivial group
      std::reverse(blocks.begin(), blocks.end());
      return collect(std::move(blocks), true);
    }
    if (state.first.size() == 1)
      reach(state, {state.first, std::vector<bool>(state.second.size())}, cost + 1, kDet);
    for (size_t i = 0; i < available.size(); ++i) {
      const State next = with(state, available[i]);
      if (next.first.size() < state.first.size())
        reach(state, next, cost + available[i].dim, int(i));
    }
  }
  return std::nullopt;
}

}  // namespace lssm::algebra
