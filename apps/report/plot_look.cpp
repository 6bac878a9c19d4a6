// SPDX-License-Identifier: Apache-2.0
#include "apps/report/plot_look.h"

#include <array>

#include "apps/report/plot.h"
#include "core/check.h"

namespace lssm {
namespace {

constexpr std::array<const char*, 5> kDashes = {"", "9,4", "3,3", "11,3,3,3", "14,3,3,3,3,3"};
constexpr std::array<const char*, 3> kReferenceDashes = {"2,3", "7,3", "7,3,2,3"};

struct Marker {
  int gnuplot;
  const char* svg;
};
constexpr std::array<Marker, 8> kMarkers = {{
    {7, "<circle r='1' fill='currentColor'/>"},
    {5, "<path d='M-.9-.9h1.8v1.8h-1.8z' fill='currentColor'/>"},
    {9, "<path d='M0-1.33L-1.33.67h2.66z' fill='currentColor'/>"},
    {13, "<path d='M0-1.41L1.41 0L0 1.41L-1.41 0z' fill='currentColor'/>"},
    {6, "<circle r='1' fill='none' stroke-width='.4'/>"},
    {11, "<path d='M0 1.33L-1.33-.67h2.66z' fill='currentColor'/>"},
    {2, "<path d='M-1-1L1 1M1-1L-1 1' stroke-width='.4'/>"},
    {4, "<path d='M-.9-.9h1.8v1.8h-1.8z' fill='none' stroke-width='.4'/>"},
}};

std::string swatch(const std::string& inside) {
  return "<svg class='swatch' viewBox='0 0 44 14' aria-hidden='true'>" + inside + "</svg>";
}

}  // namespace

Look look_of(int64_t number) {
  LSSM_CHECK(number >= 0, "plot: a look is a number from 0, got ", number);
  const int colour = int(number % kColours);
  const Marker& marker = kMarkers[size_t(number) % kMarkers.size()];
  // No colour is without its dashes: the whole lines alone would be hard to tell apart in grey.
  return {colour, text("#fe000", colour), kDashes[size_t(number) % kDashes.size()], marker.gnuplot,
          marker.svg};
}

std::string reference_dashes(size_t index) {
  return kReferenceDashes[index % kReferenceDashes.size()];
}

std::string page_colour(int red, int green, int blue) {
  if (green != 0) return "";
  if (red == 0xfe && blue < kColours) return text("var(--c", blue, ")");
  if (red != 0xfd) return "";
  switch (blue) {
    case 1:
      return "currentColor";
    case 2:
      return "var(--axis)";
    case 3:
      return "var(--grid)";
    case 4:
      return "var(--mark)";
    default:
      return "";
  }
}

std::string series_swatch(int64_t look_number) {
  const Look look = look_of(look_number);
  const std::string colour = text("var(--c", look.colour, ")");
  return swatch(text("<g style='color:", colour, "' stroke='currentColor'><path d='M0 7h44' ",
                     "stroke-width='1.8' stroke-dasharray='", look.dashes,
                     "'/><g transform='translate(22 7) scale(3.4)' stroke-width='0'>", look.marker,
                     "</g></g>"));
}

std::string reference_swatch(size_t index) {
  return swatch(
      text("<path d='M0 7h44' stroke='currentColor' stroke-width='1.4' stroke-dasharray='",
           reference_dashes(index), "'/>"));
}

std::string mark_swatch() {
  return swatch(
      "<path d='M22 0v14' stroke='var(--mark)' stroke-width='1.4' stroke-dasharray='6,4'/>");
}

}  // namespace lssm
