// SPDX-License-Identifier: Apache-2.0
// Rows of the table for the maps from Lie algebras to what scans take, and for the readout that
// sees lengths.
#include <cmath>
#include <numbers>

#include "autodiff/ops.h"
#include "core/lie/group.h"
#include "test/autodiff/op_cases.h"

namespace lssm::testing {
namespace {

using Vars = std::vector<Var>;

constexpr double kPi = std::numbers::pi;

// Vectors of n numbers for each row and head, of the given length each.
Tensor of_length(double length, const Shape& shape, uint32_t seed) {
  Tensor x = normal_numbers(shape, seed);
  const int64_t n = shape[1], heads = shape[2];
  for (int64_t i = 0; i < shape[0] * heads; ++i) {
    double* first = x.data<double>() + i / heads * n * heads + i % heads;
    double squares = 0;
    for (int64_t j = 0; j < n; ++j) squares += first[j * heads] * first[j * heads];
    for (int64_t j = 0; j < n; ++j) {
      first[j * heads] = double(float(first[j * heads] * length / std::sqrt(squares)));
    }
  }
  return x;
}

// One coordinate of every head is `value`, the others are 0.
Tensor one_coordinate(double value, int64_t coordinate, const Shape& shape) {
  Tensor x = Tensor::zeros(shape, DType::f64);
  for (int64_t row = 0; row < shape[0]; ++row) {
    for (int64_t head = 0; head < shape[2]; ++head) {
      x.data<double>()[(row * shape[1] + coordinate) * shape[2] + head] = double(float(value));
    }
  }
  return x;
}

void add_map_cases(const std::string& group, int64_t k, const char* name, lie::SkewMap map,
                   std::vector<OpCase>& cases) {
  const auto add = [&](const std::string& what, Tensor a, bool differences = true) {
    const auto op = [group, map](Tape&, const Vars& v) {
      return Vars{group_matrix(group, map, v[0])};
    };
    cases.push_back(
        {text("group_matrix ", group, ' ', name, ", ", what), op, {a}, differences, 1e-4});
  };
  const Shape shape = {2, k, 3};
  add("one head", of_length(1, {1, k, 1}, 1));
  add("length 1", of_length(1, shape, 2));
  add("length 6", of_length(6, shape, 3));
  add("length 1e-8", of_length(1e-8, shape, 4));
  add("length 30", of_length(30, shape, 5));
  add("0", Tensor::zeros(shape, DType::f64));
  add("half a turn", one_coordinate(map == lie::SkewMap::exp ? kPi : 4, 0, shape));
  add("half a turn of the last coordinate", one_coordinate(kPi, k - 1, shape));
  add("nothing", normal_numbers({0, k, 3}, 6));
  // More than a block of threads; the maps of all groups of one size are the same kernel.
  if (group.starts_with("so") && group != "so3x2")
    add("large", of_length(2, {20, k, 17}, 7), false);
}

void add_translation_cases(std::vector<OpCase>& cases) {
  const auto op = [](Tape&, const Vars& v) { return Vars{translation(v[0], v[1])}; };
  const Shape shape = {2, 3, 3};
  const Tensor v = normal_numbers(shape, 1);
  for (const double angle : {1e-8, 0.3, 2.0, 2.999, 3.001, kPi, 2 * kPi, 9.0}) {
    cases.push_back({text("translation at angle ", angle), op, {of_length(angle, shape, 2), v}});
  }
  cases.push_back({"translation at 0", op, {Tensor::zeros(shape, DType::f64), v}});
  cases.push_back({"translation of 0", op, {v, Tensor::zeros(shape, DType::f64)}});
  cases.push_back(
      {"translation, nothing", op, {Tensor({0, 3, 2}, DType::f64), Tensor({0, 3, 2}, DType::f64)}});
  cases.push_back({"translation, large",
                   op,
                   {normal_numbers({300, 3, 17}, 3), normal_numbers({300, 3, 17}, 4)},
                   false});
}

void add_radial_cases(std::vector<OpCase>& cases) {
  const auto op = [](Tape&, const Vars& v) { return Vars{direction_radial(v[0])}; };
  for (const int64_t n : {1, 2, 3, 4, 5, 8}) {
    cases.push_back({text("direction_radial of ", n), op, {of_length(1.5, {2, n, 3}, 1)}});
  }
  cases.push_back({"direction_radial of long vectors", op, {of_length(100, {2, 3, 3}, 2)}});
  cases.push_back({"direction_radial, nothing", op, {Tensor({0, 3, 2}, DType::f64)}});
  cases.push_back({"direction_radial of 0", op, {Tensor::zeros({2, 3, 2}, DType::f64)}, false});
  cases.push_back({"direction_radial, large", op, {normal_numbers({300, 5, 17}, 3)}, false});
}

}  // namespace

void add_lie_cases(std::vector<OpCase>& cases) {
  lie::MatrixGroups::for_each([&]<class G>(G) {
    add_map_cases(G::name, G::algebra_dim, "exp", lie::SkewMap::exp, cases);
    add_map_cases(G::name, G::algebra_dim, "cayley", lie::SkewMap::cayley, cases);
    add_map_cases(G::name, G::algebra_dim, "cayley2", lie::SkewMap::cayley2, cases);
  });
  add_translation_cases(cases);
  add_radial_cases(cases);
}

}  // namespace lssm::testing
