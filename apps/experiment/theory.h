// SPDX-License-Identifier: Apache-2.0
// The numerical side of the theory of the Lie papers: measurements with known outcomes, made with
// the program's own kernels. `lssm verify` prints the claims; tests check the measurements.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/algebra/representation.h"
#include "core/lie/skew_map.h"

namespace lssm {

// ---- collision (Lie-SSM paper, section 4.2, appendix A) ----

// Largest difference of an entry of (c t)^30 (t c)^30 and (t c)^30 (c t)^30, products in f64. It is
// 0 to rounding where c and t generate a finite group of rotations, and need not be elsewhere.
double collision_distance(const algebra::Rotation& c, const algebra::Rotation& t);
// The worst over all pairs c, t of a group that rotation_representation() knows.
double worst_collision(const std::string& group);
// The median over 1,000 pairs of random rotations.
double median_random_collision();
// A head with random rotations for the generators c, t of S5 reads a random word. The least angle
// (radians) between two of its first `steps` states whose products in S5 differ; a state is the
// whole rotation.
double closest_states(int steps);

// ---- saddle (section 4.5) ----

// Two words in a = 0 and b = 1 with the same letters whose products agree in every group of
// nilpotency class below c, and in general not in class c: a, b; ab, ba; abba, baab; ….
// c from 1 to 4.
std::array<std::vector<int>, 2> word_pair(int c);
// With so3 generators eps A and eps B: the norm of the gradient of the difference of a linear
// readout after the two words, with respect to the generators (f64, scan_backward).
double saddle_gradient(int c, double eps);
// The slope of log(gradient) over log(eps) for eps from 2^-5 to 2^-9; c - 1 in theory.
double saddle_slope(int c);

// ---- dilution (section 4.5) ----

// The variance of the centroids of [G, G]'s cosets when targets are one-hot vectors of G, over that
// of one-hot vectors of G / [G, G]: 1 / |[G, G]|.
double centroid_dilution(const std::string& group);

// ---- horizon (section 4.1) ----

// How long an input of size 1 survives in the counter h_t = lambda h_{t-1} + x_t in f32, beside a
// state of size 1. By formula, and by running the scan.
struct Horizon {
  int64_t spacing, spacing_run;    // while lambda^n is at least the spacing 2^-23
  int64_t roundoff, roundoff_run;  // while 1 + lambda^n is not 1: above 2^-24
};
Horizon leaky_horizon(double lambda);

// ---- Cayley (Lie group paper, section 2.5) ----

// The angle by which a map of core/lie/skew_map.h turns a plane of R^5 when its coordinate is w.
double plane_angle(lie::SkewMap map, double w);

// ---- claims ----

struct Claim {
  std::string check;  // one of theory_checks()
  std::string text;
  double measured;
  double low, high;  // what theory allows

  bool ok() const { return measured >= low && measured <= high; }  // false for a NaN
};

// "collision", "saddle", "dilution", "horizon", "exact", "cayley".
std::vector<std::string> theory_checks();
// All claims of one check. Throws Error for an unknown name.
std::vector<Claim> check_theory(const std::string& check);

}  // namespace lssm
