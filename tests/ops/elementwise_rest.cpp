// SPDX-License-Identifier: Apache-2.0
#include <strop/ops/elementwise/amp.hpp>
#include <strop/ops/elementwise/contrib.hpp>
#include <strop/ops/elementwise/scatter.hpp>
#include "elementwise_rows.hpp"

using namespace ops_test;

namespace {
/// The gradient of f at x for the head gradient dy.
template <class F>
Numbers gradient_at(const NDArray& x, const NDArray& dy, F f) {
  x.attach_grad();
  NDArray y;
  {
    strop::record scope;
    y = f(x);
  }
  y.backward(dy);
  return values(x.grad());
}
}  // namespace

TEST_CASE("maps with the gradient of another function") {
  const Numbers x{-2.4, -1.2, 0, 0.4, 1.5, 3};
  row(strop::round_ste, x, {-2, -1, 0, 0, 2, 3}, {0.5, -0.5, 2.5, NaN, Inf, 0}, {1, -1, 3, NaN, Inf, 0}, nullptr, {},
      {.gradient = false});
  row(strop::sign_ste, x, {-1, -1, 0, 1, 1, 1}, {0, -5, 0, NaN, Inf, -Inf}, {0, -1, 0, 0, 1, -1}, nullptr, {},
      {.gradient = false});
  row(strop::gradientmultiplier, x, x, x, x, nullptr, {.scalar = -0.5}, {.gradient = false});
  const NDArray at = strop::array({1.5, -2.5, 0.3}), dy = strop::array({1, 2, 3});
  CHECK(gradient_at(at, dy, [](const NDArray& a) { return strop::round_ste(a); }) == Numbers{1, 2, 3});
  CHECK(gradient_at(at, dy, [](const NDArray& a) { return strop::sign_ste(a); }) == Numbers{1, 2, 3});
  CHECK(gradient_at(at, dy, [](const NDArray& a) { return strop::gradientmultiplier(a, {.scalar = -0.5}); }) ==
        Numbers{-0.5, -1, -1.5});
}

TEST_CASE("div_sqrt_dim") {
  const Subject s = subject(strop::div_sqrt_dim, {strop::array({{1.5, -2.5, 0, 4}, {2, 4, 6, 8}})});
  saw(s);
  check_values(s, {0.75, -1.25, 0, 2, 1, 2, 3, 4});
  battery(s, {.same_shape = false});
  CHECK(error_of([] { (void)strop::div_sqrt_dim(strop::scalar(2)); }) ==
        "_contrib_div_sqrt_dim: input 'data' has no axis");
  check_covered(strop::ContribMapOps{});
}

TEST_CASE("scatter operators work on what is stored") {
  const QuietFallbacks quiet;
  const NDArray d = strop::array({{1, 0}, {0, 0}, {3, 4}}), rhs = strop::array({{2, 2}, {2, 2}, {4, 0.5}});
  const NDArray rows = d.to(strop::row_sparse), c = d.to(strop::csr);
  const Subject plus = subject(strop::scatter_plus_scalar, {d}, {.scalar = 5}),
                minus = subject(strop::scatter_minus_scalar, {d}, {.scalar = 5}),
                divide = subject(strop::scatter_elemwise_div, {d, rhs});
  for (const Subject& s : {plus, minus, divide}) {
    saw(s);
    battery(s, {.dtypes = false, .sparse = false});
    CHECK(call(s, s.in)[0].storage() == strop::dense);
  }
  check_values(plus, {6, 5, 5, 5, 8, 9});
  check_values(minus, {-4, -5, -5, -5, -2, -1});
  check_values(divide, {0.5, 0, 0, 0, 0.75, 8});
  const auto check = [](const NDArray& y, Storage storage, const Numbers& wanted) {
    CHECK(y.storage() == storage);
    y.check_format();
    CHECK(values(y) == wanted);
  };
  check(strop::scatter_plus_scalar(rows, {.scalar = 5}), strop::row_sparse, {6, 5, 0, 0, 8, 9});
  check(strop::scatter_plus_scalar(c, {.scalar = 5}), strop::csr, {6, 0, 0, 0, 8, 9});
  check(strop::scatter_minus_scalar(rows, {.scalar = 5}), strop::row_sparse, {-4, -5, 0, 0, -2, -1});
  check(strop::scatter_minus_scalar(c, {.scalar = 5}), strop::csr, {-4, 0, 0, 0, -2, -1});
  check(strop::scatter_elemwise_div(rows, rhs), strop::row_sparse, {0.5, 0, 0, 0, 0.75, 8});
  check(strop::scatter_elemwise_div(c, rhs), strop::csr, {0.5, 0, 0, 0, 0.75, 8});
  check(strop::scatter_elemwise_div(rows, rhs.to(strop::row_sparse)), strop::row_sparse, {0.5, 0, 0, 0, 0.75, 8});
  check(strop::scatter_elemwise_div(d, rhs.to(strop::row_sparse)), strop::dense, {0.5, 0, 0, 0, 0.75, 8});
  // In place: the structure stays.
  const NDArray y = rows.copy();
  strop::scatter_plus_scalar(y, {.scalar = 5}, strop::into(y));
  check(y, strop::row_sparse, {6, 5, 0, 0, 8, 9});
  check_covered(strop::ScatterOps{});
}

TEST_CASE("amp_cast casts float16, bfloat16 and float32") {
  const NDArray x = strop::array({1.5, 2});
  CHECK(strop::amp_cast(x, {.dtype = strop::f16}).dtype() == strop::f16);
  for (strop::Dtype stays : {strop::i32, strop::u8, strop::f64})
    CHECK(strop::amp_cast(x.to(stays), {.dtype = strop::f16}).dtype() == stays);
  CHECK(strop::amp_cast(x.to(strop::f16), {.dtype = strop::f64}).dtype() == strop::f64);
  const auto together = [&](std::initializer_list<strop::Dtype> types, std::string_view narrow) {
    std::vector<NDArray> in;
    for (strop::Dtype type : types) in.push_back(x.to(type));
    std::vector<strop::Dtype> out;
    for (const NDArray& y :
         strop::invoke_all("amp_multicast", in, {{"num_outputs", std::to_string(in.size())}, {"cast_narrow", narrow}}))
      out.push_back(y.dtype());
    return out;
  };
  using Types = std::vector<strop::Dtype>;
  CHECK(together({strop::f16, strop::f64, strop::f32}, "False") == Types{strop::f32, strop::f64, strop::f32});
  CHECK(together({strop::f16, strop::f64, strop::f32}, "True") == Types{strop::f16, strop::f64, strop::f16});
  CHECK(together({strop::i32, strop::f64}, "True") == Types{strop::i32, strop::f64});
  CHECK(strop::amp_cast(strop::array({{0, 1}}).to(strop::csr), {.dtype = strop::f64}).storage() == strop::csr);
  CHECK(gradient_at(x, strop::array({1, 2}).to(strop::f16),
                    [](const NDArray& a) { return strop::amp_cast(a, {.dtype = strop::f16}); }) == Numbers{1, 2});
  CHECK(error_of([&] { (void)strop::amp_cast(x); }) == "amp_cast: parameter 'dtype' (dtype) is required");
  saw(subject(strop::amp_cast, {x}));
  const Subject several = subject("amp_multicast", {x, x}, {{"num_outputs", "2"}}),
                back = subject("_backward_amp_multicast", {x, x});
  for (const Subject& s : {several, back}) {
    saw(s);
    check_requests(s);
    check_views(s);
    check_gradient(s);
  }
  check_covered(strop::AmpOps{});
}
