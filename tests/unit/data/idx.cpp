// SPDX-License-Identifier: Apache-2.0
/// \file
/// idx files, plain and gzip: every type, every optional part of a gzip header, and what is refused.
#include <strop/data/idx.hpp>
#include <unit/tensor/format/bytes.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace strop;

namespace {

NDArray read(const std::string& bytes) {
  detail::Input in(bytes.data(), static_cast<std::int64_t>(bytes.size()), "memory");
  return detail::read_idx(in);
}
/// What is told of bytes that are refused, without what each such sentence begins with.
std::string refusal(const std::string& bytes) {
  const std::string told = test::sentence([&] { read(bytes); }), begin = "strop: load(\"memory\"): ";
  return told.starts_with(begin) ? told.substr(begin.size()) : told;
}
std::vector<double> values(const std::string& hex) { return read(test::from_hex(hex)).to_vector<double>(); }

// Two rows of three bytes; the same by Python's gzip, the deflated bytes and what follows them apart.
const char* const plain = "0000080200000002000000030102030405ff";
const char* const deflated = "6360e06062606000616646266616d6ff00";
const char* const trailer = "f0de5f2112000000";

/// The gzip file with these flags and optional parts.
std::string packed(const char* flags, const std::string& parts, const char* end = trailer) {
  return test::from_hex(std::string("1f8b08") + flags + "000000000203" + parts + deflated + end);
}

}  // namespace

TEST_CASE("every type of the format, big-endian") {
  CHECK(values("00000801"
               "00000002"
               "01ff") == std::vector<double>{1, 255});
  CHECK(values("00000901"
               "00000002"
               "01ff") == std::vector<double>{1, -1});
  CHECK(values("00000c01"
               "00000002"
               "00000102"
               "fffffffe") == std::vector<double>{258, -2});
  CHECK(values("00000d01"
               "00000001"
               "3fc00000") == std::vector<double>{1.5});
  CHECK(values("00000e01"
               "00000001"
               "3ff8000000000000") == std::vector<double>{1.5});
  const Dtype types[] = {u8, i8, i32, f32, f64};
  const char* const codes[] = {"08", "09", "0c", "0d", "0e"};
  for (int i = 0; i < 5; ++i) {
    const NDArray a = read(test::from_hex(std::string("0000") + codes[i] +
                                          "0200000000"
                                          "00000003"));
    CHECK(a.dtype() == types[i]);
    CHECK(a.shape() == Shape{0, 3});
  }
  CHECK(read(test::from_hex("0000080007")).shape() == Shape{});
}

TEST_CASE("gzip, with each optional part of its header") {
  for (const std::string& bytes : {test::from_hex(plain), packed("00", ""), packed("08", "782d69647800"),
                                   packed("10", "6f6800"), packed("04", "0300616263"), packed("02", "abcd"),
                                   packed("1f",
                                          "0000"
                                          "6e00"
                                          "6300"
                                          "abcd")}) {
    const NDArray a = read(bytes);
    CHECK(a.dtype() == u8);
    CHECK(a.shape() == Shape{2, 3});
    CHECK(a.to_vector<int>() == std::vector<int>{1, 2, 3, 4, 5, 255});
  }
}

TEST_CASE("files") {
  const test::Folder folder;
  test::put_file(folder / "a.gz", packed("00", ""));
  CHECK(load_idx(folder / "a.gz").shape() == Shape{2, 3});
  test::put_file(folder / "b", "no idx");
  CHECK(test::sentence([&] {
          load_idx(folder / "b");
        }).starts_with(cat("strop: load(\"", folder / "b", "\"): this is not")));
  CHECK(test::sentence([&] { load_idx(folder / "none"); }) ==
        cat("strop: load(\"", folder / "none", "\"): No such file or directory"));
}

TEST_CASE("what is no idx file") {
  const std::string no = "this is not an idx file, which begins with two zero bytes, a type and a number of dimensions";
  CHECK(refusal("") == no);
  CHECK(refusal(test::from_hex("000008")) == no);
  CHECK(refusal(test::from_hex("0001080100000000")) == no);
  CHECK(refusal(test::from_hex("00000b0100000000")) == "idx type 11 is not one of 8, 9, 12, 13, 14");
  CHECK(refusal(test::from_hex("00000802000000020000")) == "the file ends within the extents");
  CHECK(refusal(test::from_hex("0000080100000003"
                               "0102")) == "an array of shape (3,) has 3 bytes, the file holds 2");
  CHECK(refusal(test::from_hex("0000080100000001"
                               "0102")) == "an array of shape (1,) has 1 bytes, the file holds 2");
  CHECK(refusal(test::from_hex("00000803"
                               "ffffffff"
                               "ffffffff"
                               "ffffffff")) == "an array cannot have shape (4294967295, 4294967295, 4294967295)");
}

TEST_CASE("damaged gzip files") {
  CHECK(refusal(test::from_hex("1f8b0800")) == "the gzip header is cut");
  CHECK(refusal(test::from_hex("1f8b0700000000000203" + std::string(deflated) + trailer)) ==
        "the gzip header names a method that is not known");
  CHECK(refusal(packed("20", "")) == "the gzip header has flags that are not known");  // a flag of the future
  CHECK(refusal(packed("04", "ffff")) == "the gzip header is cut");
  CHECK(refusal(test::from_hex("1f8b0808000000000203"
                               "4142434445464748")) == "the gzip header is cut");
  const std::string whole = packed("00", ""), damaged = "the unpacked data does not match its check sum";
  CHECK(refusal(packed("00", "", "f0de5f2012000000")) == damaged);
  CHECK(refusal(packed("00", "", "f0de5f2113000000")) == damaged);
  CHECK(refusal(packed("00", "", "f0de5f2111000000")) == damaged);
  for (std::size_t length = 2; length < whole.size(); ++length) CHECK(refusal(whole.substr(0, length)) != "");
  int same = 0;
  for (std::size_t bit = 16; bit < whole.size() * 8; ++bit) {  // from behind the magic
    std::string other = whole;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << (bit % 8)));
    same += refusal(other) == "" ? 1 : 0;
  }
  CHECK(same <= 7 * 8 + 1);  // the time, the system, whether it is text
}
