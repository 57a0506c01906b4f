// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/random_counts.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/random_body.hpp>
#include <strop/ops/random_counts.hpp>
#include <strop/ops/random_draws.hpp>

#include <string_view>

namespace strop::inline v0 {

namespace detail {

inline void draw_gammas(Context& ctx, const NDArray& y, float alpha, float beta, std::string_view op) {
  if (!(alpha > 0)) fail(op, ": alpha is ", alpha, ", expected more than 0");
  if (!(beta > 0)) fail(op, ": beta is ", beta, ", expected more than 0");
  const double shape = static_cast<double>(alpha), scale = static_cast<double>(beta);
  draw_elements(ctx.random(), y, [=](ElementDraws& draws, std::int64_t) { return draw_gamma(draws, shape) * scale; });
}

inline void draw_poissons(Context& ctx, const NDArray& y, float lam, std::string_view op) {
  if (!(lam >= 0)) fail(op, ": lam is ", lam, ", expected at least 0");
  const double rate = static_cast<double>(lam);
  draw_elements(ctx.random(), y, [=](ElementDraws& draws, std::int64_t) { return draw_poisson(draws, rate); });
}

inline void draw_mixture(Context& ctx, const NDArray& y, double shape, double scale) {
  draw_elements(ctx.random(), y, [=](ElementDraws& draws, std::int64_t) { return draw_mixed(draws, shape, scale); });
}

inline void draw_negative_binomials(Context& ctx, const NDArray& y, int k, float p, std::string_view op) {
  if (k < 0) fail(op, ": k is ", k, ", expected at least 0");
  if (!(p > 0 && p <= 1)) fail(op, ": p is ", p, ", expected more than 0 and at most 1");
  const double failure = static_cast<double>(p);
  draw_mixture(ctx, y, k, (1 - failure) / failure);
}

inline void draw_generalized(Context& ctx, const NDArray& y, float mu, float alpha, std::string_view op) {
  if (!(mu >= 0)) fail(op, ": mu is ", mu, ", expected at least 0");
  if (!(alpha >= 0)) fail(op, ": alpha is ", alpha, ", expected at least 0");
  const double mean = static_cast<double>(mu), dispersion = static_cast<double>(alpha);
  if (alpha == 0) return draw_poissons(ctx, y, mu, op);
  draw_mixture(ctx, y, 1 / dispersion, dispersion * mean);
}

}  // namespace detail

inline void RandomGamma::forward(Cpu& cpu, NDArray& y) const {
  detail::check_device(ctx, name);
  detail::draw_gammas(cpu, detail::drawn_elements(y), alpha, beta, name);
}

inline void RandomPoisson::forward(Cpu& cpu, NDArray& y) const {
  detail::check_device(ctx, name);
  detail::draw_poissons(cpu, detail::drawn_elements(y), lam, name);
}

inline void RandomNegativeBinomial::forward(Cpu& cpu, NDArray& y) const {
  detail::check_device(ctx, name);
  detail::draw_negative_binomials(cpu, detail::drawn_elements(y), k, p, name);
}

inline void RandomGeneralizedNegativeBinomial::forward(Cpu& cpu, NDArray& y) const {
  detail::check_device(ctx, name);
  detail::draw_generalized(cpu, detail::drawn_elements(y), mu, alpha, name);
}

inline void RandomGammaLike::forward(Cpu& cpu, const NDArray&, NDArray& y) const {
  detail::draw_gammas(cpu, detail::drawn_elements(y), alpha, beta, name);
}

inline void RandomPoissonLike::forward(Cpu& cpu, const NDArray&, NDArray& y) const {
  detail::draw_poissons(cpu, detail::drawn_elements(y), lam, name);
}

inline void RandomNegativeBinomialLike::forward(Cpu& cpu, const NDArray&, NDArray& y) const {
  detail::draw_negative_binomials(cpu, detail::drawn_elements(y), k, p, name);
}

inline void RandomGeneralizedNegativeBinomialLike::forward(Cpu& cpu, const NDArray&, NDArray& y) const {
  detail::draw_generalized(cpu, detail::drawn_elements(y), mu, alpha, name);
}

}  // namespace strop::inline v0
