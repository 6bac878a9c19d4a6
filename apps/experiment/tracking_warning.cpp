// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/tracking_warning.h"

#include <algorithm>
#include <set>
#include <vector>

#include "core/algebra/group_json.h"
#include "core/algebra/sections.h"
#include "core/algebra/tracking.h"
#include "tasks/group_word.h"

namespace lssm {
namespace {

using algebra::Answer;
using algebra::FiniteGroup;
using algebra::Verdict;

// Layers without a state of unbounded memory. Of any other type but the two below nothing is known.
const std::set<std::string> kStateless = {"causal_conv", "dropout", "embedding", "factored_readout",
                                          "layer_norm",  "linear",  "mlp",       "rms_norm",
                                          "swiglu"};
const std::set<std::string> kLinear = {"dropout", "linear"};

std::string type_of(const Json& layer) { return layer.at("type").get<std::string>(); }

// What a list of layers consists of, with those inside containers.
struct Stack {
  std::vector<Json> recurrent;
  bool known = true;  // nothing but recurrences that are understood, and stateless layers

  void add(const Json& layer) {
    const std::string type = type_of(layer);
    if (type == "lie_ssm" || type == "diagonal_ssm") {
      recurrent.push_back(layer);
    } else if (type == "residual" || type == "sequential") {
      for (const Json& inner : layer.at("layers")) add(inner);
    } else if (type == "cascade") {
      add(layer.at("first"));
      for (const Json& inner : layer.at("second")) add(inner);
    } else {
      known = known && kStateless.count(type) > 0;
    }
  }
};

// Whether all that follows the one recurrent layer is linear, so that its states are read linearly.
bool is_read_linearly(const Json& layers) {
  size_t i = 0;
  while (i < layers.size() && kStateless.count(type_of(layers[i])) > 0) ++i;
  if (i == layers.size() || type_of(layers[i]) == "residual" ||
      type_of(layers[i]) == "sequential" || type_of(layers[i]) == "cascade")
    return false;
  return std::all_of(layers.begin() + int64_t(i) + 1, layers.end(), [](const Json& layer) {
    return kLinear.count(type_of(layer)) > 0 ||
           (type_of(layer) == "factored_readout" && layer.value("hidden", 0) == 0);
  });
}

bool injects(const Json& layer) { return layer.value("inject", false); }

bool commutes(const Json& layer) {
  return type_of(layer) == "diagonal_ssm" || layer.at("group") == "so2";
}

std::string name_of(const Json& layer) {
  const bool diagonal = type_of(layer) == "diagonal_ssm";
  const std::string head = diagonal ? "diagonal" : layer.at("group").get<std::string>();
  const bool bloch = layer.value("readout", "") == "bloch";
  return head + " heads" + (bloch ? " (bloch)" : "") + (injects(layer) ? " that inject" : "");
}

Verdict commutative_verdict(const FiniteGroup& group, const Json& layer) {
  using algebra::Eigenvalues;
  if (injects(layer)) return algebra::affine_diagonal_verdict(group, 1);
  const bool real = layer.value("kind", "") == "real";
  const bool positive = real && layer.at("range").at(0) == 0;
  return algebra::diagonal_verdict(group, positive ? Eigenvalues::positive
                                          : real   ? Eigenvalues::real
                                                   : Eigenvalues::complex);
}

Verdict heads_verdict(const FiniteGroup& group, const Json& layer) {
  const std::string head = layer.at("group");
  const bool bloch = layer.at("readout") == "bloch";
  if (head == "su2" && !bloch) return algebra::su2_verdict(group);
  if (head == "su2" || head == "so3" || head == "se3") return algebra::so3_verdict(group);
  const int n = head.back() - '0';
  return head.starts_with("so") ? algebra::so_n_verdict(group, n) : algebra::su_n_verdict(group, n);
}

Verdict single_verdict(const FiniteGroup& group, const Json& layer) {
  if (commutes(layer)) return commutative_verdict(group, layer);
  const auto heads = [&](const FiniteGroup& g) { return heads_verdict(g, layer); };
  const bool translates = injects(layer) || layer.at("group") == "se3";
  return translates ? algebra::injected_verdict(group, heads) : heads(group);
}

// What the inputs of a task generate.
struct Problem {
  FiniteGroup group;
  std::string half_turn;  // the first input that is its own inverse, or ""
};

Problem problem_of(const Json& task) {
  const FiniteGroup group = algebra::group_from_json(task.at("group"));
  const std::vector<int> inputs = input_elements(group, task.at("inputs"));
  const algebra::Subgroup generated = algebra::generated_subgroup(group, inputs);
  const bool whole = int(generated.size()) == group.order();
  Problem problem{whole ? group : algebra::subgroup_group(group, generated, inputs), ""};
  for (int input : inputs) {
    if (group.element_order(input) != 2 || !problem.half_turn.empty()) continue;
    problem.half_turn = group.element_name(input);
  }
  return problem;
}

std::optional<std::string> single_warning(const Problem& problem, const Json& layer, bool linear) {
  const FiniteGroup& group = problem.group;
  const Verdict verdict = single_verdict(group, layer);
  const std::string head = "one layer of " + name_of(layer);
  if (verdict.any == Answer::no)
    return head + " cannot hold " + group.name() + ": " + verdict.reason;
  // With an injection states have lengths of their own, and reading their directions is not linear.
  if (!linear || injects(layer)) return std::nullopt;
  if (verdict.linear == Answer::no)
    return head + " with a linear readout cannot hold " + group.name() + ": " + verdict.reason;
  // Some head turns an involution into a matrix with the eigenvalue -1.
  if (layer.value("map", "") == "cayley" && !problem.half_turn.empty()) {
    return "the Cayley map cannot make the half turn that " + problem.half_turn + " in " +
           group.name() + " needs; cayley2 and exp can";
  }
  return std::nullopt;
}

// k commutative layers have a derived length of k, or with injections up to 2k; rotations in at
// most four dimensions have no simple factor but A5.
std::optional<std::string> cascade_warning(const FiniteGroup& group,
                                           const std::vector<Json>& layers) {
  const std::string cannot =
      text(layers.size(), " recurrent layers cannot hold ", group.name(), ": ");
  if (std::all_of(layers.begin(), layers.end(), commutes)) {
    const Verdict verdict = algebra::affine_diagonal_verdict(group, int(layers.size()));
    const bool counters = std::any_of(layers.begin(), layers.end(), injects);
    if (verdict.any == Answer::no) return cannot + verdict.reason;
    if (!counters && verdict.linear != Answer::yes) {
      return cannot + text("its derived length is above ", layers.size(), ", and none injects");
    }
    return std::nullopt;
  }
  const bool small = std::all_of(layers.begin(), layers.end(), [](const Json& layer) {
    if (commutes(layer)) return true;
    const std::string head = layer.at("group");
    return head == "su2" || head == "so3" || head == "so4" || head == "se3";
  });
  const Verdict verdict =
      small ? algebra::deep_cascade_verdict(group) : Verdict{Answer::unknown, Answer::unknown, ""};
  if (verdict.any == Answer::no) return cannot + verdict.reason;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> tracking_warning(const Json& resolved) {
  const Json& task = resolved.at("task");
  if (task.at("type") != "group_word") return std::nullopt;
  const Json& layers = resolved.at("model").at("layers");
  Stack stack;
  for (const Json& layer : layers) stack.add(layer);
  if (!stack.known || stack.recurrent.empty()) return std::nullopt;
  try {
    const Problem problem = problem_of(task);
    if (stack.recurrent.size() > 1) return cascade_warning(problem.group, stack.recurrent);
    return single_warning(problem, stack.recurrent[0], is_read_linearly(layers));
  } catch (const Error&) {  // a group that is beyond what can be computed of it
    return std::nullopt;
  }
}

}  // namespace lssm
