// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators that make arrays from nothing but parameters, or from the shape of another: _zeros, _ones, _full, _arange,
/// _eye, _linspace, zeros_like, ones_like, _contrib_arange_like.
///
/// In C++ the functions of tensor/create.hpp say the same with less; these are for graphs and for text. `ctx` names a
/// device.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/shape/move.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

template <int = 0>
constexpr void check_shape_param(const Shapes& s, const Shape& shape, std::int64_t least = 0) {
  for (std::int64_t extent : shape)
    if (extent < least) s.fail("parameter 'shape' has an extent of ", extent, ", expected ", least, " or more");
}

/// An output of a shape that is given, or that of an array that exists, as an extent of −1 is.
constexpr void infer_made(Shapes& s, const Shape& shape) {
  check_shape_param(s, shape, -1);
  if (shape.ndim() != 0) s.set_out(0, shape);
}

inline constexpr Note made_notes[] = {
    {"shape", "extents of the result; (), or -1 for one: those of the array that is to hold it"},
    {"ctx", "the device of the result: cpu(0), or nothing"},
    {"dtype", "the type of the result"},
    {"value", "what every element is"}};

}  // namespace detail

/// _zeros: an array of zeros; without a shape, of the array that is to hold it. Sparse where that array is.
/// Error: a negative extent, a `ctx` other than the CPU.
struct ZerosOp {
  Shape shape = {};
  std::string ctx = {};
  Dtype dtype = f32;
  static constexpr std::string_view name = "_zeros", aliases[] = {"zeros"};
  static constexpr const char* doc = "An array of zeros.";
  static constexpr std::span<const Note> notes = detail::made_notes;
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { detail::infer_made(s, shape); }
  constexpr void infer_type(Types& t) const { t.set_out(0, dtype); }
  constexpr bool infer_storage(Storages& s) const { return s.out(0).has_value() || s.set_out(0, dense); }
  void forward(Cpu&, NDArray& y) const;
};

/// _zeros_without_dtype: zeros whose type is that of the array that is to hold them, float32 for dtype −1 and without
/// one.
struct ZerosWithoutDtypeOp {
  Shape shape = {};
  std::string ctx = {};
  int dtype = -1;
  static constexpr std::string_view name = "_zeros_without_dtype", aliases[] = {"zeros_without_dtype"};
  static constexpr const char* doc = "An array of zeros; dtype is a type's number, or -1 for what the context says.";
  static constexpr Note notes[] = {
      {"shape", "extents of the result; (), or -1 for one: those of the array that is to hold it"},
      {"ctx", "the device of the result: cpu(0), or nothing"},
      {"dtype", "the number of a type; -1: that of the array that is to hold them, else float32"}};
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { detail::infer_made(s, shape); }
  template <int = 0>
  constexpr void infer_type(Types& t) const {
    if (dtype != -1 && !is_dtype(dtype)) t.fail("parameter 'dtype' is ", dtype, ", which is no type");
    if (dtype != -1)
      t.set_out(0, static_cast<Dtype>(dtype));
    else if (!t.out(0))
      t.set_out(0, f32);
  }
  constexpr bool infer_storage(Storages& s) const { return s.out(0).has_value() || s.set_out(0, dense); }
  void forward(Cpu& cpu, NDArray& y) const;
};

/// Errors are those of _zeros.
struct OnesOp {
  Shape shape = {};
  std::string ctx = {};
  Dtype dtype = f32;
  static constexpr std::string_view name = "_ones", aliases[] = {"ones"};
  static constexpr const char* doc = "An array of ones.";
  static constexpr std::span<const Note> notes = detail::made_notes;
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { detail::infer_made(s, shape); }
  constexpr void infer_type(Types& t) const { t.set_out(0, dtype); }
  void forward(Cpu&, NDArray& y) const;
};

/// Errors are those of _zeros.
struct FullOp {
  Shape shape = {};
  std::string ctx = {};
  Dtype dtype = f32;
  Required<Scalar> value = {};
  static constexpr std::string_view name = "_full", aliases[] = {"full", "_npi_full"};
  static constexpr const char* doc = "An array of one value.";
  static constexpr std::span<const Note> notes = detail::made_notes;
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { detail::infer_made(s, shape); }
  constexpr void infer_type(Types& t) const { t.set_out(0, dtype); }
  void forward(Cpu&, NDArray& y) const;
};

/// _arange: start, start + step, … before stop, each `repeat` times; without a stop 0, step, … before start. With
/// infer_range and no stop there are as many as the array that is to hold them has. None where the range is empty.
/// Error: a step of 0.
struct ArangeOp {
  Required<Scalar> start = {};
  std::optional<Scalar> stop = {};
  Scalar step = 1;
  int repeat = 1;
  bool infer_range = false;
  std::string ctx = {};
  Dtype dtype = f32;
  static constexpr std::string_view name = "_arange", aliases[] = {"arange"};
  static constexpr const char* doc =
      "start, start + step, ... before stop, each `repeat` times; without a stop 0, step, ... before start.";
  static constexpr Note notes[] = {
      {"start", "the first number; without stop, what the numbers stop before"},
      {"stop", "what the numbers stop before; None: start, and 0 is the first"},
      {"step", "from one number to the next, not 0"},
      {"repeat", "how often each number stands"},
      {"infer_range", "without stop: as many from start on as the array that is to hold them has"},
      {"ctx", "the device of the result: cpu(0), or nothing"},
      {"dtype", "the type of the result"}};
  static constexpr Range range[] = {{"repeat", 1}};
  static constexpr bool zero_gradient = true;
  constexpr Scalar first() const { return stop || infer_range ? *start : Scalar(0); }
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    if (!stop && infer_range) return;
    const Scalar end = stop ? *stop : *start;
    const std::int64_t count = detail::count_range(first(), end, step);
    if (count < 0) s.fail("the range from ", first().real, " to ", end.real, " in steps of ", step.real, " has no end");
    s.set_out(0, Shape{detail::checked_product(count, repeat, s.op())});
  }
  constexpr void infer_type(Types& t) const { t.set_out(0, dtype); }
  void forward(Cpu&, NDArray& y) const;
};

/// _eye: N rows and M columns (N without M) with ones on diagonal k, above the main one where k > 0.
/// Error: N is missing or negative, a `ctx` other than the CPU.
struct EyeOp {
  Required<std::int64_t> N = {};
  std::int64_t M = 0, k = 0;
  std::string ctx = {};
  Dtype dtype = f32;
  static constexpr std::string_view name = "_eye", aliases[] = {"eye"};
  static constexpr const char* doc = "N rows and M columns (N where M is 0) with ones on diagonal k.";
  static constexpr Note notes[] = {{"N", "rows"},
                                   {"M", "columns; 0: N"},
                                   {"k", "which diagonal: 0 is the main one, above it k > 0, below it k < 0"},
                                   {"ctx", "the device of the result: cpu(0), or nothing"},
                                   {"dtype", "the type of the result"}};
  static constexpr Range range[] = {{"N", 0}, {"M", 0}};
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { s.set_out(0, Shape{*N, M > 0 ? M : *N}); }
  constexpr void infer_type(Types& t) const { t.set_out(0, dtype); }
  void forward(Cpu&, NDArray& y) const;
};

/// y[i] = start + i · (stop − start) / (num − 1), or / num without endpoint. Error: num is negative.
struct LinspaceOp {
  Required<Scalar> start = {}, stop = {};
  Required<int> num = {};
  bool endpoint = true;
  std::string ctx = {};
  Dtype dtype = f32;
  static constexpr std::string_view name = "_linspace", aliases[] = {"linspace", "_npi_linspace"};
  static constexpr const char* doc = "num numbers from start to stop, which is among them with endpoint.";
  static constexpr Note notes[] = {{"start", "the first number"},
                                   {"stop", "where the numbers end"},
                                   {"num", "how many"},
                                   {"endpoint", "stop is the last of them; else it would be the next"},
                                   {"ctx", "the device of the result: cpu(0), or nothing"},
                                   {"dtype", "the type of the result"}};
  static constexpr Range range[] = {{"num", 0}};
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { s.set_out(0, Shape{*num}); }
  constexpr void infer_type(Types& t) const { t.set_out(0, dtype); }
  void forward(Cpu&, NDArray& y) const;
};

/// zeros_like: zeros of the shape, type and storage of `data`.
struct ZerosLike {
  static constexpr std::string_view name = "zeros_like", aliases[] = {"_sparse_zeros_like"};
  static constexpr const char* doc = "Zeros of the shape, type and storage of the input.";
  static constexpr bool zero_gradient = true;
  constexpr bool infer_storage(Storages& s) const { return s.out(0).has_value() || s.set_out(0, s.in(0)); }
  void forward(Cpu&, const NDArray&, NDArray& y) const;
};

/// ones_like: dense ones of the shape and type of `data`.
struct OnesLike {
  static constexpr std::string_view name = "ones_like";
  static constexpr const char* doc = "Ones of the shape and type of the input; dense.";
  static constexpr bool zero_gradient = true;
  constexpr bool infer_storage(Storages& s) const { return s.set_out(0, dense); }
  void forward(Cpu&, const NDArray&, NDArray& y) const;
};

/// _contrib_arange_like: start, start + step, … in the shape of `data`, or as many as it has along `axis`; each
/// `repeat` times.
struct ArangeLike {
  Scalar start = 0, step = 1;
  int repeat = 1;
  std::string ctx = {};
  std::optional<int> axis = {};
  static constexpr std::string_view name = "_contrib_arange_like", aliases[] = {"arange_like", "_npx_arange_like"};
  static constexpr const char* doc =
      "start, start + step, ... in the shape of the input, or as many as it has along axis; each `repeat` times.";
  static constexpr Note notes[] = {
      {"start", "the first number"},
      {"step", "from one number to the next"},
      {"repeat", "how often each number stands"},
      {"ctx", "has no effect"},
      {"axis", "the axis of data whose extent is counted; negative: from the last; None: all elements"}};
  static constexpr Range range[] = {{"repeat", 1}};
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const {
    if (!s.in(0).has_rank()) return;
    s.set_out(0, axis ? Shape{s.in(0)[detail::checked_axis(*axis, s.in(0).ndim(), s.op())]} : s.in(0));
  }
  void forward(Cpu&, const NDArray&, NDArray& y) const;
};

inline constexpr Op<ZerosOp, OnUse> zeros_op;
inline constexpr Op<ZerosWithoutDtypeOp, OnUse> zeros_without_dtype_op;
inline constexpr Op<OnesOp, OnUse> ones_op;
inline constexpr Op<FullOp, OnUse> full_op;
inline constexpr Op<ArangeOp, OnUse> arange_op;
inline constexpr Op<EyeOp, OnUse> eye_op;
inline constexpr Op<LinspaceOp, OnUse> linspace_op;
template <>
inline constexpr bool detail::reads_any_index<ZerosLike> = true;
inline constexpr Op<ZerosLike, OnUse> zeros_like;
template <>
inline constexpr bool detail::reads_any_index<OnesLike> = true;
inline constexpr Op<OnesLike, OnUse> ones_like;
inline constexpr Op<ArangeLike, OnUse> arange_like;

using InitOps =
    OpList<ZerosOp, ZerosWithoutDtypeOp, OnesOp, FullOp, ArangeOp, EyeOp, LinspaceOp, ZerosLike, OnesLike, ArangeLike>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/init_body.hpp>
#endif
