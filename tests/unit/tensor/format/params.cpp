// SPDX-License-Identifier: Apache-2.0
/// \file
/// MXNet's files: what it wrote, all its versions, what we write, and what is refused.
#include "bytes.hpp"

#include <doctest/doctest.h>
#include <strop/tensor/create.hpp>
#include <strop/tensor/format/params.hpp>

#include <string>
#include <vector>

using namespace strop;
using test::Bytes;

namespace {

NamedArrays read(const std::string& bytes) {
  detail::Input in(bytes.data(), static_cast<std::int64_t>(bytes.size()), "memory");
  return detail::read_params(in);
}
std::string write(const NamedArrays& arrays) {
  std::string bytes;
  detail::Output out(&bytes);
  detail::write_params(out, arrays);
  return bytes;
}
std::string refusal(const std::string& bytes) {
  return test::sentence([&] { read(bytes); });
}

/// A file of one unnamed array.
std::string file_of(const Bytes& array) {
  return Bytes()
      .put(std::uint64_t{0x112})
      .put(std::uint64_t{0})
      .put(std::uint64_t{1})
      .put(array.text)
      .put(std::uint64_t{0})
      .text;
}
Bytes device_and(std::int32_t dtype) { return Bytes().put(std::int32_t{2}).put(std::int32_t{3}).put(dtype); }

// {"arg:w": float32 [[1, 2, 3]], "c": csr of [[0, 1], [2, 0]], "r": row_sparse of [[0, 0], [2, 3], [0, 0]],
// "h": float16 [0.5]}, saved by MXNet, 1.9.1.
const char* const by_mxnet =
    "120100000000000000000000000000000400000000000000c9fa93f900000000020000000100000000000000030000000000"
    "00000100000000000000000000000000803f0000004000004040c9fa93f90200000001000000020000000000000002000000"
    "0200000000000000020000000000000001000000000000000000000006000000010000000300000000000000060000000100"
    "000002000000000000000000803f000000400000000000000000010000000000000002000000000000000100000000000000"
    "0000000000000000c9fa93f90100000002000000010000000000000002000000000000000200000003000000000000000200"
    "0000000000000100000000000000000000000600000001000000010000000000000000000040000040400100000000000000"
    "c9fa93f900000000010000000100000000000000010000000000000002000000003804000000000000000500000000000000"
    "6172673a77010000000000000063010000000000000072010000000000000068";

}  // namespace

TEST_CASE("a file by MXNet is read, and written again byte for byte") {
  const std::string bytes = test::from_hex(by_mxnet);
  const NamedArrays arrays = read(bytes);
  REQUIRE(arrays.size() == 4);
  CHECK(arrays[0].first == "arg:w");
  CHECK(arrays[0].second.shape() == Shape{1, 3});
  CHECK(arrays[0].second.to_vector<int>() == std::vector<int>{1, 2, 3});
  CHECK(arrays[1].second.storage() == csr);
  CHECK(arrays[1].second.to_vector<int>() == std::vector<int>{0, 1, 2, 0});
  CHECK(arrays[2].second.storage() == row_sparse);
  CHECK(arrays[2].second.to_vector<int>() == std::vector<int>{0, 0, 2, 3, 0, 0});
  CHECK(arrays[3].second.dtype() == f16);
  CHECK(arrays[3].second.item<float>() == 0.5F);
  CHECK(write(arrays) == bytes);
}

TEST_CASE("indices are written as MXNet reads them, whatever their width") {
  const std::vector<std::int32_t> columns{0, 2}, starts{0, 1, 2};
  const std::string wide = write({{"a", csr_matrix({1, 2}, {0, 2}, {0, 1, 2}, {2, 3})}});
  CHECK(write({{"a", csr_matrix({1, 2}, columns, starts, {2, 3})}}) == wide);
  CHECK(write({{"a", csr_matrix({1, 2}, columns, std::vector<std::int64_t>{0, 1, 2}, {2, 3})}}) == wide);
  CHECK(read(wide)[0].second.indices().dtype() == i64);
}

TEST_CASE("all dtypes and storages, scalars and empty arrays come back") {
  NamedArrays arrays;
  for (Dtype dtype : all_dtypes)
    for (Storage storage : {dense, csr, row_sparse}) {
      const NDArray x({3, 2}, dtype);
      const double values[] = {0, 1, 0, 0, 100, 1};
      detail::store_doubles(dtype, values, x.bytes(), 6);
      arrays.emplace_back(cat(name_of(dtype), name_of(storage)), detail::cast_storage(x, storage));
    }
  arrays.emplace_back("scalar", scalar(2.5));
  arrays.emplace_back("empty", zeros({0, 3}, f64));
  arrays.emplace_back("csr", zeros({0, 3}, csr));
  arrays.emplace_back("", zeros({4, 0}, row_sparse, i64));
  const NamedArrays back = read(write(arrays));
  REQUIRE(back.size() == arrays.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const NDArray &a = arrays[i].second, &b = back[i].second;
    CHECK(back[i].first == arrays[i].first);
    CHECK(b.dtype() == a.dtype());
    CHECK(b.storage() == a.storage());
    CHECK(b.shape() == a.shape());
    CHECK(b.nnz() == a.nnz());
    CHECK(b.to_vector<double>() == a.to_vector<double>());
  }
  CHECK(read(write({})).empty());
  const NamedArrays list = read(write({{"", array({1})}, {"", array({2})}}));
  CHECK(list[1].first == "");
  CHECK(list[1].second.item<int>() == 2);
}

TEST_CASE("versions 0 and 1, arrays that are none, other devices") {
  Bytes v0;
  v0.put(std::uint32_t{2})
      .put(std::uint32_t{1})
      .put(std::uint32_t{2})
      .put(device_and(4).text)
      .put(std::int32_t{7})
      .put(std::int32_t{-8});
  CHECK(read(file_of(v0))[0].second.to_vector<int>() == std::vector<int>{7, -8});
  CHECK(read(file_of(v0))[0].second.shape() == Shape{1, 2});
  CHECK(read(file_of(v0))[0].second.device() == cpu());
  Bytes v1;
  v1.put(0xF993FAC8U).put(std::int32_t{1}).put(std::int64_t{1}).put(device_and(1).text).put(2.5);
  CHECK(read(file_of(v1))[0].second.item<double>() == 2.5);
  CHECK_FALSE(read(file_of(Bytes().put(std::uint32_t{0})))[0].second.defined());
  CHECK_FALSE(read(file_of(Bytes().put(0xF993FAC9U).put(std::int32_t{0}).put(std::int32_t{0})))[0].second.defined());
  Bytes truth;  // a bool that is neither 0 nor 1
  truth.put(0xF993FAC9U)
      .put(std::int32_t{0})
      .put(std::int32_t{1})
      .put(std::int64_t{2})
      .put(device_and(7).text)
      .put(std::string_view("\0\7", 2));
  CHECK(read(file_of(truth))[0].second.to_vector<bool>() == std::vector<bool>{false, true});
}

TEST_CASE("sparse arrays whose number of values was not known when MXNet wrote it") {
  std::string bytes = test::from_hex(by_mxnet);
  const std::string shape = Bytes().put(std::int32_t{2}).put(std::int64_t{1}).put(std::int64_t{2}).text;
  const std::size_t at = bytes.find(Bytes().put(std::int32_t{1}).text + shape);
  REQUIRE(at != std::string::npos);
  bytes[at + 8] = 0;
  CHECK(read(bytes)[2].second.to_vector<int>() == std::vector<int>{0, 0, 2, 3, 0, 0});
  Bytes none;  // nothing stored, and no indptr
  none.put(0xF993FAC9U)
      .put(std::int32_t{2})
      .put(std::int32_t{1})
      .put(std::int64_t{0})
      .put(std::int32_t{2})
      .put(std::int64_t{3})
      .put(std::int64_t{4});
  none.put(device_and(0).text)
      .put(std::int32_t{6})
      .put(std::int32_t{1})
      .put(std::int64_t{0})
      .put(std::int32_t{6})
      .put(std::int32_t{1})
      .put(std::int64_t{0});
  const NDArray empty = read(file_of(none))[0].second;
  empty.check_format();
  CHECK(empty.shape() == Shape{3, 4});
}

TEST_CASE("a file that is cut off is refused at every length") {
  const std::string bytes = test::from_hex(by_mxnet);
  for (std::size_t length = 0; length < bytes.size(); ++length)
    CHECK(refusal(bytes.substr(0, length)).starts_with("strop: load(\"memory\"): "));
  CHECK(refusal(bytes + "x") == "strop: load(\"memory\"): 1 bytes follow the last name");
}

TEST_CASE("damaged files are refused or read, never trusted") {
  const std::string bytes = test::from_hex(by_mxnet);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const std::string why = test::sentence([&] {
      for (const auto& [name, a] : read(damaged))
        if (a.defined() && a.size() < 100000) a.to_vector<double>();
    });
    CHECK((why.empty() || why.starts_with("strop: load(\"memory\"): ")));
  }
}

TEST_CASE("refusals are sentences that name the file") {
  const auto tagged = [](std::int32_t storage) { return Bytes().put(0xF993FAC9U).put(storage); };
  CHECK(refusal(std::string(32, 'x')) == "strop: load(\"memory\"): this is not a .params file");
  CHECK(refusal(Bytes().put(std::uint64_t{0x112}).put(std::uint64_t{0}).put(std::uint64_t{1} << 60).text) ==
        "strop: load(\"memory\"): a file of this size cannot hold 1152921504606846976 arrays");
  CHECK(refusal(file_of(tagged(3))) == "strop: load(\"memory\"): an array has the unknown storage 3");
  CHECK(refusal(file_of(Bytes().put(std::uint32_t{1000}))) ==
        "strop: load(\"memory\"): an array begins with neither a known version nor a rank: 1000");
  CHECK(refusal(file_of(tagged(0).put(std::int32_t{100}))) ==
        "strop: load(\"memory\"): the shape of an array has 100 dimensions");
  CHECK(refusal(file_of(tagged(0).put(std::int32_t{1}).put(std::int64_t{1} << 40).put(device_and(0).text))) ==
        "strop: load(\"memory\"): the file ends within the elements of an array: 4398046511104 bytes are needed and 8 "
        "are left");
  CHECK(refusal(file_of(tagged(0).put(std::int32_t{1}).put(std::int64_t{-1}).put(device_and(0).text))) ==
        "strop: load(\"memory\"): the elements of an array cannot have extents -1");
  CHECK(refusal(file_of(tagged(0)
                            .put(std::int32_t{2})
                            .put(std::int64_t{1} << 40)
                            .put(std::int64_t{1} << 40)
                            .put(device_and(0).text)))
            .ends_with("the elements of an array cannot have extents 1099511627776, 1099511627776"));
  CHECK(refusal(file_of(tagged(0).put(std::int32_t{1}).put(std::int64_t{1}).put(device_and(8).text))) ==
        "strop: load(\"memory\"): an array has dtype int16, which is none of ours");
  CHECK(refusal(file_of(tagged(0).put(std::int32_t{1}).put(std::int64_t{1}).put(device_and(99).text))) ==
        "strop: load(\"memory\"): an array has the unknown dtype 99");
  Bytes names;
  names.put(std::uint64_t{0x112}).put(std::uint64_t{0}).put(std::uint64_t{0}).put(std::uint64_t{2});
  CHECK(refusal(names.text) == "strop: load(\"memory\"): there are 0 arrays and 2 names");
}

TEST_CASE("a sparse array that points outside itself is refused") {
  const std::string good = write({{"", csr_matrix({5, 6}, {0, 1}, {0, 1, 2}, {2, 2})}});
  const std::size_t indices = good.size() - 8 - 16, indptr = indices - 24;
  const auto with = [&](std::size_t at, std::int64_t value) {
    std::string bytes = good;
    std::memcpy(bytes.data() + at, &value, 8);
    return refusal(bytes);
  };
  CHECK(with(indices, 0) == "");
  CHECK(with(indices, 2).find("indices[0] = 2 is outside 0 to 1") != std::string::npos);
  CHECK(with(indices, -1).find("indices[0] = -1 is outside") != std::string::npos);
  CHECK(with(indptr, 1).find("indptr starts with 0, not 1") != std::string::npos);
  CHECK(with(indptr + 8, 3).find("indptr[2] = 2 is less than indptr[1] = 3") != std::string::npos);
  CHECK(with(indptr + 16, 1).find("indptr ends with") != std::string::npos);
}

TEST_CASE("a row-sparse array has a first axis") {
  for (const std::int32_t rank : {0, 1}) {
    Bytes array;  // version 3: rank 0 is a scalar
    array.put(0xF993FACAU).put(std::int32_t{1}).put(std::int32_t{1}).put(std::int64_t{1}).put(rank);
    if (rank == 1) array.put(std::int64_t{3});
    array.put(device_and(0).text).put(std::int32_t{6}).put(std::int32_t{1}).put(std::int64_t{1});
    array.put(2.5F).put(std::int64_t{0});
    CHECK(refusal(file_of(array)) ==
          (rank == 1 ? "" : "strop: load(\"memory\"): a row-sparse array has 1 dimension or more, not shape ()"));
  }
}

TEST_CASE("what the arrays of a file claim together is bounded") {
  const auto empty = [](std::int64_t rows) {  // nothing stored, and no indptr
    return Bytes()
        .put(0xF993FAC9U)
        .put(std::int32_t{2})
        .put(std::int32_t{1})
        .put(std::int64_t{0})
        .put(std::int32_t{2})
        .put(rows)
        .put(std::int64_t{3})
        .put(device_and(0).text)
        .put(std::int32_t{6})
        .put(std::int32_t{1})
        .put(std::int64_t{0})
        .put(std::int32_t{6})
        .put(std::int32_t{1})
        .put(std::int64_t{0})
        .text;
  };
  const auto two = [&](std::int64_t first, std::int64_t second) {
    Bytes file;
    file.put(std::uint64_t{0x112}).put(std::uint64_t{0}).put(std::uint64_t{2});
    return refusal(file.put(empty(first)).put(empty(second)).put(std::uint64_t{0}).text);
  };
  CHECK(two(1000, 2000) == "");
  CHECK(two(1 << 10, 1 << 24) ==
        "strop: load(\"memory\"): sparse arrays for which the file holds no indptr have 1024 + 16777216 rows, at most "
        "16777416 are read from a file of this size");
  CHECK(two(std::int64_t{1} << 58, 1).find("have 0 + 288230376151711744 rows") != std::string::npos);
}

TEST_CASE("names are written once") {
  CHECK_THROWS_WITH_AS(write({{"w", array({1})}, {"b", array({2})}, {"w", array({3})}}),
                       "strop: save(\"memory\"): two arrays are named 'w'", Error);
  CHECK(read(write({{"w", array({1})}, {"", array({2})}, {"", array({3})}})).size() == 3);
}

TEST_CASE("handles without an array are not read in any number that a file has room for") {
  const auto nones = [](std::uint64_t count) {
    Bytes file;
    file.put(std::uint64_t{0x112}).put(std::uint64_t{0}).put(count);
    return file.put(std::string(count * 4, '\0')).put(std::uint64_t{0}).text;
  };
  CHECK(read(nones(50'000)).size() == 50'000);
  CHECK(refusal(nones(1'000'000)) ==
        "strop: load(\"memory\"): array 128036 is one more that is marked as none than are read from a file of this "
        "size");
}
