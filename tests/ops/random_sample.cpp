// SPDX-License-Identifier: Apache-2.0
/// \file
/// Random numbers whose parameters are arrays: their distributions, shapes, types and refusals, and the gradient of the
/// logarithms of probabilities.
#include "harness.hpp"

#include <unit/sentence.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace ops_test;
using Numbers = std::vector<double>;

namespace {

NDArray sampled(std::string_view op, const Arrays& parameters, strop::Attributes params) {
  strop::random::seed(31);
  return strop::invoke(op, parameters, params);
}

/// Whether the mean and variance of each row lie within 5 of their standard deviations of the expected ones, where the
/// fourth moment is at most 30 times the square of the variance.
std::string moments(const NDArray& a, const Numbers& means, const Numbers& variances) {
  const Numbers x = values(a);
  const std::size_t n = x.size() / means.size();
  for (std::size_t row = 0; row < means.size(); ++row) {
    double mean = 0, second = 0;
    for (std::size_t i = 0; i < n; ++i) mean += x[row * n + i] / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) second += std::pow(x[row * n + i] - mean, 2) / static_cast<double>(n);
    const double deviation = std::sqrt(variances[row] / static_cast<double>(n));
    if (std::abs(mean - means[row]) > 5 * deviation) return cat("row ", row, ": mean ", mean);
    if (std::abs(second - variances[row]) > 5 * variances[row] * std::sqrt(30 / static_cast<double>(n)))
      return cat("row ", row, ": variance ", second);
  }
  return {};
}

struct Law {
  std::string_view op;
  Arrays parameters;
  Numbers means, variances;
};
const Law laws[] = {
    {"_sample_uniform", {strop::array({-1, 10}), strop::array({1, 16})}, {0, 13}, {1.0 / 3, 3}},
    {"_sample_normal", {strop::array({-1, 10}), strop::array({2, 0.5})}, {-1, 10}, {4, 0.25}},
    {"_sample_gamma", {strop::array({0.5, 4}), strop::array({2, 0.5})}, {1, 2}, {2, 1}},
    {"_sample_exponential", {strop::array({0.5, 4})}, {2, 0.25}, {4, 0.0625}},
    {"_sample_poisson", {strop::array({0.5, 40})}, {0.5, 40}, {0.5, 40}},
    {"_sample_negative_binomial", {strop::array({1, 4}), strop::array({0.5, 0.2})}, {1, 16}, {2, 80}},
    {"_sample_generalized_negative_binomial", {strop::array({2, 3}), strop::array({0, 0.5})}, {2, 3}, {2, 7.5}}};

}  // namespace

TEST_CASE("numbers of each element of the parameters have its distribution") {
  for (const Law& law : laws)
    for (const std::string_view type : {"float32", "float64"}) {
      const NDArray y = sampled(law.op, law.parameters, {{"shape", "(100, 200)"}, {"dtype", type}});
      CHECK(y.shape() == Shape{2, 100, 200});
      CHECK(strop::name_of(y.dtype()) == type);
      const std::string wrong = moments(y, law.means, law.variances);
      CHECK_MESSAGE(wrong.empty(), law.op, " ", type, ": ", wrong);
    }
}

TEST_CASE("numbers of arrays are a function of seed and position, of whichever threads") {
  for (const Law& law : laws) {
    const int before = strop::num_threads();
    strop::set_num_threads(1);
    const Numbers one = values(sampled(law.op, law.parameters, {{"shape", "(20000,)"}}));
    strop::set_num_threads(4);
    CHECK_MESSAGE(values(sampled(law.op, law.parameters, {{"shape", "(20000,)"}})) == one, law.op);
    strop::set_num_threads(before);
    const NDArray y = sampled(law.op, law.parameters, {});
    CHECK(y.shape() == Shape{2});
    CHECK(y.dtype() == strop::f32);
    Arrays whole;  // parameters of another type, whose elements are the same
    for (const NDArray& a : law.parameters) whole.push_back(a.to(strop::f64));
    CHECK_MESSAGE(values(sampled(law.op, whole, {})) == values(y), law.op);
    Arrays none;
    for (const NDArray& a : law.parameters) none.push_back(NDArray({0, 3}, a.dtype()));
    CHECK(sampled(law.op, none, {{"shape", "(2,)"}}).shape() == Shape{0, 3, 2});
  }
}

TEST_CASE("positions are drawn with the probabilities of their row") {
  const NDArray p = strop::array({{0, 1, 0, 3}, {5, 5, 0, 0}});
  const Numbers at = values(sampled("_sample_multinomial", {p}, {{"shape", "(40000,)"}}));
  Numbers count(8, 0.0);
  for (std::size_t i = 0; i < at.size(); ++i) count[(i < 40000 ? 0 : 4) + static_cast<std::size_t>(at[i])] += 1;
  const Numbers expected{0, 10000, 0, 30000, 20000, 20000, 0, 0};
  for (std::size_t i = 0; i < count.size(); ++i)
    CHECK_MESSAGE(std::abs(count[i] - expected[i]) <= 5 * std::sqrt(expected[i]), "position ", i, ": ", count[i]);
  CHECK(sampled("_sample_multinomial", {p}, {}).shape() == Shape{2});
  CHECK(sampled("_sample_multinomial", {strop::ones({2, 3, 4})}, {{"shape", "(5,)"}}).shape() == Shape{2, 3, 5});
  CHECK(sampled("_sample_multinomial", {strop::array({1, 2})}, {{"dtype", "int64"}}).dtype() == strop::i64);
}

TEST_CASE("uniform numbers of arrays stay below high in every type") {
  for (const double high : {1.0, 0.0, -2.0, 100.0, 1000.0})
    for (const std::string_view type : {"float16", "bfloat16", "float32", "float64"}) {
      const NDArray low = strop::array({high - 64, high}).to(strop::f64),
                    top = strop::array({high, high}).to(strop::f64);
      const Numbers drawn = values(sampled("_sample_uniform", {low, top}, {{"shape", "(30000,)"}, {"dtype", type}}));
      double most = drawn[0];
      for (std::size_t i = 0; i < 30000; ++i) most = std::max(most, drawn[i]);
      CHECK_MESSAGE(most < high, type, " below ", high, ": ", most);
      CHECK_MESSAGE(drawn[30000] == high, type);
    }
  const NDArray low = strop::array<double>({-1.7e308}), high = strop::array<double>({1.7e308});
  const Numbers wide = values(sampled("_sample_uniform", {low, high}, {{"shape", "(1000,)"}, {"dtype", "float64"}}));
  const auto [least, most] = std::minmax_element(wide.begin(), wide.end());
  CHECK(*least < -1.6e308);
  CHECK(*most > 1.6e308);
  CHECK(std::isfinite(*most));
}

TEST_CASE("the gradient of the logarithms of probabilities goes to the positions that were drawn") {
  const NDArray p = strop::array({{0.25, 0.75}, {0.5, 0.5}});
  p.attach_grad();
  Arrays made;
  {
    const strop::record scope;
    strop::random::seed(31);
    made = strop::invoke_all("_sample_multinomial", {p}, {{"shape", "(3,)"}, {"get_prob", "True"}});
    made[1].backward();
  }
  const Numbers at = values(made[0]), logs = values(made[1]), given = values(p);
  Numbers expected(4, 0.0);
  for (std::size_t i = 0; i < at.size(); ++i) {
    const std::size_t place = i / 3 * 2 + static_cast<std::size_t>(at[i]);
    CHECK(std::abs(logs[i] - std::log(given[place])) < 1e-6);
    expected[place] += 1 / given[place];
  }
  const Numbers gradient = values(p.grad());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(std::abs(gradient[i] - expected[i]) < 1e-5);
}

TEST_CASE("numbers of arrays refuse in a sentence") {
  const auto refusal = [](std::string_view op, const Arrays& parameters, strop::Attributes params = {}) {
    return testing::sentence([&] { strop::invoke(op, parameters, params).wait(); });
  };
  const NDArray a = strop::array({1, 2}), zero = strop::array({1, 0});
  CHECK(refusal("_sample_gamma", {a, zero}) == "_sample_gamma: alpha or beta is not above 0 at position 1");
  CHECK(refusal("_sample_exponential", {zero}) == "_sample_exponential: lam is not above 0 at position 1");
  CHECK(refusal("_sample_uniform", {a, zero}) ==
        "_sample_uniform: low is above high, or one of them is not finite, at position 1");
  CHECK(refusal("_sample_normal", {a, strop::array({1, 2, 3})}) ==
        "_sample_normal: input 'sigma' has shape (3,), expected (2,)");
  CHECK(refusal("_sample_poisson", {a}, {{"dtype", "int32"}}) ==
        "_sample_poisson: the numbers are of floating types, not int32");
  for (const std::string_view op : {"_sample_poisson", "_sample_multinomial"})
    CHECK(refusal(op, {a}, {{"shape", "(2, -1)"}}) ==
          cat(op, ": parameter 'shape' has an extent of -1, expected 0 or more"));
  CHECK(refusal("_sample_multinomial", {strop::array({1, -1})}) ==
        "_sample_multinomial: data is -1 at (0, 1), expected at least 0");
  CHECK(refusal("_sample_multinomial", {strop::array({0, 0})}) ==
        "_sample_multinomial: row 0 of data adds up to 0, expected a finite number above 0");
  CHECK(refusal("_sample_multinomial", {strop::zeros({})}) ==
        "_sample_multinomial: data has shape (), expected (..., K)");
  CHECK(refusal("_sample_multinomial", {strop::ones({300})}, {{"dtype", "uint8"}}) ==
        "_sample_multinomial: uint8 does not hold the 300 positions of a row exactly; state a wider dtype");
  CHECK(refusal("_sample_multinomial", {strop::ones({4096})}, {{"dtype", "float16"}}) ==
        "_sample_multinomial: float16 does not hold the 4096 positions of a row exactly; state a wider dtype");
}
