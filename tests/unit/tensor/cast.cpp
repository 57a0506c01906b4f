// SPDX-License-Identifier: Apache-2.0
/// \file
/// Dense, CSR and row-sparse arrays into each other, and rows of arrays.
#include <doctest/doctest.h>
#include <strop/autograd/views.hpp>
#include <strop/tensor/allclose.hpp>
#include <strop/tensor/create.hpp>
#include <strop/tensor/merged.hpp>
#include <strop/tensor/sparse.hpp>

#include <limits>
#include <vector>

using namespace strop;
using Indices = std::vector<std::int64_t>;

namespace {

/// A dense matrix whose element (i, j) is stored where the bit says so.
NDArray pattern(const Shape& shape, Dtype dtype, std::uint64_t seed) {
  std::vector<double> values(static_cast<std::size_t>(shape.size()));
  for (double& value : values) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    value = (seed >> 60) < 5 ? static_cast<double>((seed >> 33) % 100 + 1) : 0;
  }
  const NDArray out(shape, dtype);
  detail::convert_elements(f64, values.data(), dtype, out.bytes(), out.size());
  return out;
}

}  // namespace

TEST_CASE("all storages into all others and back, for all dtypes and awkward shapes") {
  for (Dtype dtype : all_dtypes) {
    for (const Shape& shape : {Shape{4, 5}, Shape{1, 1}, Shape{0, 3}, Shape{3, 0}, Shape{40, 17}}) {
      const NDArray x = pattern(shape, dtype, 7 + static_cast<std::uint64_t>(shape.size()));
      const auto expected = x.to_vector<double>();
      for (Storage first : {dense, csr, row_sparse}) {
        for (Storage second : {dense, csr, row_sparse}) {
          const NDArray y = detail::cast_storage(detail::cast_storage(x, first), second);
          CHECK(y.storage() == second);
          CHECK(y.dtype() == dtype);
          CHECK(y.shape() == shape);
          y.check_format();
          CHECK(y.to_vector<double>() == expected);
        }
      }
    }
  }
}

TEST_CASE("the parts of what is cast") {
  const NDArray x = array({{0, 1, 0}, {0, 0, 0}, {2, 0, 3}});
  const NDArray c = detail::cast_storage(x, csr);
  CHECK(c.data().to_vector<float>() == std::vector<float>{1, 2, 3});
  CHECK(c.indices().to_vector<std::int64_t>() == Indices{1, 0, 2});
  CHECK(c.indptr().to_vector<std::int64_t>() == Indices{0, 1, 1, 3});
  CHECK(c.nnz() == 3);
  const NDArray r = detail::cast_storage(c, row_sparse);
  CHECK(r.indices().to_vector<std::int64_t>() == Indices{0, 2});
  CHECK(r.data().shape() == Shape{2, 3});
  CHECK(r.data().to_vector<float>() == std::vector<float>{0, 1, 0, 2, 0, 3});
  CHECK(detail::cast_storage(x, dense).is(x));
}

TEST_CASE("a negative zero is not stored, NaN is") {
  const NDArray x = array({{-0.0, std::numeric_limits<double>::quiet_NaN()}});
  CHECK(detail::cast_storage(x, csr).indices().to_vector<std::int64_t>() == Indices{1});
  CHECK(detail::cast_storage(array<half>({{-0.0F, 1.0F}}), csr).nnz() == 1);
}

TEST_CASE("row-sparse arrays of 1 and of 3 dimensions; other ranks are refused") {
  const NDArray v = detail::cast_storage(array({0, 5, 0}), row_sparse);
  CHECK(v.indices().to_vector<std::int64_t>() == Indices{1});
  CHECK(v.data().shape() == Shape{1});
  const NDArray t = pattern({6, 2, 3}, f32, 3);
  CHECK(detail::cast_storage(detail::cast_storage(t, row_sparse), dense).to_vector<float>() == t.to_vector<float>());
  CHECK_THROWS_WITH_AS(detail::cast_storage(array({1, 2}), csr),
                       "strop: CSR storage is for 2 dimensions; this array has shape (2,)", Error);
  CHECK_THROWS_AS(detail::cast_storage(detail::cast_storage(t, row_sparse), csr), Error);
  CHECK_THROWS_AS(detail::cast_storage(scalar(1), row_sparse), Error);
  CHECK_THROWS_AS(detail::cast_storage(NDArray::shell({2, 2}, f32), csr), Error);
}

TEST_CASE("a broken structure is refused, never followed") {
  CHECK_THROWS_AS(detail::cast_storage(csr_matrix({1}, {7}, {0, 1}, {1, 3}), dense), Error);
  CHECK_THROWS_AS(detail::cast_storage(csr_matrix({1}, {-1}, {0, 1}, {1, 3}), row_sparse), Error);
  CHECK_THROWS_AS(detail::cast_storage(csr_matrix({1}, {0}, {0, 9}, {1, 3}), dense), Error);
  CHECK_THROWS_AS(detail::cast_storage(csr_matrix({1}, {0}, {5, 1}, {1, 3}), dense), Error);
  CHECK_THROWS_AS(detail::cast_storage(row_sparse_array({{1, 2}}, {3}, {3, 2}), dense), Error);
  CHECK_THROWS_AS(detail::cast_storage(row_sparse_array({{1, 2}, {3, 4}}, {1, -1}, {3, 2}), csr), Error);
  CHECK_THROWS_AS(detail::cast_storage(row_sparse_array({{1, 2}, {3, 4}}, {3, 1}, {3, 2}), dense), Error);
  CHECK_THROWS_AS((void)csr_matrix({1}, {0}, {0, 5, 1}, {2, 3}).slice(0, 1), Error);
}

TEST_CASE("what is stored for one place several times adds up, whatever the order, the type and the index") {
  for (const Dtype index : {i32, i64})
    for (const Dtype dtype : {f16, bf16, f32, f64, i8, u8, i32, i64}) {
      CAPTURE(name_of(dtype));
      const NDArray c = csr_matrix(detail::as_type(array({1, 2, 4, 8, 16}), dtype),
                                   detail::as_type(array<std::int64_t>({2, 0, 2, 1, 1}), index),
                                   detail::as_type(array<std::int64_t>({0, 3, 3, 5}), index), {3, 3});
      const std::vector<int> wanted{2, 0, 5, 0, 0, 0, 0, 24, 0};
      CHECK(c.to_vector<int>() == wanted);
      for (const Storage storage : {dense, row_sparse}) {
        const NDArray y = detail::cast_storage(c, storage);
        y.check_format();
        CHECK(y.to_vector<int>() == wanted);
      }
      const NDArray once = detail::merged(c);
      once.check_format();
      CHECK(once.indices().dtype() == index);
      CHECK(once.to_vector<int>() == wanted);
      CHECK(allclose(c, once));
      const NDArray r = row_sparse_array(detail::as_type(array({{1, 2}, {3, 4}, {5, 6}}), dtype),
                                         detail::as_type(array<std::int64_t>({2, 0, 2}), index), {4, 2});
      for (const Storage storage : {dense, csr}) {
        const NDArray y = detail::cast_storage(r, storage);
        y.check_format();
        CHECK(y.to_vector<int>() == std::vector<int>{3, 4, 0, 0, 6, 8, 0, 0});
      }
    }
  const NDArray unsorted = csr_matrix({1, 2}, {2, 0}, {0, 2}, {1, 3});
  CHECK(detail::merged(unsorted).is(unsorted));  // each place once: as it is
  CHECK(detail::merged(unsorted, true).indices().to_vector<int>() == std::vector<int>{0, 2});
  const NDArray ascending = csr_matrix({1, 2, 3}, {0, 2, 0}, {0, 2, 3}, {2, 3});
  CHECK(detail::merged(ascending, true).is(ascending));
}

TEST_CASE("rows of a dense array are a view, of a CSR array a copy, of a row-sparse one refused") {
  const NDArray x = array({{0, 1}, {2, 3}, {4, 5}});
  const NDArray rows = x.slice(1, 3);
  CHECK(rows.bytes() == x.bytes() + 8);
  CHECK(rows.to_vector<int>() == std::vector<int>{2, 3, 4, 5});
  CHECK(rows.slice(1, 2).to_vector<int>() == std::vector<int>{4, 5});
  CHECK(x.slice(-1, 3).to_vector<int>() == std::vector<int>{4, 5});
  CHECK(x.slice(1, 1).shape() == Shape{0, 2});
  const NDArray c = detail::cast_storage(x, csr), part = c.slice(0, 2);
  part.check_format();
  CHECK(part.to_vector<int>() == std::vector<int>{0, 1, 2, 3});
  CHECK(c.slice(2, 2).nnz() == 0);
  CHECK(c[2].shape() == Shape{1, 2});
  CHECK_THROWS_AS((void)detail::cast_storage(x, row_sparse).slice(0, 1), Error);
  CHECK_THROWS_AS((void)x.slice(0, 4), Error);
}

TEST_CASE("a handle without an array has no parts") {
  const NDArray none;
  for (void (*call)(const NDArray&) : std::initializer_list<void (*)(const NDArray&)>{
           [](const NDArray& a) { (void)a.copy(); }, [](const NDArray& a) { a.data(); },
           [](const NDArray& a) { a.indices(); }, [](const NDArray& a) { a.indptr(); },
           [](const NDArray& a) { a.nnz(); }, [](const NDArray& a) { (void)a.detach(); },
           [](const NDArray& a) { (void)a.slice(0, 1); }, [](const NDArray& a) { a[0]; },
           [](const NDArray& a) { (void)a.reshape({1}); }, [](const NDArray& a) { a.to_vector<float>(); },
           [](const NDArray& a) { a.item<float>(); }, [](const NDArray& a) { a.view<float>(); },
           [](const NDArray& a) { a.allocate(); }})
    CHECK_THROWS_AS(call(none), Error);
  CHECK_THROWS_WITH_AS((void)none.copy(), "strop: copy() of a handle without an array", Error);
  CHECK_NOTHROW(none.wait());
}

TEST_CASE("copies share nothing") {
  const NDArray c = detail::cast_storage(array({{0, 1}, {2, 0}}), csr), d = c.copy();
  d.data().pointer<float>()[0] = 9;
  CHECK(c.to_vector<int>() == std::vector<int>{0, 1, 2, 0});
  CHECK(d.to_vector<int>() == std::vector<int>{0, 9, 2, 0});
}

TEST_CASE("an array without elements is cast at once, however many empty rows it has") {
  const NDArray a = detail::cast_storage(zeros({10'000'000'000, 0}), row_sparse);
  CHECK(a.nnz() == 0);
  CHECK(detail::cast_storage(a, dense).shape() == Shape{10'000'000'000, 0});
  CHECK(a.copy().storage() == row_sparse);
}
