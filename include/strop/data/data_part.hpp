// SPDX-License-Identifier: Apache-2.0
/// \file
/// Parts of a data set, of which one is read.
#pragma once
#include <strop/core/error.hpp>
#include <strop/core/span.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace strop::inline v0::detail {

/// Part number `part` of `parts`.
struct DataPart {
  std::int64_t parts = 1, part = 0;
};

inline void check_part(std::string_view function, std::int64_t parts, std::int64_t part) {
  if (parts < 1) fail(function, ": num_parts is ", parts, ", expected 1 or more");
  if (part < 0 || part >= parts) fail(function, ": part_index is ", part, ", expected one of 0 to ", parts - 1);
}

/// Where a part of n bytes begins: parts differ in length by one at most.
constexpr Index part_begin(Index n, std::int64_t parts, std::int64_t part) {
  return n / parts * part + std::min(part, n % parts);
}

}  // namespace strop::inline v0::detail
