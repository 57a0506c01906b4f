// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the pictures share.
#pragma once
#include <string>
#include <string_view>

namespace strop::command {

/// Text as an SVG file may hold it.
inline std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

}  // namespace strop::command
