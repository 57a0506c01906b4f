// SPDX-License-Identifier: Apache-2.0
/// \file
/// Blocks of elements against one element at a time, bit by bit: by the processor's instructions for halves where it
/// has them, and by integers. Every half, every rounding between two halves, floats of all exponents, edges of
/// integers.
#include <doctest/doctest.h>
#include <strop/engine/pool.hpp>
#include <strop/memory/stream.hpp>
#include <strop/tensor/convert.hpp>
#include <strop/tensor/element_loops.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

using namespace strop;

namespace {

constexpr std::size_t block = detail::lane_block;

template <class E>
std::vector<E> every_half() {
  std::vector<E> all;
  for (unsigned bits = 0; bits < 0x10000U; ++bits) all.push_back(E::from_bits(static_cast<std::uint16_t>(bits)));
  return all;
}

/// Every half as a float, what lies halfway to the next, and the floats beside both; floats of all exponents and low
/// bits; the edges of the integer types.
std::vector<float> many_floats() {
  std::vector<float> all;
  const auto beside = [&](float x) {
    for (std::uint32_t word = std::bit_cast<std::uint32_t>(x), k = 0; k < 3; ++k)
      all.push_back(std::bit_cast<float>(word + k - 1));
  };
  for (unsigned bits = 0; bits < 0x10000U; ++bits) {
    const auto word =
        std::bit_cast<std::uint32_t>(static_cast<float>(half::from_bits(static_cast<std::uint16_t>(bits))));
    beside(std::bit_cast<float>(word));
    beside(std::bit_cast<float>(word + 0x1000U));
    beside(std::bit_cast<float>((bits << 16) + 0x8000U));  // halfway between two of bfloat16
  }
  for (unsigned k = 0; k < 4096; ++k) {  // below the smallest normal half: steps of 2⁻²⁵
    beside(static_cast<float>(k) * 0x1p-25F);
    beside(static_cast<float>(k) * -0x1p-25F);
  }
  for (std::uint64_t word = 0; word < 0x100000000U; word += 20011)
    all.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(word)));
  for (int shift : {7, 8, 15, 16, 30, 31, 32, 52, 62, 63, 64})
    for (float sign : {-1.0F, 1.0F}) beside(sign * std::ldexp(1.0F, shift));
  return all;
}

std::vector<double> many_doubles() {
  std::vector<double> all;
  for (float x : many_floats()) all.push_back(static_cast<double>(x));
  for (int shift : {7, 8, 31, 32, 53, 63, 64})
    for (double sign : {-1.0, 1.0})
      for (double more : {-1.0, -0.5, 0.0, 0.5, 1.0}) {
        all.push_back(sign * (std::ldexp(1.0, shift) + more));
        all.push_back(std::nextafter(all.back(), 0.0));
      }
  return all;
}

template <class E>
std::uint64_t bits_of(E value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// Elements that a block converts to other bits than `convert` does.
template <class To, class From, class Convert>
int differences(std::vector<From> values, Convert convert_block) {
  while (values.size() % block != 0) values.push_back(From(1.0F));
  int wrong = 0;
  To to[block];
  for (std::size_t at = 0; at < values.size(); at += block) {
    convert_block(values.data() + at, to);
    for (std::size_t i = 0; i < block; ++i) {
      const bool nan = detail::to_double(values[at + i]) != detail::to_double(values[at + i]);
      const To one = convert<To>(values[at + i]);
      // The bits of NaN are fixed between halves and floats; a processor chooses those of a NaN from or to a double.
      if (nan && (std::same_as<To, double> || std::same_as<From, double>) && is_floating(dtype_of<To>))
        wrong += detail::to_double(to[i]) != detail::to_double(to[i]) ? 0 : 1;
      else
        wrong += bits_of(to[i]) == bits_of(one) ? 0 : 1;
    }
  }
  return wrong;
}

template <class To, class From>
int of_blocks(const std::vector<From>& values) {
  return differences<To>(values, [](const From* from, To* to) { detail::convert_block(from, to); });
}
template <class To, class From>
int of_lanes(const std::vector<From>& values) {
  return differences<To>(values, [](const From* from, To* to) { detail::convert_block_of_lanes(from, to); });
}

}  // namespace

TEST_CASE_TEMPLATE("all 65,536 halves convert to every type as one does", H, half, bfloat16) {
  const std::vector<H> all = every_half<H>();
  CHECK(of_lanes<float>(all) == 0);
  for (Dtype to : all_dtypes)
    visit(to, [&]<class To>() {
      CAPTURE(name_of(dtype_of<To>));
      if constexpr (!std::same_as<To, H>) CHECK(of_blocks<To>(all) == 0);
    });
}

TEST_CASE("floats and doubles convert to every type as one does") {
  const std::vector<float> floats = many_floats();
  const std::vector<double> doubles = many_doubles();
  CHECK(of_lanes<half>(floats) == 0);
  CHECK(of_lanes<bfloat16>(floats) == 0);
  CHECK(of_lanes<std::int64_t>(floats) == 0);
  CHECK(of_lanes<std::int64_t>(doubles) == 0);
  for (Dtype to : all_dtypes)
    visit(to, [&]<class To>() {
      CAPTURE(name_of(dtype_of<To>));
      if constexpr (!std::same_as<To, float>) CHECK(of_blocks<To>(floats) == 0);
      if constexpr (!std::same_as<To, double>) CHECK(of_blocks<To>(doubles) == 0);
    });
}

TEST_CASE("small numbers alone become wide integers as one does") {
  std::vector<float> floats;
  std::vector<double> doubles;
  for (int i = -3000; i < 3000; ++i) {
    floats.push_back(static_cast<float>(i) * 0.37F);
    doubles.push_back(i * 0.37);
  }
  CHECK(of_blocks<std::int64_t>(floats) == 0);
  CHECK(of_blocks<std::int64_t>(doubles) == 0);
  for (double edge : {-0x1p31, 0x1p30, 0x1p30 + 1, 0x1p31, -0x1p31 - 1, -0x1p31 - 0.5, std::nan("")}) {
    doubles[70] = edge;  // in a block of small ones
    floats[70] = static_cast<float>(edge);
    CHECK(of_blocks<std::int64_t>(floats) == 0);
    CHECK(of_blocks<std::int64_t>(doubles) == 0);
  }
}

TEST_CASE("what is larger than the caches converts to the same bits, by any number of threads and from any place") {
  const int threads = num_threads();
  const Dtype pairs[][2] = {{f16, f32}, {f32, f16}, {f32, i32}, {f32, u8}, {f64, i64}};
  for (const auto& [from, to] : pairs) {
    CAPTURE(name_of(from));
    CAPTURE(name_of(to));
    const std::int64_t in = size_of(from), out = size_of(to), n = memory::stream_bytes / out + 37;
    std::vector<char> source(static_cast<std::size_t>((n + 1) * in)), expected(static_cast<std::size_t>(n * out));
    for (std::int64_t i = 0; i <= n; ++i) {
      const double value = static_cast<double>(i % 4093) / 16 - 100;
      detail::store_doubles(from, &value, source.data() + i * in, 1);
    }
    for (std::int64_t shift : {0, 1}) {
      const char* const first = source.data() + shift * in;
      detail::convert_elements(from, first, to, expected.data(), n);
      for (int count : {1, 2}) {
        set_num_threads(count);
        std::vector<char> target(static_cast<std::size_t>((n + 2) * out), 'x');
        detail::convert_by_all(from, first, to, target.data() + shift * out, n);
        CHECK(std::memcmp(target.data() + shift * out, expected.data(), expected.size()) == 0);
        const auto untouched = [](char c) { return c == 'x'; };
        CHECK(std::all_of(target.begin(), target.begin() + shift * out, untouched));
        CHECK(std::all_of(target.begin() + (shift + n) * out, target.end(), untouched));
      }
    }
  }
  set_num_threads(threads);
}

TEST_CASE("a NaN of float16 is quiet and keeps its upper bits in every path") {
  const half signalling = half::from_bits(0xfd23);
  CHECK(std::bit_cast<std::uint32_t>(static_cast<float>(signalling)) == 0xffe46000U);
  CHECK(half(std::bit_cast<float>(0x7f923456U)).bits == 0x7e91);
  CHECK(half(std::bit_cast<float>(0x7f800001U)).bits == 0x7e00);
}
