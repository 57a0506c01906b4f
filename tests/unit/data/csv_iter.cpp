// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lines of numbers as batches: shapes, types, labels, parts, what fills the last batch, and what is refused where.
#include <strop/data/csv_iter.hpp>
#include <strop/strop.hpp>
#include <unit/tensor/format/bytes.hpp>

#include <doctest/doctest.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

using namespace strop;
using test::Folder;
using test::put_file;
using test::sentence;

namespace {

using Floats = std::vector<float>;
using Integers = std::vector<std::int64_t>;

std::string file(const Folder& folder, const char* name, const std::string& text) {
  put_file(folder / name, text);
  return folder / name;
}
/// What reading all batches of an epoch says.
std::string refusal(const std::string& path, const CSVParams& params) {
  return sentence([&] {
    CSVIter batches(path, params);
    while (batches.next()) {
    }
  });
}

}  // namespace

TEST_CASE("rows have the shape that is said, labels are zeros or of a file of their own") {
  const Folder folder;
  const std::string data = file(folder, "a", "1,2,3,4\n5,6,7,8\n9,10,11,12\n"), labels = file(folder, "b", "1\n2\n3\n");
  CSVIter batches(data, {.data_shape = {2, 2}, .batch_size = 2});
  CHECK(batches.provide_data() == std::vector<DataDesc>{{"data", {2, 2, 2}, f32}});
  CHECK(batches.provide_label() == std::vector<DataDesc>{{"softmax_label", {2}, f32}});
  CHECK(batches.next());
  CHECK(batches.batch().data[0].shape() == Shape{2, 2, 2});
  CHECK(batches.batch().data[0].to_vector<float>() == Floats{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(batches.batch().label[0].to_vector<float>() == Floats{0, 0});
  for (const bool rounded : {true, false})
    for (const Dtype type : {f32, f64, f16, i32, i64}) {
      CSVIter labelled(
          data, {.data_shape = {4}, .label_csv = labels, .batch_size = 2, .round_batch = rounded, .dtype = type});
      std::vector<Floats> seen;
      Integers index;
      for (int epoch = 0; epoch < 2; ++epoch)
        for (const DataBatch& batch : labelled) {
          CHECK(batch.data[0].dtype() == type);
          CHECK(batch.label[0].dtype() == type);
          seen.push_back(batch.label[0].to_vector<float>());
          index.insert(index.end(), batch.index.begin(), batch.index.end());
        }
      if (rounded) {  // the next epoch goes on behind the row that filled the last batch
        CHECK(seen == std::vector<Floats>{{1, 2}, {3, 1}, {2, 3}});
        CHECK(index == Integers{0, 1, 2, 0, 1, 2});
      } else {
        CHECK(seen == std::vector<Floats>{{1, 2}, {3, 0}, {1, 2}, {3, 0}});
        CHECK(index == Integers{0, 1, 2, -1, 0, 1, 2, -1});
      }
    }
  const std::string pairs = file(folder, "c", "1,2\n3,4\n5,6\n");
  CSVIter several(data, {.data_shape = {4}, .label_csv = pairs, .label_shape = {2}, .batch_size = 3});
  CHECK(several.next());
  CHECK(several.batch().label[0].shape() == Shape{3, 2});
  CHECK(several.provide_label()[0].shape == Shape{3, 2});
}

TEST_CASE("blanks, comments, marks and ends of lines of every kind") {
  const Folder folder;
  const std::string path =
      file(folder, "a", "\xEF\xBB\xBF# head\n 1 ,\t2,3\r\n\n  # nothing\n-4,+5e0,.6 # behind\n7,8.,nan");
  CSVIter batches(path, {.data_shape = {3}, .batch_size = 3});
  CHECK(batches.next());
  const auto got = batches.batch().data[0].to_vector<float>();
  CHECK(Floats(got.begin(), got.end() - 1) == Floats{1, 2, 3, -4, 5, 0.6F, 7, 8});
  CHECK(got.back() != got.back());
  CHECK_FALSE(batches.next());
  CSVIter nothing(file(folder, "b", "\n# only this\n"), {.data_shape = {3}, .batch_size = 3});
  CHECK_FALSE(nothing.next());
}

TEST_CASE("numbers are the nearest of their type, whole ones exactly") {
  const Folder folder;
  std::mt19937_64 random(5);
  std::string text;
  std::vector<double> wanted;
  for (int row = 0; row < 2000; ++row)
    for (int k = 0; k < 4; ++k) {
      char number[64];
      std::snprintf(number, sizeof number, "%.*g", static_cast<int>(random() % 17) + 1,
                    std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 100) - 110));
      wanted.push_back(std::strtod(number, nullptr));
      text += cat(number, k == 3 ? '\n' : ',');
    }
  const std::string path = file(folder, "a", text);
  CSVIter wide(path, {.data_shape = {4}, .batch_size = 2000, .dtype = f64});
  CHECK(wide.next());
  CHECK(wide.batch().data[0].to_vector<double>() == wanted);
  CSVIter whole(file(folder, "b", "9223372036854775807,-9223372036854775808\n9007199254740993,+0\n"),
                {.data_shape = {2}, .batch_size = 2, .dtype = i64});
  CHECK(whole.next());
  CHECK(whole.batch().data[0].to_vector<std::int64_t>() == Integers{INT64_MAX, INT64_MIN, 9007199254740993, 0});
}

TEST_CASE("lines that are wrong are refused with file, line and byte") {
  const Folder folder;
  const auto said = [&](const std::string& text, const CSVParams& params) {
    const std::string path = file(folder, "a", text), why = refusal(path, params);
    const std::string begin = cat("CSVIter: \"", path, "\", ");
    return why.starts_with(begin) ? why.substr(begin.size()) : why;
  };
  const CSVParams three{.data_shape = {3}, .batch_size = 2};
  CHECK(said("1,2,3\n4,5\n", three) == "line 2, byte 1: the line has 2 numbers, expected 3");
  CHECK(said("1,2,3,4\n", three) == "line 1, byte 1: the line has 4 numbers, expected 3");
  CHECK(said("1\n", three) == "line 1, byte 1: the line has 1 number, expected 3");
  CHECK(said("1,2,\n", three) == "line 1, byte 5: the number '' is no number that float64 can hold");
  CHECK(said("1,,3\n", three) == "line 1, byte 3: the number '' is no number that float64 can hold");
  CHECK(said("1,x,3\n", three) == "line 1, byte 3: the number 'x' is no number that float64 can hold");
  CHECK(said("1,2 3,4\n", three) ==
        "line 1, byte 5: '3' stands behind a number, expected a comma or the end of the line");
  CHECK(said("1;2;3\n", three) == "line 1, byte 1: the number '1;2;3' is no number that float64 can hold");
  CHECK(said("1,2,3e99\n", three) == "line 1, byte 5: the number '3e99' is more than float32 can hold");
  const CSVParams whole{.data_shape = {2}, .batch_size = 2, .dtype = i32};
  CHECK(said("1,2\n1.5,2\n", whole) == "line 2, byte 1: the number '1.5' is no whole number");
  CHECK(said("1,2147483648\n", whole) == "line 1, byte 3: the number '2147483648' is more than int32 can hold");
  CHECK(said("1,99999999999999999999\n", whole) ==
        "line 1, byte 3: the number '99999999999999999999' is more than 64 bits can hold");
  CHECK(refusal(folder / "none", three) == cat("CSVIter: \"", folder / "none", "\": No such file or directory"));
  const std::string path = file(folder, "a", "1,2,3\n"), label = file(folder, "b", "");
  CHECK(refusal(path, {.batch_size = 1}) == "CSVIter: data_shape is (), expected the shape of a row, such as (3,)");
  CHECK(refusal(path, {.data_shape = {3, 0}, .batch_size = 1}) ==
        "CSVIter: data_shape is (3, 0), expected extents of 1 or more");
  CHECK(refusal(path, {.data_shape = {3}}) == "CSVIter: batch_size is 0, expected 1 or more");
  CHECK(refusal(path, {.data_shape = {3}, .batch_size = 1, .prefetch_buffer = -1}) ==
        "CSVIter: prefetch_buffer is -1, expected 0 to 1024");
  CHECK(refusal(path, {.data_shape = {3}, .batch_size = 1, .num_parts = 2, .part_index = 2}) ==
        "CSVIter: part_index is 2, expected one of 0 to 1");
  CHECK(refusal(path, {.data_shape = {std::int64_t{1} << 62}, .batch_size = 2}).find("64 bits") != std::string::npos);
  CHECK(refusal(path, {.data_shape = {3}, .label_csv = label, .batch_size = 1}) ==
        cat("CSVIter: \"", label, "\" has fewer rows than the data"));
}

TEST_CASE("parts have each row once, with its label, however many are made ahead") {
  const Folder folder;
  std::mt19937 random(9);
  std::string rows[2], labels;
  const int count = 700;
  for (int i = 0; i < count; ++i) {
    rows[i * 2 / count] += cat(random() % 4 == 0 ? "\n# more\n" : "", i, ',', random() % 100000, '\n');
    labels += cat(i, random() % 2 == 0 ? "  # so\n" : "\n");
  }
  std::filesystem::create_directory(folder / "data");
  for (int k = 0; k < 2; ++k) file(folder, cat("data/", k).c_str(), rows[k]);
  const std::string data = folder / "data", label = file(folder, "labels", labels);
  for (const std::int64_t parts : {1, 2, 5, 900}) {
    Integers all;
    for (std::int64_t part = 0; part < parts; ++part) {
      CSVIter batches(data, {.data_shape = {2},
                             .label_csv = label,
                             .batch_size = 32,
                             .round_batch = part % 2 == 0,
                             .prefetch_buffer = part % 3,
                             .num_parts = parts,
                             .part_index = part});
      for (const DataBatch& batch : batches) {
        const auto x = batch.data[0].to_vector<std::int64_t>(), y = batch.label[0].to_vector<std::int64_t>();
        for (std::size_t i = 0; i + static_cast<std::size_t>(batch.pad) < y.size(); ++i) {
          CHECK(x[2 * i] == y[i]);
          all.push_back(y[i]);
        }
      }
    }
    REQUIRE(all.size() == std::size_t{count});
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == static_cast<std::int64_t>(i));
  }
}

TEST_CASE("what was stopped after any batch goes on there, in another process too") {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 23; ++i) text += cat(i, '\n');
  const std::string path = file(folder, "a", text);
  for (const bool rounded : {true, false})
    for (const std::int64_t ahead : {0, 3}) {
      const CSVParams params{.data_shape = {1}, .batch_size = 5, .round_batch = rounded, .prefetch_buffer = ahead};
      CSVIter whole(path, params);
      std::vector<Integers> all;
      std::vector<std::string> places;
      for (int epoch = 0; epoch < 3; ++epoch, whole.reset())
        while (whole.next()) {
          all.push_back(whole.batch().index);
          places.push_back(whole.position());
        }
      for (std::size_t k = 0; k < places.size(); ++k) {
        CSVIter again(path, params);
        again.next();  // wherever it was before
        again.resume(places[k]);
        for (std::size_t i = k + 1; i < all.size(); ++i) {
          while (!again.next()) again.reset();
          CHECK(again.batch().index == all[i]);
          CHECK(again.batch().data[0].to_vector<float>()[0] == static_cast<float>(all[i][0]));
        }
      }
    }
}

TEST_CASE("a point without a digit is no number") {
  const Folder folder;
  CHECK_THROWS_WITH_AS((void)CSVIter(file(folder, "a", "1,.,3\n"), {.data_shape = {3}, .batch_size = 1}).next(),
                       doctest::Contains("the number '.'"), Error);
}
