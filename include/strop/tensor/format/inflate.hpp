// SPDX-License-Identifier: Apache-2.0
/// \file
/// Decompression of DEFLATE (RFC 1951), every access checked.
#pragma once
#include <strop/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace strop::inline v0::detail {

/// Decodes one DEFLATE stream. `why` says what is wrong with it, and is empty where nothing is.
class Inflate {
 public:
  std::string_view why;

  /// The bytes that `from` decompresses to; stops with an error when they are more than `limit`. Memory grows with what
  /// has been decoded.
  std::vector<unsigned char> run(const unsigned char* from, std::int64_t size, std::int64_t limit) {
    at_ = from;
    end_ = from + size;
    limit_ = static_cast<std::size_t>(limit);
    out_.reserve(std::min(limit_, static_cast<std::size_t>(size) * 4 + 1024));
    for (bool last = false; !last && why.empty();) {
      last = take(1) != 0;
      switch (take(2)) {
        case 0:
          stored();
          break;
        case 1:
          fixed();
          break;
        case 2:
          dynamic();
          break;
        default:
          why = "a block of an unknown kind";
      }
    }
    return std::move(out_);
  }
  /// How many bytes behind the stream were not taken.
  std::int64_t left() const { return end_ - at_ + count_ / 8; }

 private:
  /// A prefix code as one table that the next bits index: symbol · 16 + length, 0 where no code begins so.
  struct Code {
    std::vector<std::uint16_t> table;
    int bits = 0;

    /// False where the lengths (0 to 15 each) make no code: more codes than there is room, or gaps (one code may be
    /// alone).
    bool build(const std::uint8_t* lengths, int count) {
      int counts[16] = {}, next[16] = {};
      for (int i = 0; i < count; ++i) ++counts[lengths[i]];
      counts[0] = 0;
      int left = 1, used = 0;
      bits = 0;
      for (int length = 1; length < 16; ++length) {
        left = left * 2 - counts[length];
        if (left < 0) return false;
        if (counts[length] != 0) bits = length;
        used += counts[length];
        if (length < 15) next[length + 1] = (next[length] + counts[length]) * 2;
      }
      if (left != 0 && used > 1) return false;
      table.assign(std::size_t{1} << bits, 0);
      for (int symbol = 0; symbol < count; ++symbol) {
        const int length = lengths[symbol];
        if (length == 0) continue;
        std::size_t reversed = 0;  // the first bit of a code is the lowest of the index
        for (int bit = 0, code = next[length]; bit < length; ++bit, code >>= 1) reversed = reversed << 1 | (code & 1);
        ++next[length];
        for (std::size_t i = reversed; i < table.size(); i += std::size_t{1} << length)
          table[i] = static_cast<std::uint16_t>(symbol << 4 | length);
      }
      return true;
    }
  };

  void fill() {
    while (count_ <= 56 && at_ != end_) {
      hold_ |= std::uint64_t{*at_++} << count_;
      count_ += 8;
    }
  }
  std::uint32_t take(int bits) {
    if (count_ < bits) fill();
    if (count_ < bits) {
      if (why.empty()) why = "the compressed data end early";
      return 0;
    }
    const auto value = static_cast<std::uint32_t>(hold_ & ((std::uint64_t{1} << bits) - 1));
    hold_ >>= bits;
    count_ -= bits;
    return value;
  }
  int symbol(const Code& code) {
    if (count_ < 15) fill();
    const unsigned entry = code.table[hold_ & (code.table.size() - 1)];
    const int length = static_cast<int>(entry & 15);
    if (length == 0 || length > count_) {
      if (why.empty()) why = length == 0 ? "bits that are no code" : "the compressed data end early";
      return -1;
    }
    hold_ >>= length;
    count_ -= length;
    return static_cast<int>(entry >> 4);
  }

  void stored() {
    take(count_ % 8);
    const std::uint32_t length = take(16), check = take(16);
    if (!why.empty()) return;
    if ((length ^ check) != 0xffff)
      why = "a stored block whose length is damaged";
    else if (length > limit_ - out_.size())
      why = "more data than the entry declares";
    for (std::uint32_t i = 0; i < length && why.empty(); ++i) {
      const auto byte = static_cast<unsigned char>(take(8));
      if (why.empty()) out_.push_back(byte);
    }
  }

  void fixed() {
    std::uint8_t lengths[288];
    std::fill(lengths, lengths + 144, std::uint8_t{8});
    std::fill(lengths + 144, lengths + 256, std::uint8_t{9});
    std::fill(lengths + 256, lengths + 280, std::uint8_t{7});
    std::fill(lengths + 280, lengths + 288, std::uint8_t{8});
    literals_.build(lengths, 288);
    std::fill(lengths, lengths + 32, std::uint8_t{5});
    distances_.build(lengths, 32);
    codes();
  }

  void dynamic() {
    static constexpr std::uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    const int literals = static_cast<int>(take(5)) + 257, distances = static_cast<int>(take(5)) + 1,
              count = static_cast<int>(take(4)) + 4;
    std::uint8_t lengths[288 + 32] = {};
    for (int i = 0; i < count; ++i) lengths[order[i]] = static_cast<std::uint8_t>(take(3));
    if (!why.empty()) return;
    if (literals > 286 || distances > 30 || !literals_.build(lengths, 19)) {
      why = "a block with damaged code lengths";
      return;
    }
    std::fill(lengths, lengths + 19, std::uint8_t{0});
    for (int i = 0; i < literals + distances;) {
      const int code = symbol(literals_);
      if (code < 0) return;
      if (code < 16) {
        lengths[i++] = static_cast<std::uint8_t>(code);
        continue;
      }
      const int repeats = code == 16   ? 3 + static_cast<int>(take(2))
                          : code == 17 ? 3 + static_cast<int>(take(3))
                                       : 11 + static_cast<int>(take(7));
      if (!why.empty()) return;
      if (i + repeats > literals + distances || (code == 16 && i == 0)) {
        why = "a block with damaged code lengths";
        return;
      }
      const std::uint8_t value = code == 16 ? lengths[i - 1] : std::uint8_t{0};
      std::fill(lengths + i, lengths + i + repeats, value);
      i += repeats;
    }
    if (!literals_.build(lengths, literals) || !distances_.build(lengths + literals, distances))
      why = "a block with damaged codes";
    else
      codes();
  }

  void codes() {
    static constexpr std::uint16_t length_base[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                                      31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static constexpr std::uint8_t length_bits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                     2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static constexpr std::uint16_t distance_base[30] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                                        33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                                        1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    while (true) {
      const int code = symbol(literals_);
      if (code < 0 || code == 256) return;
      if (code < 256) {
        if (out_.size() == limit_)
          why = "more data than the entry declares";
        else
          out_.push_back(static_cast<unsigned char>(code));
      } else if (code > 285) {
        why = "a length that does not exist";
      } else {
        const std::size_t length = length_base[code - 257] + take(length_bits[code - 257]);
        const int at = symbol(distances_);
        if (at < 0) return;
        if (at > 29) {
          why = "a distance that does not exist";
          return;
        }
        const std::size_t distance = distance_base[at] + take(at < 4 ? 0 : at / 2 - 1);
        if (distance > out_.size())
          why = "a distance from before the data";
        else if (length > limit_ - out_.size())
          why = "more data than the entry declares";
        else
          repeat(distance, length);
      }
      if (!why.empty()) return;
    }
  }
  void repeat(std::size_t distance, std::size_t length) {
    const std::size_t start = out_.size();
    out_.resize(start + length);
    unsigned char* to = out_.data() + start;
    if (distance >= length) {
      std::memcpy(to, to - distance, length);
    } else {
      const unsigned char* from = to - distance;
      for (std::size_t i = 0; i < length; ++i) to[i] = from[i];  // the copy reads what it wrote
    }
  }

  const unsigned char *at_ = nullptr, *end_ = nullptr;
  std::uint64_t hold_ = 0;
  int count_ = 0;
  std::size_t limit_ = 0;
  std::vector<unsigned char> out_;
  Code literals_, distances_;
};

}  // namespace strop::inline v0::detail
