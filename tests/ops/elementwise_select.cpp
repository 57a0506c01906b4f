// SPDX-License-Identifier: Apache-2.0
#include <strop/op/check.hpp>
#include <strop/ops/elementwise/select.hpp>
#include <strop/ops/elementwise/sum.hpp>
#include "elementwise_rows.hpp"

using namespace ops_test;

TEST_CASE("clip") {
  constexpr strop::Clip within{-1.5f, 2.0f};
  row(strop::clip, {-2.5, -1.25, -0.3, 0.4, 1.5, 3}, {-1.5, -1.25, -0.3, 0.4, 1.5, 2}, {0, -1.5, 2, NaN, Inf, -Inf},
      {0, -1.5, 2, NaN, 2, -1.5}, nullptr, within, {.dtypes = false});
  check_dtypes(subject(strop::clip, {grid({3, 2, 5, 1, 0, 3})}, {1, 4}));
  // On integers the bounds are truncated first: −1.5 is −1.
  CHECK(values(strop::clip(strop::array({-3, -1, 7}).to(strop::i32), {.a_min = -1.5f, .a_max = 2.5f})) ==
        Numbers{-1, -1, 2});
  // Where the bounds cross, the upper one is asked first.
  CHECK(values(strop::clip(strop::array({0, 2, 5}), {.a_min = 3, .a_max = 1})) == Numbers{3, 1, 1});
  static_assert(strop::check::gradient(within, -1.5) == 1 && strop::check::gradient(within, 2.0) == 1 &&
                strop::check::gradient(within, 2.5) == 0);
  static_assert(strop::check::storage(within, strop::csr) == strop::csr);
  static_assert(strop::check::storage(strop::Clip{1.0f, 2.0f}, strop::csr) == strop::dense);
  CHECK(error_of([] { (void)strop::clip(strop::array({1}), {.a_min = 1}); }) ==
        "clip: parameter 'a_max' (double) is required");
}

TEST_CASE("where chooses element by element") {
  const Subject s =
      subject(strop::where, {grid({1, 0, -2, 0, NaN, 3}), grid({1, 2, 3, 4, 5, 6}), grid({-1, -2, -3, -4, -5, -6})});
  saw(s);
  check_values(s, {1, -2, 3, -4, 5, 6});
  battery(s, {.dtypes = false, .sparse = false});
  const Subject plain =
      subject(strop::where, {grid({1, 0, -2, 0, 0, 3}), grid({1, 0, 3, 4, 0, 6}), grid({-1, -2, 0, -4, -5, 0})});
  check_dtypes(plain);
  check_sparse(plain);
  check_gradient(plain);
}

TEST_CASE("where with a condition of another type, and one for each row") {
  const NDArray x = strop::array({{1, 2}, {3, 4}}), y = strop::array({{5, 6}, {7, 8}});
  for (Dtype type : strop::all_dtypes) {
    CAPTURE(strop::name_of(type));
    const NDArray rows = with_dtype(strop::array({1, 0}), type), all = with_dtype(strop::array({{0, 1}, {1, 0}}), type);
    CHECK(values(strop::where(rows, x, y)) == Numbers{1, 2, 7, 8});
    CHECK(values(strop::where(all, x, y)) == Numbers{5, 2, 3, 8});
  }
  const Subject rows = subject(strop::where, {strop::array({1, 0}), x, y});
  check_gradient(rows);
  check_requests(rows);
  check_views(rows);
  // The other branch's infinity stays out of the gradient.
  x.attach_grad();
  NDArray picked;
  {
    strop::record scope;
    picked = strop::where(strop::array({{1, 0}, {0, 0}}), x, y);
  }
  picked.backward(strop::full({2, 2}, Inf));
  CHECK(values(x.grad()) == Numbers{Inf, 0, 0, 0});
}

TEST_CASE("where refuses shapes and types that do not fit") {
  const NDArray x = strop::array({{1, 2}, {3, 4}});
  CHECK(error_of([&] { (void)strop::where(strop::array({1, 0, 1}), x, x); }) ==
        "where: input 'condition' has shape (3,), expected (2, 2) or (2,) like input 'x'");
  CHECK(error_of([&] { (void)strop::where(x, x, strop::array({1})); }) ==
        "where: input 'y' has shape (1,), expected (2, 2)");
  CHECK(error_of([&] { (void)strop::where(x, x, x.to(strop::f64)); }) ==
        "where: input 'y' is float64, expected float32");
}

TEST_CASE("where of numbers") {
  static_assert(strop::where(true, 1.0, 2.0) == 1.0 && strop::where(0, 1.0f, 2.0f) == 2.0f);
  check_covered(strop::SelectOps{});
}

TEST_CASE("add_n") {
  for (std::size_t count : {1U, 2U, 3U, 7U}) {
    CAPTURE(count);
    Arrays in;
    for (std::size_t i = 0; i < count; ++i) in.push_back(grid({1, 0, 3, 0, 5, static_cast<double>(i)}));
    const Subject s = subject(strop::add_n, in, {.num_args = static_cast<int>(count)});
    saw(s);
    const auto n = static_cast<double>(count);
    check_values(s, {n, 0, 3 * n, 0, 5 * n, n * (n - 1) / 2});
    battery(s, {.sparse = count < 4});
  }
  const NDArray x = strop::array({1, 2, 3}), c = strop::array({{0, 1}, {2, 0}}).to(strop::csr);
  CHECK(strop::add_n({c, c, c}).storage() == strop::csr);
  CHECK(strop::add_n({c.to(strop::row_sparse), c.to(strop::row_sparse)}).storage() == strop::row_sparse);
  CHECK(values(strop::invoke("ElementWiseSum", {x, x}, {{"num_args", "2"}})) == Numbers{2, 4, 6});
  CHECK(error_of([&] { (void)strop::add_n({x, strop::array({1})}); }) ==
        "add_n: input 'arg1' has shape (1,), expected (3,)");
  CHECK(error_of([&] { (void)strop::add_n({x, x.to(strop::i32)}); }) ==
        "add_n: input 'arg1' is int32, expected float32");
  CHECK(error_of([&] { (void)strop::add_n({x, x}, {.num_args = 3}); }) == "add_n: num_args is 3, 2 inputs were given");
  // Big enough for several threads and blocks.
  const NDArray big = strop::arange(0, 100003);
  CHECK(strop::allclose(strop::add_n({big, big, big}), strop::mul_scalar(big, {.scalar = 3})));
  check_covered(strop::SumOps{});
}
