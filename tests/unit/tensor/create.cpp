// SPDX-License-Identifier: Apache-2.0
/// \file
/// Arrays from literals, containers, constants, ranges and foreign memory.
#include <doctest/doctest.h>
#include <strop/autograd/views.hpp>
#include <strop/tensor/create.hpp>

#include <array>
#include <cstdlib>
#include <span>
#include <vector>

using namespace strop;

TEST_CASE("literals of any depth and any mix of numbers") {
  const unsigned count = 3;
  const short step = 2;
  const NDArray mixed = array({1, 2.5, count, step, true, half(0.5F)});
  CHECK(mixed.dtype() == f32);
  CHECK(mixed.to_vector<double>() == std::vector<double>{1, 2.5, 3, 2, 1, 0.5});
  CHECK(array({{0, 1}, {2, 0}}).shape() == Shape{2, 2});
  CHECK(array({{{1, 2}}}).shape() == Shape{1, 1, 2});
  CHECK(array({{1}, {2}}).shape() == Shape{2, 1});
  CHECK(array({{{{{{{1, 2}}}}}}}).shape() == Shape{1, 1, 1, 1, 1, 1, 2});
  CHECK(array({}).shape() == Shape{0});
  CHECK(array({{}, {}}).shape() == Shape{2, 0});
  CHECK(array({0}).shape() == Shape{1});
  CHECK(array({{0}}).shape() == Shape{1, 1});
}

TEST_CASE("literals of a given dtype") {
  CHECK(array<double>({0.1}).item<double>() == 0.1);
  CHECK(array<half>({0.1}).item<float>() == 0.0999755859375F);
  CHECK(array<std::int64_t>({9007199254740993}).item<std::int64_t>() == 9007199254740993);
  CHECK(array<bool>({0, 2}).to_vector<bool>() == std::vector<bool>{false, true});
  CHECK(array<std::int32_t>({2.9}).item<int>() == 2);
  CHECK(array<bfloat16>({1}).dtype() == bf16);
}

TEST_CASE("ragged literals are refused") {
  CHECK_THROWS_WITH_AS(array({{1, 2}, {3}}),
                       "strop: array() of a ragged list: along axis 1 there are lists of 2 and of 1 entries", Error);
  CHECK_THROWS_WITH_AS(array({1, {2}}), "strop: array() of a ragged list: along axis 0 there are numbers beside lists",
                       Error);
  CHECK_THROWS_AS(array({{1}, 2}), Error);
  CHECK_THROWS_AS(array({{}, {1}}), Error);
  CHECK_THROWS_AS(array({{1}, {}}), Error);
  CHECK_THROWS_AS(array({{}, 1}), Error);
}

TEST_CASE("containers keep the type of their elements") {
  const std::vector<double> values{1, 2, 3, 4, 5, 6};
  CHECK(array(values).dtype() == f64);
  const NDArray a = array(values, {2, 3});
  CHECK(a.shape() == Shape{2, 3});
  CHECK(a.to_vector<double>() == values);
  CHECK(array(std::array<std::int32_t, 2>{4, 5}).dtype() == i32);
  CHECK(array(std::span<const double>(values).subspan(4), {2, 1}).to_vector<int>() == std::vector<int>{5, 6});
  CHECK_THROWS_WITH_AS(array(values, {4}), "strop: array() of 6 values cannot have shape (4,)", Error);
}

TEST_CASE("constants") {
  CHECK(zeros({2, 3}).to_vector<float>() == std::vector<float>(6));
  CHECK(zeros({2}, f16).dtype() == f16);
  CHECK(zeros({2}, cpu()).dtype() == f32);
  CHECK(ones({3}, i64).to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 1, 1});
  CHECK(full({2, 3}, 7).to_vector<int>() == std::vector<int>(6, 7));
  CHECK(full({2}, 0.5, bf16).to_vector<float>() == std::vector<float>{0.5F, 0.5F});
  CHECK(full({}, 9007199254740993, i64).item<std::int64_t>() == 9007199254740993);
  CHECK(full({2}, true, boolean).to_vector<bool>() == std::vector<bool>{true, true});
  CHECK(full({0, 3}, 1).size() == 0);
  CHECK(scalar(2.5).shape() == Shape{});
  CHECK(scalar(2.5).item<double>() == 2.5);
  CHECK(empty({2, 2}, f64).dtype() == f64);
  CHECK_THROWS_AS(zeros({2, -1}), Error);
  CHECK_THROWS_AS(zeros({2}, gpu(99)), Error);
}

TEST_CASE("sparse zeros store nothing") {
  for (Storage storage : {csr, row_sparse}) {
    const NDArray z = zeros({3, 4}, storage, f64);
    CHECK(z.storage() == storage);
    CHECK(z.nnz() == 0);
    CHECK(z.to_vector<double>() == std::vector<double>(12));
  }
  CHECK(zeros({3, 4}, dense).storage() == dense);
  CHECK_THROWS_AS(zeros({3}, csr), Error);
  CHECK_THROWS_AS(zeros({}, row_sparse), Error);
}

TEST_CASE("ranges") {
  CHECK(arange(0, 5).to_vector<int>() == std::vector<int>{0, 1, 2, 3, 4});
  CHECK(arange(0, 5).dtype() == f32);
  CHECK(arange(3).size() == 3);
  CHECK(arange(0, 10, 4).to_vector<int>() == std::vector<int>{0, 4, 8});
  CHECK(arange(5, 0, -2).to_vector<int>() == std::vector<int>{5, 3, 1});
  CHECK(arange(0, 1, 0.25).to_vector<double>() == std::vector<double>{0, 0.25, 0.5, 0.75});
  CHECK(arange(0, 3, i64).dtype() == i64);
  CHECK(arange(5, 0).size() == 0);
  CHECK(arange(9007199254740993, 9007199254740996, 1, i64).to_vector<std::int64_t>()[0] == 9007199254740993);
  const auto many = arange(0, 1000).to_vector<int>();
  CHECK(many[255] == 255);
  CHECK(many[999] == 999);
  CHECK_THROWS_AS(arange(0, 5, 0), Error);
  CHECK_THROWS_AS(arange(0, 1e300), Error);
}

TEST_CASE("foreign memory is given back once, by the last array") {
  float memory[6] = {0, 1, 2, 3, 4, 5};
  int released = 0;
  {
    NDArray part;
    {
      const NDArray a = from_pointer(memory, {3, 2}, [&](void* p) {
        CHECK(p == memory);
        ++released;
      });
      CHECK(a.bytes() == reinterpret_cast<std::byte*>(memory));
      memory[2] = 7;
      CHECK(a.to_vector<int>() == std::vector<int>{0, 1, 7, 3, 4, 5});
      part = a.slice(1, 2);
    }
    CHECK(released == 0);
    CHECK(part.to_vector<int>() == std::vector<int>{7, 3});
  }
  CHECK(released == 1);
  CHECK_THROWS_AS(from_pointer(static_cast<float*>(nullptr), {2}, [&](void*) { ++released; }), Error);
  CHECK_THROWS_AS(from_pointer(memory, {-2}, [&](void*) { ++released; }), Error);
  CHECK(released == 1);  // on an error the memory stays the caller's
  auto* block = static_cast<double*>(std::malloc(16));
  block[0] = block[1] = 3;
  CHECK(from_pointer(block, {2}, std::free).to_vector<int>() == std::vector<int>{3, 3});
  CHECK(from_pointer(memory, {6}).to_vector<int>()[5] == 5);
  CHECK(from_pointer(memory, {0}, [&](void*) { ++released; }).size() == 0);
  CHECK(released == 2);
}
