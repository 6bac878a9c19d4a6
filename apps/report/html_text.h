// SPDX-License-Identifier: Apache-2.0
// Texts and numbers of the HTML page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lssm {

// Any text as HTML: between tags or in an attribute's quotes.
std::string escaped(std::string_view words);
// A number as HTML: a real minus sign.
std::string number_html(const std::string& number);
// <tag attributes>escaped words</tag>
std::string element(const std::string& tag, const std::string& words,
                    const std::string& attributes = "");
// "a", "a and b", "a, b and c"
std::string and_list(const std::vector<std::string>& words);

}  // namespace lssm
