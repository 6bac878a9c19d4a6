// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/word_problem.h"

#include <algorithm>

#include "core/algebra/group_json.h"
#include "tasks/group_word.h"

namespace lssm {
namespace {

const Json& group_word(const Experiment& experiment, const char* who) {
  const Json& task = experiment.resolved.at("task");
  LSSM_CHECK(task.at("type") == "group_word", who,
             ": expected the word problem of a group, task \"", "group_word\", got ",
             task.at("type").dump());
  return task;
}

}  // namespace

WordProblem::WordProblem(const Experiment& experiment, const char* who)
    : group(algebra::group_from_json(group_word(experiment, who).at("group"))),
      inputs(input_elements(group, experiment.resolved["task"]["inputs"])),
      right(experiment.resolved["task"]["action"] == "right"),
      bos(experiment.resolved["task"]["bos"]) {}

Matrices head_matrices(const WordProblem& problem, const Tensor& matrices, int64_t head) {
  const int64_t v = matrices.dim(1), heads = matrices.dim(3);
  Matrices out;
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    const double* first = matrices.data<double>() + problem.token(i) * v * v * heads + head;
    Eigen::MatrixXd m(v, v);
    for (int64_t row = 0; row < v; ++row)
      for (int64_t column = 0; column < v; ++column)
        m(row, column) = first[(row * v + column) * heads];
    out.push_back(std::move(m));
  }
  return out;
}

// Layers work on one row for each token here, so any word will do.
Inspection inspect(const Experiment& experiment) {
  Inspection inspection;
  Tape tape(false);
  Context context = experiment.context(tape);
  context.inspection = &inspection;
  experiment.model.forward(context, Tensor::zeros({1, 1}, DType::i32));
  return inspection;
}

std::string readout_of(const Experiment& experiment, const std::string& pointer) {
  const Json& layer = experiment.resolved.at(Json::json_pointer(pointer));
  return layer.value("readout", "");
}

Relations relations(const WordProblem& problem, const Matrices& inputs, const char* who) {
  const algebra::FiniteGroup& group = problem.group;
  const Eigen::Index v = inputs[0].rows();
  Relations found;
  found.images.resize(size_t(group.order()));
  found.images[0] = Eigen::MatrixXd::Identity(v, v);
  std::vector<int> queue = {0};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (size_t s = 0; s < inputs.size(); ++s) {
      const int next = problem.step(queue[i], problem.inputs[s]);
      if (found.images[size_t(next)].size() > 0) continue;
      found.images[size_t(next)] = inputs[s] * found.images[size_t(queue[i])];
      queue.push_back(next);
    }
  }
  LSSM_CHECK(int(queue.size()) == group.order(), who, ": the inputs generate only ", queue.size(),
             " of the ", group.order(), " elements of ", group.name());
  for (int g = 0; g < group.order(); ++g) {
    for (size_t s = 0; s < inputs.size(); ++s) {
      const double error = (found.images[size_t(problem.step(g, problem.inputs[s]))] -
                            inputs[s] * found.images[size_t(g)])
                               .norm();
      found.max = std::max(found.max, error);
      found.mean += error / (double(group.order()) * double(inputs.size()));
    }
  }
  return found;
}

}  // namespace lssm
