// SPDX-License-Identifier: Apache-2.0
/// \file
/// allclose of all storages.
#include <doctest/doctest.h>
#include <strop/tensor/allclose.hpp>
#include <strop/tensor/create.hpp>
#include <strop/tensor/sparse.hpp>

#include <limits>

using namespace strop;

TEST_CASE("equal to rounding, by shape and value") {
  CHECK(allclose(array({1, 2}), array({1, 2})));
  CHECK(allclose(array({1, 2}), array<std::int32_t>({1, 2})));
  CHECK_FALSE(allclose(array({1, 2}), array({{1, 2}})));
  CHECK_FALSE(allclose(array({1, 2}), array({1, 2.1})));
  CHECK(allclose(array<double>({100.0009}), array<double>({100})));
  CHECK_FALSE(allclose(array<double>({100.0011}), array<double>({100})));
  CHECK(allclose(array<double>({-100.0009}), array<double>({-100})));
  CHECK(allclose(array<double>({9e-7}), array<double>({0})));
  CHECK_FALSE(allclose(array<double>({1.1e-6}), array<double>({0})));
  CHECK(allclose(array({1}), array({1.5}), 0, 0.5));
  CHECK_FALSE(allclose(array({1}), array({1.5}), 0, 0.4));
  CHECK(allclose(zeros({0, 3}), zeros({0, 3})));
  CHECK(allclose(scalar(2), scalar(2)));
  NDArray a = zeros({1000}), b = zeros({1000});
  b.pointer<float>()[999] = 1;
  CHECK_FALSE(allclose(a, b));
}

TEST_CASE("NaN and infinities") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(allclose(array({nan}), array({nan})));
  CHECK(allclose(array({nan}), array({nan}), 1e-5, 1e-6, true));
  CHECK_FALSE(allclose(array({nan}), array({1}), 1e-5, 1e-6, true));
  CHECK_FALSE(allclose(array({1}), array({nan})));
  CHECK(allclose(array({inf, -inf}), array({inf, -inf})));
  CHECK_FALSE(allclose(array({inf}), array({-inf})));
  CHECK_FALSE(allclose(array({1}), array({inf})));
  CHECK_FALSE(allclose(array({inf}), array({1})));
}

TEST_CASE("any pair of storages; stored zeros and order do not matter") {
  const NDArray x = array({{0, 1, 0}, {0, 0, 0}, {2, 0, 3}}), y = array({{0, 1, 0}, {0, 0, 0.5}, {2, 0, 3}});
  for (Storage first : {dense, csr, row_sparse}) {
    for (Storage second : {dense, csr, row_sparse}) {
      CHECK(allclose(detail::cast_storage(x, first), detail::cast_storage(x, second)));
      CHECK_FALSE(allclose(detail::cast_storage(x, first), detail::cast_storage(y, second)));
      CHECK_FALSE(allclose(detail::cast_storage(y, first), detail::cast_storage(x, second)));
    }
  }
  const NDArray zero_stored = csr_matrix({0, 1, 2, 3}, {0, 1, 0, 2}, {0, 2, 2, 4}, {3, 3});
  CHECK(allclose(zero_stored, detail::cast_storage(x, csr)));
  const NDArray unsorted = csr_matrix({1, 3, 2}, {1, 2, 0}, {0, 1, 1, 3}, {3, 3});
  CHECK(allclose(unsorted, detail::cast_storage(x, csr)));
  const NDArray wide = csr_matrix({1}, {3}, {0, 1}, {1, std::int64_t{1} << 50});  // nothing dense is made
  CHECK(allclose(wide, wide.copy()));
  CHECK_THROWS_AS((void)allclose(x, NDArray()), Error);
}
