// SPDX-License-Identifier: Apache-2.0
// How the HTML page looks: on a screen, on a small one, in the dark, on paper.
#pragma once

namespace lssm {

extern const char* const kHtmlStyle;

}  // namespace lssm
