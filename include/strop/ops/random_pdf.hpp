// SPDX-License-Identifier: Apache-2.0
/// \file
/// Densities of samples, of distributions whose parameters are elements of arrays: _random_pdf_….
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

inline constexpr Note pdf_notes[] = {{"sample", "what is drawn"}, {"is_log", "the logarithm of the density"}};

/// Parameters have the first extents of sample, all the same; the result has the shape of sample. Of a distribution of
/// vectors the last axis, in both, is theirs, and the result is without it.
template <int = 0>
constexpr void infer_density(Shapes& s, bool vectors) {
  const Shape& x = s.in(0);
  if (!x.has_rank()) return;
  const int least = vectors ? 1 : 0;
  if (x.ndim() < least) s.fail(s.name_in(0), " has no dimension, expected 1 or more");
  for (int i = 1; i < s.inputs(); ++i) {
    if (i > 1) s.set_in(i, s.in(i - 1));
    if (!s.in(i).has_rank()) continue;
    const int rank = s.in(i).ndim();
    if (rank > x.ndim() || rank < least || x.ndim() < least)
      s.fail(s.name_in(i), " has shape ", s.in(i), ", expected ", least, " to ", x.ndim(), " dimensions, those of ",
             s.name_in(0));
    Shape expected = x;
    expected.resize(rank);
    if (vectors) expected.back() = x.back();
    s.set_in(i, expected);
  }
  Shape out = x;
  if (vectors) out.resize(x.ndim() - 1);
  if (vectors && out.ndim() == 0) out.push_back(1);
  s.set_out(0, out);
}

inline namespace STROP_ISA {

struct UniformDensity;
struct NormalDensity;
struct GammaDensity;
struct ExponentialDensity;
struct PoissonDensity;
struct NegativeBinomialDensity;
struct DispersedDensity;

}  // namespace STROP_ISA

// What the operators say of themselves.
struct UniformCard {
  using Density = UniformDensity;
  static constexpr std::string_view name = "_random_pdf_uniform", aliases[] = {"random_pdf_uniform"},
                                    inputs[] = {"sample", "low", "high"};
  static constexpr const char* doc =
      "The density of uniform numbers from low to high, which sample is not asked to lie between.";
};
struct NormalCard {
  using Density = NormalDensity;
  static constexpr std::string_view name = "_random_pdf_normal", aliases[] = {"random_pdf_normal"},
                                    inputs[] = {"sample", "mu", "sigma"};
  static constexpr const char* doc = "The density of normal numbers with mean mu and standard deviation sigma.";
};
struct GammaCard {
  using Density = GammaDensity;
  static constexpr std::string_view name = "_random_pdf_gamma", aliases[] = {"random_pdf_gamma"},
                                    inputs[] = {"sample", "alpha", "beta"};
  static constexpr const char* doc = "The density of gamma numbers with shape alpha and rate beta.";
};
struct ExponentialCard {
  using Density = ExponentialDensity;
  static constexpr std::string_view name = "_random_pdf_exponential", aliases[] = {"random_pdf_exponential"},
                                    inputs[] = {"sample", "lam"};
  static constexpr const char* doc = "The density of exponential numbers with rate lam.";
};
struct PoissonCard {
  using Density = PoissonDensity;
  static constexpr std::string_view name = "_random_pdf_poisson", aliases[] = {"random_pdf_poisson"},
                                    inputs[] = {"sample", "lam"};
  static constexpr const char* doc = "The probability of Poisson numbers with mean lam.";
};
struct NegativeBinomialCard {
  using Density = NegativeBinomialDensity;
  static constexpr std::string_view name = "_random_pdf_negative_binomial",
                                    aliases[] = {"random_pdf_negative_binomial"}, inputs[] = {"sample", "k", "p"};
  static constexpr const char* doc =
      "The probability of negative binomial numbers: successes before the k-th failure, which has probability p.";
};
struct DispersedCard {
  using Density = DispersedDensity;
  static constexpr std::string_view name = "_random_pdf_generalized_negative_binomial",
                                    aliases[] = {"random_pdf_generalized_negative_binomial"},
                                    inputs[] = {"sample", "mu", "alpha"};
  static constexpr const char* doc = "The probability of negative binomial numbers with mean mu and dispersion alpha.";
};

/// What the operators of all densities are. sample (…), parameters of one shape, the first extents of sample: each of
/// their elements is a distribution, of which the rest of sample are numbers; the result has the shape of sample.
///
/// Floating types, computed in double; sparse arrays by the dense fallback. The gradient needs all inputs and the
/// result; it goes to the parameters, and to the sample where the distribution is continuous. Where a density is 0 so
/// is its gradient. What sample and parameters cannot be is not refused, as in MXNet. Error: shapes that do not fit.
template <class Card>
struct DensityOfOne {
  bool is_log = false;

  static constexpr std::string_view name = Card::name;
  static constexpr const char* doc = Card::doc;
  static constexpr std::span<const std::string_view> aliases = Card::aliases, inputs = Card::inputs;
  static constexpr std::span<const Note> notes = pdf_notes;
  constexpr void infer_shape(Shapes& s) const { infer_density(s, false); }
  template <Real E>
  void forward(Cpu&, View<const E> x, View<const E> first, View<E> y) const;
  template <Real E>
  void grad_use_in_out(Cpu&, View<const E> dy, View<const E> x, View<const E> first, View<const E> y, View<E> dx,
                       View<E> dfirst) const;
};
/// The same of two parameters.
template <class Card>
struct DensityOfTwo {
  bool is_log = false;

  static constexpr std::string_view name = Card::name;
  static constexpr const char* doc = Card::doc;
  static constexpr std::span<const std::string_view> aliases = Card::aliases, inputs = Card::inputs;
  static constexpr std::span<const Note> notes = pdf_notes;
  constexpr void infer_shape(Shapes& s) const { infer_density(s, false); }
  template <Real E>
  void forward(Cpu&, View<const E> x, View<const E> first, View<const E> second, View<E> y) const;
  template <Real E>
  void grad_use_in_out(Cpu&, View<const E> dy, View<const E> x, View<const E> first, View<const E> second,
                       View<const E> y, View<E> dx, View<E> dfirst, View<E> dsecond) const;
};

}  // namespace detail

/// _random_pdf_uniform: 1 / (high − low), wherever sample lies. `random_pdf_uniform(array({3}), array({1}),
/// array({5}))` is [0.25].
using RandomPdfUniform = detail::DensityOfTwo<detail::UniformCard>;
/// _random_pdf_normal: e^(−z² / 2) / (sigma · √2π) with z = (x − mu) / sigma.
using RandomPdfNormal = detail::DensityOfTwo<detail::NormalCard>;
/// _random_pdf_gamma: betaᵃ · xᵃ⁻¹ · e^(−beta · x) / Γ(a) with a = alpha. beta is the rate, the scale of
/// _random_gamma's numbers being its inverse.
using RandomPdfGamma = detail::DensityOfTwo<detail::GammaCard>;
/// _random_pdf_exponential: lam · e^(−lam · x).
using RandomPdfExponential = detail::DensityOfOne<detail::ExponentialCard>;
/// _random_pdf_poisson: lamˣ · e^(−lam) / x!.
using RandomPdfPoisson = detail::DensityOfOne<detail::PoissonCard>;
/// _random_pdf_negative_binomial: Γ(x + k) / (Γ(k) · x!) · pᵏ · (1 − p)ˣ.
using RandomPdfNegativeBinomial = detail::DensityOfTwo<detail::NegativeBinomialCard>;
/// _random_pdf_generalized_negative_binomial: that of k = 1 / alpha and p = 1 / (mu · alpha + 1);
/// with an alpha of 0 that of Poisson numbers, where MXNet has NaN.
using RandomPdfGeneralizedNegativeBinomial = detail::DensityOfTwo<detail::DispersedCard>;

/// _random_pdf_dirichlet: Γ(Σ alpha) / Π Γ(alphaⱼ) · Π xⱼ^(alphaⱼ − 1) over the last axis of sample, which the result
/// is without, and of alpha, whose other axes are the first ones of sample. A sample of one vector gives shape (1,). As
/// the others otherwise.
///
/// Example: `random_pdf_dirichlet(array({0.5, 0.5}), array({1, 1}))` is [1].
struct RandomPdfDirichlet {
  bool is_log = false;

  static constexpr std::string_view name = "_random_pdf_dirichlet", aliases[] = {"random_pdf_dirichlet"},
                                    inputs[] = {"sample", "alpha"};
  static constexpr const char* doc = "The density of vectors of shares, Dirichlet with concentrations alpha.";
  static constexpr std::span<const Note> notes = detail::pdf_notes;
  constexpr void infer_shape(Shapes& s) const { detail::infer_density(s, true); }
  template <Real E>
  void forward(Cpu&, View<const E> x, View<const E> alpha, View<E> y) const;
  template <Real E>
  void grad_use_in_out(Cpu&, View<const E> dy, View<const E> x, View<const E> alpha, View<const E> y, View<E> dx,
                       View<E> dalpha) const;

 private:
  /// f(i, sample i, its concentrations, how many these are); no two threads have the same concentrations.
  template <class E, class F>
  static void each_vector(View<const E> x, View<const E> alpha, std::int64_t samples, F f);
};

inline constexpr Op<RandomPdfUniform, OnUse> random_pdf_uniform;
inline constexpr Op<RandomPdfNormal, OnUse> random_pdf_normal;
inline constexpr Op<RandomPdfGamma, OnUse> random_pdf_gamma;
inline constexpr Op<RandomPdfExponential, OnUse> random_pdf_exponential;
inline constexpr Op<RandomPdfPoisson, OnUse> random_pdf_poisson;
inline constexpr Op<RandomPdfNegativeBinomial, OnUse> random_pdf_negative_binomial;
inline constexpr Op<RandomPdfGeneralizedNegativeBinomial, OnUse> random_pdf_generalized_negative_binomial;
inline constexpr Op<RandomPdfDirichlet, OnUse> random_pdf_dirichlet;

using RandomPdfOps = OpList<RandomPdfUniform, RandomPdfNormal, RandomPdfGamma, RandomPdfExponential, RandomPdfPoisson,
                            RandomPdfNegativeBinomial, RandomPdfGeneralizedNegativeBinomial, RandomPdfDirichlet>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/random_pdf_body.hpp>
#endif
