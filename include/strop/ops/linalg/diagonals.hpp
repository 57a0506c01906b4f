// SPDX-License-Identifier: Apache-2.0
/// \file
/// Diagonals and triangles of matrices as vectors, and back; the sum of the logarithms of a diagonal.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/linalg/kernels.hpp>
#include <strop/ops/list.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

inline constexpr Note part_notes[] = {
    {"offset",
     "which diagonal, of triangles the one that bounds them: above the main one where > 0, below it where < 0"},
    {"lower", "with offset 0, the triangle below the diagonal, else above"}};

/// The extent of matrices less an offset: of the diagonal there. Throws Error where none is.
template <int = 0>
constexpr std::int64_t offset_extent(const Shapes& s, std::int64_t n, int offset) {
  const std::int64_t far = offset < 0 ? -static_cast<std::int64_t>(offset) : offset;
  if (far > n) s.fail("offset is ", offset, ", expected at most ", n, ", the extent of the matrices, either way");
  return n - far;
}
/// Of square matrices a vector of as many elements as `count` makes of the extent.
template <class Count>
constexpr void infer_part(Shapes& s, int offset, Count count) {
  if (!expect_square(s, 0)) return;
  Shape out = s.in(0);
  const std::int64_t extent = offset_extent(s, out[out.ndim() - 1], offset);
  out.resize(out.ndim() - 1);
  out[out.ndim() - 1] = count(extent);
  s.set_out(0, out);
}
/// Of vectors square matrices of the extent that `extent` makes of the number of elements.
template <class Extent>
constexpr void infer_whole(Shapes& s, int offset, Extent extent) {
  if (!expect_least_rank(s, 0, 1)) return;
  Shape out = s.in(0);
  const int last = out.ndim() - 1;
  if (out[last] < 0) return;
  out[last] = checked_sum(extent(out[last]), offset < 0 ? -static_cast<std::int64_t>(offset) : offset, s.op());
  out.push_back(out[last]);
  s.set_out(0, out);
}

}  // namespace detail

/// _linalg_extractdiag: the diagonal `offset` of every matrix.
///
/// A (…, n, n), the result is (…, n − |offset|). Floating types; sparse arrays by the dense fallback. The gradient is
/// makediag of the head gradient. Error: matrices that are not square, |offset| above n.
///
/// Example: `linalg_extractdiag(array({{1, 2}, {3, 4}}))` is [1, 4].
struct LinalgExtractdiag {
  int offset = 0;
  static constexpr std::string_view name = "_linalg_extractdiag", aliases[] = {"linalg_extractdiag"}, inputs[] = {"A"};
  static constexpr const char* doc = "The diagonal offset of every square matrix.";
  static constexpr std::span<const Note> notes = {detail::part_notes, 1};
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::infer_part(s, offset, [](std::int64_t extent) { return extent; });
  }
  template <Real E>
  constexpr void forward(Cpu&, View<const E> a, View<E> y) const;
  auto gradient(const auto& dy) const;
};

/// _linalg_makediag: square matrices with the elements of A on the diagonal `offset` and zeros elsewhere.
///
/// A (…, n), the result is (…, n + |offset|, n + |offset|). Floating types; sparse arrays by the dense fallback. The
/// gradient is extractdiag of the head gradient.
///
/// Example: `linalg_makediag(array({1, 2}))` is [[1, 0], [0, 2]].
struct LinalgMakediag {
  int offset = 0;
  static constexpr std::string_view name = "_linalg_makediag", aliases[] = {"linalg_makediag"}, inputs[] = {"A"};
  static constexpr const char* doc = "Square matrices of zeros with the elements of A on the diagonal offset.";
  static constexpr std::span<const Note> notes = {detail::part_notes, 1};
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::infer_whole(s, offset, [](std::int64_t count) { return count; });
  }
  template <Real E>
  constexpr void forward(Cpu&, View<const E> a, View<E> y) const;
  auto gradient(const auto& dy) const;
};

/// _linalg_extracttrian: a triangle of every matrix as a vector: below the diagonal `offset` < 0 or above the diagonal
/// `offset` > 0, the diagonal included; with 0 as `lower` says. The lower triangle goes row by row, the upper one
/// column by column.
///
/// A (…, n, n), the result is (…, m · (m + 1) / 2) with m = n − |offset|. Floating types; sparse arrays by the dense
/// fallback. The gradient is maketrian of the head gradient. Error: matrices that are not square, |offset| above
/// n.
///
/// Example: `linalg_extracttrian(array({{1, 2}, {3, 4}}))` is [1, 3, 4].
struct LinalgExtracttrian {
  int offset = 0;
  bool lower = true;
  static constexpr std::string_view name = "_linalg_extracttrian", aliases[] = {"linalg_extracttrian"},
                                    inputs[] = {"A"};
  static constexpr const char* doc =
      "A triangle of every square matrix as a vector: the lower one row by row, the upper one column by column.";
  static constexpr std::span<const Note> notes = detail::part_notes;
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::infer_part(s, offset, [&](std::int64_t m) { return detail::checked_product(m, m + 1, s.op()) / 2; });
  }
  template <Real E>
  constexpr void forward(Cpu&, View<const E> a, View<E> y) const;
  auto gradient(const auto& dy) const;
};

/// _linalg_maketrian: square matrices with the elements of A in a triangle, as extracttrian takes them out, and zeros
/// elsewhere.
///
/// A (…, m · (m + 1) / 2), the result is (…, m + |offset|, m + |offset|). Floating types; sparse arrays by the dense
/// fallback. The gradient is extracttrian of the head gradient. Error: there is no such m.
///
/// Example: `linalg_maketrian(array({1, 2, 3}))` is [[1, 0], [2, 3]].
struct LinalgMaketrian {
  int offset = 0;
  bool lower = true;
  static constexpr std::string_view name = "_linalg_maketrian", aliases[] = {"linalg_maketrian"}, inputs[] = {"A"};
  static constexpr const char* doc = "Square matrices of zeros with the elements of A in a triangle.";
  static constexpr std::span<const Note> notes = detail::part_notes;
  static constexpr Keeps gradient_keeps = Keeps::none;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::infer_whole(s, offset, [&](std::int64_t count) {
      std::int64_t m = 0, rest = count;
      while (rest > m) rest -= ++m;
      if (rest != 0)
        s.fail(s.name_in(0), " has shape ", s.in(0), " and so ", count,
               " elements for each triangle, expected m · (m + 1) / 2 with a whole m");
      return m;
    });
  }
  template <Real E>
  constexpr void forward(Cpu&, View<const E> a, View<E> y) const;
  auto gradient(const auto& dy) const;
};

/// _linalg_sumlogdiag: the sum of the natural logarithms of the diagonal of every matrix.
///
/// A (…, n, n), the result is (…), or (1,) of one matrix. Floating types; sparse arrays by the dense fallback. The
/// gradient is the head gradient divided by the diagonal. Error: matrices that are not square.
///
/// Example: `linalg_sumlogdiag(array({{1, 5}, {7, 1}}))` is [0].
struct LinalgSumlogdiag {
  static constexpr std::string_view name = "_linalg_sumlogdiag", aliases[] = {"linalg_sumlogdiag"}, inputs[] = {"A"};
  static constexpr const char* doc = "The sum of the natural logarithms of the diagonal of every square matrix.";
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    (void)detail::expect_square(s, 0);
    if (s.in(0).has_rank()) s.set_out(0, detail::numbers_of(s.in(0)));
  }
  template <Real E>
  constexpr void forward(Cpu&, View<const E> a, View<E> y) const;
  template <Real E>
  constexpr void grad_use_in(Cpu&, View<const E> dy, View<const E> a, View<E> da) const;
};

inline constexpr Op<LinalgExtractdiag, OnUse> linalg_extractdiag;
inline constexpr Op<LinalgMakediag, OnUse> linalg_makediag;
inline constexpr Op<LinalgExtracttrian, OnUse> linalg_extracttrian;
inline constexpr Op<LinalgMaketrian, OnUse> linalg_maketrian;
inline constexpr Op<LinalgSumlogdiag, OnUse> linalg_sumlogdiag;

auto LinalgExtractdiag::gradient(const auto& dy) const { return linalg_makediag(dy, {.offset = offset}); }
auto LinalgMakediag::gradient(const auto& dy) const { return linalg_extractdiag(dy, {.offset = offset}); }
auto LinalgExtracttrian::gradient(const auto& dy) const {
  return linalg_maketrian(dy, {.offset = offset, .lower = lower});
}
auto LinalgMaketrian::gradient(const auto& dy) const {
  return linalg_extracttrian(dy, {.offset = offset, .lower = lower});
}

using LinalgDiagonalOps =
    OpList<LinalgExtractdiag, LinalgMakediag, LinalgExtracttrian, LinalgMaketrian, LinalgSumlogdiag>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/linalg/diagonals_body.hpp>
#endif
