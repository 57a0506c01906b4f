// SPDX-License-Identifier: Apache-2.0
/// \file
/// How pictures are resized: first along columns, whole rows at a time, then along rows.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/core/list.hpp>
#include <strop/data/image_codec.hpp>
#include <strop/data/image_pixels.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace strop::inline v0::detail {

STROP_IMPL Picture::Picture(Index rows, Index columns, int depth) : height(rows), width(columns), channels(depth) {
  constexpr Index most = Index{1} << 28;
  if (rows > most / columns)
    fail("the picture would have ", rows, " rows of ", columns, " pixels, expected at most ", most, " pixels");
  bytes = std::make_unique_for_overwrite<std::uint8_t[]>(unsigned_size(rows * columns * depth));
}

STROP_IMPL Picture decoded(std::string_view bytes, int channels, Index least) {
  ImageCodec decoder(bytes);
  if (least > 0) decoder.shrink(least);
  Picture out(decoder.height(), decoder.width(), channels);
  decoder.decode(channels, out.bytes.get());
  return out;
}

STROP_IMPL void check_pixel_method(std::string_view function, std::string_view parameter, int method) {
  if (method < nearest_pixels || method > lanczos_pixels)
    fail(function, ": ", parameter, " is ", method,
         ", expected 0 (nearest), 1 (bilinear), 2 (bicubic), 3 (area) or 4 (Lanczos)");
}

/// Of each pixel along an axis which pixels it is made of, and how much of each.
struct PixelWeights {
  struct Run {
    Index first;          // pixel
    Index weight, count;  // where in `weights`, how many
  };
  List<Run> runs;
  List<float> weights;

  PixelWeights(Index from, Index to, PixelMethod method) {
    const double scale = static_cast<double>(from) / static_cast<double>(to);
    runs.reserve(to);
    for (Index i = 0; i < to; ++i) {
      const double at = static_cast<double>(i), middle = (at + 0.5) * scale - 0.5;
      if (method == nearest_pixels)
        weighted(std::min(static_cast<Index>(at * scale), from - 1), 1, from, [](double) { return 1.0; }, 0);
      else if (method == area_pixels && scale > 1)
        area(at * scale, (at + 1) * scale, from);
      else if (method == bicubic_pixels)
        weighted(static_cast<Index>(std::floor(middle)) - 1, 4, from, &cubic, middle);
      else if (method == lanczos_pixels)
        weighted(static_cast<Index>(std::floor(middle)) - 3, 8, from, &lanczos, middle);
      else
        bilinear(middle, from);
    }
  }

 private:
  void area(double begin, double end, Index from) {
    const Index first = std::min(static_cast<Index>(begin), from - 1);
    const Index last = std::clamp(static_cast<Index>(std::ceil(end)), first + 1, from);
    runs.push_back({first, weights.size(), last - first});
    double sum = 0;
    for (Index k = first; k < last; ++k) sum += covered(k, begin, end);
    for (Index k = first; k < last; ++k) weights.push_back(static_cast<float>(covered(k, begin, end) / sum));
  }
  static double covered(Index pixel, double begin, double end) {
    const double low = static_cast<double>(pixel);
    return std::max(0.0, std::min(end, low + 1) - std::max(begin, low));
  }
  /// `count` pixels from `first` on, each by its distance from the middle; those outside count for the ones at the
  /// edge.
  void weighted(Index first, Index count, Index from, double (*weight_at)(double), double middle) {
    const Index begin = std::clamp(first, Index{0}, from - 1), last = std::clamp(first + count - 1, Index{0}, from - 1);
    runs.push_back({begin, weights.size(), last - begin + 1});
    double sum = 0;
    for (Index k = 0; k < count; ++k) sum += weight_at(static_cast<double>(first + k) - middle);
    List<double> parts(last - begin + 1, 0.0);
    for (Index k = 0; k < count; ++k)
      parts[std::clamp(first + k, begin, last) - begin] += weight_at(static_cast<double>(first + k) - middle) / sum;
    for (const double part : parts) weights.push_back(static_cast<float>(part));
  }
  static double cubic(double distance) {
    constexpr double a = -0.75;
    const double x = std::abs(distance);
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
  }
  static double lanczos(double distance) {
    constexpr double pi = 3.14159265358979323846;
    const double x = distance * pi;
    if (std::abs(distance) >= 4) return 0;
    return std::abs(distance) < 1e-9 ? 1 : 4 * std::sin(x) * std::sin(x / 4) / (x * x);
  }
  void bilinear(double at, Index from) {
    const double inside = std::clamp(at, 0.0, static_cast<double>(from - 1));
    const Index first = static_cast<Index>(inside);
    const auto more = static_cast<float>(inside - static_cast<double>(first));
    runs.push_back({first, weights.size(), more > 0 ? 2 : 1});
    weights.push_back(1 - more);
    if (more > 0) weights.push_back(more);
  }
};

/// Adds a row of bytes, times its weight, to sums, or writes it there.
template <bool First>
void add_row(const std::uint8_t* from, Index count, float weight, float* sums) {
  // g++ makes no vectors of such a loop at -O2.
  typedef std::uint8_t Narrow __attribute__((vector_size(16)));
  typedef std::uint16_t Words
      __attribute__((vector_size(16 * sizeof(std::uint16_t))));  // in one step g++ takes each alone
  typedef std::int32_t Whole __attribute__((vector_size(16 * sizeof(std::int32_t))));
  typedef float Wide __attribute__((vector_size(16 * sizeof(float))));
  Index i = 0;
  for (; i + 16 <= count; i += 16) {
    Narrow some;
    std::memcpy(&some, from + i, sizeof some);
    const Words words = __builtin_convertvector(some, Words);
    Wide sum = __builtin_convertvector(__builtin_convertvector(words, Whole), Wide) * weight;
    if constexpr (!First) {
      Wide before;
      std::memcpy(&before, sums + i, sizeof before);
      sum += before;
    }
    std::memcpy(sums + i, &sum, sizeof sum);
  }
  for (; i < count; ++i) sums[i] = weight * static_cast<float>(from[i]) + (First ? 0 : sums[i]);
}

/// A row of wide pixels as one of others, rounded to the nearest. Behind `from` there is room for a pixel more.
template <int Channels>
void resize_row(const float* from, const PixelWeights& along, std::uint8_t* to) {
  // Pixels of three channels are computed as four, the last of which is dropped.
  typedef float Pixel __attribute__((vector_size(4 * sizeof(float))));
  typedef std::int32_t Whole __attribute__((vector_size(4 * sizeof(std::int32_t))));
  for (const PixelWeights::Run& run : along.runs) {
    const float *pixel = from + run.first * Channels, *weight = along.weights.data() + run.weight;
    if constexpr (Channels == 1) {
      float sum = 0;
      for (Index k = 0; k < run.count; ++k) sum += weight[k] * pixel[k];
      *to++ = static_cast<std::uint8_t>(std::clamp(sum + 0.5F, 0.0F, 255.0F));
    } else {
      Pixel sum = {0.5F, 0.5F, 0.5F, 0.5F};
      for (Index k = 0; k < run.count; ++k, pixel += Channels) {
        Pixel one;
        std::memcpy(&one, pixel, sizeof one);
        sum += one * weight[k];
      }
      const Pixel low = {}, high = {255, 255, 255, 255};
      sum = sum < low ? low : sum;
      sum = sum > high ? high : sum;
      const Whole whole = __builtin_convertvector(sum, Whole);
      for (int c = 0; c < Channels; ++c) *to++ = static_cast<std::uint8_t>(whole[c]);
    }
  }
}

STROP_IMPL void resize_pixels(const std::uint8_t* from, Index height, Index width, int channels, std::uint8_t* to,
                              Index to_height, Index to_width, PixelMethod method) {
  const PixelWeights down(height, to_height, method), along(width, to_width, method);
  const Index row = width * channels;
  List<float> sums(row + 1);
  for (const PixelWeights::Run& run : down.runs) {
    float* const sum = sums.data();
    const std::uint8_t* pixels = from + run.first * row;
    add_row<true>(pixels, row, down.weights[run.weight], sum);
    for (Index k = 1; k < run.count; ++k) add_row<false>(pixels += row, row, down.weights[run.weight + k], sum);
    channels == 1 ? resize_row<1>(sum, along, to) : resize_row<3>(sum, along, to);
    to += to_width * channels;
  }
}

}  // namespace strop::inline v0::detail
