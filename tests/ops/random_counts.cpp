// SPDX-License-Identifier: Apache-2.0
/// \file
/// Gamma, Poisson and negative binomial numbers: their distributions, and of what they are a function.
#include "harness.hpp"

#include <unit/sentence.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace ops_test;
using strop::row_sparse;
using Numbers = std::vector<double>;

namespace {

NDArray draw(std::string_view op, strop::Attributes params) {
  strop::random::seed(29);
  return strop::invoke(op, {}, params);
}
NDArray draw_like(std::string_view op, const NDArray& x, strop::Attributes params) {
  strop::random::seed(29);
  return strop::invoke(op, {x}, params);
}

/// Whether the mean and the variance of the numbers lie within 5 of their standard deviations of the expected ones,
/// those of the variance by the fourth moment of the sample.
std::string moments(const NDArray& a, double mean, double variance) {
  const Numbers x = values(a);
  const auto n = static_cast<double>(x.size());
  double got = 0, second = 0, fourth = 0;
  for (const double v : x) got += v / n;
  for (const double v : x) second += (v - got) * (v - got) / n;
  for (const double v : x) fourth += std::pow(v - got, 4) / n;
  if (std::abs(got - mean) > 5 * std::sqrt(variance / n)) return cat("mean ", got, ", expected ", mean);
  if (std::abs(second - variance) > 5 * std::sqrt((fourth - second * second) / n))
    return cat("variance ", second, ", expected ", variance);
  return {};
}
/// The part of the numbers below a bound.
double below(const NDArray& a, double bound) {
  const Numbers x = values(a);
  return static_cast<double>(std::count_if(x.begin(), x.end(), [=](double v) { return v < bound; })) /
         static_cast<double>(x.size());
}
/// Each number is as frequent as its probability says, within 5 deviations; all are whole and not negative.
template <class LogProbability>
std::string frequencies(const NDArray& a, LogProbability log_probability) {
  const Numbers x = values(a);
  const auto n = static_cast<double>(x.size());
  std::vector<double> count(2000, 0.0);
  for (const double v : x) {
    if (v < 0 || v != std::floor(v) || v >= 2000) return cat(v, " is no count");
    ++count[static_cast<std::size_t>(v)];
  }
  for (std::size_t k = 0; k < count.size(); ++k) {
    const double p = std::exp(log_probability(static_cast<double>(k)));
    if (n * p > 20 && std::abs(count[k] - n * p) > 5 * std::sqrt(n * p * (1 - p)))
      return cat(k, " came ", count[k], " times, expected ", n * p);
    if (n * p < 1e-6 && count[k] > 0) return cat(k, " came, with probability ", p);
  }
  return {};
}

struct Named {
  std::string_view op;
  std::vector<std::pair<std::string_view, std::string_view>> params;
  std::vector<std::pair<std::string_view, std::string_view>> with(std::string_view shape, std::string_view type) const {
    auto all = params;
    all.push_back({"shape", shape});
    all.push_back({"dtype", type});
    return all;
  }
};
const Named families[] = {{"_random_gamma", {{"alpha", "0.7"}, {"beta", "2"}}},
                          {"_random_poisson", {{"lam", "14"}}},
                          {"_random_negative_binomial", {{"k", "4"}, {"p", "0.3"}}},
                          {"_random_generalized_negative_binomial", {{"mu", "3"}, {"alpha", "0.4"}}}};
NDArray draw(const Named& family, std::string_view shape, std::string_view type) {
  const auto params = family.with(shape, type);
  const strop::Entry& entry = strop::detail::find_operator(family.op);
  const auto box = strop::detail::parse_params(entry, params);
  Arrays out(1);
  strop::random::seed(29);
  strop::detail::dispatch(entry, box->get(), {}, out);
  return out[0];
}

struct Threads {
  int before = strop::num_threads();
  explicit Threads(int n) { strop::set_num_threads(n); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() { strop::set_num_threads(before); }
};

}  // namespace

TEST_CASE("gamma numbers have their distribution, for shapes below and above 1") {
  for (const double alpha : {0.05, 0.5, 1.0, 1.5, 4.0, 300.0})
    for (const double beta : {1.0, 2.5})
      for (const std::string_view type : {"float32", "float64"}) {
        const NDArray y = draw("_random_gamma",
                               {{"alpha", cat(alpha)}, {"beta", cat(beta)}, {"shape", "(200, 300)"}, {"dtype", type}});
        const std::string wrong = moments(y, alpha * beta, alpha * beta * beta);
        CHECK_MESSAGE(wrong.empty(), alpha, " ", beta, " ", type, ": ", wrong);
      }
  // Medians: of shape 1 log 2, of shape 1/2 half of that of χ², of shape 4 as tables have it.
  const auto median = [](std::string_view alpha, double value) {
    return std::abs(below(draw("_random_gamma", {{"alpha", alpha}, {"shape", "(60000,)"}}), value) - 0.5) < 0.0103;
  };
  CHECK(median("1", 0.693147));
  CHECK(median("0.5", 0.227468));
  CHECK(median("4", 3.672061));
}

TEST_CASE("Poisson numbers are as frequent as they are probable, by inversion and by rejection") {
  for (const double lam : {0.1, 1.0, 9.75, 10.0, 12.5, 100.0, 700.0}) {
    const NDArray y = draw("_random_poisson", {{"lam", cat(lam)}, {"shape", "(200, 500)"}, {"dtype", "float64"}});
    std::string wrong = moments(y, lam, lam);
    if (wrong.empty()) wrong = frequencies(y, [=](double k) { return k * std::log(lam) - lam - std::lgamma(k + 1); });
    CHECK_MESSAGE(wrong.empty(), lam, ": ", wrong);
  }
  CHECK(values(draw("_random_poisson", {{"lam", "0"}, {"shape", "(3,)"}})) == Numbers(3, 0.0));
  // Where numbers are far more than a double can count one by one, too.
  for (const double lam : {1e9, 1e15, 1e24}) {
    const NDArray y = draw("_random_poisson", {{"lam", cat(lam)}, {"shape", "(20000,)"}, {"dtype", "float64"}});
    const auto given = static_cast<double>(static_cast<float>(lam));
    const std::string wrong = moments(y, given, given);
    CHECK_MESSAGE(wrong.empty(), lam, ": ", wrong);
  }
}

TEST_CASE("negative binomial numbers are as frequent as they are probable") {
  for (const int k : {1, 3, 40})
    for (const double p : {0.25, 0.75}) {
      const NDArray y = draw("_random_negative_binomial",
                             {{"k", cat(k)}, {"p", cat(p)}, {"shape", "(100000,)"}, {"dtype", "float64"}});
      std::string wrong = moments(y, k * (1 - p) / p, k * (1 - p) / p / p);
      if (wrong.empty())
        wrong = frequencies(y, [=](double n) {
          return std::lgamma(n + k) - std::lgamma(k) - std::lgamma(n + 1) + k * std::log(p) + n * std::log(1 - p);
        });
      CHECK_MESSAGE(wrong.empty(), k, " ", p, ": ", wrong);
    }
  for (const double mu : {0.5, 20.0})
    for (const double alpha : {0.0, 0.25, 2.0}) {
      const NDArray y = draw("_random_generalized_negative_binomial",
                             {{"mu", cat(mu)}, {"alpha", cat(alpha)}, {"shape", "(100000,)"}, {"dtype", "float64"}});
      const std::string wrong = moments(y, mu, mu + alpha * mu * mu);
      CHECK_MESSAGE(wrong.empty(), mu, " ", alpha, ": ", wrong);
    }
  CHECK(values(draw("_random_negative_binomial", {{"k", "0"}, {"p", "0.5"}, {"shape", "(2,)"}})) == Numbers(2, 0.0));
  CHECK(values(draw("_random_negative_binomial", {{"k", "5"}, {"shape", "(2,)"}})) == Numbers(2, 0.0));
}

TEST_CASE("numbers drawn by rejection are a function of seed and position, on any number of threads") {
  for (const Named& family : families) {
    const auto with_threads = [&](int threads) {
      const Threads scope(threads);
      return values(draw(family, "(150, 200)", "float64"));
    };
    const Numbers one = with_threads(1);
    CHECK_MESSAGE(one == with_threads(4), family.op);
    // A shorter array begins with the same numbers; another type rounds them.
    const Numbers few = values(draw(family, "(300,)", "float64")), narrow = values(draw(family, "(300,)", "float32"));
    CHECK_MESSAGE(std::equal(few.begin(), few.end(), one.begin()), family.op);
    for (std::size_t i = 0; i < few.size(); ++i)
      if (narrow[i] != static_cast<double>(static_cast<float>(few[i]))) FAIL_CHECK(family.op, " at ", i);
    const NDArray next = strop::invoke(family.op, {}, {{"shape", "(1,)"}});
    CHECK(next.dtype() == strop::f32);
  }
}

TEST_CASE("gamma and Poisson numbers in row_sparse and in the shape of another array are those of a dense one") {
  strop::clear_fallbacks();
  for (const Named& family : families) {
    const strop::Entry& entry = strop::detail::find_operator(family.op);
    const auto box = strop::detail::parse_params(entry, family.params);
    const NDArray whole({3, 2, 4}, strop::f16), rows({3, 2, 4}, strop::f16, strop::cpu(), row_sparse);
    for (const NDArray& y : {whole, rows}) {
      strop::random::seed(29);
      Arrays out{y};
      strop::detail::dispatch(entry, box->get(), {}, out);
    }
    rows.check_format();
    CHECK(rows.nnz() == 3);
    CHECK_MESSAGE(values(rows) == values(whole), family.op);
    const std::string like = cat(family.op, "_like");
    const NDArray some = strop::row_sparse_array({{1, 2}}, {1}, {3, 2});
    const NDArray y = draw_like(like, some, {});
    CHECK_MESSAGE(y.storage() == row_sparse, like);
    CHECK_MESSAGE(y.nnz() == 3, like);
    CHECK_MESSAGE(values(y) == values(draw_like(like, strop::zeros({3, 2}), {})), like);
    CHECK_MESSAGE(values(y) == values(draw(family.op, {{"shape", "(3, 2)"}})), like);
    CHECK(draw_like(like, strop::zeros({2}, strop::f64), {}).dtype() == strop::f64);
  }
  CHECK(strop::fallbacks().empty());
}

TEST_CASE("gamma and Poisson numbers refuse in a sentence") {
  const auto refusal = [](std::string_view op, std::pair<std::string_view, std::string_view> parameter) {
    return testing::sentence([&] { strop::invoke(op, {}, {{"shape", "(2,)"}, parameter}).wait(); });
  };
  CHECK(refusal("_random_gamma", {"alpha", "0"}) == "_random_gamma: alpha is 0, expected more than 0");
  CHECK(refusal("_random_gamma", {"beta", "-1"}) == "_random_gamma: beta is -1, expected more than 0");
  CHECK(refusal("_random_gamma", {"alpha", "nan"}) == "_random_gamma: alpha is nan, expected more than 0");
  CHECK(refusal("_random_poisson", {"lam", "-2"}) == "_random_poisson: lam is -2, expected at least 0");
  CHECK(refusal("_random_negative_binomial", {"k", "-1"}) == "_random_negative_binomial: k is -1, expected at least 0");
  CHECK(refusal("_random_negative_binomial", {"p", "0"}) ==
        "_random_negative_binomial: p is 0, expected more than 0 and at most 1");
  CHECK(refusal("_random_generalized_negative_binomial", {"mu", "-1"}) ==
        "_random_generalized_negative_binomial: mu is -1, expected at least 0");
  CHECK(refusal("_random_generalized_negative_binomial", {"alpha", "-1"}) ==
        "_random_generalized_negative_binomial: alpha is -1, expected at least 0");
  CHECK(refusal("_random_poisson", {"dtype", "int32"}) ==
        "_random_poisson: the numbers are of floating types, not int32");
}
