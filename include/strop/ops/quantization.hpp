// SPDX-License-Identifier: Apache-2.0
/// \file
/// Numbers of 8 bits in place of floating ones, and back: _contrib_quantize, _contrib_quantize_v2, _contrib_dequantize,
/// _contrib_requantize.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace strop::inline v0 {

/// The type of numbers of 8 bits; auto: uint8 where no number is below 0 as far as is known, else int8.
enum class QuantizedType : int { auto_, int8, uint8 };

namespace detail {

inline constexpr std::string_view quantize_inputs[] = {"data", "min_range", "max_range"};
inline constexpr std::string_view quantize_outputs[] = {"output0", "output1", "output2"};
inline constexpr Note quantize_notes[] = {
    {"out_type", "the type of the result; auto: uint8 with a min_calib_range of 0 or more, else int8"},
    {"min_calib_range", "the least number, known before"},
    {"max_calib_range", "the greatest one; with one of them alone both are found in data"}};

inline namespace STROP_ISA {

template <class E>
concept Quantized = std::same_as<E, std::int8_t> || std::same_as<E, std::uint8_t>;

}  // namespace STROP_ISA

/// An array, the numbers that are its range, and what is made of it with a range of its own, or without.
template <int = 0>
constexpr void infer_quantized_shapes(Shapes& s) {
  s.set_out(0, s.in(0));
  s.set_in(0, s.out(0));
  for (int i = 1; i < s.inputs(); ++i) s.set_in(i, {1});
  for (int i = 1; i < s.outputs(); ++i) s.set_out(i, {1});
}
template <int = 0>
constexpr void infer_quantized_types(Types& t, Dtype result) {
  t.set_out(0, result);
  for (int i = 1; i < t.inputs(); ++i)
    if (!t.in(i)) t.set_in(i, f32);
  for (int i = 1; i < t.outputs(); ++i) t.set_out(i, f32);
}
/// The type that is asked for; auto looks at the least number.
constexpr Dtype quantized_type(QuantizedType type, const std::optional<float>& low, const std::optional<float>& high) {
  if (type == QuantizedType::auto_) return low && high && *low >= 0.0f ? u8 : i8;
  return type == QuantizedType::uint8 ? u8 : i8;
}

}  // namespace detail

/// _contrib_quantize: data · levels / reach, where reach is the larger of |min_range| and |max_range| and there are 127
/// levels in int8, 255 in uint8; to the nearest whole number, of two the even one, and no further than the type goes.
///
/// data of any shape and a floating type, the ranges (1,); the results are data in out_type and the range of that,
/// float32 (1,): −reach and reach of int8, min_range and max_range of uint8, in which what is below 0 becomes 0. All is
/// computed in float32. NaN, and all that is 0 where reach is, becomes 0, unlike in MXNet. Sparse arrays
/// by the dense fallback. The gradient is 0, as in MXNet. Error: ranges of more than one number.
///
/// Example: `quantize(array({-1, 0.5, 2}), array({-1}), array({2}), {.out_type = Quantize::int8})` is [-64, 32, 127],
/// [-2] and [2].
struct Quantize {
  enum Type : int { int8, uint8 };
  Type out_type = uint8;

  static constexpr std::string_view name = "_contrib_quantize", aliases[] = {"quantize"};
  static constexpr std::span<const std::string_view> inputs = detail::quantize_inputs,
                                                     outputs = detail::quantize_outputs;
  static constexpr const char* doc = "Numbers of 8 bits in place of those of a known range, and their range.";
  static constexpr Note notes[] = {{"out_type", "the type of the result; uint8 has no numbers below 0"}};
  static constexpr bool zero_gradient = true;

  constexpr void infer_shape(Shapes& s) const { detail::infer_quantized_shapes(s); }
  constexpr void infer_type(Types& t) const {
    if (!t.in(0)) t.set_in(0, f32);
    detail::infer_quantized_types(t, out_type == uint8 ? u8 : i8);
  }
  template <Real E>
  void forward(Cpu&, View<const E> x, View<const float, 1> low, View<const float, 1> high, NDArray& y,
               View<float, 1> out_low, View<float, 1> out_high) const;
};

/// _contrib_quantize_v2: data · levels / reach, where reach is the larger of |min_calib_range| and |max_calib_range|,
/// or, unless both are given, of the least and the greatest element, and there are 127½ levels in int8, 255½ in uint8;
/// to the nearest whole number, of two the even one, and no further than the type goes.
///
/// data of any shape and a floating type; the results are data in out_type and the range of that, float32 (1,): −reach
/// and reach of int8, the two numbers themselves of uint8, in which what is below 0 becomes 0. All is computed in
/// float32. NaN, and all that is 0 where reach is, becomes 0, unlike in MXNet. Numbers of 8 bits stay as
/// they are, and have the range that is given, or that of their type: ±127½, 0 and 255½. Sparse arrays by the dense
/// fallback. The gradient is 0, as in MXNet. Error: int8 in place of uint8 or the reverse, of which MXNet takes the
/// bits.
///
/// Example: `quantize_v2(array({-1, 0.5, 2}))` is [-64, 32, 127], [-2] and [2].
struct QuantizeV2 {
  QuantizedType out_type = QuantizedType::int8;
  std::optional<float> min_calib_range = {}, max_calib_range = {};

  static constexpr std::string_view name = "_contrib_quantize_v2", aliases[] = {"quantize_v2"};
  static constexpr std::span<const std::string_view> outputs = detail::quantize_outputs;
  static constexpr const char* doc =
      "Numbers of 8 bits in place of those of a known range, or of the range that they have, and their range.";
  static constexpr std::span<const Note> notes = detail::quantize_notes;
  static constexpr bool zero_gradient = true;

  constexpr void infer_shape(Shapes& s) const { detail::infer_quantized_shapes(s); }
  template <int = 0>
  constexpr void infer_type(Types& t) const {
    const bool quantized = t.in(0) == i8 || t.in(0) == u8;
    if (quantized && out_type != QuantizedType::auto_ && type() != *t.in(0))
      t.fail("input 'data' is ", name_of(*t.in(0)), " already, expected out_type=", name_of(*t.in(0)), ", not ",
             name_of(type()));
    detail::infer_quantized_types(t, quantized ? *t.in(0) : type());
  }
  template <class E>
    requires Real<E> || detail::Quantized<E>
  void forward(Cpu&, View<const E> x, NDArray& y, View<float, 1> low, View<float, 1> high) const;

 private:
  constexpr Dtype type() const { return detail::quantized_type(out_type, min_calib_range, max_calib_range); }
};

/// _contrib_dequantize: data · reach / levels, where reach is the larger of |min_range| and |max_range| and there are
/// 127½ levels in int8, 255½ in uint8.
///
/// data of any shape, int8 or uint8, the ranges (1,); the result is float32. Sparse arrays by the dense fallback. The
/// gradient is 0, as in MXNet. Error: ranges of more than one number.
///
/// Example: `dequantize(array<std::int8_t>({-51, 102}), array({-2.5}), array({2}))` is [-1, 2].
struct Dequantize {
  enum Type : int { float32 };
  Type out_type = float32;

  static constexpr std::string_view name = "_contrib_dequantize", aliases[] = {"dequantize"};
  static constexpr std::span<const std::string_view> inputs = detail::quantize_inputs;
  static constexpr const char* doc = "Floating numbers in place of those of 8 bits and a known range.";
  static constexpr DtypeSet dtypes = i8 | u8;
  static constexpr Note notes[] = {{"out_type", "the type of the result"}};
  static constexpr bool zero_gradient = true;

  constexpr void infer_shape(Shapes& s) const { detail::infer_quantized_shapes(s); }
  constexpr void infer_type(Types& t) const {
    t.expect_in(0, i8 | u8);
    detail::infer_quantized_types(t, f32);
  }
  void forward(Cpu&, const NDArray& x, View<const float, 1> low, View<const float, 1> high, View<float> y) const;

 private:
  template <class E>
  static void dequantize_elements(const E* x, float scale, View<float> y);
};

/// _contrib_requantize: numbers of 32 bits, of which 2³¹ is the larger of |min_range| and |max_range|, as numbers of 8
/// bits, of which 127 in int8, 255 in uint8, is reach: the larger of |min_calib_range| and |max_calib_range|, or,
/// unless both are given, that of the element furthest from 0.
///
/// data of any shape, int32, the ranges (1,); the results are data in out_type, to the nearest whole number, of two the
/// even one, and no further than the type goes, and the range of that, float32 (1,): −reach and reach of int8, 0 and
/// reach of uint8. Where reach is 0 so is all. Sparse arrays by the dense fallback. The gradient is 0, as in MXNet.
/// Error: ranges of more than one number.
///
/// Example: `requantize(array<std::int32_t>({-1000, 500}), array({-1}), array({1}))` is [-127, 64] and the range of it,
/// [-4.656613e-07] and [4.656613e-07].
struct Requantize {
  QuantizedType out_type = QuantizedType::int8;
  std::optional<float> min_calib_range = {}, max_calib_range = {};

  static constexpr std::string_view name = "_contrib_requantize", aliases[] = {"requantize"};
  static constexpr std::span<const std::string_view> inputs = detail::quantize_inputs,
                                                     outputs = detail::quantize_outputs;
  static constexpr const char* doc = "Numbers of 8 bits in place of those of 32 bits and a known range.";
  static constexpr DtypeSet dtypes = i32;
  static constexpr std::span<const Note> notes = detail::quantize_notes;
  static constexpr bool zero_gradient = true;

  constexpr void infer_shape(Shapes& s) const { detail::infer_quantized_shapes(s); }
  constexpr void infer_type(Types& t) const {
    t.set_in(0, i32);
    detail::infer_quantized_types(t, detail::quantized_type(out_type, min_calib_range, max_calib_range));
  }
  void forward(Cpu&, View<const std::int32_t> x, View<const float, 1> low, View<const float, 1> high, NDArray& y,
               View<float, 1> out_low, View<float, 1> out_high) const;
};

inline constexpr Op<Quantize, OnUse> quantize;
inline constexpr Op<QuantizeV2, OnUse> quantize_v2;
inline constexpr Op<Dequantize, OnUse> dequantize;
inline constexpr Op<Requantize, OnUse> requantize;

using QuantizationOps = OpList<Quantize, QuantizeV2, Dequantize, Requantize>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/quantization_body.hpp>
#endif
