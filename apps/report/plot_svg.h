// SPDX-License-Identifier: Apache-2.0
// gnuplot's SVG made part of a page.
#pragma once

#include <string>
#include <vector>

namespace lssm {

// Names begin with `id`, as a page has several plots; black becomes the colour of the page's text
// and the colours of plot_look.h those of the page; the size is the page's affair; what draws
// nothing goes. `labels` become the titles of the curves, which gnuplot must
// have plotted in this order with "notitle".
std::string page_svg(const std::string& gnuplot_svg, const std::string& id,
                     const std::string& title, const std::vector<std::string>& labels);

}  // namespace lssm
