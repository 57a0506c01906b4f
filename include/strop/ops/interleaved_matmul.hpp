// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products of attention heads whose queries, keys and values lie side by side in one array: _contrib_interleaved_
/// matmul_selfatt_qk, _contrib_interleaved_matmul_selfatt_valatt, _contrib_interleaved_matmul_encdec_qk,
/// _contrib_interleaved_matmul_encdec_valatt.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

inline constexpr Note head_notes[] = {{"heads", "how many heads there are"}};
inline constexpr Range head_ranges[] = {{"heads", 1}};

/// Input i is (length, batch, heads · parts · width): how many matrices it has of each part, batch · heads, unknown
/// while the batch is.
template <int = 0>
constexpr std::int64_t infer_heads(Shapes& s, int i, int heads, int parts) {
  constexpr std::int64_t any = Shape::unknown_extent;
  s.set_in(i, {any, any, any});
  const Shape& x = s.in(i);
  const std::int64_t unit = std::int64_t{heads} * parts;
  if (x[2] >= 0 && x[2] % unit != 0)
    s.fail(s.name_in(i), " has shape ", x, ", expected a last extent that is a multiple of ", unit);
  return x[1] < 0 ? any : checked_product(x[1], heads, s.op());
}
/// The extent that `parts` of each head have in all, of an array in which there are `of`.
constexpr std::int64_t extent_of_parts(std::int64_t extent, int parts, int of) {
  return extent < 0 ? Shape::unknown_extent : extent / of * parts;
}

}  // namespace detail

/// _contrib_interleaved_matmul_selfatt_qk: how much each place of a sequence attends to each: Q · Kᵀ / √width for every
/// head of every sequence.
///
/// queries_keys_values (length, batch, heads · 3 · width): of each head first the queries, then the keys, then the
/// values, which are not read. The result is (batch · heads, length, length), the heads of the first sequence first.
/// Floating types; sparse arrays by the dense fallback. Error: other dimensions, a last extent that is no multiple of
/// 3 · heads, which MXNet takes.
///
/// Example: `interleaved_matmul_selfatt_qk(array({{{2, 3, 0}}}), {.heads = 1})` is [[[6]]].
struct InterleavedMatmulSelfattQk {
  Required<int> heads = {};

  static constexpr std::string_view name = "_contrib_interleaved_matmul_selfatt_qk",
                                    aliases[] = {"interleaved_matmul_selfatt_qk"}, inputs[] = {"queries_keys_values"};
  static constexpr const char* doc = "Products of queries with keys, over the root of their width, for every head.";
  static constexpr std::span<const Note> notes = detail::head_notes;
  static constexpr std::span<const Range> range = detail::head_ranges;

  constexpr void infer_shape(Shapes& s) const {
    const std::int64_t count = detail::infer_heads(s, 0, heads, 3);
    s.set_out(0, {count, s.in(0)[0], s.in(0)[0]});
  }
  template <Real E>
  void forward(Cpu&, View<const E, 3> x, View<E, 3> y) const;
  template <Real E>
  void grad_use_in(Cpu&, View<const E, 3> dy, View<const E, 3> x, View<E, 3> dx) const;
};

/// _contrib_interleaved_matmul_selfatt_valatt: the values that each place of a sequence attends to, attention · V for
/// every head of every sequence.
///
/// queries_keys_values (length, batch, heads · 3 · width), of which the values are read, the last third of each head;
/// attention (batch · heads, length, length); the result is (length, batch, heads · width). Floating types; sparse
/// arrays by the dense fallback. Error: other dimensions, a last extent that is no multiple of 3 · heads, which MXNet
/// takes.
///
/// Example: `interleaved_matmul_selfatt_valatt(array({{{2, 3, 4}}}), array({{{5}}}), {.heads = 1})` is [[[20]]].
struct InterleavedMatmulSelfattValatt {
  Required<int> heads = {};

  static constexpr std::string_view name = "_contrib_interleaved_matmul_selfatt_valatt",
                                    aliases[] = {"interleaved_matmul_selfatt_valatt"},
                                    inputs[] = {"queries_keys_values", "attention"};
  static constexpr const char* doc = "Products of attention with values, for every head.";
  static constexpr std::span<const Note> notes = detail::head_notes;
  static constexpr std::span<const Range> range = detail::head_ranges;

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    const std::int64_t count = detail::infer_heads(s, 0, heads, 3);
    s.set_in(1, {count, s.in(0)[0], s.in(0)[0]});
    s.set_out(0, {s.in(0)[0], s.in(0)[1], detail::extent_of_parts(s.in(0)[2], 1, 3)});
  }
  template <Real E>
  void forward(Cpu&, View<const E, 3> x, View<const E, 3> attention, View<E, 3> y) const;
  template <Real E>
  void grad(Cpu&, Head<"output", View<const E, 3>> dy, In<"queries_keys_values", View<const E, 3>> x,
            In<"attention", View<const E, 3>> attention, Grad<"queries_keys_values", View<E, 3>> dx,
            Grad<"attention", View<E, 3>> dattention) const;
};

/// _contrib_interleaved_matmul_encdec_qk: how much each place of a sequence attends to each of another: Q · Kᵀ / √width
/// for every head of every pair of sequences.
///
/// queries (length, batch, heads · width), keys_values (other length, batch, heads · 2 · width): of each head first the
/// keys, then the values, which are not read. The result is (batch · heads, length, other length), the heads of the
/// first sequence first. Floating types; sparse arrays by the dense fallback. Error: other dimensions, extents that do
/// not agree or are no multiples.
///
/// Example: `interleaved_matmul_encdec_qk(array({{{2}}}), array({{{3, 0}}}), {.heads = 1})` is [[[6]]].
struct InterleavedMatmulEncdecQk {
  Required<int> heads = {};

  static constexpr std::string_view name = "_contrib_interleaved_matmul_encdec_qk",
                                    aliases[] = {"interleaved_matmul_encdec_qk"}, inputs[] = {"queries", "keys_values"};
  static constexpr const char* doc =
      "Products of queries with the keys of another sequence, over the root of their width, for every head.";
  static constexpr std::span<const Note> notes = detail::head_notes;
  static constexpr std::span<const Range> range = detail::head_ranges;

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    constexpr std::int64_t any = Shape::unknown_extent;
    detail::infer_heads(s, 0, heads, 1);
    s.set_in(1, {any, s.in(0)[1], detail::extent_of_parts(s.in(0)[2], 2, 1)});
    const std::int64_t count = detail::infer_heads(s, 1, heads, 2);
    s.set_in(0, {any, s.in(1)[1], detail::extent_of_parts(s.in(1)[2], 1, 2)});
    s.set_out(0, {count, s.in(0)[0], s.in(1)[0]});
  }
  template <Real E>
  void forward(Cpu&, View<const E, 3> queries, View<const E, 3> keys_values, View<E, 3> y) const;
  template <Real E>
  void grad(Cpu&, Head<"output", View<const E, 3>> dy, In<"queries", View<const E, 3>> queries,
            In<"keys_values", View<const E, 3>> keys_values, Grad<"queries", View<E, 3>> dqueries,
            Grad<"keys_values", View<E, 3>> dkeys_values) const;
};

/// _contrib_interleaved_matmul_encdec_valatt: the values of another sequence that each place of one attends to,
/// attention · V for every head of every pair of sequences.
///
/// keys_values (other length, batch, heads · 2 · width), of which the values are read, the last half of each head;
/// attention (batch · heads, length, other length); the result is (length, batch, heads · width). Floating types;
/// sparse arrays by the dense fallback. Error: other dimensions, a last extent that is no multiple of 2 · heads.
///
/// Example: `interleaved_matmul_encdec_valatt(array({{{2, 3}}}), array({{{5}}}), {.heads = 1})` is [[[15]]].
struct InterleavedMatmulEncdecValatt {
  Required<int> heads = {};

  static constexpr std::string_view name = "_contrib_interleaved_matmul_encdec_valatt",
                                    aliases[] = {"interleaved_matmul_encdec_valatt"},
                                    inputs[] = {"keys_values", "attention"};
  static constexpr const char* doc = "Products of attention with the values of another sequence, for every head.";
  static constexpr std::span<const Note> notes = detail::head_notes;
  static constexpr std::span<const Range> range = detail::head_ranges;

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    const std::int64_t count = detail::infer_heads(s, 0, heads, 2);
    s.set_in(1, {count, Shape::unknown_extent, s.in(0)[0]});
    s.set_out(0, {s.in(1)[1], s.in(0)[1], detail::extent_of_parts(s.in(0)[2], 1, 2)});
  }
  template <Real E>
  void forward(Cpu&, View<const E, 3> keys_values, View<const E, 3> attention, View<E, 3> y) const;
  template <Real E>
  void grad(Cpu&, Head<"output", View<const E, 3>> dy, In<"keys_values", View<const E, 3>> keys_values,
            In<"attention", View<const E, 3>> attention, Grad<"keys_values", View<E, 3>> dkeys_values,
            Grad<"attention", View<E, 3>> dattention) const;
};

inline constexpr Op<InterleavedMatmulSelfattQk, OnUse> interleaved_matmul_selfatt_qk;
inline constexpr Op<InterleavedMatmulSelfattValatt, OnUse> interleaved_matmul_selfatt_valatt;
inline constexpr Op<InterleavedMatmulEncdecQk, OnUse> interleaved_matmul_encdec_qk;
inline constexpr Op<InterleavedMatmulEncdecValatt, OnUse> interleaved_matmul_encdec_valatt;

using InterleavedMatmulOps = OpList<InterleavedMatmulSelfattQk, InterleavedMatmulSelfattValatt,
                                    InterleavedMatmulEncdecQk, InterleavedMatmulEncdecValatt>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/interleaved_matmul_body.hpp>
#endif
