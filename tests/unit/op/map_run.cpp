// SPDX-License-Identifier: Apache-2.0
/// \file
/// The driver of maps on halves and integers: every length of a block, and results larger than the caches, against one
/// element at a time.
#include <doctest/doctest.h>
#include <strop/engine/pool.hpp>
#include <strop/memory/stream.hpp>
#include <strop/op/loops.hpp>
#include <strop/op/map_run.hpp>

#include <cstdint>
#include <cstring>
#include <vector>

using namespace strop;

namespace {

struct Product {
  constexpr auto forward(auto x, auto y) const { return x * y; }
};

Entry entry_of_product() {
  Entry entry{};
  entry.loops.f32 = &detail::lane_loop<Product, float>;
  entry.loops.i64 = &detail::scalar_loop<Product, std::int64_t, std::int64_t>;
  return entry;
}

template <class E, class Want>
void check(std::int64_t n, std::int64_t shift, Request request, Want want) {
  static const Entry entry = entry_of_product();
  const Dtype type = dtype_of<E>;
  const auto room = static_cast<std::size_t>(n + 2);
  std::vector<E> x(room), y(room), z(room, convert<E>(3.0F));
  for (std::size_t i = 0; i < room; ++i) {
    x[i] = convert<E>(static_cast<float>(i % 1013) * 0.25F - 100);
    y[i] = convert<E>(static_cast<float>(i % 7) - 3);
  }
  const std::vector<E> a = x, before = z;
  const auto operand = [&](std::vector<E>& v, Request r) {
    return detail::MapOperand{reinterpret_cast<std::byte*>(v.data() + shift), type, Shape{n}, r};
  };
  std::vector<E>& to = request == Request::inplace ? x : z;
  const detail::MapOperand in[] = {operand(x, Request::write), operand(y, Request::write)};
  const detail::MapOperand out[] = {operand(to, request)};
  const Product product;
  detail::run_map(entry, &product, Shape{n}, in, out);
  std::int64_t wrong = 0;
  const auto differs = [](const E& u, const E& v) { return std::memcmp(&u, &v, sizeof u) == 0 ? 0 : 1; };
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(room); ++i) {
    const auto k = static_cast<std::size_t>(i);
    const bool inside = i >= shift && i < shift + n;
    const E old = request == Request::inplace ? a[k] : before[k];
    wrong += differs(to[k], !inside ? old : want(a[k], y[k], old));
  }
  CAPTURE(name_of(type));
  CAPTURE(n);
  CHECK(wrong == 0);
}

template <class E>
void check_all(std::int64_t n, std::int64_t shift) {
  const auto product = [](E x, E y) {
    if constexpr (std::is_integral_v<E>)
      return x * y;
    else
      return static_cast<float>(x) * static_cast<float>(y);
  };
  const auto write = [&](E x, E y, E) { return E(product(x, y)); };
  const auto add = [&](E x, E y, E before) {
    if constexpr (std::is_integral_v<E>)
      return before + product(x, y);
    else
      return E(static_cast<float>(before) + product(x, y));
  };
  check<E>(n, shift, Request::write, write);
  check<E>(n, shift, Request::inplace, write);
  check<E>(n, shift, Request::add, add);
}

}  // namespace

TEST_CASE_TEMPLATE("maps of every length give what one element gives", E, half, bfloat16, std::int32_t) {
  for (std::int64_t n : {0, 1, 15, 63, 64, 65, 1023, 1024, 1025, 2085})
    for (std::int64_t shift : {0, 1}) check_all<E>(n, shift);
}

TEST_CASE_TEMPLATE("results that are larger than the caches are the same", E, half, bfloat16, std::int32_t) {
  const int threads = num_threads();
  for (int count : {1, 2}) {
    set_num_threads(count);
    check_all<E>(memory::stream_bytes / std::int64_t{sizeof(E)} + 37, 1);
  }
  set_num_threads(threads);
}
