// SPDX-License-Identifier: Apache-2.0
/// \file
/// Moves of elements of every size against plain loops: tails, narrow planes, steps, results past the caches, threads.
#include <doctest/doctest.h>

#include <strop/ops/shape/move_body.hpp>
#include <strop/strop.hpp>

#include <cstdint>
#include <vector>

namespace {

using namespace strop;
using strop::detail::Move;

template <class Bits>
constexpr Dtype type_of_size = sizeof(Bits) == 1   ? u8
                               : sizeof(Bits) == 2 ? f16
                               : sizeof(Bits) == 4 ? i32
                                                   : i64;

/// Whether the engine's result is that of a loop over all elements. What lies between is to stay.
template <class Bits>
bool right(const Move& m, std::int64_t read, std::int64_t written, bool past) {
  NDArray from({read}, type_of_size<Bits>), to({written}, type_of_size<Bits>);
  Bits *const x = from.pointer<Bits>(), *const y = to.pointer<Bits>();
  for (std::int64_t i = 0; i < read; ++i) x[i] = static_cast<Bits>(i * 40503 >> 2);
  std::fill_n(y, written, Bits{7});
  std::vector<Bits> want(y, y + written);
  std::int64_t count = 1;
  for (std::int64_t extent : m.extents) count *= extent;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i, source = m.in_start, target = m.out_start;
    for (int k = m.extents.ndim(); k-- > 0; rest /= m.extents[k]) {
      source += rest % m.extents[k] * m.in[k];
      target += rest % m.extents[k] * m.out[k];
    }
    want[static_cast<std::size_t>(target)] = x[source];
  }
  strop::detail::move_elements(m, from, to, past);
  return std::equal(want.begin(), want.end(), y);
}

/// A permuted array of these extents; an axis of the result whose bit is in `turned` is walked backwards.
template <class Bits>
bool permuted(const std::vector<std::int64_t>& extents, const std::vector<std::size_t>& order, bool past,
              unsigned turned = 0) {
  std::vector<std::int64_t> steps(extents.size());
  std::int64_t size = 1;
  for (std::size_t k = extents.size(); k-- > 0; size *= extents[k]) steps[k] = size;
  Move m;
  std::int64_t out = size;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::int64_t extent = extents[order[k]], step = steps[order[k]];
    const bool turn = (turned >> k & 1) != 0;
    out /= extent;
    if (turn) m.in_start += step * (extent - 1);
    m.axis(extent, turn ? -step : step, out);
  }
  return right<Bits>(m, size, size, past);
}

template <class Bits>
void check_sizes() {
  for (const bool past : {false, true})
    for (const std::int64_t a : {1, 2, 3, 4, 5, 8, 9, 17, 33, 65, 130, 260})
      for (const std::int64_t b : {1, 2, 3, 4, 7, 8, 15, 16, 31, 64, 67, 129, 257}) {
        CAPTURE(sizeof(Bits));
        CAPTURE(a);
        CAPTURE(b);
        CAPTURE(past);
        for (const unsigned turned : {0U, 1U, 2U, 3U}) {
          CHECK(permuted<Bits>({a, b}, {1, 0}, past, turned));
          CHECK(permuted<Bits>({a, b}, {0, 1}, past, turned));
        }
        CHECK(permuted<Bits>({2, a, b}, {0, 2, 1}, past));
        CHECK(permuted<Bits>({a, 3, b}, {2, 1, 0}, past));
        CHECK(permuted<Bits>({a, 3, b}, {1, 0, 2}, past));
        CHECK(permuted<Bits>({a, b, 3}, {1, 2, 0}, past, 4));
        const auto two = [&](std::int64_t in_a, std::int64_t out_a, std::int64_t in_b, std::int64_t out_b) {
          Move m;
          m.out_start = 1;
          m.axis(a, in_a, out_a);
          m.axis(b, in_b, out_b);
          return right<Bits>(m, (a - 1) * in_a + (b - 1) * in_b + 1, (a - 1) * out_a + (b - 1) * out_b + 2, past);
        };
        CHECK(two(1, b, 0, 1));      // elements repeated
        CHECK(two(2, b, 0, 1));      // every second one
        CHECK(two(0, b, 1, 1));      // rows repeated
        CHECK(two(2 * b, b, 2, 1));  // every second element
        CHECK(two(3 * b, b, 3, 1));  // every third
        CHECK(two(b, b + 3, 1, 1));  // rows with a gap between them
        CHECK(two(1, b + 3, a, 1));  // the same transposed
        CHECK(two(b, 2 * b, 1, 2));  // into every second place
        CHECK(two(1, 1, a, a));      // a copy that is written as two axes
      }
}

TEST_CASE("moves of bytes") { check_sizes<std::uint8_t>(); }
TEST_CASE("moves of halves") { check_sizes<std::uint16_t>(); }
TEST_CASE("moves of words") { check_sizes<std::uint32_t>(); }
TEST_CASE("moves of double words") { check_sizes<std::uint64_t>(); }

TEST_CASE("moves on several threads") {
  const int before = num_threads();
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    for (const bool past : {false, true}) {
      CHECK(permuted<std::uint32_t>({700, 901}, {1, 0}, past));
      CHECK(permuted<std::uint8_t>({7, 130, 901}, {0, 2, 1}, past));
      CHECK(permuted<std::uint16_t>({300, 3, 1000}, {0, 2, 1}, past));
      CHECK(permuted<std::uint32_t>({1000003}, {0}, past, 1));
      CHECK(permuted<std::uint64_t>({5000, 90}, {0, 1}, past, 2));
    }
  }
  set_num_threads(before);
}

TEST_CASE("parts of a whole, short rows and long ones") {
  for (const std::int64_t width : {1, 3, 40, 3000})
    for (const std::int64_t rows : {1, 700}) {
      const NDArray whole = arange(0, rows * 5 * width).reshape({rows, 5, width});
      const auto parts = split(whole, {.num_outputs = 5, .axis = 1});
      std::vector<NDArray> list(parts.begin(), parts.end()), flat;
      for (const NDArray& part : list) {
        CHECK(part.shape() == Shape{rows, 1, width});
        flat.push_back(part.reshape({rows, width}));
      }
      const std::int64_t k = 3, row = rows - 1, i = width / 2;
      CHECK(list[k].pointer<float>()[row * width + i] == whole.pointer<float>()[(row * 5 + k) * width + i]);
      const auto same = [&](const NDArray& y) {
        return y.size() == whole.size() &&
               std::equal(y.pointer<float>(), y.pointer<float>() + y.size(), whole.pointer<float>());
      };
      CHECK(same(concat(std::span<const NDArray>(list), {.dim = 1})));
      CHECK(same(stack(std::span<const NDArray>(flat), {.axis = 1})));
    }
}

}  // namespace
