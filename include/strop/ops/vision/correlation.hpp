// SPDX-License-Identifier: Apache-2.0
/// \file
/// Correlation: how alike parts of two images are that lie up to some distance from each other.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace strop::inline v0 {

namespace detail {
inline namespace STROP_ISA {

struct CorrelationPlan;

}  // namespace STROP_ISA
}  // namespace detail

/// Correlation: the mean over channels and a window of kernel_size² of data1 · data2, or |data1 − data2|, where the
/// window in data2 lies by a displacement from that in data1. Output channel d is one of the displacements (down,
/// along), which are multiples of stride2 from −max_displacement to max_displacement.
///
/// data1, data2 (batch, channels, rows, columns), both with pad_size zeros around them; the windows of data1 lie
/// stride1 apart and so that all displacements of them lie inside. The result is (batch, (2 · ⌊max_displacement /
/// stride2⌋ + 1)², ⌈(rows + 2 · pad_size − 2 · border) / stride1⌉, the same of columns), border being max_displacement
/// + (kernel_size − 1) / 2. Floating types; sparse arrays by the dense fallback. The gradient needs both; where they
/// are equal that of the difference goes down in data1. MXNet's hidden outputs, padded copies, are left out. Error:
/// other dimensions, an even kernel_size, images too small for a window.
///
/// Example: `correlation(array({{{{1, 2}}}}), array({{{{3, 4}}}}), {.max_displacement = 0})` is [[[[3, 8]]]].
struct Correlation {
  int kernel_size = 1, max_displacement = 1, stride1 = 1, stride2 = 1, pad_size = 0;
  bool is_multiply = true;

  static constexpr std::string_view inputs[] = {"data1", "data2"};
  static constexpr const char* doc =
      "How alike windows of two images are: the mean product or difference, a channel for each displacement.";
  static constexpr Note notes[] = {{"kernel_size", "rows and columns of a window, an odd number"},
                                   {"max_displacement", "how far apart windows may lie along an axis"},
                                   {"stride1", "from one window of data1 to the next"},
                                   {"stride2", "from one displacement to the next"},
                                   {"pad_size", "zeros around the images"},
                                   {"is_multiply", "products; else absolute differences"}};
  static constexpr Range range[] = {
      {"kernel_size", 1}, {"max_displacement", 0}, {"stride1", 1}, {"stride2", 1}, {"pad_size", 0}};

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    constexpr std::int64_t any = Shape::unknown_extent;
    if (kernel_size % 2 == 0) s.fail("kernel_size is ", kernel_size, ", expected an odd number");
    s.set_in(0, {any, any, any, any});
    s.set_in(1, s.in(0));
    s.set_in(0, s.in(1));
    Shape out = s.in(0);
    for (int axis = 2; axis < 4; ++axis) {
      const std::int64_t extent = s.in(0)[axis];
      if (extent < 0) continue;
      const std::int64_t padded = detail::checked_sum(extent, 2 * std::int64_t{pad_size}, s.op()),
                         covered = 2 * std::int64_t{max_displacement} + kernel_size;
      if (padded < covered)
        s.fail("axis ", axis, " of ", s.name_in(0), " has extent ", extent, ", with padding ", padded,
               ", and a window with its displacements covers ", covered);
      out[axis] = (padded - covered) / stride1 + 1;
    }
    out[1] = detail::checked_product(grid(), grid(), s.op());
    s.set_out(0, out);
  }
  template <Real E>
  void forward(Cpu& ctx, View<const E, 4> a, View<const E, 4> b, View<E, 4> y) const;
  template <Real E>
  void grad_use_in(Cpu& ctx, View<const E, 4> dy, View<const E, 4> a, View<const E, 4> b, View<E, 4> da,
                   View<E, 4> db) const;

 private:
  /// How many displacements there are along an axis.
  constexpr std::int64_t grid() const { return 2 * std::int64_t{max_displacement / stride2} + 1; }
  detail::CorrelationPlan plan(const std::array<std::int64_t, 4>& x, const std::array<std::int64_t, 4>& y) const;
  template <class E>
  static std::array<View<E, 1>, 2> padded(Cpu& ctx, const detail::CorrelationPlan& p, View<const E, 4> a,
                                          View<const E, 4> b);
};
inline constexpr Op<Correlation, OnUse> correlation;

using CorrelationOps = OpList<Correlation>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/vision/correlation_body.hpp>
#endif
