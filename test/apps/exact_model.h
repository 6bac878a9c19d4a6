// SPDX-License-Identifier: Apache-2.0
// Models of word problems whose weights are set by hand: states move by unit quaternions, and the
// readout compares them with the places they can be at.
#pragma once

#include <cmath>
#include <memory>

#include "apps/experiment/config.h"
#include "core/algebra/named_groups.h"
#include "core/algebra/representation.h"
#include "core/lie/group.h"
#include "core/random.h"
#include "tasks/group_word.h"
#include "test/test.h"

namespace lssm::test {

struct ExactModel {
  Json task;            // type and length are added
  std::string lie;      // so3 or su2
  std::string readout;  // of the layer
  int64_t heads = 4;
  std::string precision = "f64";
  double noise = 0;  // standard deviation of what is added to the algebra's coordinates
};

inline std::unique_ptr<Experiment> experiment_of(Json task, const Json& layers,
                                                 const std::string& precision = "f64") {
  task["type"] = "group_word";
  return std::make_unique<Experiment>(
      Json{{"task", task}, {"model", {{"layers", layers}}}, {"precision", precision}}, "test");
}

inline void set(Experiment& experiment, const std::string& name,
                const std::vector<double>& values) {
  for (Parameter& p : experiment.model.parameters().all()) {
    if (p.name != name) continue;
    REQUIRE(p.value.numel() == int64_t(values.size()));
    p.value.copy_from(Tensor::from_host(p.value.shape(), values, p.value.dtype()));
    return;
  }
  FAIL("no parameter " << name);
}

using Element = Vec<double, 4>;

// A unit quaternion for each element of 2I, 2O, 2T, Q8, Q16 …, or for a group of rotations that one
// of these covers; there a product of quaternions is right up to the sign.
inline std::vector<Element> quaternions(const algebra::FiniteGroup& group) {
  const std::string name = group.name();
  const std::string cover_name = name == "A5" ? "2I" : name == "S4" ? "2O" : "2T";
  const bool covered = name == "A5" || name == "S4" || name == "A4";
  const algebra::FiniteGroup cover = covered ? algebra::named_group(cover_name) : group;
  const std::vector<algebra::Quaternion> all = algebra::quaternion_representation(cover);
  std::vector<Element> out(size_t(group.order()));
  const std::vector<int> onto = covered ? algebra::covering_map(cover, group) : std::vector<int>();
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& [w, x, y, z] = all[i];
    out[covered ? size_t(onto[i]) : i] = {{w, x, y, z}};
  }
  return out;
}

// What the readout makes of a quaternion that acts on a start; the Hopf map as in
// kernels/readout.h.
template <class G>
std::vector<double> place(const Element& q, const Vec<double, G::vector_dim>& start, bool bloch) {
  const auto h = G::act(q, start);
  if (!bloch) return {h.v, h.v + G::vector_dim};
  const double w = h[0], x = h[1], y = h[2], z = h[G::vector_dim - 1];
  return {2 * (w * y + z * x), 2 * (z * y - w * x), w * w + z * z - y * y - x * x};
}

// Sets the weights of layers embedding, lie_ssm, linear.
template <class G>
void solve(Experiment& experiment, const ExactModel& c) {
  const algebra::FiniteGroup group = algebra::named_group(c.task["group"].get<std::string>());
  const std::vector<int> inputs = input_elements(group, experiment.resolved["task"]["inputs"]);
  const bool inverse = experiment.resolved["task"]["action"] == "right";
  const bool bos = experiment.resolved["task"]["bos"], bloch = c.readout == "bloch";
  std::vector<Element> moves = quaternions(group);
  if (inverse)
    for (Element& q : moves) q = lie::conjugate(q);

  const size_t heads = size_t(c.heads), tokens = size_t(experiment.task->vocabulary());
  const size_t classes = size_t(experiment.task->classes()), v = bloch ? 3 : G::vector_dim;
  std::vector<double> one_hot(tokens * tokens), algebra(tokens * 3 * heads);
  std::vector<double> h0(G::vector_dim * heads), readout(v * heads * classes);
  for (size_t i = 0; i < tokens; ++i) one_hot[i * (tokens + 1)] = 1;
  Random random(8, Stream::check, 0);
  for (size_t head = 0; head < heads; ++head) {
    Vec<double, G::vector_dim> start;
    double squares = 0;
    for (int i = 0; i < G::vector_dim; ++i) {
      start[i] = random.normal();
      squares += start[i] * start[i];
    }
    for (int i = 0; i < G::vector_dim; ++i) {
      start[i] /= std::sqrt(squares);
      h0[size_t(i) * heads + head] = start[i];
    }
    for (int g = 0; g < group.order(); ++g) {
      const std::vector<double> seen = place<G>(moves[size_t(g)], start, bloch);
      for (size_t i = 0; i < v; ++i) readout[(i * heads + head) * classes + size_t(g)] = seen[i];
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Vec<double, 3> a = G::log(moves[size_t(inputs[i])]);
      const size_t token = bos ? size_t(inputs[i]) : i;
      for (size_t k = 0; k < 3; ++k)
        algebra[(token * 3 + k) * heads + head] = a[int(k)] + c.noise * random.normal();
    }
  }
  set(experiment, "layers.0.weight", one_hot);
  set(experiment, "layers.1.algebra.weight", algebra);
  set(experiment, "layers.1.algebra.bias", std::vector<double>(3 * heads));
  set(experiment, "layers.1.h0", h0);
  set(experiment, "layers.2.weight", readout);
  set(experiment, "layers.2.bias", std::vector<double>(classes));
}

inline std::unique_ptr<Experiment> exact_model(const ExactModel& c) {
  Json layers = {
      {{"type", "embedding"}, {"width", 1}},
      {{"type", "lie_ssm"}, {"group", c.lie}, {"heads", c.heads}, {"readout", c.readout}},
      {{"type", "linear"}}};
  // As wide as there are tokens, so that the embedding can be the identity.
  layers[0]["width"] = experiment_of(c.task, layers)->task->vocabulary();
  auto experiment = experiment_of(c.task, layers, c.precision);
  if (c.lie == "su2") {
    solve<lie::SU2>(*experiment, c);
  } else {
    solve<lie::SO3>(*experiment, c);
  }
  return experiment;
}

}  // namespace lssm::test
