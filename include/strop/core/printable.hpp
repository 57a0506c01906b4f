// SPDX-License-Identifier: Apache-2.0
/// \file
/// Text that came from outside, as a sentence or a terminal may show it.
#pragma once
#include <strop/core/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace strop::inline v0::detail {

/// The bytes of the control character that begins the text, of which a terminal would do something; 0 where none does.
inline std::size_t control_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x20 || first == 0x7f) return 1;
  const bool high = first == 0xc2 && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xa0;  // C1, in UTF-8
  return high ? 2 : 0;
}

/// Appends the text with control characters as \xNN; of more than `most` bytes the first, and "...".
inline void append_printable(std::string& out, std::string_view text, std::size_t most = std::string_view::npos) {
  const bool cut = text.size() > most;
  if (cut) {
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;  // characters stay whole
    text = text.substr(0, most);
  }
  while (!text.empty()) {
    const std::size_t control = control_length(text);
    for (std::size_t i = 0; i < control; ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      out += "\\x";
      out += "0123456789abcdef"[byte >> 4];
      out += "0123456789abcdef"[byte & 15];
    }
    if (control == 0) out += text[0];
    text.remove_prefix(control == 0 ? 1 : control);
  }
  if (cut) out += "...";
}

inline std::string printable(std::string_view text, std::size_t most = std::string_view::npos) {
  std::string out;
  append_printable(out, text, most);
  return out;
}

}  // namespace strop::inline v0::detail
