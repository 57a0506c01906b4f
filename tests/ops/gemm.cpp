// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <strop/ops/gemm.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

/// Small whole numbers: products and sums of them are exact, so that results are compared bit for bit.
template <class T>
std::vector<T> numbers(std::int64_t n, std::int64_t seed) {
  std::vector<T> out(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<T>((static_cast<std::int64_t>(i) * 7919 + seed * 104729) % 17 - 8);
  return out;
}

/// One product in all four ways to store its factors, overwriting and adding, with sentinels behind the result.
template <class T>
bool agrees(std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::vector<T> a = numbers<T>(m * k, 1), b = numbers<T>(k * n, 2);
  std::vector<T> at(a.size()), bt(b.size()), wanted(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t p = 0; p < k; ++p)
      at[static_cast<std::size_t>(p * m + i)] = a[static_cast<std::size_t>(i * k + p)];
  for (std::int64_t p = 0; p < k; ++p)
    for (std::int64_t j = 0; j < n; ++j)
      bt[static_cast<std::size_t>(j * k + p)] = b[static_cast<std::size_t>(p * n + j)];
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      T sum = 0;
      for (std::int64_t p = 0; p < k; ++p)
        sum += a[static_cast<std::size_t>(i * k + p)] * b[static_cast<std::size_t>(p * n + j)];
      wanted[static_cast<std::size_t>(i * n + j)] = sum;
    }
  bool good = true;
  for (int way = 0; way < 8; ++way) {
    const bool a_transposed = (way & 1) != 0, b_transposed = (way & 2) != 0, add = (way & 4) != 0;
    std::vector<T> c(wanted.size() + 8, T(3));
    strop::detail::gemm<T>(m, n, k, a_transposed ? at.data() : a.data(), a_transposed,
                           b_transposed ? bt.data() : b.data(), b_transposed, c.data(), add);
    for (std::size_t i = 0; i < c.size(); ++i)
      good = good && c[i] == (i >= wanted.size() ? T(3) : wanted[i] + (add ? T(3) : T(0)));
  }
  return good;
}

}  // namespace

TEST_CASE_TEMPLATE("gemm is exact on whole numbers", T, float, double) {
  for (const std::int64_t m : {1, 2, 5, 6, 7, 13, 40})
    for (const std::int64_t n : {1, 3, 8, 16, 17, 31, 65})
      for (const std::int64_t k : {1, 2, 3, 7, 8, 33}) {
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(k);
        CHECK(agrees<T>(m, n, k));
      }
}

TEST_CASE_TEMPLATE("gemm of more than one block", T, float, double) {
  CHECK(agrees<T>(100, 40, 1000));  // depth
  CHECK(agrees<T>(3, 4200, 9));     // width
  CHECK(agrees<T>(230, 20, 30));    // height
  CHECK(agrees<T>(50, 64, 512));    // rows of A a multiple of 2 KiB apart
  CHECK(agrees<T>(1, 3000, 700));
  CHECK(agrees<T>(3000, 1, 700));
}

TEST_CASE("gemm without elements") {
  std::vector<float> c{1, 2, 3, 4};
  strop::detail::gemm<float>(0, 4, 2, nullptr, false, nullptr, false, c.data());
  CHECK(c == std::vector<float>{1, 2, 3, 4});
  strop::detail::gemm<float>(2, 2, 0, nullptr, false, nullptr, false, c.data(), true);
  CHECK(c == std::vector<float>{1, 2, 3, 4});
  strop::detail::gemm<float>(2, 2, 0, nullptr, false, nullptr, false, c.data());
  CHECK(c == std::vector<float>{0, 0, 0, 0});
}

TEST_CASE("gemm carries NaN and infinity where they belong") {
  const std::vector<float> a{1, NAN, 1, 1}, b{1, 2, INFINITY, 1};
  std::vector<float> c(4);
  strop::detail::gemm<float>(2, 2, 2, a.data(), false, b.data(), false, c.data());
  CHECK(std::isnan(c[0]));
  CHECK(std::isnan(c[1]));
  CHECK(std::isinf(c[2]));
  CHECK(c[3] == 3);
}
