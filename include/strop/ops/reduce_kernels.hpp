// SPDX-License-Identifier: Apache-2.0
/// \file
/// How reductions run: axes merged to [outer, reduced, inner] passes, rows in lanes, work shared between threads.
#pragma once
#include <strop/core/params.hpp>
#include <strop/op/context.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <string_view>

namespace strop::inline v0::detail {

/// Which axes are reduced, checked and counted from 0. `op` names the operator in errors.
struct AxisMask {
  std::uint64_t bits = 0;
  constexpr bool operator[](std::integral auto i) const { return (bits >> i & 1U) != 0; }
  constexpr int count() const { return std::popcount(bits); }
};
template <int = 0>
constexpr AxisMask axis_mask(int rank, const Axes& axes, bool exclude, std::string_view op) {
  if (rank > 64) fail(op, ": takes at most 64 dimensions, got ", rank);
  AxisMask mask;
  if (!axes.list || axes.list->ndim() == 0) {
    mask.bits = ~std::uint64_t{0};
  } else {
    for (std::int64_t asked : *axes.list) {
      const std::int64_t axis = asked < 0 ? asked + rank : asked;
      if (axis < 0 || axis >= rank)
        fail(op, ": axis ", asked, " is outside an array of ", rank, rank == 1 ? " dimension" : " dimensions");
      if (mask[axis]) fail(op, ": axis ", asked, " is given twice");
      mask.bits |= std::uint64_t{1} << axis;
    }
    if (exclude) mask.bits = ~mask.bits;
  }
  if (rank < 64) mask.bits &= (std::uint64_t{1} << rank) - 1;
  return mask;
}

template <int = 0>
constexpr Shape reduced_shape(const Shape& in, const Axes& axes, bool keepdims, bool exclude, std::string_view op) {
  const AxisMask mask = axis_mask(in.ndim(), axes, exclude, op);
  Shape out;
  for (int i = 0; i < in.ndim(); ++i) {
    if (!mask[i])
      out.push_back(in[i]);
    else if (keepdims)
      out.push_back(1);
  }
  if (out.ndim() == 0) out.push_back(1);  // MXNet has no shape ()
  return out;
}

/// What sums, products, extremes and positions are taken of.
template <class E>
concept Summable = Real<E> || std::same_as<E, std::int32_t> || std::same_as<E, std::int64_t> ||
                   std::same_as<E, std::int8_t> || std::same_as<E, std::uint8_t>;
/// Refuses a row without an element to choose, and a type that does not hold its positions.
template <bool Largest>
void check_row(std::string_view op, Dtype type, std::int64_t elements) {
  if (elements == 0) fail(op, ": an axis without elements has no ", Largest ? "largest" : "smallest", " one");
  if (const std::int64_t most = positions_held(type); elements > most)
    fail(op, ": ", name_of(type), " does not hold the ", elements, " positions of a row, expected at most ", most,
         "; convert the array to a wider type");
}
/// What positions are counted in: halves as they are, since they hold fewer of them than a converted copy.
template <class E>
concept Located = Summable<E> || std::same_as<E, half> || std::same_as<E, bfloat16>;

struct AddStep;
struct MultiplyStep;
struct MaxStep;
struct MinStep;

/// Whether a step changes an element before it joins it: where it does not, the first pass is like the later ones.
template <class Step>
inline constexpr bool maps = true;
template <>
inline constexpr bool maps<AddStep> = false;
template <>
inline constexpr bool maps<MultiplyStep> = false;
template <>
inline constexpr bool maps<MaxStep> = false;
template <>
inline constexpr bool maps<MinStep> = false;

}  // namespace strop::inline v0::detail

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/reduce_kernels_body.hpp>
#endif
