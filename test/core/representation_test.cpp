// SPDX-License-Identifier: Apache-2.0
#include "core/algebra/representation.h"

#include <algorithm>

#include "core/algebra/named_groups.h"
#include "core/algebra/subgroups.h"
#include "test/test.h"

using namespace lssm;
using namespace lssm::algebra;

namespace {

// M(a b) = M(a) M(b) for all pairs, and only the identity maps to the identity.
template <class M>
void check_faithful(const FiniteGroup& g, const std::vector<M>& images) {
  REQUIRE(images.size() == size_t(g.order()));
  double worst = 0;
  for (int a = 0; a < g.order(); ++a) {
    for (int b = 0; b < g.order(); ++b)
      worst = std::max(worst, max_difference(images[size_t(g.product(a, b))],
                                             product(images[size_t(a)], images[size_t(b)])));
    if (a > 0) CHECK(max_difference(images[size_t(a)], images[0]) > 1e-3);
  }
  CHECK(worst < 1e-12);
}

double determinant(const Rotation& m) {
  return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
         m[2] * (m[3] * m[7] - m[4] * m[6]);
}

Rotation transposed(const Rotation& m) {
  return {m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]};
}

}  // namespace

TEST_CASE("rotations realise the groups of SO(3)", "[algebra]") {
  for (const char* name :
       {"S3", "S4", "A4", "A5", "V4", "D4", "D6", "D8", "D16", "D50", "C2", "C7"}) {
    INFO(name);
    const FiniteGroup g = named_group(name);
    const std::vector<Rotation> images = rotation_representation(g);
    check_faithful(g, images);
    for (const Rotation& m : images) {
      CHECK(determinant(m) == Approx(1));
      CHECK(max_difference(product(m, transposed(m)), images[0]) < 1e-12);
    }
  }
}

TEST_CASE("long cyclic groups stay within the tolerance", "[algebra]") {
  const std::vector<Rotation> images = rotation_representation(named_group("C5040"));
  CHECK(max_difference(product(images[5039], images[1]), images[0]) < 1e-12);
}

TEST_CASE("the icosahedral matrices are those of the papers", "[algebra]") {
  const FiniteGroup a5 = named_group("A5");
  const std::vector<Rotation> images = rotation_representation(a5);
  CHECK(max_difference(images[size_t(a5.element("(1 2 3)"))], Rotation{0, 0, 1, 1, 0, 0, 0, 1, 0}) <
        1e-12);
  const double p = (std::sqrt(5.0) + 1) / 4, m = (std::sqrt(5.0) - 1) / 4;
  for (double entry : images[size_t(a5.element("(1 2 3 4 5)"))]) {
    const double size = std::abs(entry);
    const bool known =
        std::min({std::abs(size - 0.5), std::abs(size - p), std::abs(size - m)}) < 1e-12;
    CHECK(known);
  }
}

TEST_CASE("unit quaternions realise the groups of SU(2)", "[algebra]") {
  for (const char* name : {"Q8", "Q12", "Q16", "2T", "2O", "2I", "C9"}) {
    INFO(name);
    const FiniteGroup g = named_group(name);
    const std::vector<Quaternion> images = quaternion_representation(g);
    check_faithful(g, images);
    for (const Quaternion& q : images)
      CHECK(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] == Approx(1));
  }
}

TEST_CASE("S5 lives in SO(5), exactly", "[algebra]") {
  const FiniteGroup s5 = named_group("S5");
  const std::vector<Matrix<5>> images = signed_permutation_matrices(s5);
  check_faithful(s5, images);
  std::vector<Image<Matrix<5>>> generators;
  for (const Generator& g : s5.generators())
    generators.push_back({g.element, images[size_t(g.element)]});
  CHECK(extend_representation(s5, generators) == images);
  CHECK_THROWS_AS(signed_permutation_matrices(named_group("S4")), Error);
  CHECK_THROWS_AS(signed_permutation_matrices(named_group("Q8")), Error);
}

TEST_CASE("covers map two to one onto the rotations", "[algebra]") {
  for (const auto& [cover_name, group_name] : std::vector<std::pair<const char*, const char*>>{
           {"2I", "A5"}, {"2O", "S4"}, {"2T", "A4"}, {"Q8", "V4"}}) {
    INFO(cover_name << " -> " << group_name);
    const FiniteGroup cover = named_group(cover_name), group = named_group(group_name);
    const std::vector<int> map = covering_map(cover, group);
    std::vector<int> hits(size_t(group.order()));
    bool homomorphism = true;
    for (int a = 0; a < cover.order(); ++a) {
      ++hits[size_t(map[size_t(a)])];
      for (int b = 0; b < cover.order(); ++b)
        homomorphism &=
            map[size_t(cover.product(a, b))] == group.product(map[size_t(a)], map[size_t(b)]);
    }
    CHECK(homomorphism);
    CHECK(hits == std::vector<int>(size_t(group.order()), 2));
  }
  CHECK_THROWS_AS(covering_map(named_group("2I"), named_group("S4")), Error);
}

TEST_CASE("false representations are refused", "[algebra]") {
  const FiniteGroup s3 = named_group("S3");
  const Rotation third{0, 0, 1, 1, 0, 0, 0, 1, 0}, half{-1, 0, 0, 0, -1, 0, 0, 0, 1};
  const int r = s3.element("r"), s = s3.element("s");
  CHECK_THROWS_AS(extend_representation<Rotation>(s3, {{r, third}, {s, half}}), Error);
  CHECK_THROWS_AS(extend_representation<Rotation>(s3, {{r, third}}), Error);  // half the group
  CHECK_THROWS_AS(extend_representation<Rotation>(s3, {{9, third}}), Error);
  CHECK_THROWS_AS(rotation_representation(named_group("S5")), Error);
  CHECK_THROWS_AS(rotation_representation(named_group("C2xC2")), Error);
  CHECK_THROWS_AS(quaternion_representation(named_group("A5")), Error);
}
