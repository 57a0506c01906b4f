// SPDX-License-Identifier: Apache-2.0
/// \file
/// Order by keys, registers and threads: every type, odd lengths, rows across axes, equal elements, zeros of both signs
/// and NaN, against a stable sort of the elements.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <random>
#include <strop/ops/order.hpp>
#include <strop/ops/order_body.hpp>
#include <vector>

namespace {

using namespace strop;
using namespace strop::detail;

/// Rows of few or of many different elements, in some order.
enum class Kind { random, few, ascending, descending, equal, close };

template <class E>
std::vector<E> elements(std::int64_t n, Kind kind) {
  std::mt19937_64 next(static_cast<std::uint64_t>(n) * 31 + static_cast<std::uint64_t>(kind));
  std::vector<E> x(static_cast<std::size_t>(n));
  using Limits = std::numeric_limits<E>;
  const E special[] = {E(0),
                       static_cast<E>(-E(0)),
                       Limits::max(),
                       Limits::lowest(),
                       Limits::infinity(),
                       static_cast<E>(-Limits::infinity()),
                       Limits::quiet_NaN(),
                       static_cast<E>(-Limits::quiet_NaN())};
  for (std::int64_t i = 0; i < n; ++i) {
    E& to = x[static_cast<std::size_t>(i)];
    const std::uint64_t bits = next();
    if (kind == Kind::random && bits % 16 != 0)
      std::memcpy(&to, &bits, sizeof to);
    else if (kind == Kind::random || kind == Kind::few)
      to = special[bits / 16 % 8];
    else if (kind == Kind::close)  // doubles and long integers that differ below the upper 32 bits
      to = static_cast<E>(1e6 + static_cast<double>(bits % 64) * 1e-9 * (bits % 8 == 0 ? 1e9 : 1));
    else
      to = static_cast<E>(kind == Kind::equal ? 7 : kind == Kind::ascending ? i % 100 : -(i % 100));
  }
  return x;
}

/// The positions of a row in order, as a stable sort of its elements gives them.
template <class E>
std::vector<std::int64_t> expected(const E* row, std::int64_t n, std::int64_t stride, bool ascending) {
  std::vector<std::int64_t> at(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) at[static_cast<std::size_t>(i)] = i;
  const auto less = [](E a, E b) { return a < b || (b != b && a == a); };
  std::stable_sort(at.begin(), at.end(), [&](std::int64_t i, std::int64_t j) {
    const E a = row[i * stride], b = row[j * stride];
    return ascending ? less(a, b) : less(b, a);
  });
  return at;
}

template <class E>
void compare(const Shape& shape, int axis, Kind kind, bool ascending) {
  const NDArray x(shape, dtype_of<E>);
  const std::vector<E> from = elements<E>(x.size(), kind);
  std::copy(from.begin(), from.end(), x.pointer<E>());
  const std::int64_t length = shape[axis];
  const AxisSplit s(shape, axis);
  const NDArray values = sort(x, {.axis = axis, .is_ascend = ascending}),
                positions = argsort(x, {.axis = axis, .is_ascend = ascending, .dtype = i32});
  const int k = static_cast<int>(std::max<std::int64_t>(1, length / 5));
  const NDArray first = topk(x, {.axis = axis, .k = k, .is_ascend = ascending, .dtype = i64}),
                mask = topk(x, {.axis = axis, .k = k, .ret_typ = Topk::mask, .is_ascend = ascending});
  std::int64_t wrong = 0;
  for (std::int64_t row = 0; row < s.outer * s.inner; ++row) {
    const std::int64_t begin = row / s.inner * length * s.inner + row % s.inner,
                       short_begin = row / s.inner * k * s.inner + row % s.inner;
    const std::vector<std::int64_t> at = expected(from.data() + begin, length, s.inner, ascending);
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t to = begin + i * s.inner, place = at[static_cast<std::size_t>(i)];
      wrong += std::memcmp(values.pointer<E>() + to, &from[static_cast<std::size_t>(begin + place * s.inner)],
                           sizeof(E)) == 0
                   ? 0
                   : 1;
      wrong += positions.pointer<std::int32_t>()[to] == place ? 0 : 1;
      if (i < k) wrong += first.pointer<std::int64_t>()[short_begin + i * s.inner] == place ? 0 : 1;
      wrong += mask.pointer<E>()[begin + place * s.inner] == E(i < k ? 1 : 0) ? 0 : 1;
    }
  }
  CHECK_MESSAGE(wrong == 0, name_of(dtype_of<E>), " ", shape, " axis ", axis, " kind ", static_cast<int>(kind),
                ascending ? " ascending" : " descending");
}

/// As many threads as said, until the end of the block.
struct Threads {
  int before = num_threads();
  explicit Threads(int n) { set_num_threads(n); }
  ~Threads() { set_num_threads(before); }
};

constexpr Kind kinds[] = {Kind::random, Kind::few, Kind::ascending, Kind::descending, Kind::equal, Kind::close};

}  // namespace

TEST_CASE_TEMPLATE("rows in order are those of a stable sort", E, float, double, std::uint8_t, std::int8_t,
                   std::int32_t, std::int64_t) {
  for (const Kind kind : kinds)
    for (const bool ascending : {true, false}) {
      for (const std::int64_t n :
           {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 255, 257, 1000, 2049})
        compare<E>({n}, 0, kind, ascending);
      compare<E>({3, 130, 2}, 1, kind, ascending);
      compare<E>({70, 5}, 1, kind, ascending);
      compare<E>({300, 3}, 0, kind, ascending);
    }
}

TEST_CASE_TEMPLATE("a long row is the same by any number of threads", E, float, double, std::int32_t, std::int64_t) {
  for (const int threads : {1, 2, 5}) {
    const Threads scope(threads);
    for (const Kind kind : kinds) compare<E>({100003}, 0, kind, true);
    compare<E>({50001, 2}, 0, Kind::random, false);
  }
}

TEST_CASE("a row of more positions than 32 bits count is sorted by comparing") {
  const std::vector<double> x = elements<double>(1000, Kind::few);
  std::vector<std::uint64_t> memory(x.size());
  for (const bool ascending : {true, false}) {
    const OrderedPositions at = sorted_far_positions(KeyRow<double>(x.data(), 1, 1000, ascending), memory.data());
    const std::vector<std::int64_t> wanted = expected(x.data(), 1000, 1, ascending);
    for (std::int64_t i = 0; i < 1000; ++i) REQUIRE(at[i] == wanted[static_cast<std::size_t>(i)]);
  }
}

TEST_CASE_TEMPLATE("numbers are sorted by radix, whatever digits they have", U, std::uint32_t, std::uint64_t) {
  std::mt19937_64 next(5);
  for (const int bits : {0, 1, 5, 8, 9, 17, 31})
    for (const int low : {0, 3})
      for (const std::int64_t n : {1, 5, 4100, 40000}) {
        std::vector<U> x(static_cast<std::size_t>(n)), other(x.size());
        for (U& one : x) one = static_cast<U>(next()) >> (8 * sizeof(U) - 1 - static_cast<unsigned>(bits));
        std::vector<U> wanted = x;
        std::stable_sort(wanted.begin(), wanted.end(), [low](U a, U b) { return a >> low < b >> low; });
        const U* const result = radix_sort(x.data(), other.data(), n, low, n > 10000 ? 3 : 1);
        CHECK(std::equal(wanted.begin(), wanted.end(), result));
      }
}
