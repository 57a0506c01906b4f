// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators that draw random numbers: uniform, normal, exponential, integers; in the shape of another array; a
/// shuffle. Gamma, Poisson and negative binomial numbers are in random_counts.hpp.
///
/// Every element is a function of the seed, of the order of calls and of its position, never of the number of threads.
/// A row_sparse array that is to hold the numbers, or that gives the shape, comes to store all its rows, with the
/// numbers that a dense one would have; CSR goes by the dense fallback.
/// In C++ strop::random::uniform and normal say the same with less; these are for graphs and for text.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/init.hpp>
#include <strop/ops/list.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

/// The type that is asked for, that of an array that exists, or float32.
template <int = 0>
constexpr void infer_drawn_type(Types& t, const std::optional<Dtype>& dtype) {
  if (dtype)
    t.set_out(0, dtype);
  else if (!t.out(0))
    t.set_out(0, f32);
  if (t.out(0) && !is_floating(*t.out(0))) t.fail("the numbers are of floating types, not ", name_of(*t.out(0)));
}

/// Numbers go as they come into what is dense or row_sparse: the array that is there, or one like the first input.
template <int = 0>
constexpr bool infer_drawn_storage(Storages& s) {
  const bool rows = s.inputs() != 0 && s.in(0) == row_sparse;
  s.set_out(0, s.out(0).value_or(rows ? row_sparse : dense));
  return s.out(0) != csr && (s.inputs() == 0 || s.in(0) != csr);
}

inline constexpr std::string_view random_shape_note =
    "extents of the result; (), or -1 for one: those of the array that is to hold it";
inline constexpr std::string_view random_ctx_note = "the device of the result: cpu(0), or nothing";
inline constexpr std::string_view random_dtype_note =
    "a floating type; None: that of the array that is to hold them, else float32";

inline constexpr Note random_notes[] = {{"low", "the least number"},
                                        {"high", "what all numbers are below, at least low"},
                                        {"loc", "mean"},
                                        {"scale", "standard deviation, at least 0"},
                                        {"lam", "rate, more than 0: the mean is 1 / lam"},
                                        {"shape", random_shape_note},
                                        {"ctx", random_ctx_note},
                                        {"dtype", random_dtype_note}};

}  // namespace detail

/// _random_uniform: numbers u with low ≤ u < high, uniform. `dtype` floating, float32 by default; without a shape that
/// of the array that is to hold them.
/// Error: low > high, one that is not finite, a type that is not floating.
struct RandomUniform {
  static constexpr Resources resources{.random = true};
  float low = 0, high = 1;
  Shape shape = {};
  std::string ctx = {};
  std::optional<Dtype> dtype = {};
  static constexpr std::string_view name = "_random_uniform", aliases[] = {"uniform", "random_uniform"};
  static constexpr const char* doc = "Uniform random numbers from low to below high.";
  static constexpr std::span<const Note> notes = detail::random_notes;
  static constexpr DtypeSet dtypes = floating;
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { detail::infer_made(s, shape); }
  constexpr void infer_type(Types& t) const { detail::infer_drawn_type(t, dtype); }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_drawn_storage(s); }
  void forward(Cpu& cpu, NDArray& y) const;
};

/// _random_normal: normal numbers with mean `loc` and standard deviation `scale`.
/// Shape and type are those of _random_uniform. Error: scale is negative.
struct RandomNormal {
  static constexpr Resources resources{.random = true};
  float loc = 0, scale = 1;
  Shape shape = {};
  std::string ctx = {};
  std::optional<Dtype> dtype = {};
  static constexpr std::string_view name = "_random_normal", aliases[] = {"normal", "random_normal"};
  static constexpr const char* doc = "Normal random numbers with mean loc and standard deviation scale.";
  static constexpr std::span<const Note> notes = detail::random_notes;
  static constexpr DtypeSet dtypes = floating;
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { detail::infer_made(s, shape); }
  constexpr void infer_type(Types& t) const { detail::infer_drawn_type(t, dtype); }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_drawn_storage(s); }
  void forward(Cpu& cpu, NDArray& y) const;
};

/// _random_exponential: exponential numbers with rate `lam`, mean 1 / lam.
/// Shape and type are those of _random_uniform. Error: lam is not above 0.
struct RandomExponential {
  static constexpr Resources resources{.random = true};
  float lam = 1;
  Shape shape = {};
  std::string ctx = {};
  std::optional<Dtype> dtype = {};
  static constexpr std::string_view name = "_random_exponential", aliases[] = {"exponential", "random_exponential"};
  static constexpr const char* doc = "Exponential random numbers with rate lam.";
  static constexpr std::span<const Note> notes = detail::random_notes;
  static constexpr DtypeSet dtypes = floating;
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { detail::infer_made(s, shape); }
  constexpr void infer_type(Types& t) const { detail::infer_drawn_type(t, dtype); }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_drawn_storage(s); }
  void forward(Cpu& cpu, NDArray& y) const;
};

/// _random_randint: integers with low ≤ i < high, uniform (to 2^-32 of the range's size). int32 by default, or int64.
/// Error: low ≥ high, another type.
struct RandomRandint {
  static constexpr Resources resources{.random = true};
  Required<std::int64_t> low = {}, high = {};
  Shape shape = {};
  std::string ctx = {};
  std::optional<Dtype> dtype = {};
  static constexpr std::string_view name = "_random_randint", aliases[] = {"random_randint", "_npi_random_randint"};
  static constexpr const char* doc = "Uniform random integers from low to below high.";
  static constexpr Note notes[] = {
      {"low", "the least number"},
      {"high", "more than the greatest number, which is high - 1"},
      {"shape", "extents of the result; (), or -1 for one: those of the array that is to hold it"},
      {"ctx", "the device of the result: cpu(0), or nothing"},
      {"dtype", "int32 or int64; None: that of the array that is to hold them, else int32"}};
  static constexpr DtypeSet dtypes = i32 | i64;
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { detail::infer_made(s, shape); }
  template <int = 0>
  constexpr void infer_type(Types& t) const {
    if (dtype)
      t.set_out(0, dtype);
    else if (!t.out(0))
      t.set_out(0, i32);
    if (t.out(0) && *t.out(0) != i32 && *t.out(0) != i64)
      t.fail("the numbers are int32 or int64, not ", name_of(*t.out(0)));
  }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_drawn_storage(s); }
  void forward(Cpu& cpu, NDArray& given) const;

 private:
  /// a · b / 2^64.
  static std::uint64_t high_half(std::uint64_t a, std::uint64_t b);
};

/// _random_uniform_like: uniform numbers in the shape and type of `data`.
/// Error: low > high, one that is not finite.
struct RandomUniformLike {
  static constexpr Resources resources{.random = true};
  float low = 0, high = 1;
  static constexpr std::string_view name = "_random_uniform_like", aliases[] = {"random_uniform_like"};
  static constexpr const char* doc = "Uniform random numbers in the shape and type of the input.";
  static constexpr std::span<const Note> notes = detail::random_notes;
  static constexpr DtypeSet dtypes = floating;
  static constexpr bool zero_gradient = true;
  constexpr void infer_type(Types& t) const { detail::infer_drawn_type(t, t.in(0)); }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_drawn_storage(s); }
  void forward(Cpu& cpu, const NDArray&, NDArray& y) const;
};

/// _random_normal_like: normal numbers in the shape and type of `data`.
/// Error: scale is negative.
struct RandomNormalLike {
  static constexpr Resources resources{.random = true};
  float loc = 0, scale = 1;
  static constexpr std::string_view name = "_random_normal_like", aliases[] = {"random_normal_like"};
  static constexpr const char* doc = "Normal random numbers in the shape and type of the input.";
  static constexpr std::span<const Note> notes = detail::random_notes;
  static constexpr DtypeSet dtypes = floating;
  static constexpr bool zero_gradient = true;
  constexpr void infer_type(Types& t) const { detail::infer_drawn_type(t, t.in(0)); }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_drawn_storage(s); }
  void forward(Cpu& cpu, const NDArray&, NDArray& y) const;
};

/// _random_exponential_like: exponential numbers in the shape and type of `data`.
/// Error: lam is not above 0.
struct RandomExponentialLike {
  static constexpr Resources resources{.random = true};
  float lam = 1;
  static constexpr std::string_view name = "_random_exponential_like", aliases[] = {"random_exponential_like"};
  static constexpr const char* doc = "Exponential random numbers in the shape and type of the input.";
  static constexpr std::span<const Note> notes = detail::random_notes;
  static constexpr DtypeSet dtypes = floating;
  static constexpr bool zero_gradient = true;
  constexpr void infer_type(Types& t) const { detail::infer_drawn_type(t, t.in(0)); }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_drawn_storage(s); }
  void forward(Cpu& cpu, const NDArray&, NDArray& y) const;
};

/// _shuffle: the entries of the first axis in random order, every order equally likely.
/// Shape and type stay; any type.
struct Shuffle {
  static constexpr Resources resources{.random = true};
  static constexpr std::string_view name = "_shuffle", aliases[] = {"shuffle", "_npi_shuffle"};
  static constexpr const char* doc = "The entries of the first axis in random order.";
  void forward(Cpu& cpu, const NDArray& x, NDArray& y) const;
};

inline constexpr Op<RandomUniform, OnUse> random_uniform;
inline constexpr Op<RandomNormal, OnUse> random_normal;
inline constexpr Op<RandomExponential, OnUse> random_exponential;
inline constexpr Op<RandomRandint, OnUse> random_randint;
inline constexpr Op<RandomUniformLike, OnUse> random_uniform_like;
inline constexpr Op<RandomNormalLike, OnUse> random_normal_like;
inline constexpr Op<RandomExponentialLike, OnUse> random_exponential_like;
inline constexpr Op<Shuffle, OnUse> shuffle;

using RandomOps = OpList<RandomUniform, RandomNormal, RandomExponential, RandomRandint, RandomUniformLike,
                         RandomNormalLike, RandomExponentialLike, Shuffle>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/random_body.hpp>
#endif
