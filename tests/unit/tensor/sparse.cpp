// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sparse arrays from parts and from coordinates; check_format.
#include <doctest/doctest.h>
#include <strop/tensor/allclose.hpp>
#include <strop/tensor/create.hpp>
#include <strop/tensor/print.hpp>
#include <strop/tensor/sparse.hpp>
#include <strop/tensor/structure.hpp>

#include <cstdint>
#include <vector>

using namespace strop;
using Indices = std::vector<std::int64_t>;
using Narrow = std::vector<std::int32_t>;

TEST_CASE("csr_matrix from lists, arrays and containers") {
  const NDArray a = csr_matrix({1, 2}, {0, 2}, {0, 1, 2}, {2, 3});
  a.check_format();
  CHECK(a.storage() == csr);
  CHECK(a.dtype() == f32);
  CHECK(a.to_vector<float>() == std::vector<float>{1, 0, 0, 0, 0, 2});
  const NDArray values = array<double>({1, 2});
  const NDArray b = csr_matrix(values, array({0, 2}), std::vector<std::int32_t>{0, 1, 2}, {2, 3});
  CHECK(b.dtype() == f64);
  CHECK(b.to_vector<float>() == a.to_vector<float>());
  values.pointer<double>()[0] = 7;  // b has its own elements
  CHECK(b.to_vector<float>() == a.to_vector<float>());
  const NDArray none = csr_matrix({}, {}, {0, 0, 0}, {2, 3});
  none.check_format();
  CHECK(none.nnz() == 0);
  CHECK(csr_matrix({5}, {0}, {0, 1}, {1, 1}).item<int>() == 5);
}

TEST_CASE("csr_matrix refuses parts of the wrong length or rank") {
  CHECK_THROWS_WITH_AS(csr_matrix({1, 2}, {0}, {0, 1, 2}, {2, 3}),
                       "strop: csr_matrix(): data has 2 values and indices has 1", Error);
  CHECK_THROWS_WITH_AS(csr_matrix({1, 2}, {0, 2}, {0, 2}, {2, 3}),
                       "strop: csr_matrix(): indptr of a matrix of 2 rows has 3 entries, not 2", Error);
  CHECK_THROWS_WITH_AS(csr_matrix({1, 2}, {0, 0.5}, {0, 1, 2}, {2, 3}),
                       "strop: csr_matrix(): indices[1] = 0.5 is not a whole number", Error);
  CHECK_THROWS_AS(csr_matrix({1, 2}, {0, 2}, {0, 1, 2}, {2, 3, 1}), Error);
  CHECK_THROWS_AS(csr_matrix({{1, 2}}, {0, 2}, {0, 1, 2}, {2, 3}), Error);
  CHECK_THROWS_AS(csr_matrix({1, 2}, {{0, 2}}, {0, 1, 2}, {2, 3}), Error);
  CHECK_THROWS_AS(csr_matrix({}, {}, {0}, {std::int64_t{1} << 40, std::int64_t{1} << 40}), Error);
  CHECK_THROWS_AS(csr_matrix(NDArray(), {0}, {0, 1}, {1, 1}), Error);
}

TEST_CASE("coordinates in any order; equal places are added up") {
  const NDArray a = csr_matrix({1, 2, 4, 8}, {.row = {1, 0, 1, 1}, .col = {2, 1, 0, 2}}, {3, 3});
  a.check_format();
  CHECK(a.nnz() == 3);
  CHECK(a.to_vector<int>() == std::vector<int>{0, 2, 0, 4, 0, 9, 0, 0, 0});
  const NDArray whole = csr_matrix(array<std::int64_t>({9007199254740993, 2}), {.row = {0, 0}, .col = {0, 0}}, {1, 1});
  CHECK(whole.data().to_vector<std::int64_t>() == Indices{9007199254740995});
  CHECK(csr_matrix({}, {.row = {}, .col = {}}, {2, 2}).nnz() == 0);
  CHECK_THROWS_WITH_AS(csr_matrix({1}, {.row = {3}, .col = {0}}, {3, 3}),
                       "strop: csr_matrix(): value 0 is at (3, 0), outside shape (3, 3)", Error);
  CHECK_THROWS_AS(csr_matrix({1, 2}, {.row = {0}, .col = {0, 1}}, {3, 3}), Error);
}

TEST_CASE("row_sparse_array") {
  const NDArray a = row_sparse_array({{1, 2}, {3, 4}}, {0, 2}, {4, 2});
  a.check_format();
  CHECK(a.to_vector<int>() == std::vector<int>{1, 2, 0, 0, 3, 4, 0, 0});
  CHECK(row_sparse_array({1, 2}, {0, 2}, {3}).to_vector<int>() == std::vector<int>{1, 0, 2});
  CHECK(row_sparse_array({}, {}, {3, 2}).nnz() == 0);
  CHECK_THROWS_WITH_AS(row_sparse_array({{1, 2}}, {0, 2}, {4, 2}),
                       "strop: row_sparse_array(): data of 2 rows of shape (4, 2) has shape (2, 2), not (1, 2)", Error);
  CHECK_THROWS_AS(row_sparse_array({1}, {0}, {}), Error);
}

TEST_CASE("indices of 32 bits stay so, a braced list beside them too, all others become 64") {
  const auto types = [](const NDArray& a) { return std::pair(a.indices().dtype(), a.indptr().dtype()); };
  const Narrow columns{0, 2}, starts{0, 1, 2};
  const NDArray a = csr_matrix({1, 2}, columns, starts, {2, 3});
  CHECK(types(a) == std::pair(i32, i32));
  CHECK(types(csr_matrix({1, 2}, columns, {0, 1, 2}, {2, 3})) == std::pair(i32, i32));
  CHECK(types(csr_matrix({1, 2}, {0, 2}, starts, {2, 3})) == std::pair(i32, i32));
  CHECK(types(csr_matrix({1, 2}, {0, 2}, {0, 1, 2}, {2, 3})) == std::pair(i64, i64));
  CHECK(types(csr_matrix({1, 2}, columns, Indices{0, 1, 2}, {2, 3})) == std::pair(i32, i64));
  CHECK(types(csr_matrix({1, 2}, array({0, 2}), array<std::uint8_t>({0, 1, 2}), {2, 3})) == std::pair(i64, i64));
  CHECK(types(csr_matrix({1, 2}, {0, 3000000000}, starts, {2, 4000000000})) == std::pair(i64, i32));
  CHECK(types(csr_matrix({1, 2}, {.row = Narrow{0, 1}, .col = columns}, {2, 3})) == std::pair(i64, i64));
  CHECK(row_sparse_array({{1, 2}}, Narrow{1}, {2, 2}).indices().dtype() == i32);
  CHECK(row_sparse_array({{1, 2}}, {1}, {2, 2}).indices().dtype() == i64);

  const NDArray wide = csr_matrix({1, 2}, {0, 2}, {0, 1, 2}, {2, 3});
  a.check_format();
  CHECK(a.to_vector<int>() == std::vector<int>{1, 0, 0, 0, 0, 2});
  CHECK(a.indices().to_vector<std::int64_t>() == Indices{0, 2});
  CHECK(detail::to_text(a) == detail::to_text(wide));
  CHECK(allclose(a, wide));
  CHECK_FALSE(allclose(a, csr_matrix({1, 2}, Narrow{1, 2}, starts, {2, 3})));
  CHECK(types(a.copy()) == std::pair(i32, i32));
  const NDArray part = a.slice(1, 2);
  part.check_format();
  CHECK(types(part) == std::pair(i32, i32));
  CHECK(part.to_vector<int>() == std::vector<int>{0, 0, 2});
  const NDArray rows = detail::cast_storage(a, row_sparse);
  CHECK(rows.indices().dtype() == i32);
  CHECK(detail::cast_storage(wide, row_sparse).indices().dtype() == i64);
  CHECK(rows.to_vector<int>() == a.to_vector<int>());
  const NDArray stored = row_sparse_array({{1, 2}}, Narrow{1}, {3, 2});
  CHECK(stored.to_vector<int>() == std::vector<int>{0, 0, 1, 2, 0, 0});
  const NDArray matrix = detail::cast_storage(stored, csr);
  CHECK(types(matrix) == std::pair(i32, i32));
  CHECK(matrix.to_vector<int>() == stored.to_vector<int>());
  // Columns that int32 does not number are int64, whatever the rows are; what is made of a dense array is int64.
  const NDArray far = row_sparse_array(NDArray({0, std::int64_t{1} << 33}, f32), Narrow{}, {2, std::int64_t{1} << 33});
  CHECK(types(detail::cast_storage(far, csr)) == std::pair(i64, i64));
  CHECK(types(detail::cast_storage(detail::cast_storage(a, dense), csr)) == std::pair(i64, i64));
}

TEST_CASE("check_format names what is wrong") {
  const auto broken = [](const NDArray& a, const char* sentence) {
    CHECK_THROWS_WITH_AS(a.check_format(), sentence, Error);
  };
  broken(csr_matrix({1, 2}, {0, 2}, {1, 1, 2}, {2, 3}), "strop: check_format(): indptr starts with 0, not 1");
  broken(csr_matrix({1, 2}, {0, 2}, {0, 1, 3}, {2, 3}),
         "strop: check_format(): indptr ends with the number of stored values, 2, not 3");
  broken(csr_matrix({1, 2}, {0, 2}, {0, 3, 2}, {2, 3}),
         "strop: check_format(): indptr[2] = 2 is less than indptr[1] = 3");
  broken(csr_matrix({1, 2}, {0, 3}, {0, 1, 2}, {2, 3}),
         "strop: check_format(): indices[1] = 3 is outside 0 to 2, the columns of a row");
  broken(csr_matrix({1, 2}, {2, 0}, {0, 2, 2}, {2, 3}),
         "strop: check_format(): indices[1] = 0 does not ascend from 2, as the columns of a row must");
  broken(csr_matrix({1, 2}, {1, 1}, {0, 2, 2}, {2, 3}),
         "strop: check_format(): indices[1] = 1 does not ascend from 1, as the columns of a row must");
  broken(row_sparse_array({{1}, {2}}, {2, 1}, {3, 1}),
         "strop: check_format(): indices[1] = 1 does not ascend from 2, as the stored rows must");
  broken(row_sparse_array({{1}}, {-1}, {3, 1}),
         "strop: check_format(): indices[0] = -1 is outside 0 to 2, the stored rows");
  broken(csr_matrix({1, 2}, Narrow{0, 3}, Narrow{0, 1, 2}, {2, 3}),
         "strop: check_format(): indices[1] = 3 is outside 0 to 2, the columns of a row");
  broken(csr_matrix({1, 2}, Narrow{0, 2}, Narrow{0, 2, 1}, {2, 3}),
         "strop: check_format(): indptr ends with the number of stored values, 2, not 1");
  broken(row_sparse_array({{1, 2}, {3, 4}}, Narrow{2, 1}, {3, 2}),
         "strop: check_format(): indices[1] = 1 does not ascend from 2, as the stored rows must");
  broken(row_sparse_array({{1}, {2}}, {0, 0}, {1, 1}),
         "strop: check_format(): 2 rows are stored of an array that has 1");
  CHECK_NOTHROW(csr_matrix({1, 2}, {2, 0}, {0, 2, 2}, {2, 3}).check_format(false));  // the order costs a pass
  const NDArray scalar = NDArray::shell({}, f32, cpu(), row_sparse);
  scalar.body().buffer = array({1}).body().buffer;
  scalar.body().indices = array<std::int64_t>({0}).body_ref();
  broken(scalar, "strop: check_format(): a row-sparse array has 1 dimension or more, not shape ()");
  CHECK_THROWS_AS(detail::check_structure(scalar), Error);
  CHECK_THROWS_AS(NDArray({}, f32, cpu(), row_sparse), Error);
  CHECK_THROWS_AS(NDArray({3}, f32, cpu(), csr), Error);
  CHECK_NOTHROW(array({1}).check_format());
  CHECK_THROWS_AS(NDArray().check_format(), Error);
}
