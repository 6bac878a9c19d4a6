// SPDX-License-Identifier: Apache-2.0
// The measurements of `lssm verify` against values from theory, and the command itself.
#include "apps/experiment/theory.h"

#include <numbers>

#include "apps/experiment/exact_run.h"
#include "test/apps/program.h"

namespace lssm {
namespace {

using algebra::Rotation;

Rotation about_z(double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {c, -s, 0, s, c, 0, 0, 0, 1};
}

Rotation about_x(double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {1, 0, 0, 0, c, -s, 0, s, c};
}

TEST_CASE("the words of S5 collide in finite groups of rotations alone", "[theory]") {
  for (const char* group : {"A5", "S4", "A4", "D16", "V4"}) {
    INFO(group);
    CHECK(worst_collision(group) < 1e-12);
  }
  // About one axis everything commutes, whatever the angles are.
  CHECK(collision_distance(about_z(1), about_z(std::numbers::sqrt2)) < 1e-12);
  CHECK(collision_distance(about_z(1), about_x(1)) > 0.1);  // no finite group
  CHECK(median_random_collision() > 0.1);
}

TEST_CASE("states of a random head come ever nearer", "[theory]") {
  const double early = closest_states(200), late = closest_states(4000);
  CHECK(late < early / 3);  // n^(-2/3) on the average: 1/7
  CHECK(late > 0);
}

TEST_CASE("word pairs have the same letters", "[theory]") {
  CHECK(word_pair(2) == std::array<std::vector<int>, 2>{{{0, 1}, {1, 0}}});
  CHECK(word_pair(3) == std::array<std::vector<int>, 2>{{{0, 1, 1, 0}, {1, 0, 0, 1}}});
  CHECK(word_pair(4)[0] == std::vector<int>{0, 1, 1, 0, 1, 0, 0, 1});
  CHECK_THROWS_AS(word_pair(5), Error);
}

TEST_CASE("gradients at the commutator saddle", "[theory]") {
  // c = 1: the readout y of exp(eps a) h0 has the gradient h0 x y at eps = 0, and the same with the
  // other sign for b: sqrt(2) |h0 x y| with h0 = (0.36, 0.48, 0.8), y = (0.5, -0.7, 0.4).
  const double cross[3] = {0.48 * 0.4 + 0.8 * 0.7, 0.8 * 0.5 - 0.36 * 0.4,
                           -0.36 * 0.7 - 0.48 * 0.5};
  const double norm = std::sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]);
  CHECK(saddle_gradient(1, 1e-7) == Approx(std::sqrt(2) * norm).epsilon(1e-6));
  for (int c = 1; c <= 4; ++c) {
    INFO(c);
    CHECK(saddle_slope(c) == Approx(c - 1).margin(0.05));
  }
}

TEST_CASE("centroids of cosets are diluted by the order of the commutator subgroup", "[theory]") {
  const std::vector<std::pair<const char*, double>> orders = {{"S5", 60}, {"D16", 4}, {"S3", 3},
                                                              {"Q8", 2},  {"A4", 4},  {"C6", 1}};
  for (const auto& [group, order] : orders) {
    INFO(group);
    CHECK(centroid_dilution(group) == Approx(1 / order).epsilon(1e-12));
  }
}

TEST_CASE("the horizon of a leaky counter", "[theory]") {
  const Horizon h = leaky_horizon(0.95);
  CHECK(h.spacing == 310);
  CHECK(h.roundoff == 324);
  CHECK(h.spacing_run == 310);
  CHECK(h.roundoff_run == 324);
  // 2^-n is exact: 2^-23 is the spacing, and 1 + 2^-24 rounds to even, that is to 1.
  const Horizon half = leaky_horizon(0.5);
  CHECK(half.spacing_run == 23);
  CHECK(half.roundoff_run == 23);
  CHECK_THROWS_AS(leaky_horizon(1), Error);
}

TEST_CASE("exact representations decode right for long", "[theory]") {
  for (const char* group : {"S5", "A5", "2I", "Q8"}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      INFO(group << ' ' << dtype_name(dtype));
      const ExactRun run = exact_run(group, dtype, 3000);
      const double unit = dtype == DType::f32 ? 6e-8 : 1.2e-16;
      CHECK(run.wrong == 0);
      CHECK(run.norm_drift < 3000 * 4 * unit);
      CHECK(run.angular_drift < 3000 * 4 * unit);
      CHECK(run.angular_drift > 0);
      CHECK(run.half_margin > 0.05);
    }
  }
  CHECK_THROWS_AS(exact_run("S4", DType::f32, 10), Error);
}

TEST_CASE("angles that maps can reach", "[theory]") {
  const double pi = std::numbers::pi;
  CHECK(plane_angle(lie::SkewMap::cayley, 2) == Approx(pi / 2));
  CHECK(plane_angle(lie::SkewMap::cayley, 1e4) < pi - 3.9e-4);  // 4 / w is missing
  CHECK(plane_angle(lie::SkewMap::cayley2, 4) == Approx(pi).epsilon(1e-14));
  CHECK(plane_angle(lie::SkewMap::exp, 1.25) == Approx(1.25));
}

TEST_CASE("verify prints a line per claim", "[theory]") {
  const Workplace place;
  for (const std::string check : {"dilution", "horizon", "cayley", "saddle"}) {
    INFO(check);
    const std::string out = place.good({"verify", "--only", check});
    const auto lines = std::count(out.begin(), out.end(), '\n');
    CHECK(size_t(lines) == check_theory(check).size());
    CHECK_FALSE(has(out, "FAILED"));
    const Json report = Json::parse(place.good({"verify", "--only", check, "--json"}));
    CHECK(report.size() == size_t(lines));
    for (const Json& claim : report) CHECK(claim["ok"] == true);
  }
  check_error(place.lssm({"verify", "--only", "nothing"}), 2, {"nothing", "collision", "cayley"});
  CHECK_FALSE(Claim{"", "", 2, 0, 1}.ok());
  CHECK_FALSE(Claim{"", "", std::nan(""), 0, 1}.ok());
}

TEST_CASE("group --lie says what can hold a group", "[theory]") {
  const Workplace place;
  const Json lie = Json::parse(place.good({"group", "S5", "--lie", "--json"}))["lie"];
  std::map<std::string, Json> verdicts;
  for (const Json& v : lie["verdicts"]) verdicts[v["transition"]] = v;
  CHECK(verdicts["so3"]["any"] == "no");
  CHECK(verdicts["so3"]["witness"]["left"] == "(c t)^30 (t c)^30");
  CHECK(verdicts["so3"]["witness"]["left_product"] == "(1 4 2)");
  CHECK(verdicts["so5"]["linear"] == "yes");
  CHECK(verdicts["cascade so3, so3"]["any"] == "yes");
  CHECK(lie["representation"]["n"] == 5);
  CHECK(lie["representation"]["at_least"] == 5);
  CHECK(lie["representation"]["generators"].size() == 2);

  // Bloch vectors of Q8 show V4: two of its elements for each (paper: 50 %).
  const Json q8 = Json::parse(place.good({"group", "Q8", "--lie", "--json"}))["lie"];
  CHECK(q8["rotation_quotient"]["order"] == 4);
  CHECK(q8["rotation_quotient"]["final"].get<double>() == Approx(0.5).epsilon(1e-6));
  // The subgroup that the inputs generate is judged.
  const std::string inputs = Json({"(1 2 3 4 5)", "(1 2 3)"}).dump();
  const Json a5 =
      Json::parse(place.good({"group", "S5", "--inputs", inputs, "--lie", "--json"}))["lie"];
  CHECK(a5["representation"]["n"] == 3);
  CHECK_FALSE(a5.contains("rotation_quotient"));

  for (const char* group : {"S5", "Q8", "F21", "S5xC7xC4", "C12", "Heis5"}) {
    INFO(group);
    std::istringstream lines(place.good({"group", group, "--lie"}));
    bool found = false;
    for (std::string line; std::getline(lines, line);) {
      found = found || line.starts_with("Which transitions");
      if (found) CHECK(line.size() <= 100);
    }
    CHECK(found);
  }
}

}  // namespace
}  // namespace lssm
