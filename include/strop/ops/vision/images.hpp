// SPDX-License-Identifier: Apache-2.0
/// \file
/// Images on their way into a network: _image_to_tensor, channels first and from 0 to 1; _image_normalize, with means
/// and deviations of channels.
#pragma once
#include <strop/core/numbers.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/reduce_kernels.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

/// One image, of three dimensions, or several: false while the rank is unknown.
template <int = 0>
constexpr bool expect_images(const Shapes& s) {
  const Shape& x = s.in(0);
  if (x.has_rank() && x.ndim() != 3 && x.ndim() != 4)
    s.fail(s.name_in(0), " has shape ", x, ", expected 3 or 4 dimensions");
  return x.has_rank();
}
/// The last three extents moved `by` places to the front.
template <int = 0>
constexpr Shape turned_extents(const Shape& x, int by) {
  Shape out = x;
  const int first = x.ndim() - 3;
  for (int i = 0; i < 3; ++i) out[first + i] = x[first + (i + by) % 3];
  return out;
}

}  // namespace detail

/// _image_to_tensor: an image (rows, columns, channels) with elements from 0 to 255 as (channels, rows, columns) with
/// elements from 0 to 1; of several images (batch, rows, columns, channels) each.
///
/// All types but bool; the result is float32. Sparse arrays by the dense fallback. The gradient is the head gradient at
/// the places of data, over 255; that of MXNet, the head gradient itself, does not have the shape of data. Error: other
/// dimensions.
///
/// Example: `image_to_tensor(array({{{0, 51, 255}}}))` is [[[0]], [[0.2]], [[1]]].
struct ImageToTensor {
  static constexpr std::string_view name = "_image_to_tensor", aliases[] = {"image_to_tensor", "_npx__image_to_tensor"};
  static constexpr const char* doc = "Images (…, rows, columns, channels) as (…, channels, rows, columns), over 255.";

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    if (!detail::expect_images(s)) return;
    s.set_out(0, detail::turned_extents(s.in(0), 2));
    s.set_in(0, detail::turned_extents(s.out(0), 1));
  }
  template <detail::Summable E>
  constexpr void forward(Cpu&, View<const E> x, View<float> y) const;
  template <Real E>
  constexpr void grad_use_none(Cpu&, View<const float> dy, View<E> dx) const;

 private:
  /// f(first element in the result, in data, how many) for each channel of each image.
  template <class F>
  static constexpr void each(std::span<const std::int64_t> shape, F f);
};

/// _image_normalize: (data − mean) / std, with a number for each channel.
///
/// data (channels, rows, columns) or (batch, channels, rows, columns), with 1 channel or 3; mean and std have one
/// number, or one of each channel. All types but bool; integers are computed in double and truncated. Sparse arrays by
/// the dense fallback. The gradient is the head gradient over std; it needs no data, unlike that of MXNet. Without a
/// mean or a std it is 0 or 1, where MXNet refuses its own default. Error: other dimensions or channels, lists of
/// another length.
///
/// Example: `image_normalize(array({{{1, 2}}}), {.mean = 1, .std = 0.5})` is [[[0, 2]]].
struct ImageNormalize {
  Numbers mean = {0, 0, 0, 0}, std = {1, 1, 1, 1};

  static constexpr std::string_view name = "_image_normalize", aliases[] = {"image_normalize", "_npx__image_normalize"};
  static constexpr const char* doc = "(data − mean) / std with a number for each channel of images.";
  static constexpr Note notes[] = {{"mean", "what is subtracted from each channel, or from all"},
                                   {"std", "what each channel is divided by, or all"},
                                   {"data", "an image (channels, rows, columns), or several"}};
  static constexpr Share inplace[] = {{0, 0}}, gradient_inplace[] = {{0, 0}};

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(0));
    s.set_in(0, s.out(0));
    if (!detail::expect_images(s)) return;
    const std::int64_t channels = s.in(0)[s.in(0).ndim() - 3];
    if (channels < 0) return;
    if (channels != 1 && channels != 3) s.fail(s.name_in(0), " has shape ", s.in(0), ", expected 1 or 3 channels");
    const auto expect = [&](std::string_view parameter, const Numbers& given, const Numbers ImageNormalize::* unless) {
      if (given.count() != 1 && given.count() != channels && given != ImageNormalize().*unless)
        s.fail(parameter, " has ", given.count(), " numbers, expected 1",
               channels == 1 ? "" : " or one of each channel, 3");
    };
    expect("mean", mean, &ImageNormalize::mean);
    expect("std", std, &ImageNormalize::std);
  }
  template <detail::Summable E>
  constexpr void forward(Cpu&, View<const E> x, View<E> y) const;
  template <Real E>
  constexpr void grad_use_none(Cpu&, View<const E> dy, View<E> dx) const;

 private:
  /// f(first element, behind the last, mean, std) for each channel of each image.
  template <class E, class F>
  constexpr void each(std::span<const std::int64_t> shape, F f) const;
};

inline constexpr Op<ImageToTensor, OnUse> image_to_tensor;
inline constexpr Op<ImageNormalize, OnUse> image_normalize;

using ImageOps = OpList<ImageToTensor, ImageNormalize>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/vision/images_body.hpp>
#endif
