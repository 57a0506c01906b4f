// SPDX-License-Identifier: Apache-2.0
/// \file
/// NumPy's files: headers of all versions, byte orders and orders of axes; what is widened and what is refused.
#include "bytes.hpp"

#include <doctest/doctest.h>
#include <strop/tensor/create.hpp>
#include <strop/tensor/format/npy.hpp>
#include <strop/tensor/sparse.hpp>

#include <string>
#include <vector>

using namespace strop;
using test::Bytes;

namespace {

NDArray read(const std::string& bytes) {
  detail::Input in(bytes.data(), static_cast<std::int64_t>(bytes.size()), "memory");
  return detail::read_npy(in);
}
std::string write(const NDArray& a) {
  std::string bytes;
  detail::Output out(&bytes);
  detail::write_npy(out, a);
  return bytes;
}
std::string with_header(std::string_view dictionary, std::string_view elements, int version = 1) {
  Bytes out;
  out.put(detail::npy_magic).put(static_cast<std::uint8_t>(version)).put(std::uint8_t{0});
  if (version == 1)
    out.put(static_cast<std::uint16_t>(dictionary.size()));
  else
    out.put(static_cast<std::uint32_t>(dictionary.size()));
  return out.put(dictionary).put(elements).text;
}
std::string refusal(const std::string& bytes) {
  return test::sentence([&] { read(bytes); });
}
std::string of_dtype(std::string_view descr) {
  return with_header(cat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (1,), }\n"), std::string(32, '\0'));
}

}  // namespace

TEST_CASE("all dtypes and shapes come back; elements begin at a multiple of 64") {
  for (Dtype dtype : all_dtypes) {
    for (const Shape& shape : {Shape{2, 3}, Shape{}, Shape{0, 4}, Shape{5}, Shape{1, 1, 1, 1, 1, 1, 1, 2}}) {
      const NDArray a = full(shape, 3, dtype);
      const std::string bytes = write(a);
      CHECK((bytes.size() - static_cast<std::size_t>(a.size() * size_of(dtype))) % 64 == 0);
      const NDArray b = read(bytes);
      CHECK(b.dtype() == dtype);
      CHECK(b.shape() == shape);
      CHECK(b.to_vector<double>() == a.to_vector<double>());
    }
  }
}

TEST_CASE("the header is the one that NumPy writes") {
  CHECK(write(array({{1, 2}})).substr(0, 69) ==
        std::string("\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }", 69));
  CHECK(write(array({1})).find("'shape': (1,), }") != std::string::npos);
  CHECK(write(scalar(1)).find("'shape': (), }") != std::string::npos);
}

TEST_CASE("big-endian int16 by columns, written by NumPy") {
  const NDArray a = read(test::from_hex(
      "934e554d5059010076007b276465736372273a20273e6932272c2027666f727472616e5f6f72646572273a20547275652c20"
      "277368617065273a2028322c2033292c207d2020202020202020202020202020202020202020202020202020202020202020"
      "2020202020202020202020202020202020202020202020202020200a000000030001000400020005"));
  CHECK(a.dtype() == i32);
  CHECK(a.shape() == Shape{2, 3});
  CHECK(a.to_vector<int>() == std::vector<int>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("versions, spacing and order of keys") {
  const std::string elements = Bytes().put(1.0F).put(2.0F).text;
  for (int version : {1, 2, 3}) {
    const std::string file =
        with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }  \n", elements, version);
    CHECK(read(file).to_vector<int>() == std::vector<int>{1, 2});
  }
  CHECK(read(with_header("{\"shape\":(2L,),\"fortran_order\":True,\"descr\":\"=f4\"}", elements)).to_vector<int>() ==
        std::vector<int>{1, 2});
  const NDArray t = read(with_header("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2)}",
                                     std::string("\0\1\2\3\4\5\6\7\10\11\12\13", 12)));
  CHECK(t.to_vector<int>() == std::vector<int>{0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11});
}

TEST_CASE("integers that we have no dtype for are widened or refused") {
  const auto one = [](std::string_view descr, std::string_view bytes) {
    return read(with_header(cat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (1,)}"), bytes));
  };
  CHECK(one("<i2", "\xfe\xff").item<int>() == -2);
  CHECK(one("<u2", "\xfe\xff").item<int>() == 65534);
  CHECK(one("<u2", "\xfe\xff").dtype() == i32);
  CHECK(one("<u4", "\xff\xff\xff\xff").item<std::int64_t>() == 4294967295);
  CHECK(one(">u4", std::string_view("\0\0\0\1", 4)).dtype() == i64);
  CHECK(one("<u8", std::string_view("\5\0\0\0\0\0\0\0", 8)).item<int>() == 5);
  CHECK(test::sentence([&] { one("<u8", "\xff\xff\xff\xff\xff\xff\xff\xff"); }) ==
        "strop: load(\"memory\"): the uint64 value 18446744073709551615 exceeds int64");
  CHECK(one("|b1", "\7").to_vector<bool>() == std::vector<bool>{true});
  CHECK(one("bfloat16", "\xc0\x3f").item<float>() == 1.5F);
  CHECK(one("|V2", "\xc0\x3f").dtype() == bf16);
}

TEST_CASE("what is none of ours is refused by name") {
  for (const char* descr : {"<c8", "<f16", "<U3", "|O", "<M8[s]", "", "<", "f", "<f4x", "<i3", "|V4"})
    CHECK(refusal(of_dtype(descr)) == cat("strop: load(\"memory\"): dtype '", descr,
                                          "' is none of ours: floats of 2, 4 and 8 bytes, integers and bool are"));
  CHECK(refusal(of_dtype("|S3")) == "strop: load(\"memory\"): an array of strings is none of ours");
  CHECK(refusal(with_header("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,)}", ""))
            .find("structured dtype") != std::string::npos);
  CHECK_THROWS_WITH_AS(write(zeros({2, 2}, csr)),
                       "strop: save(\"memory\"): a .npy file holds a dense array, this one is csr: use .npz or .params",
                       Error);
}

TEST_CASE("what a header says is quoted in print, and not at length") {
  CHECK(refusal(with_header(std::string_view("{'\0\x1b[2J\xff': 1}", 11), "")) ==
        "strop: load(\"memory\"): the header has the unknown key '\\x00\\x1b[2J\\xff'");
  CHECK(refusal(of_dtype(std::string(3000, 'x'))) ==
        cat("strop: load(\"memory\"): dtype '", std::string(60, 'x'),
            "...' is none of ours: floats of 2, 4 and 8 bytes, integers and bool are"));
}

TEST_CASE("broken headers") {
  const auto header = [](std::string_view text) { return refusal(with_header(text, std::string(64, '\0'))); };
  CHECK(refusal("") == "strop: load(\"memory\"): this is not a .npy file");
  CHECK(refusal(with_header("{}", "", 4)) == "strop: load(\"memory\"): version 4.0 of the format is unknown");
  CHECK(header("{}") == "strop: load(\"memory\"): the header lacks 'descr', 'fortran_order' or 'shape'");
  CHECK(header("") == "strop: load(\"memory\"): the header is not a dictionary as expected: '{' is missing");
  CHECK(header("{'descr': '<f4") == "strop: load(\"memory\"): the header has a string without an end");
  CHECK(header("{'x': 1}") == "strop: load(\"memory\"): the header has the unknown key 'x'");
  CHECK(header("{'shape': (-1,)}") == "strop: load(\"memory\"): 'shape' is not a tuple of extents");
  CHECK(header("{'fortran_order': 1}") == "strop: load(\"memory\"): 'fortran_order' is neither True nor False");
  CHECK(header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}").find("'shape' is not") !=
        std::string::npos);
  CHECK(header("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}") ==
        "strop: load(\"memory\"): the elements cannot have extents 4611686018427387904, 4");
  CHECK(header("{'descr': '<u2', 'fortran_order': False, 'shape': (1099511627776,)}") ==
        "strop: load(\"memory\"): the file ends within the elements: 2199023255552 bytes are needed and 64 are left");
}

TEST_CASE("a file that is cut off is refused at every length") {
  const std::string bytes = write(array({{1, 2}, {3, 4}}));
  for (std::size_t length = 0; length < bytes.size(); ++length)
    CHECK(refusal(bytes.substr(0, length)).starts_with("strop: load(\"memory\"): "));
}
