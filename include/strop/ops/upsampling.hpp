// SPDX-License-Identifier: Apache-2.0
/// \file
/// UpSampling: images several times as large.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/deconvolution.hpp>
#include <strop/ops/list.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

/// UpSampling, nearest: each element scale² times; several inputs come to the extents of
/// the first one's result and are joined along the channels (concat) or added (sum). bilinear: Deconvolution of each
/// channel with a weight of its own, kernel 2 · scale − scale % 2, stride scale, pad ⌈(scale − 1) / 2⌉.
///
/// Inputs (batch, channels, height, width), or, of bilinear, one such and weight (num_filter, 1, kernel, kernel).
/// Floating types; sparse arrays by the dense fallback. Error: other dimensions, extents that do not divide those of
/// the result, of bilinear num_filter other than the channels.
///
/// Example: `up_sampling({array({{{{1, 2}}}})}, {.scale = 2, .sample_type = UpSampling::nearest})` is
/// [[[[1, 1, 2, 2], [1, 1, 2, 2]]]].
struct UpSampling {
  enum Sample : int { nearest, bilinear };
// Operators have these names, which each compiler takes for a fault in its own way.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
  enum Join : int { concat, sum };
#pragma GCC diagnostic pop
  Required<int> scale = {};
  int num_filter = 0;
  Required<Sample> sample_type = {};
  Join multi_input_mode = concat;
  int num_args = 0;
  std::int64_t workspace = 512;

  static constexpr const char* doc =
      "Images scale times as large, each element repeated (nearest) or between those around it (bilinear, with the "
      "weight of a transposed convolution).";
  static constexpr Note notes[] = {{"scale", "how many times as large"},
                                   {"num_filter", "channels, of bilinear"},
                                   {"sample_type", "how elements come about"},
                                   {"multi_input_mode", "several inputs along the channels, or added"},
                                   {"num_args", "how many inputs there are; 0: those that are given"},
                                   {"workspace", "has no effect"}};
  static constexpr Range range[] = {{"scale", 1, 1000}, {"num_args", 0}, {"workspace", 0, 8192}};

  std::vector<std::string_view> inputs() const;
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::check_count(s, num_args);
    constexpr std::int64_t any = Shape::unknown_extent;
    for (int i = 0; i < s.inputs(); ++i) s.expect_rank(i, 4);
    if (*sample_type == bilinear) {
      if (s.inputs() != 2) s.fail("takes 2 inputs (data, weight) to be bilinear, not ", s.inputs());
      if (s.in(0).has_rank()) s.set_in(0, {any, num_filter, any, any});
      return enlarging().infer_shape(s);
    }
    if (!s.in(0).has_rank()) return;
    Shape out = Shape::filled(4, any);
    unify(out, s.in(0));
    for (int axis = 2; axis < 4; ++axis)
      if (out[axis] >= 0) out[axis] = detail::checked_product(out[axis], *scale, s.op());
    for (int i = 1; i < s.inputs(); ++i) {
      s.set_in(i, {out[0], multi_input_mode == sum ? out[1] : any, any, any});
      const Shape& x = s.in(i);
      if (multi_input_mode == concat) out[1] = out[1] < 0 || x[1] < 0 ? any : detail::checked_sum(out[1], x[1], s.op());
      for (int axis = 2; axis < 4; ++axis)
        if (out[axis] >= 0 && x[axis] >= 0 && (x[axis] == 0 ? out[axis] != 0 : out[axis] % x[axis] != 0))
          s.fail(s.name_in(i), " has shape ", x, ", whose extents do not divide those of the result, ", out);
    }
    s.set_out(0, out);
  }
  template <Real E>
  void forward(Cpu& ctx, std::span<const View<const E>> x, View<E> y) const;
  template <Real E>
  void grad_use_in(Cpu& ctx, View<const E> dy, std::span<const View<const E>> x, std::span<const View<E>> dx) const;

 private:
  /// The transposed convolution of bilinear.
  Deconvolution enlarging() const;
  /// f(input, where its row begins, where the result's row begins, elements, how often each) for the rows of the
  /// result.
  template <class Parts, class Whole, class F>
  void each_row(const Parts& parts, const Whole& whole, F f) const;
};
inline constexpr Op<UpSampling, OnUse> up_sampling;

using UpSamplingOps = OpList<UpSampling>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/upsampling_body.hpp>
#endif
