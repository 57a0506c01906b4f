// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bounds: where slices begin, end and in which steps, one per axis, each of which may be left open (None).
#pragma once
#include <strop/core/params.hpp>
#include <strop/core/span.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

/// One number per axis or `std::nullopt`: `{.begin = {0, std::nullopt}}`. A parameter that is `Needed` has no default.
template <bool Needed = false>
struct Bounds {
  using One = std::optional<std::int64_t>;
  std::optional<std::vector<One>> value;

  Bounds() = default;
  constexpr Bounds(std::initializer_list<One> list) : value(list) {}
  Bounds(std::vector<One> list) : value(std::move(list)) {}
  template <bool Other>
  constexpr Bounds(const Bounds<Other>& other) : value(other.value) {}

  friend bool operator==(const Bounds&, const Bounds&) = default;

  constexpr int count() const { return value ? static_cast<int>(value->size()) : 0; }
  /// The bound of axis k; none where it is left open or not listed.
  constexpr One operator[](int k) const { return k < count() ? (*value)[detail::unsigned_size(k)] : std::nullopt; }
};

namespace detail {

inline bool parse_bounds(std::string_view text, std::vector<std::optional<std::int64_t>>& list) {
  std::int64_t number = 0;
  if (parse_integer(trimmed(text), number)) return list.push_back(number), true;
  if (!unbracket(text)) return false;
  while (!text.empty()) {
    const std::string_view one = trimmed(take_item(text));
    if (one == "None")
      list.emplace_back();
    else if (parse_integer(one, number))
      list.emplace_back(number);
    else
      return false;
  }
  return true;
}

inline std::string print_bounds(const std::vector<std::optional<std::int64_t>>& list) {
  return print_list(list, [](const auto& one) { return one ? cat(*one) : "None"; });
}

template <bool Needed>
struct BoundsText {
  static constexpr std::string_view name = "bounds";
  static constexpr ParamKind kind = ParamKind::bounds;
  static bool parse(Bounds<Needed>& bounds, std::string_view text) {
    return parse_bounds(text, bounds.value.emplace());
  }
  static std::string print(const Bounds<Needed>& bounds) {
    return bounds.value ? print_bounds(*bounds.value) : Needed ? "" : "()";
  }
};
template <>
struct Text<Bounds<false>> : BoundsText<false> {};
template <>
struct Text<Bounds<true>> : BoundsText<true> {
  using Wrapped = Bounds<true>;  // required
};

/// Positions that a slice of one axis visits: `count` of them, from `begin` in steps of `step`.
struct AxisRange {
  std::int64_t begin = 0, step = 1, count = 0;
};

/// begin:end:step of an axis as in Python: negative bounds count from the end, what lies outside is cut off.
constexpr AxisRange axis_range(std::int64_t extent, std::optional<std::int64_t> begin, std::optional<std::int64_t> end,
                               std::optional<std::int64_t> step, std::string_view op) {
  AxisRange r;
  r.step = step.value_or(1);
  if (r.step == 0) fail(op, ": a step is 0");
  const bool forwards = r.step > 0;
  const std::int64_t lowest = forwards ? 0 : -1, highest = forwards ? extent : extent - 1;
  const auto place = [&](const std::optional<std::int64_t>& bound, std::int64_t open) {
    if (!bound) return open;
    const std::int64_t at = *bound < 0 ? *bound + extent : *bound;
    return at < lowest ? lowest : at > highest ? highest : at;
  };
  r.begin = place(begin, forwards ? lowest : highest);
  const std::int64_t stop = place(end, forwards ? highest : lowest),
                     length = forwards ? stop - r.begin : r.begin - stop;
  const std::uint64_t step_size = forwards ? static_cast<std::uint64_t>(r.step) : -static_cast<std::uint64_t>(r.step);
  r.count = length <= 0 ? 0 : static_cast<std::int64_t>((static_cast<std::uint64_t>(length) - 1) / step_size) + 1;
  return r;
}

}  // namespace detail
}  // namespace strop::inline v0
