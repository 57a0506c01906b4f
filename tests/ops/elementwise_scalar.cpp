// SPDX-License-Identifier: Apache-2.0
#include <strop/ops/arithmetic.hpp>
#include <strop/ops/elementwise/scalar.hpp>
#include "elementwise_rows.hpp"

using namespace ops_test;

TEST_CASE("arithmetic with a number") {
  row_scalar(strop::plus_scalar, 2, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {-0.5, 0.75, 2.45, 3.6, 5.25, 4.25},
             {0, -1.25, 0, 1.5, 2, NaN}, {2, 0.75, 2, 3.5, 4, NaN});
  row_scalar(strop::plus_scalar, 0, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25},
             {0, -1.25, 0, 1.5, 2, NaN}, {0, -1.25, 0, 1.5, 2, NaN});
  row_scalar(strop::minus_scalar, 2, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25},
             {-4.5, -3.25, -1.55, -0.39999998, 1.25, 0.25}, {0, -1.25, 0, 1.5, 2, NaN}, {-2, -3.25, -2, -0.5, 0, NaN});
  row_scalar(strop::minus_scalar, 0, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25},
             {0, -1.25, 0, 1.5, 2, NaN}, {0, -1.25, 0, 1.5, 2, NaN});
  row_scalar(strop::rminus_scalar, 2, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {4.5, 3.25, 1.55, 0.39999998, -1.25, -0.25},
             {0, -1.25, 0, 1.5, 2, NaN}, {2, 3.25, 2, 0.5, 0, NaN});
  row_scalar(strop::mul_scalar, 2, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {-5, -2.5, 0.9, 3.2, 6.5, 4.5},
             {0, -1.25, 0, 1.5, 2, NaN}, {0, -2.5, 0, 3, 4, NaN});
  row_scalar(strop::div_scalar, 2, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {-1.25, -0.625, 0.225, 0.8, 1.625, 1.125},
             {0, -1.25, 0, 1.5, 2, NaN}, {0, -0.625, 0, 0.75, 1, NaN});
  row_scalar(strop::div_scalar, -3, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25},
             {0.8333333, 0.41666666, -0.14999999, -0.53333336, -1.0833334, -0.75}, {0, -1.25, 0, 1.5, 2, NaN},
             {-0, 0.41666666, -0, -0.5, -0.6666667, NaN}, {.dtypes = false});
  row_scalar(strop::rdiv_scalar, 2, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25},
             {-0.8, -1.6, 4.4444447, 1.25, 0.61538464, 0.8888889}, {0, -1.25, 0, 1.5, 2, NaN},
             {Inf, -1.6, Inf, 1.3333334, 1, NaN});
  row_scalar(strop::mod_scalar, 2, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {1.5, 0.75, 0.45, 1.6, 1.25, 0.25},
             {0, -1.25, 0, 1.5, 2, NaN}, {0, 0.75, 0, 1.5, 0, NaN});
  row_scalar(strop::mod_scalar, -3, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {-2.5, -1.25, -2.55, -1.4, -2.75, -0.75},
             {0, -1.25, 0, 1.5, 2, NaN}, {0, -1.25, 0, -1.5, -1, NaN}, {.dtypes = false});
  row_scalar(strop::rmod_scalar, 2, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {-0.5, -0.5, 0.20000005, 0.39999998, 2, 2},
             {0, -1.25, 0, 1.5, 2, NaN}, {0, -0.5, 0, 0.5, 0, NaN});
  row_scalar(strop::rmod_scalar, -3, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25},
             {-0.5, -0.5, 0.14999992, 0.20000005, 0.25, 1.5}, {0, -1.25, 0, 1.5, 2, NaN}, {0, -0.5, 0, 0, 1, NaN},
             {.dtypes = false});
  row_scalar(strop::power_scalar, 2, {0.5, 1.25, 0.4, 1.5, 3, 2.25}, {0.25, 1.5625, 0.16000001, 2.25, 9, 5.0625},
             {0, -1.25, 0, 1.5, 2, NaN}, {0, 1.5625, 0, 2.25, 4, NaN});
  row_scalar(strop::power_scalar, 3, {0.5, 1.25, 0.4, 1.5, 3, 2.25}, {0.125, 1.953125, 0.064, 3.375, 27, 11.390625},
             {0, -1.25, 0, 1.5, 2, NaN}, {0, -1.953125, 0, 3.375, 8, NaN});
  row_scalar(strop::power_scalar, -1, {0.5, 1.25, 0.4, 1.5, 3, 2.25}, {2, 0.8, 2.5, 0.6666667, 0.33333334, 0.44444445},
             {0, -1.25, 0, 1.5, 2, NaN}, {Inf, -0.8, Inf, 0.6666667, 0.5, NaN}, {.dtypes = false});
  row_scalar(strop::power_scalar, 0.5, {0.5, 1.25, 0.4, 1.5, 3, 2.25},
             {0.70710677, 1.118034, 0.6324555, 1.2247449, 1.7320508, 1.5}, {0, -1.25, 0, 1.5, 2, NaN},
             {0, NaN, 0, 1.2247449, 1.4142135, NaN}, {.dtypes = false});
  row_scalar(strop::rpower_scalar, 2, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25},
             {0.17677669, 0.4204482, 1.3660402, 3.031433, 9.513657, 4.7568283}, {0, -1.25, 0, 1.5, 2, NaN},
             {1, 0.4204482, 1, 2.828427, 4, NaN});
  row_scalar(strop::maximum_scalar, 2, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {2, 2, 2, 2, 3.25, 2.25},
             {0, -1.25, 0, 1.5, 2, NaN}, {2, 2, 2, 2, 2, NaN});
  row_scalar(strop::maximum_scalar, 0, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {0, 0, 0.45, 1.6, 3.25, 2.25},
             {0, -1.25, 0, 1.5, 2, NaN}, {0, 0, 0, 1.5, 2, NaN});
  row_scalar(strop::minimum_scalar, 2, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {-2.5, -1.25, 0.45, 1.6, 2, 2},
             {0, -1.25, 0, 1.5, 2, NaN}, {0, -1.25, 0, 1.5, 2, NaN});
  row_scalar(strop::minimum_scalar, 0, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25}, {-2.5, -1.25, 0, 0, 0, 0},
             {0, -1.25, 0, 1.5, 2, NaN}, {0, -1.25, 0, 0, 0, NaN});
  row_scalar(strop::hypot_scalar, 2, {-2.5, -1.25, 0.45, 1.6, 3.25, 2.25},
             {3.2015622, 2.3584952, 2.05, 2.5612497, 3.8160844, 3.0103986}, {0, -1.25, 0, 1.5, 2, NaN},
             {2, 2.3584952, 2, 2.5, 2.828427, NaN});
  check_covered(strop::ScalarOps{});
}

TEST_CASE("integers and a number that is none") {  // what MXNet 1.9.1 gives for is_int = False
  const auto gives = [](std::string_view op, const std::vector<double>& wanted) {
    for (const Dtype type : {strop::i8, strop::i32, strop::i64}) {
      const NDArray x = strop::array({1, 4, -3}).to(type);
      const NDArray y = strop::invoke(op, {x}, {{"scalar", "1.5"}, {"is_int", "False"}});
      CHECK(y.dtype() == strop::f64);
      CHECK_MESSAGE(difference(y, wanted, {3}, {0, 1e-15}).empty(), op, ' ', difference(y, wanted, {3}, {0, 1e-15}));
      CHECK(strop::invoke(op, {x}, {{"scalar", "1.5"}}).dtype() == type);
    }
    const NDArray x = strop::array({1, 4, -3});
    CHECK(strop::invoke(op, {x}, {{"scalar", "1.5"}, {"is_int", "False"}}).dtype() == strop::f32);
  };
  gives("_plus_scalar", {2.5, 5.5, -1.5});
  gives("_minus_scalar", {-0.5, 2.5, -4.5});
  gives("_rminus_scalar", {0.5, -2.5, 4.5});
  gives("_mul_scalar", {1.5, 6, -4.5});
  gives("_div_scalar", {0.6666666666666666, 2.6666666666666665, -2});
  gives("_rdiv_scalar", {1.5, 0.375, -0.5});
  gives("_mod_scalar", {1, 1, 0});
  gives("_rmod_scalar", {0.5, 1.5, -1.5});
  gives("_power_scalar", {1, 8, NaN});
  gives("_rpower_scalar", {1.5, 5.0625, 0.2962962962962963});
  gives("_maximum_scalar", {1.5, 4, 1.5});
  gives("_minimum_scalar", {1, 1.5, -3});
  gives("_hypot_scalar", {1.8027756377319946, 4.272001872658765, 3.3541019662496847});
  gives("_scatter_plus_scalar", {2.5, 5.5, -1.5});
  gives("_scatter_minus_scalar", {-0.5, 2.5, -4.5});

  // A number in the program changes no type, as in MXNet.
  const NDArray x = strop::array({1, 4}).to(strop::i32);
  CHECK((x + 1.5).dtype() == strop::i32);
  CHECK(values(x + 1.5) == std::vector<double>{2, 5});
  CHECK(values(strop::plus_scalar(x, {.scalar = 1.5})) == std::vector<double>{2, 5});

  // Storages, requests, graphs.
  const NDArray c = strop::array({{0, 3}, {0, 0}}).to(strop::i32).to(strop::csr);
  const NDArray half = strop::mul_scalar(c, {.scalar = 0.5, .is_int = false});
  CHECK(half.storage() == strop::csr);
  CHECK(half.dtype() == strop::f64);
  CHECK(values(half) == std::vector<double>{0, 1.5, 0, 0});
  const NDArray shifted = strop::invoke("_scatter_plus_scalar", {c}, {{"scalar", "0.5"}, {"is_int", "False"}});
  CHECK(shifted.storage() == strop::csr);
  CHECK(values(shifted) == std::vector<double>{0, 3.5, 0, 0});
  const NDArray total = strop::full({2}, 10, strop::f64);
  strop::plus_scalar(x, {.scalar = 1.5, .is_int = false}, strop::add_to(total));
  CHECK(values(total) == std::vector<double>{12.5, 15.5});
  CHECK(error_of([&] { strop::plus_scalar(x, {.scalar = 1.5, .is_int = false}, strop::into(x)); }) ==
        "_plus_scalar: output 'output' is int32, expected float64");
  const strop::Symbol net = strop::plus_scalar(strop::var("x"), {.scalar = 1.5, .is_int = false});
  CHECK(net.infer_type({{"x", strop::i32}}).outputs == std::vector{strop::f64});
  CHECK(net.infer_type({{"x", strop::f32}}).outputs == std::vector{strop::f32});
  auto run = net.bind(strop::cpu(), {{"x", x}});
  CHECK(values(run.forward()[0]) == std::vector<double>{2.5, 5.5});
  CHECK((strop::var("x") + 1.5).infer_type({{"x", strop::i32}}).outputs == std::vector{strop::i32});
}

// The same at compile time.
static_assert(strop::check::type(strop::PlusScalar{.is_int = false}, strop::i32) == strop::f64);
static_assert(strop::check::type(strop::PlusScalar{.is_int = false}, strop::bf16) == strop::bf16);
static_assert(strop::check::type(strop::PlusScalar{}, strop::i32) == strop::i32);
