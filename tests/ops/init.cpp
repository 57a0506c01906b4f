// SPDX-License-Identifier: Apache-2.0
#include "value_rows.hpp"

#include <algorithm>

using namespace ops_test;
using strop::array;

TEST_CASE("constants as MXNet makes them") {
  row("_zeros", {{"shape", "(2, 2)"}}, {}, {{{2, 2}, {0, 0, 0, 0}}});
  row("_ones", {{"shape", "(3,)"}}, {}, {{{3}, {1, 1, 1}}});
  row("_full", {{"shape", "(2,)"}, {"value", "2.5"}}, {}, {{{2}, {2.5, 2.5}}});
  row("_arange", {{"start", "2"}, {"stop", "5"}, {"step", "1.5"}, {"repeat", "2"}}, {}, {{{4}, {2, 2, 3.5, 3.5}}});
  row("_arange", {{"start", "5"}, {"stop", "None"}}, {}, {{{5}, {0, 1, 2, 3, 4}}});
  row("_arange", {{"start", "5"}, {"stop", "1"}, {"step", "-2"}}, {}, {{{2}, {5, 3}}});
  row("_eye", {{"N", "2"}, {"M", "3"}, {"k", "1"}}, {}, {{{2, 3}, {0, 1, 0, 0, 0, 1}}});
  row("_eye", {{"N", "3"}, {"k", "-1"}}, {}, {{{3, 3}, {0, 0, 0, 1, 0, 0, 0, 1, 0}}});
  row("_linspace", {{"start", "1"}, {"stop", "2"}, {"num", "5"}}, {}, {{{5}, {1, 1.25, 1.5, 1.75, 2}}});
  row("_linspace", {{"start", "1"}, {"stop", "2"}, {"num", "4"}, {"endpoint", "False"}}, {},
      {{{4}, {1, 1.25, 1.5, 1.75}}});
  row("zeros_like", {}, {array({{1, 2, 3}, {-1, 0.5, 0}})}, {{{2, 3}, {0, 0, 0, 0, 0, 0}}});
  row("ones_like", {}, {array({{1, 2, 3}, {-1, 0.5, 0}})}, {{{2, 3}, {1, 1, 1, 1, 1, 1}}});
}

TEST_CASE("constants in every type and storage") {
  for (const Dtype type : strop::all_dtypes) {
    const std::string name(strop::name_of(type));
    const NDArray one = strop::invoke("_ones", {}, {{"shape", "(2,)"}, {"dtype", name}}),
                  range = strop::invoke("_arange", {}, {{"start", "2"}, {"dtype", name}});
    CHECK(one.dtype() == type);
    CHECK(values(one) == Numbers{1, 1});
    CHECK(values(range) == Numbers{0, 1});
  }
  CHECK(strop::invoke("_zeros_without_dtype", {}, {{"shape", "(2,)"}, {"dtype", "4"}}).dtype() == strop::i32);
  const NDArray c = array({{0, 1}, {2, 0}}).to(strop::csr), zeros = strop::invoke("zeros_like", {c});
  CHECK(zeros.storage() == strop::csr);
  CHECK(zeros.nnz() == 0);
  zeros.check_format();
  CHECK(strop::invoke("ones_like", {c}).storage() == strop::dense);
  CHECK(strop::invoke("_zeros", {}, {{"shape", "(0, 3)"}}).shape() == Shape{0, 3});
  CHECK(strop::invoke("_linspace", {}, {{"start", "0"}, {"stop", "1"}, {"num", "0"}}).shape() == Shape{0});
  row("_linspace", {{"start", "4"}, {"stop", "9"}, {"num", "1"}}, {}, {{{1}, {4}}});
  row("_eye", {{"N", "2"}, {"k", "5"}}, {}, {{{2, 2}, {0, 0, 0, 0}}});
  row("_contrib_arange_like", {{"start", "3"}, {"step", "2"}, {"repeat", "2"}}, {count({2, 3})},
      {{{2, 3}, {3, 3, 5, 5, 7, 7}}});
  row("_contrib_arange_like", {{"axis", "-1"}}, {count({2, 3})}, {{{3}, {0, 1, 2}}});
}

namespace {
struct Spread {
  double least = Inf, most = -Inf, mean = 0, variance = 0;
  explicit Spread(const NDArray& a) {
    const Numbers x = values(a);
    for (double v : x) least = std::min(least, v), most = std::max(most, v), mean += v / static_cast<double>(x.size());
    for (double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(x.size());
  }
};
NDArray draw(std::string_view op, strop::Attributes params) {
  strop::random::seed(17);
  return strop::invoke(op, {}, params);
}
}  // namespace

TEST_CASE("random numbers have their distribution") {
  // Means of 40,000 draws lie within 5 deviations of the expected ones.
  for (const std::string_view type : {"float32", "float64"}) {
    const Spread uniform(
        draw("_random_uniform", {{"low", "-1"}, {"high", "3"}, {"shape", "(200, 200)"}, {"dtype", type}}));
    CHECK(uniform.least >= -1);
    CHECK(uniform.most < 3);
    CHECK(std::abs(uniform.mean - 1) < 0.03);
    CHECK(std::abs(uniform.variance - 16.0 / 12) < 0.03);
    const Spread normal(
        draw("_random_normal", {{"loc", "2"}, {"scale", "3"}, {"shape", "(200, 200)"}, {"dtype", type}}));
    CHECK(std::abs(normal.mean - 2) < 0.075);
    CHECK(std::abs(normal.variance - 9) < 0.4);
    CHECK(normal.least < -6);
    const Spread exponential(draw("_random_exponential", {{"lam", "4"}, {"shape", "(200, 200)"}, {"dtype", type}}));
    CHECK(exponential.least >= 0);
    CHECK(std::abs(exponential.mean - 0.25) < 0.0065);
    CHECK(std::abs(exponential.variance - 0.0625) < 0.006);
  }
  const NDArray whole = draw("_random_randint", {{"low", "-2"}, {"high", "3"}, {"shape", "(40000,)"}});
  CHECK(whole.dtype() == strop::i32);
  Numbers count(5, 0.0);
  for (double v : values(whole)) {
    REQUIRE(v >= -2);
    REQUIRE(v < 3);
    ++count[static_cast<std::size_t>(v + 2)];
  }
  for (double n : count) CHECK(std::abs(n - 8000) < 400);
}

TEST_CASE("random numbers follow from the seed and come in the asked shape and type") {
  CHECK(values(draw("_random_normal", {{"shape", "(5,)"}})) == values(draw("_random_normal", {{"shape", "(5,)"}})));
  strop::random::seed(17);
  const NDArray first = strop::invoke("_random_uniform", {}, {{"shape", "(8,)"}}),
                second = strop::invoke("_random_uniform", {}, {{"shape", "(8,)"}});
  CHECK(values(first) != values(second));
  CHECK(refusal("_random_uniform", {}, {}) ==
        "_random_uniform: the shape of output 'output' does not follow from the inputs");
  const NDArray x = strop::zeros({3, 2}, strop::f16);
  for (const std::string_view op : {"_random_uniform_like", "_random_normal_like", "_random_exponential_like"}) {
    CHECK(strop::invoke(op, {x}).dtype() == strop::f16);
    CHECK(strop::invoke(op, {x}).shape() == Shape{3, 2});
  }
  CHECK(values(strop::invoke("_random_uniform_like", {x}, {{"low", "2"}, {"high", "2"}})) == Numbers(6, 2.0));
}

TEST_CASE("uniform numbers stay below high in every type") {
  const float ends[][2] = {{0, 1}, {-2, 0}, {-5, -2}, {100, 100.1F}, {1 - 0x1p-20F, 1}, {-3e38F, 3e38F}, {0, 1e-7F}};
  for (const auto& [low, high] : ends)
    for (const Dtype type : {strop::f16, strop::bf16, strop::f32, strop::f64}) {
      const Spread drawn(strop::random_uniform({.low = low, .high = high, .shape = {30000}, .dtype = type})),
          like(strop::random_uniform_like(strop::zeros({30000}, type), {.low = low, .high = high}));
      // Of halves there is none from 1 - 2^-20 to below 1: all are the last one below.
      const double from = array({low}).to(type).to(strop::f64).item<double>();
      const bool none = strop::size_of(type) == 2 && from >= high;
      CHECK_MESSAGE(drawn.least >= (none ? drawn.most : from), strop::name_of(type), " from ", low, ": ", drawn.least);
      if (drawn.most > from) CHECK(drawn.least < drawn.most);
      CHECK_MESSAGE(drawn.most < high, strop::name_of(type), " from ", low, " to ", high, ": ", drawn.most);
      CHECK_MESSAGE(like.most < high, strop::name_of(type), " from ", low, " to ", high, ": ", like.most);
      if (high - low >= 1 && type != strop::f16) CHECK(drawn.least < low / 2 + high / 2);
    }
}

TEST_CASE("random numbers into a row_sparse array are those of a dense one, in all its rows") {
  strop::clear_fallbacks();
  const struct {
    std::string_view op;
    Dtype type;
    std::vector<std::pair<std::string_view, std::string_view>> params;
  } draws[] = {{"_random_uniform", strop::f32, {}},
               {"_random_normal", strop::f64, {}},
               {"_random_exponential", strop::f16, {}},
               {"_random_randint", strop::i64, {{"low", "-4"}, {"high", "9"}}}};
  for (const auto& [op, type, params] : draws) {
    const NDArray whole({3, 2, 4}, type), rows({3, 2, 4}, type, strop::cpu(), strop::row_sparse);
    for (const NDArray& y : {whole, rows}) {
      strop::random::seed(17);
      const strop::Entry& entry = strop::detail::find_operator(op);
      const auto box = strop::detail::parse_params(entry, params);
      Arrays out{y};
      strop::detail::dispatch(entry, box->get(), {}, out);
    }
    rows.check_format();
    CHECK_MESSAGE((values(rows.indices()) == Numbers{0, 1, 2}), op);
    CHECK_MESSAGE(values(rows) == values(whole), op);
  }
  const NDArray some = strop::row_sparse_array({{1, 2}}, {1}, {3, 2});
  for (const std::string_view op : {"_random_uniform_like", "_random_normal_like", "_random_exponential_like"}) {
    strop::random::seed(17);
    const NDArray rows = strop::invoke(op, {some});
    strop::random::seed(17);
    CHECK_MESSAGE(rows.storage() == strop::row_sparse, op);
    CHECK_MESSAGE(rows.nnz() == 3, op);
    CHECK_MESSAGE(values(rows) == values(strop::invoke(op, {strop::zeros({3, 2})})), op);
  }
  CHECK(strop::fallbacks().empty());
  // CSR has no rows to fill: it is drawn dense, and says so.
  const QuietFallbacks quiet;
  const NDArray csr({3, 2}, strop::f32, strop::cpu(), strop::csr);
  strop::random_uniform({.low = 1, .high = 2}, strop::into(csr));
  CHECK(csr.nnz() == 6);
  CHECK(strop::fallbacks().size() == 1);
}

TEST_CASE("_shuffle keeps rows together and loses none") {
  strop::random::seed(1);
  const NDArray x = count({50, 2}), y = strop::invoke("_shuffle", {x});
  const Numbers v = values(y);
  Numbers firsts;
  for (std::size_t i = 0; i < 100; i += 2) {
    CHECK(v[i + 1] == v[i] + 1);
    firsts.push_back(v[i]);
  }
  CHECK(v != values(x));
  std::sort(firsts.begin(), firsts.end());
  for (std::size_t i = 0; i < 50; ++i) CHECK(firsts[i] == 2 * static_cast<double>(i));
}

TEST_CASE("makers of arrays refuse in a sentence") {
  const NDArray m = count({2, 3});
  CHECK(refusal("_zeros", {}, {}) == "_zeros: the shape of output 'output' does not follow from the inputs");
  CHECK(refusal("_zeros", {{"shape", "(-2, 2)"}}, {}) ==
        "_zeros: parameter 'shape' has an extent of -2, expected -1 or more");
  CHECK(refusal("_zeros", {{"shape", "(2,)"}, {"ctx", "gpu(0)"}}, {}) ==
        "_zeros: ctx is 'gpu(0)', and the operator runs on the CPU; move the result with to()");
  CHECK(refusal("_zeros_without_dtype", {{"shape", "(2,)"}, {"dtype", "9"}}, {}) ==
        "_zeros_without_dtype: parameter 'dtype' is 9, which is no type");
  CHECK(refusal("_full", {{"shape", "(2,)"}}, {}) == "_full: parameter 'value' (double) is required");
  CHECK(refusal("_arange", {{"start", "0"}, {"stop", "5"}, {"step", "0"}}, {}) ==
        "_arange: the range from 0 to 5 in steps of 0 has no end");
  CHECK(refusal("_arange", {{"start", "0"}, {"stop", "5"}, {"repeat", "0"}}, {}) ==
        "_arange: parameter 'repeat' is 0, expected at least 1");
  CHECK(refusal("_eye", {{"N", "-1"}}, {}) == "_eye: parameter 'N' is -1, expected at least 0");
  CHECK(refusal("_linspace", {{"start", "0"}, {"stop", "1"}, {"num", "-2"}}, {}) ==
        "_linspace: parameter 'num' is -2, expected at least 0");
  CHECK(refusal("_random_uniform", {{"low", "2"}, {"high", "1"}, {"shape", "(2,)"}}, {}) ==
        "_random_uniform: low is 2 and high is 1, expected finite numbers with low <= high");
  CHECK(refusal("_random_normal", {{"scale", "-1"}, {"shape", "(2,)"}}, {}) ==
        "_random_normal: scale is -1, expected at least 0");
  CHECK(refusal("_random_exponential", {{"lam", "0"}, {"shape", "(2,)"}}, {}) ==
        "_random_exponential: lam is 0, expected more than 0");
  CHECK(refusal("_random_uniform", {{"shape", "(2,)"}, {"dtype", "int32"}}, {}) ==
        "_random_uniform: the numbers are of floating types, not int32");
  CHECK(refusal("_random_randint", {{"low", "3"}, {"high", "3"}, {"shape", "(2,)"}}, {}) ==
        "_random_randint: low is 3 and high is 3, expected low < high");
  CHECK(refusal("_random_randint", {{"low", "1"}, {"high", "3"}, {"dtype", "float32"}}, {}) ==
        "_random_randint: the numbers are int32 or int64, not float32");
  CHECK(refusal("_random_uniform_like", {}, {m.to(strop::i32)}) ==
        "_random_uniform_like: the numbers are of floating types, not int32");
}
