// SPDX-License-Identifier: Apache-2.0
/// \file
/// Decompression: every kind of block, and streams that are cut or damaged.
#include "bytes.hpp"

#include <doctest/doctest.h>
#include <strop/tensor/format/inflate.hpp>

#include <string>

using strop::detail::Inflate;

namespace {

std::string unpack(const std::string& packed, std::int64_t limit, std::string_view& why) {
  Inflate inflate;
  const auto bytes = inflate.run(reinterpret_cast<const unsigned char*>(packed.data()),
                                 static_cast<std::int64_t>(packed.size()), limit);
  why = inflate.why;
  return {bytes.begin(), bytes.end()};
}

std::string patterned() {
  std::string text;
  for (int i = 0; i < 400; ++i) text += static_cast<char>(i % 3 == 0 ? 65 : (i * i / 7 + i) % 251);
  return text + std::string(600, 'A');
}

const char* const dynamic_block =
    "edc1cb4bda0100c0f15efeec010e37e80166912bb6a065f0eb6130d637e8251b4ca51dca0529a3087a189d3a154186d59c58"
    "41d121247a6cad512e5c865151ec50197931599705d3828aa4d8d86d7fc56e7d3ec4c62124229393ae20371fb19cea57349a"
    "e8ee65649c8555be0738bf43aea4ac8ae64e46a7d9d8e7328ec72534b4e39cc37f863c0f5d0b639f0845c97b81c5c6e6098f"
    "9ef1ae1f6f9054912e3b879714e9707ee58f12f32007373c37b1744c4e2d133ee41a6c6e924586dcc834387c28ea980d209a"
    "d98ef2c6ca4516036b641bf05e63741053822bc4cb016ed5b87e6018455ac9b73b2ccb14b4117eca7c98b68fa82ddc96b329"
    "3072847186c21e12b40455acfce57d900e0fafa728ee43d18a60e0aa825335fe1c76d2587fc06a12cb024b123e4b5949c1f3"
    "902d05fb4f089572514bac91b46e0a87d1ced3b28735cca20cbfc86f23b956f46bf4ffc29d49448fcac6db5d26054eaa510e"
    "613a642183a899ca2f7c88e7673d9a45ec12224dd478b977ef7ff807";

}  // namespace

TEST_CASE("stored, fixed and dynamic blocks") {
  std::string_view why;
  CHECK(unpack(test::from_hex("010500faff68656c6c6f"), 5, why) == "hello");
  CHECK(why == "");
  std::string expected;
  for (int i = 0; i < 21; ++i) expected += "abc";
  CHECK(unpack(test::from_hex("4b4c4a4ea4000100"), 63, why) == expected);
  CHECK(why == "");
  CHECK(unpack(test::from_hex(dynamic_block), 1000, why) == patterned());
  CHECK(why == "");
}

TEST_CASE("the limit is kept") {
  std::string_view why;
  for (const char* hex : {"010500faff68656c6c6f", "4b4c4a4ea4000100"}) {
    CHECK(unpack(test::from_hex(hex), 4, why).size() <= 4);
    CHECK(why == "more data than the entry declares");
  }
}

TEST_CASE("a stream that is cut off is an error at every length") {
  const std::string whole = test::from_hex(dynamic_block);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    std::string_view why;
    const std::string cut = whole.substr(0, length);
    unpack(cut, 1000, why);
    CHECK(why != "");
  }
}

TEST_CASE("damaged streams end with an error or other bytes, within the limit") {
  const std::string whole = test::from_hex(dynamic_block);
  int refused = 0, same = 0;
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    std::string_view why;
    const std::string out = unpack(damaged, 1000, why);
    CHECK(out.size() <= 1000);
    refused += why != "" ? 1 : 0;
    same += why == "" && out == patterned() ? 1 : 0;  // padding, or one of two ways to say the same
  }
  CHECK(refused > 100);
  CHECK(same < 30);
}

TEST_CASE("what the format does not know") {
  std::string_view why;
  unpack(test::from_hex("07"), 10, why);
  CHECK(why == "a block of an unknown kind");
  unpack(test::from_hex("010500faf068656c6c6f"), 10, why);
  CHECK(why == "a stored block whose length is damaged");
  unpack(test::from_hex("4b041200"), 100, why);  // a, then a copy from before the data
  CHECK(why == "a distance from before the data");
}
