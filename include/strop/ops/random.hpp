// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators that draw random numbers: of the distributions of distributions.def, in a shape that is given or that of
/// another array; integers; a shuffle.
///
/// Every element is a function of the seed, of the order of calls and of its position, never of the number of threads.
/// A row_sparse array that is to hold the numbers, or that gives the shape, comes to store all its rows, with the
/// numbers that a dense one would have; CSR goes by the dense fallback. Gamma, Poisson and negative binomial numbers
/// are drawn in double and rounded once. In C++ strop::random::uniform and normal say the same with less; these are for
/// graphs and for text.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/init.hpp>
#include <strop/ops/list.hpp>

#include <optional>
#include <span>
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

inline constexpr Note gamma_notes[] = {{"alpha", "shape, more than 0"},
                                       {"beta", "scale, more than 0: the mean is alpha · beta"},
                                       {"shape", random_shape_note},
                                       {"ctx", random_ctx_note},
                                       {"dtype", random_dtype_note}};
inline constexpr Note poisson_notes[] = {
    {"lam", "mean, at least 0"}, {"shape", random_shape_note}, {"ctx", random_ctx_note}, {"dtype", random_dtype_note}};
inline constexpr Note failures_notes[] = {{"k", "how many failures end the trials, at least 0"},
                                          {"p", "the probability of a failure, more than 0, at most 1"},
                                          {"shape", random_shape_note},
                                          {"ctx", random_ctx_note},
                                          {"dtype", random_dtype_note}};
inline constexpr Note dispersion_notes[] = {{"mu", "mean, at least 0"},
                                            {"alpha", "dispersion, at least 0: the variance is mu + alpha · mu²"},
                                            {"shape", random_shape_note},
                                            {"ctx", random_ctx_note},
                                            {"dtype", random_dtype_note}};

}  // namespace detail

// A distribution as two operators.
#define STROP_BRACED(...) {__VA_ARGS__}
#define STROP_DRAWN(Type, snake, names, notes_, document, like, parameters, ...)                                \
  struct Random##Type {                                                                                         \
    static constexpr Resources resources{.random = true};                                                       \
    __VA_ARGS__                                                                                                 \
    Shape shape = {};                                                                                           \
    std::string ctx = {};                                                                                       \
    std::optional<Dtype> dtype = {};                                                                            \
    static constexpr std::string_view name = "_random_" #snake, aliases[] = STROP_BRACED names;                 \
    static constexpr const char* doc = document;                                                                \
    static constexpr std::span<const Note> notes = detail::notes_;                                              \
    static constexpr DtypeSet dtypes = floating;                                                                \
    static constexpr bool zero_gradient = true;                                                                 \
    constexpr void infer_shape(Shapes& s) const { detail::infer_made(s, shape); }                               \
    constexpr void infer_type(Types& t) const { detail::infer_drawn_type(t, dtype); }                           \
    constexpr bool infer_storage(Storages& s) const { return detail::infer_drawn_storage(s); }                  \
    void forward(Cpu& cpu, NDArray& y) const;                                                                   \
  };                                                                                                            \
  struct Random##Type##Like {                                                                                   \
    static constexpr Resources resources{.random = true};                                                       \
    __VA_ARGS__                                                                                                 \
    static constexpr std::string_view name = "_random_" #snake "_like", aliases[] = {"random_" #snake "_like"}; \
    static constexpr const char* doc = like;                                                                    \
    static constexpr std::span<const Note> notes = detail::notes_;                                              \
    static constexpr DtypeSet dtypes = floating;                                                                \
    static constexpr bool zero_gradient = true;                                                                 \
    constexpr void infer_type(Types& t) const { detail::infer_drawn_type(t, t.in(0)); }                         \
    constexpr bool infer_storage(Storages& s) const { return detail::infer_drawn_storage(s); }                  \
    void forward(Cpu& cpu, const NDArray&, NDArray& y) const;                                                   \
  };                                                                                                            \
  inline constexpr Op<Random##Type, OnUse> random_##snake;                                                      \
  inline constexpr Op<Random##Type##Like, OnUse> random_##snake##_like;
#include <strop/ops/distributions.def>
#undef STROP_BRACED

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

/// _shuffle: the entries of the first axis in random order, every order equally likely.
/// Shape and type stay; any type.
struct Shuffle {
  static constexpr Resources resources{.random = true};
  static constexpr std::string_view name = "_shuffle", aliases[] = {"shuffle", "_npi_shuffle"};
  static constexpr const char* doc = "The entries of the first axis in random order.";
  void forward(Cpu& cpu, const NDArray& x, NDArray& y) const;
};

inline constexpr Op<RandomRandint, OnUse> random_randint;
inline constexpr Op<Shuffle, OnUse> shuffle;

using RandomOps = OpList<
#define STROP_DRAWN(Type, ...) Random##Type, Random##Type##Like,
#include <strop/ops/distributions.def>  // NOLINT(readability-duplicate-include): the list, once more
    RandomRandint, Shuffle>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/random_body.hpp>
#endif
