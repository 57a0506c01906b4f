// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators that draw random numbers whose parameters are arrays: of each element so many numbers.
///
/// The result has the shape of the parameters and `shape` behind it, and a floating type, float32 unless said; the
/// parameters are of one shape and of one type. As in random.hpp every element is a function of the seed, of
/// the order of calls and of its position; numbers are rounded once. Sparse arrays go by the dense fallback.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/random.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

inline constexpr Note each_notes[] = {{"low", "the least number"},
                                      {"high", "what all numbers are below, at least low"},
                                      {"mu", "mean"},
                                      {"sigma", "standard deviation, at least 0"},
                                      {"lam", "rate, of Poisson numbers the mean"},
                                      {"beta", "scale, more than 0: the mean is alpha · beta"},
                                      {"k", "how many failures end the trials, at least 0"},
                                      {"p", "the probability of a failure, more than 0, at most 1"},
                                      {"alpha", "shape of gamma numbers, more than 0; else dispersion, at least 0"},
                                      {"shape", "extents of what is drawn for each element; (): one number"},
                                      {"dtype", random_dtype_note}};

/// Parameters of one shape; the result has it and `shape` behind it.
template <int = 0>
constexpr void infer_sampled(Shapes& s, const Shape& shape) {
  check_shape_param(s, shape);
  for (int i = 1; i < s.inputs(); ++i) {
    s.set_in(i, s.in(0));
    s.set_in(0, s.in(i));
  }
  if (s.in(0).has_rank()) {
    Shape whole = s.in(0);
    for (const std::int64_t extent : shape) whole.push_back(extent);
    s.set_out(0, whole);
  }
  if (!s.out(0).has_rank()) return;
  if (s.out(0).ndim() < shape.ndim())
    s.fail("the result has shape ", s.out(0), ", expected one that ends with ", shape);
  Shape rest = s.out(0);
  rest.resize(s.out(0).ndim() - shape.ndim());
  for (int i = 0; i < s.inputs(); ++i) s.set_in(i, rest);
}
template <int = 0>
constexpr void infer_sampled_type(Types& t, const std::optional<Dtype>& dtype) {
  for (int i = 1; i < t.inputs(); ++i) {
    t.set_in(i, t.in(0));
    t.set_in(0, t.in(i));
  }
  infer_drawn_type(t, dtype);
}

}  // namespace detail

// A distribution as the operator of parameters that are arrays.
#define STROP_one const NDArray& first
#define STROP_two const NDArray &first, const NDArray &second
#define STROP_SAMPLED(Type, snake, types, document, count, ...)                                 \
  struct Sample##Type {                                                                         \
    static constexpr Resources resources{.random = true};                                       \
    Shape shape = {};                                                                           \
    std::optional<Dtype> dtype = {};                                                            \
    static constexpr std::string_view name = "_sample_" #snake, aliases[] = {"sample_" #snake}, \
                                      inputs[] = {__VA_ARGS__};                                 \
    static constexpr const char* doc = document;                                                \
    static constexpr std::span<const Note> notes = detail::each_notes;                          \
    static constexpr DtypeSet dtypes = types;                                                   \
    static constexpr bool zero_gradient = true;                                                 \
    constexpr void infer_shape(Shapes& s) const { detail::infer_sampled(s, shape); }            \
    constexpr void infer_type(Types& t) const {                                                 \
      t.expect_in(0, dtypes);                                                                   \
      detail::infer_sampled_type(t, dtype);                                                     \
    }                                                                                           \
    void forward(Cpu& cpu, STROP_##count, NDArray& y) const;                                    \
  };                                                                                            \
  inline constexpr Op<Sample##Type, OnUse> sample_##snake;
#include <strop/ops/distributions.def>
#undef STROP_two
#undef STROP_one

/// _sample_multinomial: positions along the last axis of data (…, K), drawn with probabilities that are as its rows: so
/// many as `shape` says, of a vector at least one. `dtype` is theirs. With get_prob also the logarithms
/// of the elements of data there, which are probabilities where rows add up to 1: of the type of data, float32 of
/// integers; their gradient goes to data. Error: an element is negative or NaN, a row has none above 0, dtype
/// does not hold K − 1 exactly.
struct SampleMultinomial {
  static constexpr Resources resources{.random = true};
  Shape shape = {};
  bool get_prob = false;
  Dtype dtype = i32;
  static constexpr std::string_view name = "_sample_multinomial", aliases[] = {"sample_multinomial"},
                                    outputs[] = {"output", "log_prob"};
  static constexpr const char* doc =
      "Positions drawn with the probabilities of each row of data; with get_prob also their logarithms.";
  static constexpr Note notes[] = {{"data", "probabilities: (..., K)"},
                                   {"shape", "extents of what is drawn of each row; (): one position"},
                                   {"get_prob", "the logarithms of the probabilities are a second output"},
                                   {"dtype", "the type of the positions"}};
  static constexpr int visible = 1;  // what a call in C++ gives; invoke_all gives those that visible_count says
  constexpr int visible_count() const { return get_prob ? 2 : 1; }
  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    detail::check_shape_param(s, shape);
    if (!s.in(0).has_rank()) return;
    if (s.in(0).ndim() == 0) s.fail("data has shape (), expected (..., K)");
    Shape drawn = s.in(0);
    drawn.resize(s.in(0).ndim() - 1);
    for (const std::int64_t extent : shape) drawn.push_back(extent);
    if (drawn.ndim() == 0) drawn.push_back(1);
    s.set_out(0, drawn);
    s.set_out(1, get_prob ? drawn : Shape{0});
  }
  constexpr void infer_type(Types& t) const {
    t.set_out(0, dtype);
    if (const std::optional<Dtype> type = t.in(0)) t.set_out(1, is_floating(*type) ? *type : f32);
  }
  void forward(Cpu& cpu, const NDArray& data, NDArray& y, NDArray& log_prob) const;
  void grad(Cpu&, Head<"log_prob", NDArray> dy, In<"data", NDArray> data, Out<"output", NDArray> at,
            Grad<"data", NDArray> dx) const;
};

inline constexpr Op<SampleMultinomial, OnUse> sample_multinomial;

using RandomSampleOps = OpList<
#define STROP_SAMPLED(Type, ...) Sample##Type,
#include <strop/ops/distributions.def>  // NOLINT(readability-duplicate-include): the list, once more
    SampleMultinomial>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/random_sample_body.hpp>
#endif
