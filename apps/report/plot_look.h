// SPDX-License-Identifier: Apache-2.0
// How the curves of a plot differ: colours (Okabe and Ito's, which colour-blind readers can tell
// apart, less the yellow that white paper swallows), dashes and markers.
//
// gnuplot draws in colours that only name a part; in the page they become its own colours.
#pragma once

#include <cstdint>
#include <string>

namespace lssm {

constexpr int kColours = 7;

struct Look {
  int colour;            // the page's colour --c<colour>
  std::string sentinel;  // what gnuplot is told for it
  std::string dashes;    // "8,3", or "" for a whole line
  int gnuplot_marker;    // gnuplot's point type
  std::string marker;    // the same shape as SVG, of radius 1 around 0
};
// Three cycles of lengths 7, 5 and 8: no two of the first 280 are the same.
Look look_of(int64_t number);
std::string reference_dashes(size_t index);

constexpr const char* kTextColour = "#fd0001";
constexpr const char* kAxisColour = "#fd0002";
constexpr const char* kGridColour = "#fd0003";
constexpr const char* kMarkColour = "#fd0004";
// The page's colour for what gnuplot drew in red, green, blue; "" if it stands for nothing.
std::string page_colour(int red, int green, int blue);

}  // namespace lssm
