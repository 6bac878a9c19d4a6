// SPDX-License-Identifier: Apache-2.0
#include "core/algebra/representation.h"

#include <numbers>

namespace lssm::algebra {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

// "D16" is in the family "D", "D16xC2" is not.
bool in_family(const std::string& name, const std::string& prefix) {
  return name.size() > prefix.size() && name.starts_with(prefix) &&
         name.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
}

Rotation about_z(double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {c, -s, 0, s, c, 0, 0, 0, 1};
}

constexpr Rotation kHalfTurnX{1, 0, 0, 0, -1, 0, 0, 0, -1};
constexpr Rotation kHalfTurnZ{-1, 0, 0, 0, -1, 0, 0, 0, 1};
constexpr Rotation kThirdTurn{0, 0, 1, 1, 0, 0, 0, 1, 0};  // about (1, 1, 1): x -> y -> z -> x

// S4 as the rotations of the cube: a quarter turn about z, and the half turn about (1, 0, 1).
constexpr Rotation kQuarterTurnZ{0, -1, 0, 1, 0, 0, 0, 0, 1};
constexpr Rotation kHalfTurnXZ{0, 0, 1, 0, -1, 0, 1, 0, 0};

// A4: a third of a turn about (1, 1, -1), so that (2 3 4)(1 2 3) is a half turn.
constexpr Rotation kOtherThirdTurn{0, 1, 0, 0, 0, -1, -1, 0, 0};

// A5 as the rotations of the icosahedron: a fifth of a turn with entries ±1/2, (±1 ± √5)/4.
Rotation fifth_turn() {
  const double phi = std::numbers::phi;
  return rotation_from_quaternion({phi / 2, 0.5, 0, (1 - phi) / 2});
}

// Images for an element written in the group's own notation.
template <class M>
Image<M> image(const FiniteGroup& group, const std::string& element, const M& value) {
  return {group.element(element), value};
}

std::vector<Image<Rotation>> rotation_generators(const FiniteGroup& g) {
  const std::string& name = g.name();
  if (name == "A5") return {image(g, "(1 2 3 4 5)", fifth_turn()), image(g, "(1 2 3)", kThirdTurn)};
  if (name == "S4") return {image(g, "(1 2 3 4)", kQuarterTurnZ), image(g, "(1 2)", kHalfTurnXZ)};
  if (name == "A4") return {image(g, "(2 3 4)", kOtherThirdTurn), image(g, "(1 2 3)", kThirdTurn)};
  if (name == "V4") return {image(g, "a", kHalfTurnX), image(g, "b", kHalfTurnZ)};
  const bool cyclic = in_family(name, "C") || in_family(name, "Z");
  if (!cyclic && name != "S3" && !in_family(name, "D")) return {};

  const int r = g.element("r");
  std::vector<Image<Rotation>> out{{r, about_z(kTurn / g.element_order(r))}};
  if (!cyclic) out.push_back(image(g, "s", kHalfTurnX));
  return out;
}

std::vector<Image<Quaternion>> quaternion_generators(const FiniteGroup& g) {
  const std::string& name = g.name();
  const auto polyhedral = [&g](const PolyhedralGenerators& generators) {
    return std::vector{image(g, "s", generators.s), image(g, "t", generators.t)};
  };
  if (name == "2T") return polyhedral(binary_tetrahedral_generators());
  if (name == "2O") return polyhedral(binary_octahedral_generators());
  if (name == "2I") return polyhedral(binary_icosahedral_generators());
  const bool cyclic = in_family(name, "C") || in_family(name, "Z");
  if (!cyclic && !in_family(name, "Q")) return {};

  const int a = g.generators()[0].element;
  const double angle = kTurn / g.element_order(a);
  std::vector<Image<Quaternion>> out{{a, {std::cos(angle), std::sin(angle), 0, 0}}};
  if (!cyclic) out.push_back({g.generators()[1].element, {0, 0, 1, 0}});
  return out;
}

}  // namespace

std::vector<Rotation> rotation_representation(const FiniteGroup& group) {
  const auto generators = rotation_generators(group);
  LSSM_CHECK(!generators.empty(), "rotation_representation: none known for ", group.name(),
             ", expected S3, S4, A4, A5, V4, D_n or C_n");
  return extend_representation(group, generators);
}

std::vector<Quaternion> quaternion_representation(const FiniteGroup& group) {
  const auto generators = quaternion_generators(group);
  LSSM_CHECK(!generators.empty(), "quaternion_representation: none known for ", group.name(),
             ", expected Q_n, 2T, 2O, 2I or C_n");
  return extend_representation(group, generators);
}

std::vector<Matrix<5>> signed_permutation_matrices(const FiniteGroup& group) {
  const auto& permutations = group.permutations();
  LSSM_CHECK(!permutations.empty() && permutations[0].size() == 5,
             "signed_permutation_matrices: ", group.name(),
             " is not made of permutations of five points");
  std::vector<Matrix<5>> out;
  for (const Permutation& p : permutations) {
    Matrix<5> m{};
    for (size_t i = 0; i < 5; ++i) m[size_t(p[i]) * 5 + i] = sign(p);  // column i goes to p[i]
    out.push_back(m);
  }
  return out;
}

Rotation rotation_from_quaternion(const Quaternion& q) {
  const auto [w, x, y, z] = q;
  return {
      w * w + x * x - y * y - z * z, 2 * (x * y - w * z),           2 * (x * z + w * y),
      2 * (x * y + w * z),           w * w - x * x + y * y - z * z, 2 * (y * z - w * x),
      2 * (x * z - w * y),           2 * (y * z + w * x),           w * w - x * x - y * y + z * z};
}

std::vector<int> covering_map(const FiniteGroup& cover, const FiniteGroup& group) {
  const std::vector<Rotation> rotations = rotation_representation(group);
  std::vector<int> map;
  for (const Quaternion& q : quaternion_representation(cover)) {
    const Rotation rotation = rotation_from_quaternion(q);
    int found = -1;
    for (int g = 0; g < group.order() && found < 0; ++g)
      if (max_difference(rotations[size_t(g)], rotation) < 1e-9) found = g;
    LSSM_CHECK(found >= 0, "covering_map: the rotation of element ",
               cover.element_name(int(map.size())), " of ", cover.name(), " is not in ",
               group.name());
    map.push_back(found);
  }
  return map;
}

}  // namespace lssm::algebra
