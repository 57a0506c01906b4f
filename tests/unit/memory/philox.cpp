// SPDX-License-Identifier: Apache-2.0
/// \file
/// Philox4x32-10 against the vectors that its authors publish (Random123, kat_vectors).
#include <strop/memory/philox.hpp>

#include <doctest/doctest.h>

using strop::random::philox;
using Block = std::array<std::uint32_t, 4>;

static_assert(philox({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
              Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
              Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

TEST_CASE("philox: published vectors at run time") {
  volatile std::uint32_t zero = 0;
  CHECK(philox({zero, zero, zero, zero}, {zero, zero}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
}

TEST_CASE("philox: a group of blocks is the blocks one by one") {
  for (const std::uint64_t first :
       {std::uint64_t{0}, std::uint64_t{16}, std::uint64_t{0xFFFFFFF0}, std::uint64_t{0x100000000},
        std::uint64_t{0x0123456789ABCDE0}, ~std::uint64_t{15}}) {
    for (const std::uint64_t key :
         {std::uint64_t{0}, std::uint64_t{42}, ~std::uint64_t{0}, std::uint64_t{0xA4093822299F31D0}}) {
      for (const std::array<std::uint32_t, 2> upper : {std::array{0U, 0U}, {1U, 0U}, {0xFFFFFFFFU, 7U}}) {
        std::uint32_t words[strop::random::detail::group_words];
        strop::random::detail::philox_group(first, upper, key, words);
        for (std::uint32_t i = 0; i < 16; ++i) {
          const std::uint64_t block = first + i;
          const Block one =
              philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), upper[0], upper[1]},
                     {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)});
          for (std::uint32_t k = 0; k < 4; ++k) REQUIRE(words[4 * i + k] == one[k]);
        }
      }
    }
  }
}
