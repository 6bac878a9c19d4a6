// SPDX-License-Identifier: Apache-2.0
#include "layers/lie_transitions.h"

#include <algorithm>

#include "core/lie/group.h"
#include "core/lie/se3.h"

namespace lssm {
namespace {

using kernels::Activation;

bool is_matrix_group(const std::string& name) {
  const std::vector<std::string> names = lie::MatrixGroups::names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The groups proper: not the monoids of the diagonal recurrences.
std::vector<std::string> lie_group_names() {
  std::vector<std::string> names;
  lie::Groups::for_each([&]<class G>(G) {
    if (G::is_group) names.push_back(G::name);
  });
  for (const std::string& name : lie::MatrixGroups::names()) names.push_back(name);
  names.push_back(lie::SE3::name);
  return names;
}

lie::SkewMap skew_map_of(const std::string& map) {
  return map == "exp"      ? lie::SkewMap::exp
         : map == "cayley" ? lie::SkewMap::cayley
                           : lie::SkewMap::cayley2;
}

Var by_head(Var rows, int64_t components, int64_t heads) {
  return reshape(rows, {rows.shape()[0], components, heads});
}

}  // namespace

void LieTransitions::Options::fields(Fields& f) {
  f.add("group", group, "Lie group of the transitions", one_of(lie_group_names()));
  f.add(
      "map", map,
      "from the Lie algebra to the group: exp, or for matrix groups (so4 and up, su3, su4, so3x2) "
      "the Cayley map, which cannot reach a half turn, or its square at half the argument, which "
      "can",
      one_of({"exp", "cayley", "cayley2"}));
  f.check(map == "exp" || is_matrix_group(group), "map",
          map + " is a map of matrix groups (so4 to so8, su3, su4, so3x2), the group is " + group);
  f.add("heads", heads, "independent states", at_least(1));
  f.add("angle_std", angle_std,
        "standard deviation of the algebra's coordinates at the start, for inputs of variance 1",
        at_least(0));
  f.add(
      "commutative", commutative,
      "all coordinates but the last are 0, so that all transitions commute: the papers' ablation");
  f.add("gate", gate,
        "head: the coordinates of each head are multiplied by a number in (0, 1) that depends on "
        "x_t; at 0 the state stays",
        one_of({"none", "head"}));
  f.add("contraction", contraction,
        "each head forgets at a rate of its own: h_t = rate R h_{t-1}, the rate fixed or learned",
        one_of({"none", "fixed", "learned"}));
  f.add("contraction_rate", contraction_rate, "the rate, or its first value", between(0, 1));
  f.check(contraction != "learned" || (contraction_rate > 0 && contraction_rate < 1),
          "contraction_rate", "a learned rate starts between 0 and 1");
  f.add("frames", frames,
        "directions of each head (matrix groups) along which gates that depend on x_t can forget",
        at_least(0));
  int64_t dim = 0;
  lie::MatrixGroups::for_each([&]<class G>(G) {
    if (group == G::name) dim = G::vector_dim;
  });
  f.check(frames <= dim, "frames",
          dim > 0
              ? text("got ", frames, ", the states of ", group, " have ", dim, " dimensions")
              : text("needs a matrix group (so4 to so8, su3, su4, so3x2), the group is ", group));
}

LieTransitions::LieTransitions(const BuildContext& context, const Options& options)
    : options_(options),
      scan_group_(options.group == lie::SE3::name ? "so3" : options.group),
      as_matrix_(is_matrix_group(options.group)) {
  const bool rigid = options.group == lie::SE3::name;
  const bool contracts = options.contraction != "none";
  if (as_matrix_) {
    lie::MatrixGroups::with(options.group, [&]<class G>(G) {
      algebra_dim_ = G::algebra_dim, vector_dim_ = G::vector_dim;
    });
    scan_group_ = text("matrix", vector_dim_);
    columns_ = options.group.starts_with("su") ? vector_dim_ / 2 : vector_dim_;
  } else {
    lie::with_group(scan_group_, [&]<class G>(G) {
      algebra_dim_ = G::algebra_dim, vector_dim_ = G::vector_dim;
    });
    columns_ = scan_group_ == "so3" ? 3 + rigid : 1;
    if (contracts) scan_group_ = "scaled_" + scan_group_;
  }
  keeps_length_ = !contracts && options.frames == 0;
  const ParamScope& params = context.params;
  algebra_.emplace(coordinates(context, "algebra", options.commutative ? 1 : algebra_dim_));
  if (rigid) shift_.emplace(coordinates(context, "shift", 3));
  if (options.gate == "head") {
    gate_.emplace(params.child("gate"), context.in_width, options.heads);
  }
  if (options.contraction == "learned") {
    const double logit = std::log(options.contraction_rate / (1 - options.contraction_rate));
    rate_ = &params.add("rate", {1, options.heads}, init::constant(logit));
  }
  if (options.contraction == "fixed") {
    const std::vector<double> rates(size_t(options.heads), options.contraction_rate);
    fixed_rate_ = Tensor::from_host({1, options.heads}, rates, params.dtype(), params.device());
  }
  if (options.frames > 0) {
    frames_ = &params.add("frames", {vector_dim_ * options.frames, options.heads}, init::normal(1));
    frame_gates_.emplace(params.child("frame_gates"), context.in_width,
                         options.frames * options.heads);
  }
}

Affine LieTransitions::coordinates(const BuildContext& context, const char* name,
                                   int64_t per_head) const {
  return {context.params.child(name), context.in_width, per_head * options_.heads,
          init::normal(options_.angle_std / std::sqrt(double(context.in_width))),
          init::constant(0)};
}

// Maps work on the rows of x, which are few where x comes from tokens.
LieTransitions::Step LieTransitions::operator()(Tape& tape, Var x) const {
  const int64_t heads = options_.heads, rows = x.shape()[0];
  Var coordinates = (*algebra_)(tape, x);
  if (options_.commutative) {
    const Tensor& last = coordinates.value();
    const Tensor others =
        Tensor::zeros({rows, (algebra_dim_ - 1) * heads}, last.dtype(), last.device());
    coordinates = concat_columns(tape.leaf(others), coordinates);
  }
  Step step = {by_head(coordinates, algebra_dim_, heads), Var()};
  if (shift_) step.shift = by_head((*shift_)(tape, x), 3, heads);
  if (gate_) {
    const Var gate = activation(Activation::sigmoid, (*gate_)(tape, x));
    step.a = scale_components(step.a, gate);
    if (step.shift) step.shift = scale_components(step.shift, gate);
  }
  if (step.shift) step.shift = translation(step.a, step.shift);
  if (as_matrix_) step.a = group_matrix(options_.group, skew_map_of(options_.map), step.a);
  if (frames_) {
    const Var learned =
        reshape(tape.parameter(*frames_), {1, vector_dim_ * options_.frames, heads});
    const Var frame = polar(learned, options_.frames);
    const Var gates = activation(Activation::sigmoid, (*frame_gates_)(tape, x));
    step.a =
        head_matmul(step.a, householder_product(frame, by_head(gates, options_.frames, heads)));
  }
  if (options_.contraction == "none") return step;
  const Var rate =
      rate_ ? activation(Activation::sigmoid, tape.parameter(*rate_)) : tape.leaf(fixed_rate_);
  if (as_matrix_) {
    step.a = scale_components(step.a, rate);
  } else {
    const Tensor first = Tensor::zeros({rows}, DType::i32, rate.value().device());
    const Var flat = reshape(step.a, {rows, algebra_dim_ * heads});
    step.a = by_head(concat_columns(gather_rows(rate, first), flat), 1 + algebra_dim_, heads);
  }
  return step;
}

}  // namespace lssm
