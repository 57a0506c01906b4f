// SPDX-License-Identifier: Apache-2.0
/// \file
/// The codes of reshape.
#pragma once
#include <strop/tensor/convert.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace strop::inline v0::detail {

/// The shape that reshape's codes make of `from`: 0 keeps an extent, −1 infers one, −2 copies the rest, −3 merges two,
/// −4 splits one into the two that follow (one of which may be −1). The element count is always the same. Kept extents
/// take no part in the inference, so that codes (0, −1) of shape (0, 2, 3) give (0, 6).
constexpr Shape reshape_codes(const Shape& from, const Shape& codes) {
  const auto refuse = [&](std::string_view why) {
    fail(
        "reshape: shape ", to_text(from), " by codes ",
        [&] {
          std::string text = "(";
          for (int i = 0; i < codes.ndim(); ++i) text += cat(i == 0 ? "" : ", ", codes[i]);
          return text + ")";
        }(),
        ": ", why);
  };
  const std::int64_t elements = checked_count(from);
  Shape to, from_free = from, to_free;  // the free ones: 1 where an extent is kept
  int at = 0, inferred = -1;
  const auto next = [&](std::string_view code) {
    if (at >= from.ndim()) refuse(cat("code ", code, " finds no extent left in the input"));
    return from[at++];
  };
  const auto put = [&](std::int64_t extent) {
    to.push_back(extent);
    to_free.push_back(extent);
  };
  const auto keep = [&](std::int64_t extent) {
    to.push_back(extent);
    to_free.push_back(1);
    from_free[at - 1] = 1;
  };
  for (int i = 0; i < codes.ndim(); ++i) {
    const std::int64_t code = codes[i];
    if (code > 0) {
      put(code);
      ++at;
    } else if (code == 0) {
      keep(next("0"));
    } else if (code == -1) {
      if (inferred >= 0) refuse("only one extent can be inferred (-1)");
      inferred = to.ndim();
      put(1);
      ++at;
    } else if (code == -2) {
      while (at < from.ndim()) keep(next("-2"));
    } else if (code == -3) {
      const std::int64_t first = next("-3"), second = next("-3");
      std::int64_t merged = 0;
      if (__builtin_mul_overflow(first, second, &merged)) refuse("a merged extent (-3) exceeds 64 bits");
      put(merged);
    } else if (code == -4) {
      const std::int64_t whole = next("-4");
      if (i + 2 >= codes.ndim()) refuse("code -4 is followed by the two extents of the split");
      std::int64_t left = codes[++i], right = codes[++i];
      if (left == -1 && right == -1) refuse("only one extent of a split (-4) can be inferred");
      if (left < -1 || right < -1) refuse("the extents of a split (-4) are numbers or -1");
      if (left == -1) left = right == 0 ? -1 : whole / right;
      if (right == -1) right = left == 0 ? -1 : whole / left;
      std::int64_t product = 0;
      if (left < 0 || right < 0) refuse("a split (-4) cannot infer an extent beside 0");
      if (__builtin_mul_overflow(left, right, &product) || product != whole)
        refuse(cat("a split (-4) of extent ", whole, " into ", left, " and ", right));
      put(left);
      put(right);
    } else {
      refuse(cat("there is no code ", code));
    }
  }
  if (inferred >= 0) {
    const std::int64_t have = checked_count(from_free), others = checked_count(to_free);
    if (others == 0) refuse("an extent cannot be inferred (-1) beside an extent of 0");
    if (have % others != 0) refuse(cat(have, " elements cannot be divided by ", others));
    to[inferred] = have / others;
  }
  if (const std::int64_t made = checked_count(to); made != elements)
    refuse(cat("the result ", to_text(to), " would have ", made, " elements, not ", elements));
  return to;
}

}  // namespace strop::inline v0::detail
