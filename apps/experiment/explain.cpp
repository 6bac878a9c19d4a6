// SPDX-License-Identifier: Apache-2.0
#include "apps/experiment/explain.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "core/algebra/representation.h"

namespace lssm {
namespace {

constexpr const char* kWho = "explain";

// What the next layer sees of the transitions of a head.
Matrices seen(Matrices matrices, const std::string& readout) {
  for (Eigen::MatrixXd& m : matrices) {
    if (readout == "bloch") {  // m multiplies by the quaternion that it makes of 1
      const algebra::Rotation r =
          algebra::rotation_from_quaternion({m(0, 0), m(1, 0), m(2, 0), m(3, 0)});
      m = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(r.data());
    } else if (readout == "direction") {
      const double det = std::abs(m.determinant());
      if (det > 1e-12) m /= std::pow(det, 1 / double(m.rows()));
    }
  }
  return matrices;
}

// Empty unless they are near whole numbers and make up the dimension.
std::vector<int> whole_multiplicities(const algebra::CharacterTable& table,
                                      const std::vector<double>& character, int64_t dimension) {
  const std::vector<std::complex<double>> values(character.begin(), character.end());
  std::vector<int> times;
  int64_t total = 0;
  for (const std::complex<double>& m : algebra::multiplicities(table, values)) {
    times.push_back(int(std::lround(m.real())));
    if (std::abs(m - double(times.back())) > kMultiplicityTolerance || times.back() < 0) return {};
    total += int64_t(times.back()) * table.characters[times.size() - 1].degree;
  }
  return total == dimension ? times : std::vector<int>();
}

// Elements at which the sum of characters has its value at the identity.
int kernel_order(const algebra::CharacterTable& table, const std::vector<int>& times) {
  int order = 0;
  for (size_t k = 0; k < table.classes.size(); ++k) {
    std::complex<double> below = 0;
    for (size_t i = 0; i < times.size(); ++i) {
      const algebra::Character& chi = table.characters[i];
      below += double(times[i]) * (double(chi.degree) - chi.values[k]);
    }
    if (std::abs(below) < 1e-6) order += int(table.classes[k].size());
  }
  return order;
}

HeadExplanation explain_head(const WordProblem& problem, const algebra::CharacterTable& table,
                             const Matrices& inputs) {
  const Relations found = relations(problem, inputs, kWho);
  HeadExplanation head = {};
  head.error_max = found.max;
  head.error_mean = found.mean;
  head.representation = found.max < kRelationTolerance;
  for (const std::vector<int>& elements : table.classes) {
    double sum = 0;
    for (const int g : elements) {
      const double trace = found.images[size_t(g)].trace();
      sum += trace;
      head.norm += trace * trace / problem.group.order();
    }
    head.character.push_back(sum / double(elements.size()));
  }
  head.multiplicities = whole_multiplicities(table, head.character, inputs[0].rows());
  if (!head.multiplicities.empty()) head.kernel_order = kernel_order(table, head.multiplicities);
  return head;
}

// The squared norms of the weights with which the linear layer after a layer of the model reads
// each of its heads (columns are component by component, as [n, heads]); empty if there is none.
std::vector<double> readout_squares(const Experiment& experiment, const std::string& pointer,
                                    int64_t heads) {
  const std::string list = "/model/layers/";
  const std::string place = pointer.substr(list.size());
  if (place.find('/') != std::string::npos) return {};  // inside another layer
  const size_t next = size_t(std::stoi(place)) + 1;
  const Json& layers = experiment.resolved["model"]["layers"];
  if (next >= layers.size() || layers[next]["type"] != "linear") return {};
  const std::string name = "layers." + std::to_string(next) + ".weight";
  for (const Parameter& p : experiment.model.parameters().all()) {
    if (p.name != name) continue;
    const std::vector<double> w = p.value.to_host();
    const int64_t outputs = p.value.dim(1);
    std::vector<double> squares(static_cast<size_t>(heads));
    for (int64_t i = 0; i < p.value.numel(); ++i)
      squares[size_t(i / outputs % heads)] += w[size_t(i)] * w[size_t(i)];
    return squares;
  }
  return {};
}

LayerExplanation explain_layer(const Experiment& experiment, const WordProblem& problem,
                               const algebra::CharacterTable& table,
                               const Inspection::Layer& layer) {
  const int64_t heads = layer.matrices.dim(3);
  const Json& json = experiment.resolved.at(Json::json_pointer(layer.pointer));
  LayerExplanation out = {
      layer.pointer, json.at("type"), readout_of(experiment, layer.pointer), 0, {}};
  const std::vector<double> squares = readout_squares(experiment, layer.pointer, heads);
  double total = 0;
  for (const double x : squares) total += x;
  Matrices last;
  for (int64_t head = 0; head < heads; ++head) {
    Matrices inputs = seen(head_matrices(problem, layer.matrices, head), out.readout);
    if (inputs == last) {
      ++out.heads.back().count;
    } else {
      out.heads.push_back(explain_head(problem, table, inputs));
      out.heads.back().head = head;
    }
    if (total > 0) {
      HeadExplanation& known = out.heads.back();
      known.share = known.share.value_or(0) + squares[size_t(head)] / total;
      known.readout = std::sqrt(*known.share * total);
    }
    out.dimension = inputs[0].rows();
    last = std::move(inputs);
  }
  return out;
}

}  // namespace

Explanation explain(const Experiment& experiment) {
  const WordProblem problem(experiment, kWho);
  const Inspection inspection = inspect(experiment);
  Explanation out = {problem.group, algebra::character_table(problem.group), {}, inspection.others};
  for (const Inspection::Layer& layer : inspection.layers)
    out.layers.push_back(explain_layer(experiment, problem, out.table, layer));
  return out;
}

}  // namespace lssm
