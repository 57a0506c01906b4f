// SPDX-License-Identifier: Apache-2.0
/// \file
/// Text of arrays and of their properties.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <strop/tensor/create.hpp>
#include <strop/tensor/print.hpp>
#include <strop/tensor/sparse.hpp>

#include <limits>
#include <string>

using namespace strop;

namespace {
std::string text(const NDArray& a) { return fmt::format("{}", a); }
}  // namespace

TEST_CASE("small dense arrays are nested lists on one line") {
  CHECK(text(array({2, 4})) == "[2, 4]");
  CHECK(text(array({{0, 1}, {2, 0}})) == "[[0, 1], [2, 0]]");
  CHECK(text(array({{{1}, {2}}})) == "[[[1], [2]]]");
  CHECK(text(scalar(2.5)) == "2.5");
  CHECK(text(array({})) == "[]");
  CHECK(text(zeros({2, 0})) == "[[], []]");
  CHECK(text(zeros({0, 2})) == "[]");
}

TEST_CASE("numbers are as short as their dtype allows") {
  CHECK(text(array({0.1, -0.25, 1e10, 100000, 1e16, 1e-4, 1e-5, 123456.7, -0.0})) ==
        "[0.1, -0.25, 10000000000, 100000, 1e+16, 0.0001, 1e-05, 123456.7, -0]");
  CHECK(text(array<double>({0.1, 1.0 / 3, 1e15, 5e-324})) == "[0.1, 0.3333333333333333, 1000000000000000, 5e-324]");
  CHECK(text(array<half>({0.1, 2, 65504, 6e-8, 1e9})) == "[0.1, 2, 65500, 6e-08, inf]");
  CHECK(text(array<bfloat16>({0.1, 3.14159})) == "[0.1, 3.14]");
  CHECK(text(array<std::uint8_t>({0, 255})) == "[0, 255]");
  CHECK(text(array<std::int8_t>({-128, 65})) == "[-128, 65]");
  CHECK(text(array<std::int64_t>({9007199254740993})) == "[9007199254740993]");
  CHECK(text(array<bool>({0, 1})) == "[false, true]");
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(text(array({inf, -inf, std::numeric_limits<double>::quiet_NaN()})) == "[inf, -inf, nan]");
}

TEST_CASE("every 16-bit number reads back from its text") {
  const auto reads_back = [](auto value) {
    using Small = decltype(value);
    const NDArray one({1}, dtype_of<Small>);
    *one.pointer<Small>() = value;
    const std::string list = text(one), out = list.substr(1, list.size() - 2);
    const auto wide = static_cast<float>(value);
    return wide != wide ? out == "nan" : Small(std::stof(out)).bits == value.bits;
  };
  bool all = true;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    all = all && reads_back(half::from_bits(static_cast<std::uint16_t>(bits)));
    const bfloat16 brain = bfloat16::from_bits(static_cast<std::uint16_t>(bits));
    const float size = static_cast<float>(brain) < 0 ? -static_cast<float>(brain) : static_cast<float>(brain);
    if (size == 0 || size >= 1.2e-38F) all = all && reads_back(brain);  // stof refuses subnormal floats
  }
  CHECK(all);
}

TEST_CASE("longer arrays have a line a row, large ones show their ends") {
  CHECK(text(full({2, 20}, 1.5)) ==
        "[[1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5],\n"
        " [1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5]]");
  CHECK(text(arange(0, 1001)) == "[0, 1, 2, ..., 998, 999, 1000]");
  CHECK(text(arange(0, 1000)).find("...") == std::string::npos);
  CHECK(text(full({1000, 2}, 3)) == "[[3, 3], [3, 3], [3, 3], ..., [3, 3], [3, 3], [3, 3]]");
  const std::string matrix = text(array(std::vector<float>(10000, 0.125F), {100, 100}));
  CHECK(matrix.substr(0, 60) == "[[0.125, 0.125, 0.125, ..., 0.125, 0.125, 0.125],\n [0.125, 0");
  CHECK(matrix.find("\n ...,\n") != std::string::npos);
  const std::string cube = text(full({2, 3, 20}, 1));
  CHECK(cube.find("],\n  [") != std::string::npos);
  CHECK(cube.find("]],\n\n [[") != std::string::npos);
}

TEST_CASE("sparse arrays say what they store") {
  CHECK(text(csr_matrix({1, 2}, {1, 0}, {0, 1, 2}, {2, 2})) == "csr(2, 2) {(0, 1): 1, (1, 0): 2}");
  CHECK(text(csr_matrix({5}, {0}, {0, 0, 0, 1}, {3, 4})) == "csr(3, 4) {(2, 0): 5}");
  CHECK(text(zeros({2, 2}, csr)) == "csr(2, 2) {}");
  CHECK(text(row_sparse_array({{1, 2}, {3, 4}}, {0, 2}, {4, 2})) == "row_sparse(4, 2) {0: [1, 2], 2: [3, 4]}");
  CHECK(text(row_sparse_array({7}, {1}, {3})) == "row_sparse(3,) {1: 7}");
  const std::string large = text(detail::cast_storage(ones({50, 50}), csr));
  CHECK(large == "csr(50, 50) {(0, 0): 1, (0, 1): 1, (0, 2): 1, ..., (49, 47): 1, (49, 48): 1, (49, 49): 1}");
  const std::string rows = text(detail::cast_storage(ones({2000, 1}), row_sparse));
  CHECK(rows == "row_sparse(2000, 1) {0: [1], 1: [1], 2: [1], ..., 1997: [1], 1998: [1], 1999: [1]}");
}

TEST_CASE("what has no elements, and the other types") {
  CHECK(text(NDArray()) == "(no array)");
  CHECK(text(NDArray::shell({2}, f32)) == "dense(2,) without memory");
  CHECK(fmt::format("{} {} {} {}", Shape{2, 3}, f16, csr, gpu(1)) == "(2, 3) float16 csr gpu(1)");
}

TEST_CASE("an array of very many empty lists is no very long text") {
  CHECK(text(zeros({2, 0})) == "[[], []]");
  CHECK(text(zeros({0, 5})) == "[]");
  CHECK(text(zeros({10'000'000'000, 0})) == "[] of shape (10000000000, 0)");
  CHECK(text(zeros({10'000, 10'000, 0, 7})) == "[] of shape (10000, 10000, 0, 7)");
  CHECK(text(zeros({3, 0, 10'000'000'000})) == "[[], [], []]");
}
