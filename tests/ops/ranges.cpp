// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values and gradients at the ends of the range, where squares and sums of what is ordinary over- or underflow.
#include "value_rows.hpp"

#include <cmath>

using namespace ops_test;
using strop::array;

namespace {

/// The gradient of the sum of a map's results at x, in the type.
Numbers slopes(std::string_view op, const Numbers& x, Dtype type, strop::Attributes params = {}) {
  const NDArray a = array(x, {std::ssize(x)}).to(type);
  return gradients(op, params, {a}, {strop::ones(a.shape()).to(type)})[0];
}
void check_slopes(std::string_view op, const Numbers& x, Dtype type, const Numbers& wanted, double tolerance,
                  strop::Attributes params = {}) {
  const Numbers got = slopes(op, x, type, params);
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool same = got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i]));
    CHECK_MESSAGE((same || std::abs(got[i] - wanted[i]) <= tolerance * std::abs(wanted[i])), op, " at ", x[i], ": ",
                  got[i], " for ", wanted[i]);
  }
}

}  // namespace

TEST_CASE("gradients of inverse functions at large and nearly extreme numbers") {
  check_slopes("arcsinh", {1e9, -1e20, 1e25, 3e37, Inf, -0.5}, strop::f32,
               {1e-9, 1e-20, 1e-25, 1 / 3e37, 0, 1 / std::sqrt(1.25)}, 1e-6);
  check_slopes("arcsinh", {1e9, -1e160, 1e300}, strop::f64, {1e-9, 1e-160, 1e-300}, 1e-15);
  check_slopes("arccosh", {1e20, 1e25, 2, 0.5}, strop::f32, {1e-20, 1e-25, 1 / std::sqrt(3.0), NaN}, 1e-6);
  check_slopes("arccosh", {1e200, 1 + 0x1p-50}, strop::f64, {1e-200, 0x1p25 / std::sqrt(2 + 0x1p-50)}, 1e-15);
  // 1 − x² is 2⁻¹² and a bit: its digits are lost where x² is rounded first.
  const double x = 1 - 3071 * 0x1p-24, rest = 1 - x * x;
  check_slopes("arcsin", {x, -x}, strop::f32, {1 / std::sqrt(rest), 1 / std::sqrt(rest)}, 4e-7);
  check_slopes("arccos", {x}, strop::f32, {-1 / std::sqrt(rest)}, 4e-7);
  check_slopes("arctanh", {x}, strop::f32, {1 / rest}, 4e-7);
  check_slopes("softsign", {1e10, -1e18, 5e18}, strop::f32, {1e-20, 1e-36, 4e-38}, 1e-6);
  check_slopes("_rdiv_scalar", {1e20, -1e25}, strop::f32, {-1e-10, -1e-20}, 1e-6, {{"scalar", "1e30"}});
}

TEST_CASE("erfinv and its gradient next to 1, in double") {
  const Numbers x{1 - 0x1p-30, 1 - 0x1p-40, 1 - 0x1p-52, -1 + 0x1p-52};
  const Numbers wanted{4.328028275800947, 5.05125408524939, 5.805018683193454, -5.805018683193454};
  const NDArray y = strop::invoke("erfinv", {array(x, {4})});
  CHECK(difference(y, wanted, {4}, {1e-15, 0}).empty());
  Numbers slope;
  for (double v : wanted) slope.push_back(0.88622692545275801365 * std::exp(v * v));
  check_slopes("erfinv", x, strop::f64, slope, 1e-13);
}

TEST_CASE("hypot's gradients beside an infinity, and where products overflow") {
  const double half = std::sqrt(0.5);
  const Numbers x{Inf, -Inf, 1, Inf, 3e30, 3e-30, -5}, y{1, 2, -Inf, Inf, 4e30, 4e-30, 12};
  for (std::string_view op : {"broadcast_hypot", "_hypot"}) {
    const auto got =
        gradients(op, {}, {array(x, {7}).to(strop::f32), array(y, {7}).to(strop::f32)}, {strop::full({7}, 1e10)});
    CHECK(difference(array(got[0], {7}), Numbers{1e10, -1e10, 0, half * 1e10, 6e9, 6e9, -5e10 / 13}, {7}).empty());
    CHECK(difference(array(got[1], {7}), Numbers{0, 0, -1e10, half * 1e10, 8e9, 8e9, 12e10 / 13}, {7}).empty());
  }
  check_slopes("_hypot_scalar", {Inf, -Inf, 3}, strop::f32, {1, -1, 0.6}, 1e-6, {{"scalar", "4"}});
}

TEST_CASE("norms whose squares over- or underflow") {
  const auto check = [](const Numbers& x, Dtype type, double norm, const Numbers& gradient) {
    const NDArray a = array(x, {std::ssize(x)}).to(type);
    const double got = values(strop::invoke("norm", {a}))[0];
    CHECK_MESSAGE(std::abs(got - norm) <= 1e-6 * norm, got, " for ", norm);
    const Numbers slope = gradients("norm", {}, {a}, {array({1}).to(type)})[0];
    for (std::size_t i = 0; i < x.size(); ++i)
      CHECK_MESSAGE(std::abs(slope[i] - gradient[i]) <= 1e-6, slope[i], " for ", gradient[i]);
  };
  check({3e30, 4e30}, strop::f32, 5e30, {0.6, 0.8});
  check({3e-30, -4e-30}, strop::f32, 5e-30, {0.6, -0.8});
  check({3e-23, 4e-23}, strop::f32, 5e-23, {0.6, 0.8});  // whose squares lose digits
  check({3e300, -4e300}, strop::f64, 5e300, {0.6, -0.8});
  check({3e-300, 4e-300}, strop::f64, 5e-300, {0.6, 0.8});
  check({0x1p-1074, 0}, strop::f64, 0x1p-1074, {1, 0});
  check({0, 0}, strop::f32, 0, {0, 0});
  // Of several norms each is taken by itself, along either axis; NaN and infinity stay.
  const NDArray x = array({{3e30, 4e30}, {3, 4}, {0, 0}, {3e-30, 4e-30}, {NaN, 1}, {-Inf, 1}});
  row("norm", {{"axis", "1"}}, {x}, {{{6}, {5e30, 5, 0, 5e-30, NaN, Inf}}}, {2e-6, 1e-36});
  row("norm", {{"axis", "0"}}, {strop::invoke("transpose", {x})}, {{{6}, {5e30, 5, 0, 5e-30, NaN, Inf}}},
      {2e-6, 1e-36});
  const NDArray c = array({{0, 3e30, 0}, {0, 4e30, 1}, {0, 0, 0}}).to(strop::csr);
  row("norm", {{"axis", "0"}}, {c}, {{{3}, {0, 5e30, 1}}}, {2e-6, 0});
  row("norm", {{"axis", "1"}}, {c}, {{{3}, {3e30, 4e30, 0}}}, {2e-6, 0});
  row("norm", {}, {c}, {{{1}, {5e30}}}, {2e-6, 0});
  row("norm", {}, {c.to(strop::row_sparse)}, {{{1}, {5e30}}}, {2e-6, 0});
  // One long row, one of whose elements outweighs the others.
  NDArray many = strop::full({100000}, 1e-25f);
  row("norm", {}, {many}, {{{1}, {1e-25 * std::sqrt(1e5)}}}, {2e-6, 0});
}

TEST_CASE("norm accumulates in the wider of the types of data and result") {
  // Beside 2⁴⁸ a float sum loses the ones.
  NDArray big = strop::ones({4097});
  big.pointer<float>()[0] = 0x1p24f;
  const double wanted = std::sqrt(0x1p48 + 4096);
  const double got = values(strop::invoke("norm", {big}, {{"out_dtype", "float64"}}))[0];
  CHECK(got == wanted);
  CHECK(values(strop::invoke("norm", {big}, {{"out_dtype", "float64"}, {"ord", "1"}}))[0] == 0x1p24 + 4096);
  CHECK(values(strop::invoke("norm", {big.reshape({1, 4097}).to(strop::csr)}, {{"out_dtype", "float64"}}))[0] ==
        wanted);
  // double data keep their range in the gradient of a float result
  const NDArray wide = array<double>({3e30, 4e30});
  CHECK(difference(array(gradients("norm", {{"out_dtype", "float32"}}, {wide}, {array({1})})[0], {2}),
                   Numbers{0.6, 0.8}, {2})
            .empty());
}

TEST_CASE("means and variances whose sums overflow") {
  row("mean", {}, {array({3e38, 3e38, 1e38})}, {{{1}, {7e38 / 3}}});
  row("mean", {{"axis", "0"}}, {array({{3e38, 1}, {3e38, 3}})}, {{{2}, {3e38, 2}}});
  row("mean", {}, {array({3e38, Inf})}, {{{1}, {Inf}}});
  row("mean", {{"axis", "1"}}, {array({{3e38, 3e38}, {NaN, 3e38}})}, {{{2}, {3e38, NaN}}});
  row("mean", {}, {array({{3e38, 3e38}}).to(strop::csr)}, {{{1}, {3e38}}});
  row("moments", {{"axes", "0"}}, {array({{3e38, 1}, {3e38, 3}})}, {{{2}, {3e38, 2}}, {{2}, {0, 1}}});
  // distances of 10¹⁹, whose squares add up to more than there is in float32
  NDArray x = strop::full({100}, 1e19f);
  for (int i = 0; i < 100; i += 2) x.pointer<float>()[i] = -1e19f;
  row("moments", {}, {x}, {{{1}, {0}}, {{1}, {1e38}}});
}

TEST_CASE("normalisations of large numbers") {
  const NDArray x = array({{1e25, 3e25, 5e25}, {-2, 0, 2}}), one = strop::ones({3}), zero = strop::zeros({3});
  const double step = std::sqrt(1.5);
  row("LayerNorm", {{"eps", "0"}}, {x, one, zero}, {{{2, 3}, {-step, 0, step, -step, 0, step}}});
  // long rows, which registers add up
  NDArray wide = strop::zeros({2, 64, 32});
  for (std::int64_t i = 0; i < wide.size(); ++i) wide.pointer<float>()[i] = i % 2 == 0 ? 1e25f : -1e25f;
  const strop::train_mode training;
  const NDArray gamma = strop::ones({64}), beta = strop::zeros({64}), mean = strop::zeros({64}),
                var = strop::ones({64});
  const Numbers y = values(strop::invoke("BatchNorm", {wide, gamma, beta, mean, var}));
  for (std::size_t i = 0; i < y.size(); ++i) REQUIRE(std::abs(y[i] - (i % 2 == 0 ? 1 : -1)) < 1e-5);
}

TEST_CASE("a remainder of zero has the divisor's sign") {
  const auto signs = [](const NDArray& a) {
    std::string out;
    for (double v : values(a)) out += v != 0 ? 'x' : std::signbit(v) ? '-' : '+';
    return out;
  };
  const NDArray x = array({-6, 6, -0.0, 0, -6, 6, -0.0, 0, 7}), d = array({3, 3, 3, 3, -3, -3, -3, -3, -2});
  for (Dtype type : {strop::f32, strop::f64, strop::f16}) {
    for (std::string_view op : {"broadcast_mod", "_mod"})
      CHECK(signs(strop::invoke(op, {x.to(type), d.to(type)})) == "++++----x");
    CHECK(signs(strop::invoke("_mod_scalar", {x.to(type)}, {{"scalar", "3"}})) == "++++++++x");
    CHECK(signs(strop::invoke("_mod_scalar", {x.to(type)}, {{"scalar", "-3"}})) == "--------x");
    CHECK(signs(strop::invoke("_rmod_scalar", {d.to(type)}, {{"scalar", "-6"}})) == "++++-----");
  }
  // The derivative does not change: 1 beside a multiple as elsewhere.
  CHECK(gradients("broadcast_mod", {}, {array({-6, 6, 7}), array({3, -3, 3})}, {array({1, 1, 1})})[0] ==
        Numbers{1, 1, 1});
}
