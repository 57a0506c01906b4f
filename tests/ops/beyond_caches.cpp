// SPDX-License-Identifier: Apache-2.0
/// \file
/// Maps on arrays that are larger than the caches, whose results go past them: the same values, at any alignment.
#include <doctest/doctest.h>

#include <strop/strop.hpp>

namespace {

using namespace strop;

struct Bend {
  float by = 2;
  constexpr auto forward(auto x, auto y) const { return by * x - y * y; }
};
constexpr Op<Bend> bend;
struct Both {
  constexpr auto forward(auto x) const { return std::make_tuple(x + 1, x * x); }
};
constexpr Op<Both> both;

constexpr std::int64_t n = (std::int64_t{3} << 20) + 5;  // 12 MiB of floats, and a tail

NDArray counted(std::int64_t from, std::int64_t count, Dtype dtype = f32) {
  NDArray x({count}, f32);
  for (std::int64_t i = 0; i < count; ++i) x.pointer<float>()[i] = static_cast<float>((from + i) % 1013) * 0.25f - 100;
  return x.to(dtype);
}

/// Elements that are not what `want` says.
template <class E, class F>
std::int64_t wrong(const NDArray& y, F want) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < y.size(); ++i) count += y.pointer<E>()[i] == want(i) ? 0 : 1;
  return count;
}

template <class E>
void check(Dtype dtype) {
  const NDArray x = counted(0, n, dtype), y = counted(7, n, dtype);
  const E *const px = x.pointer<E>(), *const py = y.pointer<E>();
  const auto want = [&](std::int64_t i) { return static_cast<E>(2 * px[i] - py[i] * py[i]); };
  CHECK(wrong<E>(bend(x, y), want) == 0);
  // into memory that no register is aligned to, with something on either side
  const NDArray room = full({n + 2}, -7, dtype);
  bend(x, y, into(room.slice(1, n + 1)));
  CHECK(wrong<E>(room.slice(1, n + 1), want) == 0);
  CHECK(room.pointer<E>()[0] == -7);
  CHECK(room.pointer<E>()[n + 1] == -7);
  // in place, and added to
  const NDArray z = x.copy();
  bend(z, y, into(z));
  CHECK(wrong<E>(z, want) == 0);
  bend(x, y, add_to(z));
  CHECK(wrong<E>(z, [&](std::int64_t i) { return want(i) + want(i); }) == 0);
  // one operand broadcast, so that it goes through blocks
  const NDArray row = counted(3, 5, dtype), wide = x.slice(0, n / 5 * 5).reshape({-1, 5});
  const E* const pr = row.pointer<E>();
  CHECK(wrong<E>(bend(wide, row), [&](std::int64_t i) { return static_cast<E>(2 * px[i] - pr[i % 5] * pr[i % 5]); }) ==
        0);
}

TEST_CASE("results that go past the caches are the same") {
  check<float>(f32);
  check<double>(f64);
}

TEST_CASE("several results, and integers") {
  const NDArray x = counted(0, n);
  const auto y = both(x);
  CHECK(wrong<float>(y[0], [&](std::int64_t i) { return x.pointer<float>()[i] + 1; }) == 0);
  CHECK(wrong<float>(y[1], [&](std::int64_t i) { return x.pointer<float>()[i] * x.pointer<float>()[i]; }) == 0);
  const NDArray k = counted(0, n, i32);
  const std::int32_t* const p = k.pointer<std::int32_t>();
  CHECK(wrong<std::int32_t>(quadratic(k, {.a = 2, .c = 1}), [&](std::int64_t i) { return 2 * p[i] * p[i] + 1; }) == 0);
}

}  // namespace
