// SPDX-License-Identifier: Apache-2.0
/// \file
/// What operators on positions share: positions read and brought inside, blocks gathered, placed and added up.
#pragma once
#include <strop/op/infer.hpp>

#include <concepts>
#include <cstdint>

namespace strop::inline v0::detail {

/// What happens to a position outside: an Error, counted round, moved to the nearest end; or negative ones count from
/// the end, and others are an Error.
enum class Outside { refuse, wrap, clip, from_end };

/// The type of the first input is that of the output; positions have their own.
constexpr void type_of_first(Types& t) {
  t.set_out(0, t.in(0));
  t.set_in(0, t.out(0));
}

/// What gradients of positions are added up in.
template <class E>
concept Addable = Real<E> || std::same_as<E, std::int32_t> || std::same_as<E, std::int64_t>;

}  // namespace strop::inline v0::detail

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/index/kernels_body.hpp>
#endif
