// SPDX-License-Identifier: Apache-2.0
/// \file
/// im2col: the windows of images as the columns of a matrix; col2im: such columns added up in images.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/windows.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

inline constexpr Note column_notes[] = {
    {"kernel", "extents of a window, one per spatial axis, 1 to 3"},
    {"stride", "from one window to the next, one number per axis; none given: 1"},
    {"dilate", "from one element of a window to the next, one number per axis; none given: 1"},
    {"pad", "zeros before and behind, one number per axis; none given: 0"},
    {"output_size", "the spatial extents of the result"}};

/// What a window of im2col and col2im covers of axis i.
template <class Columns>
constexpr std::int64_t window_extent(const Columns& op, int i, std::string_view name) {
  return checked_sum(checked_product((*op.kernel)[i] - 1, step_of(op.dilate, i, 1), name), 1, name);
}

/// Refuses parameters of im2col and col2im that are no windows; throws Error.
template <class Columns>
constexpr void check_windows(const Shapes& s, const Columns& op) {
  check_kernel(s, op.kernel);
  check_steps(s, "stride", op.stride, (*op.kernel).ndim(), 1);
  check_steps(s, "dilate", op.dilate, (*op.kernel).ndim(), 1);
  check_steps(s, "pad", op.pad, (*op.kernel).ndim(), 0);
}

}  // namespace detail

/// im2col: a column for each window that slides over the image, of the elements that it covers; what lies in the
/// padding is 0.
///
/// data (batch, channels, spatial…) with one to three spatial axes, the result is (batch, channels · places of the
/// kernel, windows). Floating types; sparse arrays by the dense fallback. The gradient adds up where elements came
/// from: col2im. Error: other dimensions, a window that covers more than there is.
///
/// Example: `im2col(array({{{1, 2, 3}}}), {.kernel = {2}})` is [[[1, 2], [2, 3]]].
struct Im2col {
  Required<Shape> kernel = {};
  Shape stride = {}, dilate = {}, pad = {};

  static constexpr std::string_view name = "im2col";
  static constexpr const char* doc = "The windows that slide over images as the columns of matrices.";
  static constexpr std::span<const Note> notes = {detail::column_notes, 4};

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::check_windows(s, *this);
    const int rank = (*kernel).ndim();
    s.expect_rank(0, rank + 2);
    const Shape& x = s.in(0);
    if (!x.has_rank()) return;
    std::int64_t rows = x[1], windows = 1;
    for (int i = 0; i < rank; ++i) {
      rows = detail::times_extent(rows, (*kernel)[i], s.op());
      if (x[i + 2] < 0) {
        windows = -1;
        continue;
      }
      const std::int64_t room =
          detail::window_room(s, i + 2, x[i + 2], detail::step_of(pad, i, 0), detail::window_extent(*this, i, s.op()));
      windows = detail::times_extent(windows, room / detail::step_of(stride, i, 1) + 1, s.op());
    }
    s.set_out(0, {x[0], rows, windows});
  }
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y) const;
  template <Real E>
  void grad_use_none(Cpu&, View<const E> dy, View<E> dx) const;
};

/// col2im: each column's elements added to those of the image that im2col would take them from.
///
/// data (batch, channels · places of the kernel, windows), the result is (batch, channels, output_size…). Floating
/// types; sparse arrays by the dense fallback. The gradient is im2col of the head gradient. Error: output_size and
/// kernel differ in length, rows that are no multiple of the kernel's places, another number of windows than
/// output_size has.
///
/// Example: `col2im(array({{{1, 2}, {2, 3}}}), {.output_size = {3}, .kernel = {2}})` is [[[1, 4, 3]]].
struct Col2im {
  Required<Shape> output_size = {}, kernel = {};
  Shape stride = {}, dilate = {}, pad = {};

  static constexpr std::string_view name = "col2im";
  static constexpr const char* doc = "The columns that im2col makes added up in images: its gradient.";
  static constexpr std::span<const Note> notes = detail::column_notes;

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::check_windows(s, *this);
    const int rank = (*kernel).ndim();
    if ((*output_size).ndim() != rank)
      s.fail("output_size = ", *output_size, " lists ", (*output_size).ndim(),
             (*output_size).ndim() == 1 ? " number" : " numbers", ", expected ", rank, ", one per axis of the kernel");
    std::int64_t places = 1, windows = 1;
    for (int i = 0; i < rank; ++i) {
      const std::int64_t extent = (*output_size)[i], covered = detail::window_extent(*this, i, s.op()),
                         around = detail::checked_product(2, detail::step_of(pad, i, 0), s.op());
      if (extent < 0 || detail::checked_sum(extent, around, s.op()) < covered)
        s.fail("output_size = ", detail::print_shape(*output_size), ", expected at least ",
               detail::larger(0, covered - around), " on axis ", i, ", which a window covers with its padding");
      places = detail::checked_product(places, (*kernel)[i], s.op());
      windows =
          detail::checked_product(windows, (extent + around - covered) / detail::step_of(stride, i, 1) + 1, s.op());
    }
    s.expect_rank(0, 3);
    if (!s.in(0).has_rank()) return;
    s.set_in(0, {Shape::unknown_extent, Shape::unknown_extent, windows});
    const std::int64_t rows = s.in(0)[1];
    if (rows >= 0 && rows % places != 0)
      s.fail(s.name_in(0), " has ", rows, " rows, expected a multiple of ", places, ", the places of the kernel");
    Shape out{s.in(0)[0], rows < 0 ? Shape::unknown_extent : rows / places};
    for (std::int64_t extent : *output_size) out.push_back(extent);
    s.set_out(0, out);
  }
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y) const;
  template <Real E>
  void grad_use_none(Cpu&, View<const E> dy, View<E> dx) const;
};

inline constexpr Op<Im2col, OnUse> im2col;
inline constexpr Op<Col2im, OnUse> col2im;

using Im2colOps = OpList<Im2col, Col2im>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/im2col_body.hpp>
#endif
