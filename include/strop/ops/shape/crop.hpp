// SPDX-License-Identifier: Apache-2.0
/// \file
/// Crop: a part of every image, of a given extent or that of another array.
#pragma once
#include <strop/core/text.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace strop::inline v0 {

/// Crop: h_w[0] rows and h_w[1] columns of every image, from row offset[0] and column offset[1] on, or those in the
/// middle (`center_crop`). With a second input as many rows and columns as that has.
///
/// Inputs (batch, channels, rows, columns). Floating types; sparse arrays by the dense fallback. The gradient is the
/// head gradient in zeros, for the second input zero. Error: other dimensions, more than two inputs, a part that is
/// not inside.
///
/// Example: `crop_to({array({{{{1, 2}, {3, 4}}}})}, {.offset = {1, 0}, .h_w = {1, 2}})` is [[[[3, 4]]]].
struct Crop {
  int num_args = 0;
  Shape offset = {0, 0}, h_w = {0, 0};
  bool center_crop = false;

  static constexpr std::string_view aliases[] = {"crop_to"};  // "crop" is a name of slice
  static constexpr const char* doc =
      "A part of every image: h_w rows and columns, or as many as a second input has, from offset on or in the middle.";
  static constexpr Note notes[] = {{"num_args", "how many inputs there are; 0: those that are given"},
                                   {"offset", "the first row and column"},
                                   {"h_w", "how many rows and columns, of one input"},
                                   {"center_crop", "the part in the middle, wherever offset says"}};
  static constexpr Range range[] = {{"num_args", 0, 2}};

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::check_count(s, num_args);
    if (s.inputs() > 2) s.fail("takes 1 or 2 inputs, not ", s.inputs());
    if (offset.ndim() != 2) s.fail("offset = ", offset, ", expected two numbers, a row and a column");
    if (h_w.ndim() != 2) s.fail("h_w = ", h_w, ", expected two numbers, of rows and of columns");
    for (int i = 0; i < s.inputs(); ++i) s.expect_rank(i, 4);
    const Shape& x = s.in(0);
    if (!x.has_rank()) return;
    Shape out = x;
    for (int axis = 2; axis < 4; ++axis) {
      const std::string_view part = axis == 2 ? "rows" : "columns";
      const std::int64_t extent = s.inputs() == 1 ? h_w[axis - 2] : s.in(1).has_rank() ? s.in(1)[axis] : -1;
      out[axis] = extent;
      if (x[axis] < 0 || (s.inputs() == 2 && extent < 0)) {
        if (extent < 1 && (s.inputs() == 1 || extent == 0))
          s.fail("the part has ", extent, ' ', part, ", expected 1 or more");
        continue;
      }
      if (extent < 1 || extent > x[axis])
        s.fail("the part has ", extent, ' ', part, ", expected 1 to ", x[axis], ", those of ", s.name_in(0));
      const std::int64_t most = x[axis] - extent;
      if (!center_crop && (offset[axis - 2] < 0 || offset[axis - 2] > most))
        s.fail("offset = ", detail::print_shape(offset), ", expected 0 to ", most, " for ", extent, " of ", x[axis],
               ' ', part);
    }
    s.set_out(0, out);
  }
  template <Real E>
  void forward(Cpu&, std::span<const View<const E>> x, View<E> y) const;
  template <Real E>
  void grad_use_none(Cpu&, View<const E> dy, std::span<const View<E>> dx) const;

 private:
  /// f(where a row of the part begins in the images, where in the result, its elements).
  template <class F>
  void each_row(std::span<const std::int64_t> whole, std::span<const std::int64_t> part, F f) const;
};
inline constexpr Op<Crop, OnUse> crop_to;

using CropOps = OpList<Crop>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/shape/crop_body.hpp>
#endif
