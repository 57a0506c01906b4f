// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators that draw gamma, Poisson and negative binomial numbers, also in the shape of another array.
///
/// As those of random.hpp: every element is a function of the seed, of the order of calls and of its position, of a
/// row_sparse array all rows come to be stored, CSR goes by the dense fallback. Types: floating, float32 unless said;
/// numbers are drawn in double and rounded once.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/random.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

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

/// _random_gamma: gamma numbers of density x^(alpha − 1) e^(−x / beta) / (Γ(alpha) beta^alpha), mean alpha · beta,
/// variance alpha · beta². Shape and type are those of _random_uniform. Algorithm: Marsaglia and Tsang 2000. Error:
/// alpha or beta is not above 0.
struct RandomGamma {
  static constexpr Resources resources{.random = true};
  float alpha = 1, beta = 1;
  Shape shape = {};
  std::string ctx = {};
  std::optional<Dtype> dtype = {};
  static constexpr std::string_view name = "_random_gamma", aliases[] = {"random_gamma"};
  static constexpr const char* doc = "Gamma random numbers with shape alpha and scale beta.";
  static constexpr std::span<const Note> notes = detail::gamma_notes;
  static constexpr DtypeSet dtypes = floating;
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { detail::infer_made(s, shape); }
  constexpr void infer_type(Types& t) const { detail::infer_drawn_type(t, dtype); }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_drawn_storage(s); }
  void forward(Cpu& cpu, NDArray& y) const;
};

/// _random_poisson: whole numbers k with probability lam^k e^(−lam) / k!, mean and variance lam.
/// Shape and type are those of _random_uniform. Algorithms: inversion below 10, then PTRS of Hörmann 1993. Error: lam
/// is negative.
struct RandomPoisson {
  static constexpr Resources resources{.random = true};
  float lam = 1;
  Shape shape = {};
  std::string ctx = {};
  std::optional<Dtype> dtype = {};
  static constexpr std::string_view name = "_random_poisson", aliases[] = {"random_poisson"};
  static constexpr const char* doc = "Poisson random numbers with mean lam.";
  static constexpr std::span<const Note> notes = detail::poisson_notes;
  static constexpr DtypeSet dtypes = floating;
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { detail::infer_made(s, shape); }
  constexpr void infer_type(Types& t) const { detail::infer_drawn_type(t, dtype); }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_drawn_storage(s); }
  void forward(Cpu& cpu, NDArray& y) const;
};

/// _random_negative_binomial: successes before the k-th failure where each trial fails with probability p:
/// n with probability Γ(n + k) / (Γ(k) n!) p^k (1 − p)^n, mean k (1 − p) / p, variance k (1 − p) / p².
/// Shape and type are those of _random_uniform. Algorithm: Poisson
/// numbers whose mean is a gamma number of shape k and scale (1 − p) / p (Greenwood and Yule 1920). Error: k is
/// negative, or p is not above 0 and at most 1.
struct RandomNegativeBinomial {
  static constexpr Resources resources{.random = true};
  int k = 1;
  float p = 1;
  Shape shape = {};
  std::string ctx = {};
  std::optional<Dtype> dtype = {};
  static constexpr std::string_view name = "_random_negative_binomial", aliases[] = {"random_negative_binomial"};
  static constexpr const char* doc =
      "Negative binomial random numbers: successes before the k-th failure, which has probability p.";
  static constexpr std::span<const Note> notes = detail::failures_notes;
  static constexpr DtypeSet dtypes = floating;
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { detail::infer_made(s, shape); }
  constexpr void infer_type(Types& t) const { detail::infer_drawn_type(t, dtype); }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_drawn_storage(s); }
  void forward(Cpu& cpu, NDArray& y) const;
};

/// _random_generalized_negative_binomial: negative binomial numbers by mean and
/// dispersion: k = 1 / alpha failures, p = 1 / (1 + alpha · mu), variance mu + alpha · mu²; of alpha 0 Poisson numbers.
/// Shape and type are those of _random_uniform. Algorithm: as _random_negative_binomial. Error: mu or alpha
/// is negative.
struct RandomGeneralizedNegativeBinomial {
  static constexpr Resources resources{.random = true};
  float mu = 1, alpha = 1;
  Shape shape = {};
  std::string ctx = {};
  std::optional<Dtype> dtype = {};
  static constexpr std::string_view name = "_random_generalized_negative_binomial",
                                    aliases[] = {"random_generalized_negative_binomial"};
  static constexpr const char* doc = "Negative binomial random numbers with mean mu and dispersion alpha.";
  static constexpr std::span<const Note> notes = detail::dispersion_notes;
  static constexpr DtypeSet dtypes = floating;
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { detail::infer_made(s, shape); }
  constexpr void infer_type(Types& t) const { detail::infer_drawn_type(t, dtype); }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_drawn_storage(s); }
  void forward(Cpu& cpu, NDArray& y) const;
};

/// _random_gamma_like: the numbers of _random_gamma in the shape and type of `data`, with its errors.
struct RandomGammaLike {
  static constexpr Resources resources{.random = true};
  float alpha = 1, beta = 1;
  static constexpr std::string_view name = "_random_gamma_like", aliases[] = {"random_gamma_like"};
  static constexpr const char* doc =
      "Gamma random numbers with shape alpha and scale beta, in the shape and type of the input.";
  static constexpr std::span<const Note> notes = detail::gamma_notes;
  static constexpr DtypeSet dtypes = floating;
  static constexpr bool zero_gradient = true;
  constexpr void infer_type(Types& t) const { detail::infer_drawn_type(t, t.in(0)); }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_drawn_storage(s); }
  void forward(Cpu& cpu, const NDArray&, NDArray& y) const;
};

/// _random_poisson_like: the numbers of _random_poisson in the shape and type of `data`, with its errors.
struct RandomPoissonLike {
  static constexpr Resources resources{.random = true};
  float lam = 1;
  static constexpr std::string_view name = "_random_poisson_like", aliases[] = {"random_poisson_like"};
  static constexpr const char* doc = "Poisson random numbers with mean lam, in the shape and type of the input.";
  static constexpr std::span<const Note> notes = detail::poisson_notes;
  static constexpr DtypeSet dtypes = floating;
  static constexpr bool zero_gradient = true;
  constexpr void infer_type(Types& t) const { detail::infer_drawn_type(t, t.in(0)); }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_drawn_storage(s); }
  void forward(Cpu& cpu, const NDArray&, NDArray& y) const;
};

/// _random_negative_binomial_like: the numbers of _random_negative_binomial in the shape and type of `data`, with its
/// errors.
struct RandomNegativeBinomialLike {
  static constexpr Resources resources{.random = true};
  int k = 1;
  float p = 1;
  static constexpr std::string_view name = "_random_negative_binomial_like",
                                    aliases[] = {"random_negative_binomial_like"};
  static constexpr const char* doc =
      "Negative binomial random numbers: successes before the k-th failure, which "
      "has probability p, in the shape and type of the input.";
  static constexpr std::span<const Note> notes = detail::failures_notes;
  static constexpr DtypeSet dtypes = floating;
  static constexpr bool zero_gradient = true;
  constexpr void infer_type(Types& t) const { detail::infer_drawn_type(t, t.in(0)); }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_drawn_storage(s); }
  void forward(Cpu& cpu, const NDArray&, NDArray& y) const;
};

/// _random_generalized_negative_binomial_like: the numbers of _random_generalized_negative_binomial in the shape and
/// type of `data`, with its errors.
struct RandomGeneralizedNegativeBinomialLike {
  static constexpr Resources resources{.random = true};
  float mu = 1, alpha = 1;
  static constexpr std::string_view name = "_random_generalized_negative_binomial_like",
                                    aliases[] = {"random_generalized_negative_binomial_like"};
  static constexpr const char* doc =
      "Negative binomial random numbers with mean mu and dispersion alpha, in the shape and type of the input.";
  static constexpr std::span<const Note> notes = detail::dispersion_notes;
  static constexpr DtypeSet dtypes = floating;
  static constexpr bool zero_gradient = true;
  constexpr void infer_type(Types& t) const { detail::infer_drawn_type(t, t.in(0)); }
  constexpr bool infer_storage(Storages& s) const { return detail::infer_drawn_storage(s); }
  void forward(Cpu& cpu, const NDArray&, NDArray& y) const;
};

inline constexpr Op<RandomGamma, OnUse> random_gamma;
inline constexpr Op<RandomPoisson, OnUse> random_poisson;
inline constexpr Op<RandomNegativeBinomial, OnUse> random_negative_binomial;
inline constexpr Op<RandomGeneralizedNegativeBinomial, OnUse> random_generalized_negative_binomial;
inline constexpr Op<RandomGammaLike, OnUse> random_gamma_like;
inline constexpr Op<RandomPoissonLike, OnUse> random_poisson_like;
inline constexpr Op<RandomNegativeBinomialLike, OnUse> random_negative_binomial_like;
inline constexpr Op<RandomGeneralizedNegativeBinomialLike, OnUse> random_generalized_negative_binomial_like;

using RandomCountOps =
    OpList<RandomGamma, RandomPoisson, RandomNegativeBinomial, RandomGeneralizedNegativeBinomial, RandomGammaLike,
           RandomPoissonLike, RandomNegativeBinomialLike, RandomGeneralizedNegativeBinomialLike>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/random_counts_body.hpp>
#endif
