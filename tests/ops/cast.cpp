// SPDX-License-Identifier: Apache-2.0
#include "harness.hpp"

using namespace ops_test;
using strop::csr;
using strop::dense;
using strop::f16;
using strop::f32;
using strop::f64;
using strop::i32;
using strop::row_sparse;

namespace {
const NDArray& sample() {
  static const NDArray x = strop::array({{0, 1.75}, {-2.5, 0}, {3, 0}});
  return x;
}
}  // namespace

TEST_CASE("cast between all types") {
  const std::vector<double> from{0, 1.75, -2.5, 0, 3, 0}, truncated{0, 1, -2, 0, 3, 0}, truth{0, 1, 1, 0, 1, 0};
  for (Dtype type : strop::all_dtypes) {
    CAPTURE(strop::name_of(type));
    const NDArray y = strop::cast(sample(), {.dtype = type});
    CHECK(y.dtype() == type);
    if (type == strop::u8) continue;  // of a negative number: 0
    CHECK(values(y) == (type == strop::boolean ? truth : strop::is_floating(type) ? from : truncated));
    CHECK(values(strop::cast(y, {.dtype = f64})) == values(y));
  }
  CHECK(values(sample().to(strop::u8)) == std::vector<double>{0, 1, 0, 0, 3, 0});
  CHECK(values(strop::array({3e9, -3e9, NAN}).to(i32)) == std::vector<double>{2147483647, -2147483648.0, 0});
}

TEST_CASE("cast in every way") {
  const Subject s = subject(strop::cast, {sample()}, strop::Cast{.dtype = f64});
  check_requests(s);
  check_views(s);
  check_zero_size(s);
  check_sparse(s);
  check_gradient(s);
  check_inplace(subject(strop::cast, {sample()}, strop::Cast{.dtype = f32}));
  const NDArray back = strop::zeros({2}, f64);
  strop::cast(strop::array({1, 2}), {.dtype = f64}, strop::add_to(back));
  CHECK(values(back) == std::vector<double>{1, 2});
}

TEST_CASE("the gradient of cast comes in the input's type") {
  const NDArray x = strop::array({1, 2, 3}).to(f16);
  x.attach_grad();
  {
    strop::record scope;
    x.to(f64).backward(strop::array<double>({0.5, 1.5, 2.5}));
  }
  CHECK(x.grad().dtype() == f16);
  CHECK(values(x.grad()) == std::vector<double>{0.5, 1.5, 2.5});
}

TEST_CASE("cast keeps a sparse structure") {
  const NDArray c = sample().to(csr), y = c.to(i32);
  CHECK(y.storage() == csr);
  CHECK(y.nnz() == 3);
  y.check_format();
  CHECK(values(y) == std::vector<double>{0, 1, -2, 0, 3, 0});
  CHECK(sample().to(row_sparse).to(f16).storage() == row_sparse);
}

TEST_CASE("cast_storage") {
  for (Storage from : {dense, csr, row_sparse})
    for (Storage to : {dense, csr, row_sparse}) {
      CAPTURE(strop::name_of(from));
      CAPTURE(strop::name_of(to));
      const NDArray x = sample().to(from), y = strop::cast_storage(x, {.stype = to});
      CHECK(y.storage() == to);
      if (to != dense) y.check_format();
      CHECK(values(y) == values(sample()));
      CHECK_FALSE(y.is(x));
      CHECK((y.bytes() != x.bytes()));
    }
  CHECK(strop::invoke("cast_storage", {sample()}, {{"stype", "row_sparse"}}).nnz() == 3);
  CHECK(strop::invoke("_sparse_cast_storage", {sample().to(csr)}, {{"stype", "default"}}).storage() == dense);
  const Subject s = subject(strop::cast_storage, {sample()}, strop::CastStorage{.stype = csr});
  check_requests(s);
  check_gradient(s);
  const NDArray x = sample().to(csr);
  x.attach_grad(strop::GradRequest::write, dense);
  {
    strop::record scope;
    x.to(dense).backward(strop::full({3, 2}, 4));
  }
  CHECK(values(x.grad()) == std::vector<double>(6, 4.0));
}

TEST_CASE("to gives the same array where nothing changes") {
  CHECK(sample().to(f32).is(sample()));
  CHECK(sample().to(dense).is(sample()));
  CHECK(sample().to(strop::cpu()).is(sample()));
  CHECK_FALSE(sample().to(f64).is(sample()));
}

TEST_CASE("cast refuses in a sentence") {
  CHECK(error_of([] { (void)strop::cast(sample()); }) == "cast: parameter 'dtype' (dtype) is required");
  CHECK(error_of([] {
          (void)strop::invoke("Cast", {sample()}, {{"dtype", "int7"}});
        }).starts_with("cast: parameter 'dtype' is 'int7', expected"));
  CHECK(error_of([] { (void)strop::array({1, 2}).to(csr); }) ==
        "cast_storage: input 'data' has shape (2,), expected 2 dimensions");
  CHECK(error_of([] { (void)strop::scalar(1).to(row_sparse); }) ==
        "cast_storage: input 'data' has no dimension, expected 1 or more for row_sparse");
  CHECK(error_of([] { (void)strop::invoke("cast_storage", {sample()}, {{"stype", "coo"}}); }) ==
        "cast_storage: parameter 'stype' is 'coo', expected one of {'default', 'row_sparse', 'csr'}");
  CHECK(error_of([] { (void)strop::NDArray().to(f16); }) == "strop: to() of a handle without an array");
  const NDArray y = strop::zeros({3, 2}, i32);
  CHECK(error_of([&] { strop::cast(sample(), {.dtype = f64}, strop::into(y)); }) ==
        "cast: output 'output' is int32, expected float64");
}
