// SPDX-License-Identifier: Apache-2.0
#include "apps/report/html_text.h"

#include <cctype>

namespace lssm {

std::string escaped(std::string_view words) {
  std::string all;
  for (const char c : words) {
    switch (c) {
      case '&':
        all += "&amp;";
        break;
      case '<':
        all += "&lt;";
        break;
      case '>':
        all += "&gt;";
        break;
      case '"':
        all += "&quot;";
        break;
      case '\'':
        all += "&#39;";
        break;
      default:  // control characters have no place in HTML
        all += static_cast<unsigned char>(c) < ' ' || c == 0x7f ? ' ' : c;
    }
  }
  return all;
}

std::string number_html(const std::string& number) {
  std::string all;
  for (size_t i = 0; i < number.size(); ++i) {
    const bool sign = number[i] == '-' && i + 1 < number.size() &&
                      std::isdigit(static_cast<unsigned char>(number[i + 1]));
    all += sign ? "−" : escaped(number.substr(i, 1));
  }
  return all;
}

std::string element(const std::string& tag, const std::string& words,
                    const std::string& attributes) {
  return "<" + tag + (attributes.empty() ? "" : " ") + attributes + ">" + escaped(words) + "</" +
         tag + ">";
}

std::string and_list(const std::vector<std::string>& words) {
  std::string all;
  for (size_t i = 0; i < words.size(); ++i)
    all += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return all;
}

}  // namespace lssm
