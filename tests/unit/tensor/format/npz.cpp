// SPDX-License-Identifier: Apache-2.0
/// \file
/// Archives: deflated and stored entries, sparse arrays as SciPy writes them, sizes of 64 bits, damage.
#include "bytes.hpp"

#include <doctest/doctest.h>
#include <strop/tensor/create.hpp>
#include <strop/tensor/format/npz.hpp>

#include <string>
#include <vector>

using namespace strop;
using test::Bytes;

namespace {

NamedArrays read(const std::string& bytes) {
  detail::Input in(bytes.data(), static_cast<std::int64_t>(bytes.size()), "memory");
  return detail::read_npz(in);
}
std::string write(const NamedArrays& arrays) {
  std::string bytes;
  detail::Output out(&bytes);
  detail::write_npz(out, arrays);
  return bytes;
}
std::string refusal(const std::string& bytes) {
  return test::sentence([&] { read(bytes); });
}
std::string archive(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string bytes;
  detail::Output out(&bytes);
  detail::ZipWriter zip(out);
  for (const auto& [name, content] : entries) zip.add(name, content, nullptr, 0);
  zip.finish();
  return bytes;
}

// a: int32 0 to 19 of shape (4, 5); z: 300 zeros of float64. np.savez_compressed.
const char* const compressed =
    "504b03042d0000000800000021007ebf4e24ffffffffffffffff05001400612e6e707901001000d000000000000000780000"
    "00000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a2aea3a09e965f54529498179f5f94920a12774bcc"
    "294e058a17672416a402f91a263a0aa69a3a0ab50a64032e06206004622620660662162066056236206607620e20e6046290"
    "426e20e601625e20e603627e20160062412016026261200600504b03042d00000008000000210074a89881ffffffffffffff"
    "ff050014007a2e6e707901001000e00900000000000058000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5"
    "a06e9366a1aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91ac606063a9a3a0ab50a64032e86"
    "51300a46c1281805a360148c825140550000504b01022d032d0000000800000021007ebf4e2478000000d000000005000000"
    "0000000000000000800100000000612e6e7079504b01022d032d00000008000000210074a8988158000000e0090000050000"
    "0000000000000000008001af0000007a2e6e7079504b05060000000002000200660000003e0100000000";

// The float32 matrix [[0, 1, 0], [2, 0, 3]]. scipy.sparse.save_npz.
const char* const matrix =
    "504b03042d000000080000002100f3a0b2feffffffffffffffff0b001400696e64696365732e6e7079010010008c00000000"
    "0000004a000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a2aea3a09e965f54529498179f5f94"
    "920a12774bcc294e058a17672416a402f91ac63a9a3a0ab50a14002e46060860026200504b03042d00000008000000210067"
    "8b0111ffffffffffffffff0a001400696e647074722e6e7079010010008c000000000000004c000000000000009bec17ea1b"
    "10c9c850c650ad9e925a9c5ca46ea5a06e9369a2aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402"
    "f91ac63a9a3a0ab50a14002e062060046266200600504b03042d000000080000002100a3c37497ffffffffffffffff0a0014"
    "00666f726d61742e6e707901001000830000000000000045000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46e"
    "a5a05e136cacaea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a9a3a0ab50a1401aee4e22200"
    "504b03042d00000008000000210060487e0cffffffffffffffff0900140073686170652e6e70790100100090000000000000"
    "004a000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a1aea3a09e965f54529498179f5f94920a"
    "12774bcc294e058a17672416a402f91a463a9a3a0ab50a14002e2606086086d200504b03042d00000008000000210077a640"
    "d1ffffffffffffffff08001400646174612e6e7079010010008c000000000000004f000000000000009bec17ea1b10c9c850"
    "c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91ac63a"
    "9a3a0ab50a14002e0686067b0606060720720000504b01022d032d000000080000002100f3a0b2fe4a0000008c0000000b00"
    "00000000000000000000800100000000696e64696365732e6e7079504b01022d032d000000080000002100678b01114c0000"
    "008c0000000a0000000000000000000000800187000000696e647074722e6e7079504b01022d032d000000080000002100a3"
    "c3749745000000830000000a000000000000000000000080010f010000666f726d61742e6e7079504b01022d032d00000008"
    "000000210060487e0c4a0000009000000009000000000000000000000080019001000073686170652e6e7079504b01022d03"
    "2d00000008000000210077a640d14f0000008c000000080000000000000000000000800115020000646174612e6e7079504b"
    "05060000000005000500160100009e0200000000";

}  // namespace

TEST_CASE("indices are written and read as wide as they are") {
  const std::vector<std::int32_t> columns{0, 2}, starts{0, 1, 2};
  for (const NDArray& a : {csr_matrix({1, 2}, columns, starts, {2, 3}), csr_matrix({1, 2}, {0, 2}, {0, 1, 2}, {2, 3}),
                           row_sparse_array({{1, 2, 3}, {4, 5, 6}}, columns, {3, 3})}) {
    const NDArray b = read(write({{"a", a}}))[0].second;
    CHECK(b.indices().dtype() == a.indices().dtype());
    CHECK(b.to_vector<float>() == a.to_vector<float>());
  }
}

TEST_CASE("compressed archives by NumPy and SciPy") {
  const NamedArrays arrays = read(test::from_hex(compressed));
  REQUIRE(arrays.size() == 2);
  CHECK(arrays[0].first == "a");
  CHECK(arrays[0].second.shape() == Shape{4, 5});
  CHECK(arrays[0].second.to_vector<float>() == arange(20).to_vector<float>());
  CHECK(arrays[1].first == "z");
  CHECK(arrays[1].second.to_vector<double>() == std::vector<double>(300));
  const NamedArrays one = read(test::from_hex(matrix));
  REQUIRE(one.size() == 1);
  CHECK(one[0].first == "");
  CHECK(one[0].second.storage() == csr);
  CHECK(one[0].second.to_vector<int>() == std::vector<int>{0, 1, 0, 2, 0, 3});
}

TEST_CASE("all dtypes and storages come back in order, with their names") {
  NamedArrays arrays;
  for (Dtype dtype : all_dtypes)
    for (Storage storage : {row_sparse, dense, csr}) {
      const NDArray x({3, 2}, dtype);
      const double values[] = {0, 1, 0, 0, 100, 1};
      detail::store_doubles(dtype, values, x.bytes(), 6);
      arrays.emplace_back(cat("net/", name_of(dtype), name_of(storage)), detail::cast_storage(x, storage));
    }
  arrays.emplace_back("scalar", scalar(2.5));
  arrays.emplace_back("empty", zeros({0, 3}, csr));
  arrays.emplace_back("format", array({1}));  // a name that also marks sparse arrays
  const NamedArrays back = read(write(arrays));
  REQUIRE(back.size() == arrays.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const NDArray &a = arrays[i].second, &b = back[i].second;
    CHECK(back[i].first == arrays[i].first);
    CHECK(b.dtype() == a.dtype());
    CHECK(b.storage() == a.storage());
    CHECK(b.shape() == a.shape());
    CHECK(b.to_vector<double>() == a.to_vector<double>());
  }
  CHECK(read(write({})).empty());
  CHECK(read(write({{"", array({1})}, {"", array({2})}}))[1].first == "arr_1");
  CHECK_THROWS_WITH_AS(write({{"a", array({1})}, {"a", array({2})}}),
                       "strop: save(\"memory\"): two entries are named 'a.npy'", Error);
}

TEST_CASE("more entries than 16 bits count") {
  std::vector<std::pair<std::string, std::string>> entries;
  const std::string file = detail::npy_header("|u1", {0});
  for (int i = 0; i < 65600; ++i) entries.emplace_back(cat(i, ".npy"), file);
  const NamedArrays back = read(archive(entries));
  CHECK(back.size() == 65600);
  CHECK(back[65599].first == "65599");
}

TEST_CASE("sizes and positions of 64 bits in the directory") {
  const std::string content = detail::npy_header("|u1", {3}) + "\1\2\3";
  const auto size = static_cast<std::uint64_t>(content.size());
  Bytes file;
  file.put("pad!");
  file.put(detail::zip_local).put(std::uint16_t{45}).put(std::uint16_t{0}).put(std::uint16_t{0}).put(std::uint32_t{0});
  file.put(detail::crc32(0, content.data(), static_cast<std::int64_t>(size))).put(~0U).put(~0U);
  file.put(std::uint16_t{5})
      .put(std::uint16_t{20})
      .put("x.npy")
      .put(std::uint16_t{1})
      .put(std::uint16_t{16})
      .put(size)
      .put(size)
      .put(content);
  const auto directory = static_cast<std::uint64_t>(file.text.size());
  file.put(detail::zip_central)
      .put(std::uint32_t{45})
      .put(std::uint16_t{0})
      .put(std::uint16_t{0})
      .put(std::uint32_t{0});
  file.put(detail::crc32(0, content.data(), static_cast<std::int64_t>(size))).put(~0U).put(~0U);
  file.put(std::uint16_t{5}).put(std::uint16_t{36}).put(std::uint16_t{0}).put(std::uint64_t{0}).put(~0U).put("x.npy");
  file.put(std::uint16_t{0x7075}).put(std::uint16_t{4}).put("abcd");  // a field of another kind first
  file.put(std::uint16_t{1}).put(std::uint16_t{24}).put(size).put(size).put(std::uint64_t{4});
  const auto end = static_cast<std::uint64_t>(file.text.size());
  file.put(detail::zip64_end)
      .put(std::uint64_t{44})
      .put(std::uint32_t{0})
      .put(std::uint64_t{0})
      .put(std::uint64_t{1})
      .put(std::uint64_t{1});
  file.put(end - directory)
      .put(directory)
      .put(detail::zip64_locator)
      .put(std::uint32_t{0})
      .put(end)
      .put(std::uint32_t{1});
  file.put(detail::zip_end)
      .put(std::uint32_t{0})
      .put(std::uint16_t{0xffff})
      .put(std::uint16_t{0xffff})
      .put(~0U)
      .put(~0U)
      .put(std::uint16_t{2})
      .put("hi");
  const NamedArrays arrays = read(file.text);
  REQUIRE(arrays.size() == 1);
  CHECK(arrays[0].second.to_vector<int>() == std::vector<int>{1, 2, 3});
}

TEST_CASE("SciPy's other formats and broken matrices") {
  const auto number = [](std::initializer_list<detail::Literal> values) {
    std::string bytes;
    detail::Output out(&bytes);
    detail::write_npy(out, array<std::int64_t>(values));
    return bytes;
  };
  const auto format = [](std::string_view name) {
    return detail::npy_header(cat("|S", name.size()), {}) + std::string(name);
  };
  const NDArray coo = read(archive({{"format.npy", format("coo")},
                                    {"shape.npy", number({2, 2})},
                                    {"data.npy", number({5, 6, 1})},
                                    {"row.npy", number({1, 0, 1})},
                                    {"col.npy", number({1, 0, 1})}}))[0]
                          .second;
  CHECK(coo.to_vector<int>() == std::vector<int>{6, 0, 0, 6});
  CHECK(refusal(archive({{"m/format.npy", format("csc")}})) ==
        "strop: load(\"memory\"): the sparse array 'm' has the format 'csc'; csr, coo and row_sparse are read");
  CHECK(refusal(archive({{"format.npy", format("csr")}, {"shape.npy", number({2, 2})}})) ==
        "strop: load(\"memory\"): the sparse array lacks 'data'");
  CHECK(refusal(archive({{"m/format.npy", format("csr")}, {"m/shape.npy", number({2, 2})}})) ==
        "strop: load(\"memory\"): the sparse array 'm' lacks 'data'");
  CHECK(refusal(archive({{"m/format.npy", format("csr")},
                         {"m/shape.npy", detail::npy_header("<f4", {0})},
                         {"m/data.npy", number({})}})) ==
        "strop: load(\"memory\"): the shape of the sparse array 'm' is not made of integers");
  CHECK(
      refusal(archive({{"format.npy", format("csr")},
                       {"shape.npy", number({1, 2})},
                       {"data.npy", number({5})},
                       {"indices.npy", number({2})},
                       {"indptr.npy", number({0, 1})}})) ==
      "strop: load(\"memory\"): the sparse array is broken: strop: indices[0] = 2 is outside 0 to 1, the columns of a "
      "row");
}

TEST_CASE("rows and columns in any order, and several times, are read as they stand") {
  const NDArray columns = csr_matrix({1, 2, 3}, {2, 0, 0}, {0, 3}, {1, 3}),
                rows = row_sparse_array({{1}, {2}, {4}}, {2, 0, 2}, {3, 1});
  const NamedArrays back = read(write({{"columns", columns}, {"rows", rows}}));
  CHECK(back[0].second.indices().to_vector<int>() == std::vector<int>{2, 0, 0});
  CHECK(back[1].second.indices().to_vector<int>() == std::vector<int>{2, 0, 2});
  CHECK(back[0].second.to_vector<int>() == std::vector<int>{5, 0, 1});
  CHECK(back[1].second.to_vector<int>() == std::vector<int>{2, 0, 5});
  CHECK_THROWS_AS(back[0].second.check_format(), Error);
  CHECK_THROWS_AS(back[1].second.check_format(), Error);
}

TEST_CASE("coordinates with more rows than a file of their size may claim") {
  const auto number = [](std::initializer_list<detail::Literal> values) {
    std::string bytes;
    detail::Output out(&bytes);
    detail::write_npy(out, array<std::int64_t>(values));
    return bytes;
  };
  const std::string format = detail::npy_header("|S3", {}) + "coo";
  const auto matrix_of = [&](std::int64_t rows) {
    return refusal(archive({{"format.npy", format},
                            {"shape.npy", number({rows, 2})},
                            {"data.npy", number({5})},
                            {"row.npy", number({0})},
                            {"col.npy", number({1})}}));
  };
  CHECK(matrix_of(1000) == "");
  CHECK(matrix_of(-1).find("is broken") != std::string::npos);
  CHECK(matrix_of(std::int64_t{1} << 25).find("have 0 + 33554432 rows, at most 1677") != std::string::npos);
}

TEST_CASE("what is not an archive of arrays") {
  CHECK(refusal("PK\x03\x04").find("no end record") != std::string::npos);
  CHECK(refusal(archive({{"readme.txt", "hello"}})) ==
        "strop: load(\"memory\"): entry 'readme.txt' is not a .npy file");
  CHECK(refusal(archive({{"a.npy", "hello"}})) == "strop: load(\"memory[a]\"): this is not a .npy file");
  const std::string good = archive({{"a.npy", detail::npy_header("|u1", {1}) + "\5"}});
  const std::size_t central = good.find("PK\x01\x02");
  const auto with = [&](std::size_t at, std::string_view bytes) {
    std::string damaged = good;
    damaged.replace(at, bytes.size(), bytes);
    return refusal(damaged);
  };
  CHECK(with(central - 1, "\6") == "strop: load(\"memory[a]\"): the entry is damaged: its CRC differs");
  CHECK(with(central + 8, "\1") == "strop: load(\"memory\"): entry 'a.npy' is encrypted");
  CHECK(with(central + 10, "\14") ==
        "strop: load(\"memory[a]\"): the entry is compressed by method 12; stored (0) and deflated (8) are read");
  CHECK(with(central + 24, "\377").find("cannot unpack from") != std::string::npos);
  CHECK(with(central + 23, "\177").find("the archive says") != std::string::npos);
  CHECK(with(0, "x") == "strop: load(\"memory[a]\"): the entry's header is missing");
}

TEST_CASE("an archive that is cut off or damaged is refused or read, never trusted") {
  for (const char* hex : {compressed, matrix}) {
    const std::string bytes = test::from_hex(hex);
    for (std::size_t length = 0; length < bytes.size(); ++length)
      CHECK(refusal(bytes.substr(0, length)).starts_with("strop: load(\"memory"));
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      std::string damaged = bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      const std::string why = refusal(damaged);
      CHECK((why.empty() || why.starts_with("strop: load(\"memory")));
    }
  }
}
