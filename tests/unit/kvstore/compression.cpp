// SPDX-License-Identifier: Apache-2.0
/// \file
/// Two bits an element: their layout, what they leave out, and where they may be.
#include <doctest/doctest.h>
#include <strop/strop.hpp>
#include <unit/sentence.hpp>

#include <vector>

using namespace strop;
using testing::sentence;

namespace {
using Floats = std::vector<float>;
}

TEST_CASE("MXNet's layout: from the top bits of each byte on, sixteen elements a word") {
  Floats gradient{1, -1, 0, 0.5F, -0.5F, 0.49F, 3, 0, 0, 0, 0, 0, 0, 0, 0, -2, 1}, residual(17);
  std::vector<std::byte> packed(8, std::byte{0xFF});
  detail::quantize_2bit(gradient.data(), residual.data(), 0.5F, packed.data(), 17);
  const auto byte = [&](std::size_t i) { return static_cast<int>(packed[i]); };
  CHECK(byte(0) == 0b11'10'00'11);
  CHECK(byte(1) == 0b10'00'11'00);
  CHECK(byte(2) == 0);
  CHECK(byte(3) == 0b00'00'00'10);
  CHECK(byte(4) == 0b11'00'00'00);
  CHECK(byte(5) + byte(6) + byte(7) == 0);
  CHECK(residual == Floats{0.5F, -0.5F, 0, 0, 0, 0.49F, 2.5F, 0, 0, 0, 0, 0, 0, 0, 0, -1.5F, 0.5F});
  Floats out(17);
  const std::byte* const twice[] = {packed.data(), packed.data()};
  detail::dequantize_2bit(twice, 0.5F, out.data(), 17);
  CHECK(out == Floats{1, -1, 0, 1, -1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, -1, 1});
}

TEST_CASE("what a push leaves out comes with the next ones, of each device for itself") {
  KVStore kv = KVStore::create("device");
  kv.set_gradient_compression({.type = "2bit", .threshold = 0.5});
  kv.init("w", zeros({3}));
  const NDArray out = zeros({3});
  const auto push = [&](const KeyedArrays& values) {
    kv.push("w", values);
    kv.pull("w", out);
    return out.to_vector<float>();
  };
  const NDArray g = array({0.3, -0.3, 2}), h = array({0, 0.5, 0});
  CHECK(push(g) == Floats{0, 0, 0.5F});  // one array is compressed as well
  CHECK(push({g, h}) == Floats{0.5F, 0, 0.5F});
  CHECK(push({g, h}) == Floats{0, 0.5F, 0.5F});
}

TEST_CASE("large pushes are compressed as small ones are") {
  const std::int64_t n = 600'001;
  std::vector<float> a(static_cast<std::size_t>(n)), left(a.size()), total(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 13) * 0.1F - 0.6F;
  KVStore kv = KVStore::create("device");
  kv.set_gradient_compression({.threshold = 0.4});
  kv.init("w", zeros({n}));
  kv.set_updater([](const std::string&, const NDArray& g, NDArray& w) { w = w + g; });
  for (int step = 0; step < 3; ++step) {
    kv.push("w", array(a));
    for (std::size_t i = 0; i < a.size(); ++i) {
      left[i] += a[i];
      const float t = left[i] >= 0.4F ? 0.4F : left[i] <= -0.4F ? -0.4F : 0;
      left[i] -= t;
      total[i] += t;
    }
  }
  const NDArray out = zeros({n});
  kv.pull("w", out);
  CHECK(out.to_vector<float>() == total);
}

TEST_CASE("compression is refused where it cannot be") {
  KVStore local = KVStore::create("local"), kv = KVStore::create("device");
  CHECK(sentence([&] { local.set_gradient_compression({}); }) ==
        "KVStore::set_gradient_compression: the store is 'local', and only 'device' and distributed ones compress");
  CHECK(sentence([&] { kv.set_gradient_compression({.type = "1bit"}); }) ==
        "KVStore::set_gradient_compression: type is '1bit', expected 2bit");
  CHECK(sentence([&] { kv.set_gradient_compression({.threshold = 0}); }) ==
        "KVStore::set_gradient_compression: threshold is 0, expected a number above 0");
  kv.set_gradient_compression({});
  kv.init({"h", "t"}, {zeros({3}, f16), zeros({3, 2}, row_sparse)});
  CHECK(sentence([&] { kv.push("h", zeros({3}, f16)); }) ==
        "KVStore::push: key 'h': an array is dense float16, and gradient compression takes dense float32 ones");
  CHECK(sentence([&] { kv.push("t", zeros({3, 2}, row_sparse)); }) ==
        "KVStore::push: key 't': an array is row_sparse float32, and gradient compression takes dense float32 ones");
}
