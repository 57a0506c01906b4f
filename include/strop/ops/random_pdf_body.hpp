// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/random_pdf.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/number/rep.hpp>
#include <strop/ops/random_pdf.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

// Not those of the C library, of which lgamma writes a variable that threads share.
inline double lgamma_of(double x) { return number::Rep<double>::lgamma(x); }

inline double digamma_of(double x) { return number::Rep<double>::digamma(x); }

/// x · log y, which is 0 where x is.
inline double times_log(double x, double y) { return x == 0 ? 0.0 : x * std::log(y); }

/// a / b, which is 0 where a is.
inline double ratio(double a, double b) { return a == 0 ? 0.0 : a / b; }

/// How fast the logarithm of a density grows with the sample and with the parameters.
struct DensitySlopes {
  double sample, first, second = 0;
};

struct UniformDensity {
  double low, high;
  double log(double) const { return -std::log(high - low); }
  double value(double) const { return 1 / (high - low); }
  DensitySlopes slopes(double) const { return {0, 1 / (high - low), 1 / (low - high)}; }
};

struct NormalDensity {
  double mu, sigma;
  double log(double x) const {
    constexpr double half_log_of_two_pi = 0.91893853320467274178;
    const double z = (x - mu) / sigma;
    return -z * z / 2 - std::log(sigma) - half_log_of_two_pi;
  }
  double value(double x) const {
    constexpr double root_of_two_pi = 2.5066282746310005024;
    const double z = (x - mu) / sigma;
    return std::exp(-z * z / 2) / (sigma * root_of_two_pi);
  }
  DensitySlopes slopes(double x) const {
    const double z = (x - mu) / sigma;
    return {-z / sigma, z / sigma, (z * z - 1) / sigma};
  }
};

struct GammaDensity {
  double alpha, beta, base, digamma_of_alpha;
  GammaDensity(double a, double b)
      : alpha(a), beta(b), base(a * std::log(b) - lgamma_of(a)), digamma_of_alpha(digamma_of(a)) {}
  double log(double x) const { return base + times_log(alpha - 1, x) - beta * x; }
  DensitySlopes slopes(double x) const {
    return {ratio(alpha - 1, x) - beta, std::log(beta) + std::log(x) - digamma_of_alpha, alpha / beta - x};
  }
};

struct ExponentialDensity {
  double lam;
  ExponentialDensity(double rate, double) : lam(rate) {}
  double log(double x) const { return std::log(lam) - lam * x; }
  double value(double x) const { return lam * std::exp(-lam * x); }
  DensitySlopes slopes(double x) const { return {-lam, 1 / lam - x}; }
};

struct PoissonDensity {
  double lam;
  PoissonDensity(double rate, double) : lam(rate) {}
  double log(double x) const { return times_log(x, lam) - lgamma_of(x + 1) - lam; }
  DensitySlopes slopes(double x) const { return {0, ratio(x, lam) - 1}; }
};

struct NegativeBinomialDensity {
  double k, p;
  double log(double x) const {
    return lgamma_of(x + k) - lgamma_of(x + 1) - lgamma_of(k) + times_log(k, p) + times_log(x, 1 - p);
  }
  DensitySlopes slopes(double x) const {
    return {0, digamma_of(x + k) - digamma_of(k) + std::log(p), k / p - ratio(x, 1 - p)};
  }
};

/// The same of other parameters: k = 1 / alpha, p = 1 / (mu · alpha + 1); of an alpha of 0 the limit, Poisson's.
///
/// For a small alpha the logarithms of Γ(x + k) and Γ(k) are far larger than their difference. There Stirling's series
/// of both, log Γ(z) = (z − ½) log z − z + log(2π) / 2 + rest(1 / z), are subtracted term by term, and powers of alpha
/// stand for those of k. What four terms of rest leave out is below 1e-14 up to the bound, for the slope as well.
struct DispersedDensity {
  double mu, alpha;
  double log(double x) const {
    if (!is_small()) return of().log(x);
    return times_log(x, mu) - lgamma_of(x + 1) - log1p_over_alpha(mu) - x * std::log1p(mu * alpha) +
           (log1p_over_alpha(x) - x) + (x - 0.5) * std::log1p(x * alpha) + rest(alpha / (1 + x * alpha)) - rest(alpha);
  }
  DensitySlopes slopes(double x) const {
    if (is_small()) {
      const double of_mean = 1 + mu * alpha, of_sample = 1 + x * alpha;
      return {0, ratio(x, mu) - of_sample / of_mean,
              mu * mu * bend(mu * alpha) - x * mu / of_mean - x * x * bend(x * alpha) + (x - 0.5) * x / of_sample +
                  rest_slope(alpha / of_sample) / (of_sample * of_sample) - rest_slope(alpha)};
    }
    const DensitySlopes by = of().slopes(x);
    const double squared = (mu * alpha + 1) * (mu * alpha + 1);
    return {0, -by.second * alpha / squared, -by.first / (alpha * alpha) - by.second * mu / squared};
  }

 private:
  bool is_small() const { return alpha >= 0 && alpha < 1.0 / 32; }
  double log1p_over_alpha(double x) const { return alpha == 0 ? x : std::log1p(x * alpha) / alpha; }
  /// 1 / (12 z) − 1 / (360 z³) + 1 / (1260 z⁵) − 1 / (1680 z⁷) of w = 1 / z, and its slope.
  static double rest(double w) {
    const double s = w * w;
    return w * (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s / 1680)));
  }
  static double rest_slope(double w) {
    const double s = w * w;
    return 1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s / 240));
  }
  /// (log(1 + u) − u / (1 + u)) / u², of which little is left for a small u: its series there.
  static double bend(double u) {
    if (std::abs(u) > 1.0 / 64) return (std::log1p(u) - u / (1 + u)) / (u * u);
    double sum = 0;
    for (int n = 8; n >= 0; --n) sum = (n + 1.0) / (n + 2.0) - u * sum;
    return sum;
  }
  NegativeBinomialDensity of() const { return {1 / alpha, 1 / (mu * alpha + 1)}; }
};

/// The density itself: by its formula where it has a value, negative parameters being none, and no logarithm.
template <class Density>
double value_of(const Density& d, double x) {
  if constexpr (requires { d.value(x); })
    return d.value(x);
  else
    return std::exp(d.log(x));
}

/// f(density, first sample, last sample + 1, k) for each distribution k.
template <class Density, class E, class F>
void each_density(View<const E> x, View<const E> first, View<const E> second, F f) {
  const std::int64_t count = first.size(), each = count == 0 ? 0 : x.size() / count;
  parallel_for(count, std::max<std::int64_t>(1, (1 << 10) / std::max<std::int64_t>(1, each)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t k = begin; k < end; ++k)
                   f(Density{static_cast<double>(first[k]), static_cast<double>(second[k])}, k * each, (k + 1) * each,
                     k);
               });
}

template <class Density, class E>
void densities(bool is_log, View<const E> x, View<const E> first, View<const E> second, View<E> y) {
  each_density<Density>(x, first, second, [&](const Density& d, std::int64_t begin, std::int64_t end, std::int64_t) {
    for (std::int64_t i = begin; i < end; ++i) {
      const double sample = static_cast<double>(x[i]);
      y[i] = static_cast<E>(is_log ? d.log(sample) : value_of(d, sample));
    }
  });
}

/// Gradients of the sample and of the parameters, of which the last is left out where it has no memory.
template <class Density, class E>
void density_gradients(bool is_log, View<const E> dy, View<const E> x, View<const E> first, View<const E> second,
                       View<const E> y, View<E> dx, View<E> dfirst, View<E> dsecond) {
  each_density<Density>(x, first, second, [&](const Density& d, std::int64_t begin, std::int64_t end, std::int64_t k) {
    double of_first = 0, of_second = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const double head = static_cast<double>(dy[i]) * (is_log ? 1 : static_cast<double>(y[i]));
      dx[i] = E(0);
      if (head == 0) continue;  // slopes may be infinite
      const DensitySlopes by = d.slopes(static_cast<double>(x[i]));
      dx[i] = static_cast<E>(head * by.sample);
      of_first += head * by.first;
      of_second += head * by.second;
    }
    dfirst[k] = static_cast<E>(of_first);
    if (dsecond) dsecond[k] = static_cast<E>(of_second);
  });
}

}  // namespace STROP_ISA

template <class Card>
template <Real E>
inline void DensityOfOne<Card>::forward(Cpu&, View<const E> x, View<const E> first, View<E> y) const {
  densities<typename Card::Density>(is_log, x, first, first, y);
}

template <class Card>
template <Real E>
inline void DensityOfOne<Card>::grad_use_in_out(Cpu&, View<const E> dy, View<const E> x, View<const E> first,
                                                View<const E> y, View<E> dx, View<E> dfirst) const {
  density_gradients<typename Card::Density>(is_log, dy, x, first, first, y, dx, dfirst, View<E>());
}

template <class Card>
template <Real E>
inline void DensityOfTwo<Card>::forward(Cpu&, View<const E> x, View<const E> first, View<const E> second,
                                        View<E> y) const {
  densities<typename Card::Density>(is_log, x, first, second, y);
}

template <class Card>
template <Real E>
inline void DensityOfTwo<Card>::grad_use_in_out(Cpu&, View<const E> dy, View<const E> x, View<const E> first,
                                                View<const E> second, View<const E> y, View<E> dx, View<E> dfirst,
                                                View<E> dsecond) const {
  density_gradients<typename Card::Density>(is_log, dy, x, first, second, y, dx, dfirst, dsecond);
}

}  // namespace detail

template <Real E>
inline void RandomPdfDirichlet::forward(Cpu&, View<const E> x, View<const E> alpha, View<E> y) const {
  each_vector(x, alpha, y.size(), [&](std::int64_t i, const E* sample, const E* a, std::int64_t n) {
    double logarithm = 0, total = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const double of_one = static_cast<double>(a[j]);
      logarithm += detail::times_log(of_one - 1, static_cast<double>(sample[j])) - detail::lgamma_of(of_one);
      total += of_one;
    }
    logarithm += detail::lgamma_of(total);
    y[i] = static_cast<E>(is_log ? logarithm : std::exp(logarithm));
  });
}

template <Real E>
inline void RandomPdfDirichlet::grad_use_in_out(Cpu&, View<const E> dy, View<const E> x, View<const E> alpha,
                                                View<const E> y, View<E> dx, View<E> dalpha) const {
  detail::List<double> sums(dalpha.size(), 0.0);
  each_vector(x, alpha, y.size(), [&](std::int64_t i, const E* sample, const E* a, std::int64_t n) {
    const double head = static_cast<double>(dy[i]) * (is_log ? 1 : static_cast<double>(y[i]));
    std::fill_n(dx.data() + i * n, n, E(0));
    if (head == 0) return;
    double total = 0;
    for (std::int64_t j = 0; j < n; ++j) total += static_cast<double>(a[j]);
    const double base = detail::digamma_of(total);
    double* const to = sums.data() + (a - alpha.data());
    for (std::int64_t j = 0; j < n; ++j) {
      const double of_one = static_cast<double>(a[j]), share = static_cast<double>(sample[j]);
      dx[i * n + j] = static_cast<E>(head * detail::ratio(of_one - 1, share));
      to[j] += head * (std::log(share) + base - detail::digamma_of(of_one));
    }
  });
  for (std::int64_t j = 0; j < dalpha.size(); ++j) dalpha[j] = static_cast<E>(sums[j]);
}

template <class E, class F>
inline void RandomPdfDirichlet::each_vector(View<const E> x, View<const E> alpha, std::int64_t samples, F f) {
  const std::int64_t n = x.shape().back();
  std::int64_t count = 1;
  for (const std::int64_t extent : alpha.shape().first(alpha.shape().size() - 1)) count *= extent;
  const std::int64_t of_each = count == 0 ? 0 : samples / count;
  parallel_for(count, std::max<std::int64_t>(1, (1 << 10) / std::max<std::int64_t>(1, of_each * n)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin * of_each; i < end * of_each; ++i)
                   f(i, x.data() + i * n, alpha.data() + i / of_each * n, n);
               });
}

}  // namespace strop::inline v0
