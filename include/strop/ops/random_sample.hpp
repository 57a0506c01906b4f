// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators that draw random numbers whose parameters are arrays: of each element so many numbers.
///
/// The result has the shape of the parameters and `shape` behind it, and a floating type, float32 unless said; the
/// parameters are of one shape and of one type. As in random_counts.hpp every element is a function of the seed, of
/// the order of calls and of its position; numbers are rounded once. Sparse arrays go by the dense fallback.
#pragma once
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/order.hpp>
#include <strop/ops/random.hpp>
#include <strop/ops/random_draws.hpp>
#include <strop/tensor/random_blocks.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

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
constexpr void infer_sampled_type(Types& t, const std::optional<Dtype>& dtype) {
  for (int i = 1; i < t.inputs(); ++i) {
    t.set_in(i, t.in(0));
    t.set_in(0, t.in(i));
  }
  infer_drawn_type(t, dtype);
}

inline namespace STROP_ISA {

/// The parameters of each element of the result, refused where they do not hold: `holds(a, b)`.
struct Sampled {
  std::vector<double> a, b;
  std::int64_t count;  // elements of the result for one of the parameters

  Sampled(const NDArray& first, const NDArray& second, const NDArray& y, std::string_view op, std::string_view expected,
          bool (*holds)(double, double))
      : a(first.to_vector<double>()), b(second.to_vector<double>()), count(a.empty() ? 1 : y.size() / std::ssize(a)) {
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!holds(a[i], b[i])) fail(op, ": ", expected, " at position ", i);
  }
};

/// Each element drawn by itself: draw(its numbers, a, b).
template <class Draw>
void draw_samples(Context& ctx, const NDArray& y, const Sampled& of, Draw draw) {
  draw_elements(ctx.random(), y, [&](ElementDraws& draws, std::int64_t at) {
    const auto i = static_cast<std::size_t>(at / of.count);
    return draw(draws, of.a[i], of.b[i]);
  });
}

/// Many at a time: scale(a, b) makes them, one by one, of the numbers that fill puts there.
template <class Real, class Fill, class Scale>
void fill_samples(Context& ctx, const NDArray& y, const Sampled& of, Fill fill, Scale scale) {
  const random::Stream stream = ctx.random();
  random::detail::fill_blocks<double>(y, stream, [&](const random::Stream& part, double* to, std::int64_t count) {
    Real drawn[random::detail::block_elements];
    fill(part, drawn, count);
    const auto at = static_cast<std::int64_t>(part.offset - stream.offset);
    std::int64_t left = of.count - at % of.count;
    for (std::int64_t i = 0, j = at / of.count; i < count; ++j, left = of.count) {
      const auto each = scale(of.a[static_cast<std::size_t>(j)], of.b[static_cast<std::size_t>(j)]);
      for (const std::int64_t end = std::min(count, i + left); i < end; ++i)
        to[i] = each(static_cast<double>(drawn[i]));
    }
  });
}

}  // namespace STROP_ISA
}  // namespace detail

/// _sample_uniform: numbers u with low ≤ u < high, uniform, rounded. Error: low is above high, one is not
/// finite.
struct SampleUniform {
  static constexpr Resources resources{.random = true};
  Shape shape = {};
  std::optional<Dtype> dtype = {};
  static constexpr std::string_view name = "_sample_uniform", aliases[] = {"sample_uniform"},
                                    inputs[] = {"low", "high"};
  static constexpr const char* doc = "Uniform random numbers from low to below high, of each element of these.";
  static constexpr std::span<const Note> notes = detail::each_notes;
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { detail::infer_sampled(s, shape); }
  constexpr void infer_type(Types& t) const { detail::infer_sampled_type(t, dtype); }
  void forward(Cpu& cpu, const NDArray& first, const NDArray& second, NDArray& y) const {
    const detail::Sampled of(
        first, second, y, name, "low is above high, or one of them is not finite,",
        [](double low, double high) { return low <= high && std::isfinite(low) && std::isfinite(high); });
    const auto scale = [type = y.dtype()](double low, double high) {
      return random::detail::UniformRange(low, high, type);
    };
    if (y.dtype() == f64)
      detail::fill_samples<double>(
          cpu, y, of, [](const random::Stream& part, double* to, std::int64_t n) { part.fill_uniform01d(to, n); },
          scale);
    else
      detail::fill_samples<float>(
          cpu, y, of, [](const random::Stream& part, float* to, std::int64_t n) { part.fill_uniform(to, n); }, scale);
  }
};

/// _sample_normal: normal numbers with mean mu and standard deviation sigma, as of _random_normal. Error: sigma is
/// negative.
struct SampleNormal {
  static constexpr Resources resources{.random = true};
  Shape shape = {};
  std::optional<Dtype> dtype = {};
  static constexpr std::string_view name = "_sample_normal", aliases[] = {"sample_normal"}, inputs[] = {"mu", "sigma"};
  static constexpr const char* doc =
      "Normal random numbers with mean mu and standard deviation sigma, of each element of these.";
  static constexpr std::span<const Note> notes = detail::each_notes;
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { detail::infer_sampled(s, shape); }
  constexpr void infer_type(Types& t) const { detail::infer_sampled_type(t, dtype); }
  void forward(Cpu& cpu, const NDArray& first, const NDArray& second, NDArray& y) const {
    const detail::Sampled of(first, second, y, name, "sigma is below 0, or no number,",
                             [](double, double sigma) { return sigma >= 0; });
    detail::fill_samples<float>(
        cpu, y, of, [](const random::Stream& part, float* to, std::int64_t n) { part.fill_normal(to, n); },
        [](double mu, double sigma) { return [=](double z) { return mu + sigma * z; }; });
  }
};

/// _sample_gamma: gamma numbers, as of _random_gamma. Error: alpha or beta is not above 0.
struct SampleGamma {
  static constexpr Resources resources{.random = true};
  Shape shape = {};
  std::optional<Dtype> dtype = {};
  static constexpr std::string_view name = "_sample_gamma", aliases[] = {"sample_gamma"}, inputs[] = {"alpha", "beta"};
  static constexpr const char* doc = "Gamma random numbers with shape alpha and scale beta, of each element of these.";
  static constexpr std::span<const Note> notes = detail::each_notes;
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { detail::infer_sampled(s, shape); }
  constexpr void infer_type(Types& t) const { detail::infer_sampled_type(t, dtype); }
  void forward(Cpu& cpu, const NDArray& first, const NDArray& second, NDArray& y) const {
    const detail::Sampled of(first, second, y, name, "alpha or beta is not above 0",
                             [](double alpha, double beta) { return alpha > 0 && beta > 0; });
    detail::draw_samples(cpu, y, of, [](detail::ElementDraws& draws, double alpha, double beta) {
      return detail::draw_gamma(draws, alpha) * beta;
    });
  }
};

/// _sample_exponential: exponential numbers with rate lam, mean 1 / lam. Error: lam is not above 0.
struct SampleExponential {
  static constexpr Resources resources{.random = true};
  Shape shape = {};
  std::optional<Dtype> dtype = {};
  static constexpr std::string_view name = "_sample_exponential", aliases[] = {"sample_exponential"},
                                    inputs[] = {"lam"};
  static constexpr const char* doc = "Exponential random numbers with rate lam, of each element of it.";
  static constexpr std::span<const Note> notes = detail::each_notes;
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { detail::infer_sampled(s, shape); }
  constexpr void infer_type(Types& t) const { detail::infer_sampled_type(t, dtype); }
  void forward(Cpu& cpu, const NDArray& first, NDArray& y) const {
    const detail::Sampled of(first, first, y, name, "lam is not above 0", [](double lam, double) { return lam > 0; });
    detail::fill_samples<double>(
        cpu, y, of, [](const random::Stream& part, double* to, std::int64_t n) { part.fill_uniform01d(to, n); },
        [](double lam, double) { return [=](double u) { return -std::log1p(-u) / lam; }; });
  }
};

/// _sample_poisson: Poisson numbers, as of _random_poisson. Error: lam is negative.
struct SamplePoisson {
  static constexpr Resources resources{.random = true};
  Shape shape = {};
  std::optional<Dtype> dtype = {};
  static constexpr std::string_view name = "_sample_poisson", aliases[] = {"sample_poisson"}, inputs[] = {"lam"};
  static constexpr const char* doc = "Poisson random numbers with mean lam, of each element of it.";
  static constexpr std::span<const Note> notes = detail::each_notes;
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { detail::infer_sampled(s, shape); }
  constexpr void infer_type(Types& t) const { detail::infer_sampled_type(t, dtype); }
  void forward(Cpu& cpu, const NDArray& first, NDArray& y) const {
    const detail::Sampled of(first, first, y, name, "lam is below 0, or no number,",
                             [](double lam, double) { return lam >= 0; });
    detail::draw_samples(
        cpu, y, of, [](detail::ElementDraws& draws, double lam, double) { return detail::draw_poisson(draws, lam); });
  }
};

/// _sample_negative_binomial: negative binomial numbers, as of _random_negative_binomial, of which k need not be whole.
/// The parameters are of a floating type. Error: k is negative, or p is not above 0 and at most 1.
struct SampleNegativeBinomial {
  static constexpr Resources resources{.random = true};
  Shape shape = {};
  std::optional<Dtype> dtype = {};
  static constexpr std::string_view name = "_sample_negative_binomial", aliases[] = {"sample_negative_binomial"},
                                    inputs[] = {"k", "p"};
  static constexpr const char* doc =
      "Negative binomial random numbers: successes before the k-th failure, which "
      "has probability p, of each element of these.";
  static constexpr std::span<const Note> notes = detail::each_notes;
  static constexpr DtypeSet dtypes = floating;  // a probability has no other
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { detail::infer_sampled(s, shape); }
  constexpr void infer_type(Types& t) const {
    t.expect_in(0, dtypes);
    detail::infer_sampled_type(t, dtype);
  }
  void forward(Cpu& cpu, const NDArray& first, const NDArray& second, NDArray& y) const {
    const detail::Sampled of(first, second, y, name, "k is below 0, or p not above 0 and at most 1,",
                             [](double k, double p) { return k >= 0 && p > 0 && p <= 1; });
    detail::draw_samples(cpu, y, of, [](detail::ElementDraws& draws, double k, double p) {
      return detail::draw_mixed(draws, k, (1 - p) / p);
    });
  }
};

/// _sample_generalized_negative_binomial: negative binomial numbers, as of _random_generalized_negative_binomial.
/// Error: mu or alpha is negative.
struct SampleGeneralizedNegativeBinomial {
  static constexpr Resources resources{.random = true};
  Shape shape = {};
  std::optional<Dtype> dtype = {};
  static constexpr std::string_view name = "_sample_generalized_negative_binomial",
                                    aliases[] = {"sample_generalized_negative_binomial"}, inputs[] = {"mu", "alpha"};
  static constexpr const char* doc =
      "Negative binomial random numbers with mean mu and dispersion alpha, of each element of these.";
  static constexpr std::span<const Note> notes = detail::each_notes;
  static constexpr bool zero_gradient = true;
  constexpr void infer_shape(Shapes& s) const { detail::infer_sampled(s, shape); }
  constexpr void infer_type(Types& t) const { detail::infer_sampled_type(t, dtype); }
  void forward(Cpu& cpu, const NDArray& first, const NDArray& second, NDArray& y) const {
    const detail::Sampled of(first, second, y, name, "mu or alpha is below 0, or no number,",
                             [](double mu, double alpha) { return mu >= 0 && alpha >= 0; });
    detail::draw_samples(cpu, y, of, [](detail::ElementDraws& draws, double mu, double alpha) {
      return alpha > 0 ? detail::draw_mixed(draws, 1 / alpha, alpha * mu) : detail::draw_poisson(draws, mu);
    });
  }
};

/// _sample_multinomial: positions along the last axis of data (…, K), drawn with probabilities that are as its rows: so
/// many as `shape` says, of a vector at least one. `dtype` is theirs. With get_prob also the logarithms
/// of the elements of data there, which are probabilities where rows add up to 1: of the type of data, float32 of
/// integers; their gradient goes to data. Error: an element is negative or no number, a row has none above 0, dtype
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
  void forward(Cpu& cpu, const NDArray& data, NDArray& y, NDArray& log_prob) const {
    const std::int64_t width = data.shape().back(), rows = width == 0 ? 0 : data.size() / width;
    if (y.size() != 0 && width == 0) fail(name, ": data has shape ", data.shape(), ", which has no positions");
    if (y.size() != 0) detail::check_positions(data.shape(), -1, y.dtype(), name);
    const std::vector<double> p = data.to_vector<double>();
    std::vector<double> ends(p);  // of each row the sums from its begin
    for (std::int64_t row = 0; row < rows; ++row) {
      double* const end = ends.data() + row * width;
      for (std::int64_t i = 0; i < width; ++i) {
        if (!(end[i] >= 0)) fail(name, ": data is ", end[i], " at (", row, ", ", i, "), expected at least 0");
        if (i != 0) end[i] += end[i - 1];
      }
      if (!(end[width - 1] > 0) || std::isinf(end[width - 1]))
        fail(name, ": row ", row, " of data adds up to ", end[width - 1], ", expected a finite number above 0");
    }
    const std::int64_t count = rows == 0 ? 1 : y.size() / rows;
    const auto place = [&](double u, std::int64_t row) {  // never one of probability 0
      const double* const begin = ends.data() + row * width;
      return std::min(std::upper_bound(begin, begin + width, u * begin[width - 1]) - begin,
                      std::lower_bound(begin, begin + width, begin[width - 1]) - begin);
    };
    const random::Stream stream = cpu.random();
    const auto draw = [&](detail::ElementDraws& draws, std::int64_t at) {
      return static_cast<double>(place(draws.uniform(), at / count));
    };
    detail::draw_elements(stream, y, draw);
    if (!get_prob) return;
    detail::draw_elements(stream, log_prob, [&](detail::ElementDraws& draws, std::int64_t at) {  // of the same numbers
      return std::log(p[static_cast<std::size_t>(at / count * width + place(draws.uniform(), at / count))]);
    });
  }
  void grad(Cpu&, Head<"log_prob", NDArray> dy, In<"data", NDArray> data, Out<"output", NDArray> at,
            Grad<"data", NDArray> dx) const {
    if (!dx) return;
    std::vector<double> sums(static_cast<std::size_t>(dx.size()), 0.0);
    if (get_prob && dx.size() != 0) {
      const std::vector<double> p = data.to_vector<double>(), head = dy.to_vector<double>();
      const std::vector<std::int64_t> drawn = at.to_vector<std::int64_t>();
      const std::int64_t width = dx.shape().back(), count = std::max<std::int64_t>(at.size() / (dx.size() / width), 1);
      for (std::size_t i = 0; i < drawn.size(); ++i) {
        const auto to = static_cast<std::size_t>(static_cast<std::int64_t>(i) / count * width + drawn[i]);
        sums[to] += head[i] / p[to];
      }
    }
    detail::convert_elements(f64, sums.data(), dx.dtype(), dx.bytes(), dx.size());
  }
};

inline constexpr Op<SampleUniform, OnUse> sample_uniform;
inline constexpr Op<SampleNormal, OnUse> sample_normal;
inline constexpr Op<SampleGamma, OnUse> sample_gamma;
inline constexpr Op<SampleExponential, OnUse> sample_exponential;
inline constexpr Op<SamplePoisson, OnUse> sample_poisson;
inline constexpr Op<SampleNegativeBinomial, OnUse> sample_negative_binomial;
inline constexpr Op<SampleGeneralizedNegativeBinomial, OnUse> sample_generalized_negative_binomial;
inline constexpr Op<SampleMultinomial, OnUse> sample_multinomial;

using RandomSampleOps = OpList<SampleUniform, SampleNormal, SampleGamma, SampleExponential, SamplePoisson,
                               SampleNegativeBinomial, SampleGeneralizedNegativeBinomial, SampleMultinomial>;

}  // namespace strop::inline v0
