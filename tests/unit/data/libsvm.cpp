// SPDX-License-Identifier: Apache-2.0
/// \file
/// LibSVM text: what is read, what is refused and where, parts, batches, and the way back.
#include <strop/data/libsvm.hpp>
#include <strop/data/libsvm_iter.hpp>
#include <strop/data/libsvm_reader.hpp>
#include <strop/strop.hpp>
#include <unit/tensor/format/bytes.hpp>

#include <doctest/doctest.h>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace strop;
using test::Folder;
using test::sentence;

namespace {

std::string file(const Folder& folder, const std::string& name, const std::string& text) {
  const std::string path = folder / name.c_str();
  std::ofstream(path, std::ios::binary) << text;
  return path;
}
LibSVMData read(std::string_view text, const LibSVMFormat& format = {}) {
  return detail::LibSVMReader("read", "a.libsvm", text, format).read_all();
}
std::string refusal(std::string_view text, const LibSVMFormat& format = {}) {
  return sentence([&] { read(text, format); });
}
using Floats = std::vector<float>;

}  // namespace

TEST_CASE("lines with labels, groups, comments and blanks") {
  const LibSVMData rows = read(
      "# a comment\n"
      "1 0:0.5 2:1.5\n"
      "\n"
      "-1 qid:7 1:2e0 # behind it 3:4\r\n"
      "  +2.5\t3\n"
      "0");
  CHECK(rows.data.storage() == csr);
  CHECK(rows.data.shape() == Shape{4, 4});
  CHECK(rows.data.to(dense).to_vector<float>() == Floats{0.5, 0, 1.5, 0, 0, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0});
  CHECK(rows.label.to_vector<float>() == Floats{1, -1, 2.5, 0});
  CHECK(rows.qid.to_vector<std::int64_t>() == std::vector<std::int64_t>{-1, 7, -1, -1});
  rows.data.check_format();
  CHECK_FALSE(read("1 0:1\n").qid.defined());
  CHECK(read("").data.shape() == Shape{0, 0});
  CHECK(read("1 3:1", {.features = 10}).data.shape() == Shape{1, 10});
  CHECK(read("1 3:1", {.one_based = true}).data.shape() == Shape{1, 3});
  const LibSVMData apart = read("1 0: 0.5\t2:\t1\n2 qid: 3 1:  2 \n");  // blanks behind a colon
  CHECK(apart.data.to(dense).to_vector<float>() == Floats{0.5, 0, 1, 0, 2, 0});
  CHECK(apart.qid.to_vector<std::int64_t>() == std::vector<std::int64_t>{-1, 3});
  const std::string mark = "\xEF\xBB\xBF";
  CHECK(read(mark + "1 0:1\n2 1:2\n").label.to_vector<float>() == Floats{1, 2});
  CHECK(read(mark).data.shape() == Shape{0, 0});
  const LibSVMData several = read("1,2 0:1\n3,4 0:2\n", {.labels = 2});
  CHECK(several.label.shape() == Shape{2, 2});
  CHECK(several.label.to_vector<float>() == Floats{1, 2, 3, 4});
  CHECK(read("1 0:0\n").data.nnz() == 1);  // a zero that is written is stored
  CHECK(rows.data.indices().dtype() == i32);
  CHECK(rows.data.indptr().dtype() == i32);
  const NDArray wide = read("1 2:1 4294967295:2\n", {.features = std::int64_t{1} << 32}).data;
  wide.check_format();
  CHECK(wide.indices().dtype() == i64);
  CHECK(wide.indices().to_vector<std::int64_t>() == std::vector<std::int64_t>{2, 4294967295});
}

TEST_CASE("numbers are the nearest of their type") {
  std::mt19937_64 random(7);
  for (const Dtype type : {f32, f64})
    for (int i = 0; i < 20000; ++i) {
      char text[64];
      const double value = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 120) - 120);
      std::snprintf(text, sizeof text, i % 2 == 0 ? "%.*g" : "%.*e", static_cast<int>(random() % 19) + 1, value);
      const NDArray got = read(cat("1 0:", text), {.dtype = type}).data.data();
      if (type == f32)
        REQUIRE(got.item<float>() == std::strtof(text, nullptr));
      else
        REQUIRE(got.item<double>() == std::strtod(text, nullptr));
    }
  // Halfway between two floats as far as a double can tell, and a little beside it.
  CHECK(read("1 0:1.00000005960464477539062500001").data.data().item<float>() == std::nextafter(1.0f, 2.0f));
  CHECK(read("1 0:1.000000059604644775390625").data.data().item<float>() == 1.0f);
  CHECK(read("1 0:1e-60").data.data().item<float>() == 0.0f);
  CHECK(read("1 0:1e-400", {.dtype = f64}).data.data().item<double>() == 0.0);
  CHECK(read("1 0:-0." + std::string(400, '0') + "1").data.data().item<float>() == 0.0f);
  CHECK(read("1 0:1e-40").data.data().item<float>() == std::strtof("1e-40", nullptr));
  CHECK(std::isnan(read("nan 0:1").label.item<float>()));
  CHECK(read("1 0:-inf").data.data().item<float>() == -std::numeric_limits<float>::infinity());
  CHECK(read("1 0:-0").data.data().item<float>() == 0.0f);
}

TEST_CASE("what is no LibSVM text is refused with file, line and byte") {
  CHECK(refusal("1 0:1\n1 x:2\n") ==
        "read: \"a.libsvm\", line 2, byte 3: the index 'x:2' is no whole number from 0 on");
  CHECK(refusal("1 nan:2") == "read: \"a.libsvm\", line 1, byte 3: the index 'nan:2' is no whole number from 0 on");
  CHECK(refusal("1 -1:2") == "read: \"a.libsvm\", line 1, byte 3: the index '-1:2' is no whole number from 0 on");
  CHECK(refusal("\n\n1 3:1 3:2") ==
        "read: \"a.libsvm\", line 3, byte 7: index 3 comes after 3, expected ascending indices");
  CHECK(refusal("1 4:1 3:2").find("index 3 comes after 4") != std::string::npos);
  CHECK(refusal("1 10:1", {.features = 10}) ==
        "read: \"a.libsvm\", line 1, byte 3: index 10 is outside of 10 features, which are numbered from 0 to 9");
  CHECK(refusal("1 0:1", {.one_based = true}).find("one_based files begin at 1") != std::string::npos);
  CHECK(refusal("1 11:1", {.features = 10, .one_based = true}).find("from 1 to 10") != std::string::npos);
  CHECK(refusal("one 0:1").find("the label 'one' is no number") != std::string::npos);
  CHECK(refusal("1,2 0:1") == "read: \"a.libsvm\", line 1, byte 1: the line has 2 labels, expected 1");
  CHECK(refusal("1 0:1", {.labels = 3}).find("has 1 label, expected 3") != std::string::npos);
  CHECK(refusal("1 0:").find("the value '' is no number") != std::string::npos);
  CHECK(refusal("1 0:1:2").find("the value '1:2' is no number") != std::string::npos);
  CHECK(refusal("1 0:0x10").find("is no number") != std::string::npos);
  CHECK(refusal("1 0:1e999").find("is no number that float64 can hold") != std::string::npos);
  const std::string nines(400, '9'), zeros(400, '0');
  CHECK(refusal("1 0:" + nines).find("is no number that float64 can hold") != std::string::npos);
  CHECK(refusal("1 0:0" + nines).find("is no number that float64 can hold") != std::string::npos);
  CHECK(refusal("1 0:00." + zeros + "1").empty());
  CHECK(refusal("1 0:1e99").find("is more than float32 can hold") != std::string::npos);
  CHECK(refusal("1 0:1 12") ==
        "read: \"a.libsvm\", line 1, byte 7: the text ends behind index 12, which may be a part of what stood there; "
        "expected its value, or the end of the line");
  for (const char* whole : {"1 0:1 12\n", "1 0:1 12 ", "1 0:1 12#", "1 12\n1 0:1"}) CHECK(refusal(whole).empty());
  CHECK(refusal("1 0=1").find("'0=1' is not index:value") != std::string::npos);
  CHECK(refusal("1 1234567890123456789:1").find("more than 18 digits") != std::string::npos);
  CHECK(refusal("1 qid:x 0:1").find("the qid 'x' is no whole number from 0 on") != std::string::npos);
  CHECK(refusal("1 qid:1 qid:2 0:1") == "read: \"a.libsvm\", line 1, byte 9: the line has a second qid");
  CHECK(refusal(std::string_view("1 0:1\0 2:1", 10)).find("is no number") != std::string::npos);
  CHECK(sentence([] { load_libsvm("/nowhere/a.libsvm"); }) ==
        "load_libsvm: \"/nowhere/a.libsvm\": No such file or directory");
}

TEST_CASE("parts have each line once, blocks and pieces too") {
  const Folder folder;
  std::mt19937 random(3);
  std::string text;
  const int lines = 30000;
  for (int i = 0; i < lines; ++i) {
    text += std::to_string(i);
    for (unsigned long k = 0, column = 0; k < random() % 12; ++k)
      text += cat(' ', column += 1 + random() % 9, ":", random() % 100, ".5");
    text += '\n';
  }
  const std::string path = file(folder, "a.libsvm", text);
  const LibSVMData whole = load_libsvm(path, {.features = 200});
  REQUIRE(whole.data.shape() == Shape{lines, 200});
  whole.data.check_format();
  for (const std::int64_t parts : {2, 3, 7}) {
    std::vector<float> labels;
    for (std::int64_t part = 0; part < parts; ++part) {
      const auto more =
          detail::LibSVMReader("read", path, {.features = 200}, parts, part).read_all().label.to_vector<float>();
      CHECK(std::abs(static_cast<double>(more.size()) - double(lines) / double(parts)) < lines / 10);
      labels.insert(labels.end(), more.begin(), more.end());
    }
    CHECK(labels == whole.label.to_vector<float>());
  }
  // A line that is longer than a block.
  detail::LineBlocks blocks("read", "text", std::string_view(text));
  blocks.block_bytes = 16;
  std::string joined;
  for (std::string_view some; blocks.next(some);) {
    CHECK(some.back() == '\n');
    joined += some;
  }
  CHECK(joined == text);
  // The line of an error is that of the file, not of its part.
  text += "1 bad\n";
  const std::string broken = file(folder, "b.libsvm", text);
  CHECK(sentence([&] { detail::LibSVMReader("read", broken, {}, 2, 1).read_all(); }) ==
        cat("read: \"", broken, "\", line ", lines + 1, ", byte 3: the index 'bad' is no whole number from 0 on"));
}

TEST_CASE("all files of a folder, in the order of their names") {
  const Folder folder;
  std::filesystem::create_directory(folder / "data");
  file(folder, "data/b", "3 0:1\n4 0:1");
  file(folder, "data/a", "1 0:1\n2 0:1");
  CHECK(load_libsvm(folder / "data").label.to_vector<float>() == Floats{1, 2, 3, 4});
  std::vector<float> labels;
  for (int part = 0; part < 3; ++part)
    for (const float label :
         detail::LibSVMReader("read", folder / "data", {}, 3, part).read_all().label.to_vector<float>())
      labels.push_back(label);
  CHECK(labels == Floats{1, 2, 3, 4});
  std::filesystem::create_directory(folder / "none");
  CHECK(sentence([&] { load_libsvm(folder / "none"); }).find("the folder holds no files") != std::string::npos);
}

TEST_CASE("what is written reads back the same") {
  const Folder folder;
  for (const Dtype type : {f32, f64, i64})
    for (const bool one_based : {false, true}) {
      const LibSVMData rows{csr_matrix({1.5, -2, 0, 1e6}, {0, 2, 1, 2}, {0, 2, 2, 4}, {3, 3}).to(type),
                            array({{1, 2}, {0.1, 4}, {5, 6}}).to(type), array<std::int64_t>({4, -1, 5})};
      save_libsvm(folder / "out", rows, {.one_based = one_based});
      const LibSVMData back =
          load_libsvm(folder / "out", {.features = 3, .labels = 2, .one_based = one_based, .dtype = type});
      CHECK(allclose(back.data, rows.data));
      CHECK(back.data.nnz() == 4);
      CHECK(back.label.to_vector<double>() == rows.label.to_vector<double>());
      CHECK(back.qid.to_vector<std::int64_t>() == std::vector<std::int64_t>{4, -1, 5});
    }
  const NDArray large = csr_matrix(array<std::int64_t>({INT64_MAX}), {0}, {0, 1}, {1, 1});
  save_libsvm(folder / "out", {large, array<std::int64_t>({INT64_MIN}), {}});
  std::string line;
  std::getline(std::ifstream(folder / "out") >> std::ws, line);
  CHECK(line == "-9223372036854775808 0:9223372036854775807");
  CHECK(sentence([&] { save_libsvm(folder / "out", {zeros({2, 2}), zeros({2}), {}}); }) ==
        "save_libsvm: data is dense, expected csr");
  CHECK(sentence([&] {
          save_libsvm(folder / "out", {zeros({2, 2}).to(csr), zeros({3}), {}});
        }).find("expected (2,) or (2, labels)") != std::string::npos);
}

TEST_CASE("batches, MXNet's rounding, and empty rows without it") {
  const Folder folder;
  const std::string path = file(folder, "a.libsvm", "1 0:0.5 2:1.5\n0 1:2\n2 0:1 3:4\n1 2:1\n3 0:7\n");
  for (const std::int64_t ahead : {0, 1, 4}) {
    LibSVMIter batches(path, {.data_shape = {4}, .batch_size = 2, .prefetch_buffer = ahead});
    std::vector<float> labels;
    std::vector<std::int64_t> pads, index;
    for (int epoch = 0; epoch < 3; ++epoch)
      for (const DataBatch& batch : batches) {
        CHECK(batch.data[0].storage() == csr);
        CHECK(batch.data[0].shape() == Shape{2, 4});
        CHECK(batch.data[0].indices().dtype() == i32);
        CHECK(batch.label[0].shape() == Shape{2});
        for (const float label : batch.label[0].to_vector<float>()) labels.push_back(label);
        index.insert(index.end(), batch.index.begin(), batch.index.end());
        pads.push_back(batch.pad);
      }
    // as mxnet 1.9.1 gives them
    CHECK(labels == Floats{1, 0, 2, 1, 3, 1, 0, 2, 1, 3, 1, 0, 2, 1, 3, 1});
    CHECK(pads == std::vector<std::int64_t>{0, 0, 1, 0, 0, 0, 0, 1});
    CHECK(index == std::vector<std::int64_t>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0});
  }
  LibSVMIter whole(path, {.data_shape = {4}, .batch_size = 3, .round_batch = false});
  std::vector<NDArray> kept;
  for (const DataBatch& batch : whole) kept.push_back(batch.data[0]);
  REQUIRE(kept.size() == 2);
  CHECK(whole.next() == false);
  CHECK(kept[1].to(dense).to_vector<float>() == Floats{0, 0, 1, 0, 7, 0, 0, 0, 0, 0, 0, 0});
  CHECK(kept[0].to(dense).to_vector<float>() == Floats{0.5, 0, 1.5, 0, 0, 2, 0, 0, 1, 0, 0, 4});
  LibSVMIter large(path, {.data_shape = {4}, .batch_size = 12});
  CHECK(large.next());
  CHECK(large.batch().pad == 7);
  CHECK(large.batch().label[0].to_vector<float>() == Floats{1, 0, 2, 1, 3, 1, 0, 2, 1, 3, 1, 0});
  LibSVMIter again(path, {.data_shape = {4}, .batch_size = 2});
  again.next();
  again.reset();
  again.next();
  CHECK(again.batch().label[0].to_vector<float>() == Floats{1, 0});
}

TEST_CASE("a last batch that is filled to the very last row, and one after which somebody resets") {
  const Folder folder;
  const std::string path = file(folder, "a", "1 0:1\n2 0:2\n3 0:3\n");
  LibSVMIter twice(path, {.data_shape = {1}, .batch_size = 6});
  for (int epoch = 0; epoch < 4; ++epoch) {
    int count = 0;
    for (const DataBatch& batch : twice) {
      ++count;
      CHECK(batch.label[0].to_vector<float>() == Floats{1, 2, 3, 1, 2, 3});
    }
    CHECK(count == 1);
  }
  LibSVMIter counted(path, {.data_shape = {1}, .batch_size = 2});
  counted.next();
  counted.next();
  counted.reset();  // without having asked for a third
  counted.next();
  CHECK(counted.batch().label[0].to_vector<float>() == Floats{2, 3});
}

TEST_CASE("labels from a file of their own") {
  const Folder folder;
  const std::string data = file(folder, "a", "1 0:1\n2 0:2\n3 0:3\n");
  const std::string label = file(folder, "b", "0 1:1\n0 2:2\n0 0:3\n"), less = file(folder, "c", "0 1:1\n0 2:2\n");
  LibSVMIter batches(data, {.data_shape = {1}, .label_libsvm = label, .label_shape = {3}, .batch_size = 2});
  std::vector<float> labels;
  for (const DataBatch& batch : batches) {
    CHECK(batch.label[0].storage() == csr);
    for (const float value : batch.label[0].to(dense).to_vector<float>()) labels.push_back(value);
  }
  CHECK(labels == Floats{0, 1, 0, 0, 0, 2, 3, 0, 0, 0, 1, 0});
  LibSVMIter fewer(data, {.data_shape = {1}, .label_libsvm = less, .label_shape = {3}, .batch_size = 2});
  CHECK(fewer.next());
  CHECK(sentence([&] { fewer.next(); }).find("has fewer rows than the data") != std::string::npos);
}

TEST_CASE("the labels of a part are those of its rows, wherever the lines of the two files are cut") {
  const Folder folder;
  std::mt19937 random(5);
  std::filesystem::create_directory(folder / "data");
  std::string text[3], labels;
  const int count = 500;
  // Row i stores i + 1, and so does its label; lines of the label file are as long as they like, some are comments.
  for (int i = 0; i < count; ++i) {
    std::string& rows = text[i * 3 / count];
    if (random() % 5 == 0) rows += random() % 2 == 0 ? "  \t\r\n" : " # 7 0:1\n";
    rows += cat(random() % 3 == 0 ? " " : "", i, " 0:", i + 1, random() % 2 == 0 ? " 1:1 2:12345.5\n" : " # 5\n");
    if (random() % 4 == 0) labels += "# nothing\n\n";
    labels += cat("0 ", random() % 2 == 0 ? "0:1 1:" : "1:", i + 1, '\n');
  }
  labels += "# the end";
  for (int k = 0; k < 3; ++k) file(folder, cat("data/", k), text[k]);
  const std::string data = folder / "data", label = file(folder, "labels", labels);
  for (const std::int64_t parts : {1, 2, 3, 7, 600})
    for (const bool round : {false, true}) {
      std::vector<float> all;
      for (std::int64_t part = 0; part < parts; ++part) {
        LibSVMIter batches(data, {.data_shape = {3},
                                  .label_libsvm = label,
                                  .label_shape = {2},
                                  .num_parts = parts,
                                  .part_index = part,
                                  .batch_size = 16,
                                  .round_batch = round,
                                  .prefetch_buffer = part % 2});
        for (int epoch = 0; epoch < 2; ++epoch) {
          std::vector<float> rows;
          for (const DataBatch& batch : batches) {
            const auto x = batch.data[0].to(dense).to_vector<float>(), y = batch.label[0].to(dense).to_vector<float>();
            std::vector<float> of_data, of_label;
            for (std::size_t i = 0; i < 16; ++i) of_data.push_back(x[3 * i]), of_label.push_back(y[2 * i + 1]);
            CHECK(of_data == of_label);
            rows.insert(rows.end(), of_data.begin(), of_data.end() - static_cast<std::ptrdiff_t>(batch.pad));
          }
          if (epoch == 0) all.insert(all.end(), rows.begin(), rows.end());
        }
      }
      REQUIRE(all.size() == std::size_t{count});
      for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == static_cast<float>(i + 1));
    }
  // A label file that ends early is noticed in the part where it does, one that goes on in the last part.
  const auto read_part = [&](const std::string& path, std::int64_t part) {
    LibSVMIter batches(data, {.data_shape = {3},
                              .label_libsvm = path,
                              .label_shape = {2},
                              .num_parts = 2,
                              .part_index = part,
                              .batch_size = 16});
    return sentence([&] { while (batches.next()); });
  };
  const std::string few = file(folder, "few", "0 1:1\n0 1:2\n"), many = file(folder, "many", labels + "\n0 1:7\n");
  for (const std::int64_t part : {0, 1})
    CHECK(read_part(few, part) == cat("LibSVMIter: \"", few, "\" has fewer rows than the data"));
  CHECK(read_part(many, 0).empty());
  CHECK(read_part(many, 1) == cat("LibSVMIter: \"", many, "\" has more rows than the data"));
  // The line of an error is that of the file.
  const std::string bad = file(folder, "bad", labels + "\n0 x:7\n");
  CHECK(read_part(bad, 1).starts_with(cat("LibSVMIter: \"", bad, "\", line ")));
}

TEST_CASE("shapes of more elements than 64 bits can count are refused") {
  const Folder folder;
  constexpr std::int64_t far = std::int64_t{1} << 59;
  const std::string wanted =
      "strop: an array of shape (16, 576460752303423488) has more elements than 64 bits can count";
  std::string rows;
  for (int i = 0; i < 16; ++i) rows += "1 0:1\n";
  CHECK(refusal(rows, {.features = far}) == wanted);
  CHECK(refusal(rows.substr(6), {.features = far}).empty());
  CHECK(refusal(rows + cat("1 ", far - 1, ":1\n")).find("(17, 576460752303423488) has more") != std::string::npos);
  const std::string path = file(folder, "a", rows);
  CHECK(sentence([&] { load_libsvm(path, {.features = far}); }) == wanted);
  CHECK(
      sentence([&] { LibSVMIter(path, {.data_shape = {far}, .batch_size = 16}); }) ==
      "LibSVMIter: data_shape is (576460752303423488,), of which 16 rows, a batch, have more elements than 64 bits can "
      "count");
  CHECK(sentence([&] {
          LibSVMIter(path, {.data_shape = {1}, .label_shape = {far}, .batch_size = 16});
        }).starts_with("LibSVMIter: label_shape is (576460752303423488,), of which 16 rows"));
  LibSVMIter fits(path, {.data_shape = {far}, .batch_size = 15});
  CHECK(fits.next());
  CHECK(fits.batch().data[0].shape() == Shape{15, far});
}

TEST_CASE("a failure is thrown where its batch is asked for, and again") {
  const Folder folder;
  const std::string path = file(folder, "a", "1 0:1\n2 0:2\n3 5:3\n4 0:1\n");
  for (const std::int64_t ahead : {0, 4}) {
    LibSVMIter batches(path, {.data_shape = {4}, .batch_size = 1, .prefetch_buffer = ahead});
    const std::string why = sentence([&] { while (batches.next()); });
    CHECK(why == cat("LibSVMIter: \"", path,
                     "\", line 3, byte 3: index 5 is outside of 4 features, which are numbered ", "from 0 to 3"));
    CHECK(sentence([&] { batches.next(); }) == why);
    CHECK(sentence([&] { batches.batch(); }) == "LibSVMIter: there is no current batch; next() makes one");
  }
  CHECK(sentence([&] { LibSVMIter(path, {.batch_size = 1}); }) ==
        "LibSVMIter: data_shape is (), expected one extent, the number of features");
  CHECK(sentence([&] { LibSVMIter(path, {.data_shape = {4}}); }) == "LibSVMIter: batch_size is 0, expected 1 or more");
  CHECK(sentence([&] { LibSVMIter(path, {.data_shape = {4}, .num_parts = 2, .part_index = 2, .batch_size = 1}); }) ==
        "LibSVMIter: part_index is 2, expected one of 0 to 1");
  CHECK(sentence([&] { LibSVMIter(path, {.data_shape = {4}, .batch_size = 1}).batch(); }) ==
        "LibSVMIter: there is no current batch; next() makes one");
}

TEST_CASE("threads read one batch at once, and each an iterator of its own over one file") {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 64; ++i) text += std::to_string(i) + ' ' + std::to_string(i % 8) + ":1\n";
  const std::string path = file(folder, "a.libsvm", text);
  LibSVMIter shared(path, {.data_shape = {8}, .batch_size = 16});
  CHECK(shared.next());
  std::atomic<int> rows = 0, batches = 0, thrown = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      try {
        const DataBatch& batch = shared.batch();
        batch.data[0].check_format();
        rows += static_cast<int>(batch.data[0].to(dense).shape()[0] + batch.label[0].size());
        LibSVMIter own(path, {.data_shape = {8}, .batch_size = 16});
        for (const DataBatch& each : own) batches += static_cast<int>(each.index.size()) / 16;
      } catch (const std::exception&) {
        ++thrown;
      }
    });
  for (std::thread& one : threads) one.join();
  CHECK(thrown == 0);
  CHECK(rows == 4 * (16 + 16));
  CHECK(batches == 4 * 4);
}
