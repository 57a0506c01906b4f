// SPDX-License-Identifier: Apache-2.0
/// \file
/// Packed pictures as batches: values, crops, labels, last batches, parts, orders, threads, and what is refused.
#include <strop/data/image.hpp>
#include <strop/data/image_record.hpp>
#include <strop/data/image_record_iter.hpp>
#include <strop/data/record_file.hpp>
#include <strop/strop.hpp>
#include <unit/data/pictures.hpp>

#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

using namespace strop;
using test::Folder;
using test::sentence;

namespace {

using Floats = std::vector<float>;

const auto skipped = doctest::skip(!test::decodes_pictures());

/// A file of so many of the 6 by 8 pixels that are (10 y + x, 100 + 10 y + x, 200 + y + x), with labels 0, 1, 2, …
void write_pictures(const Folder& folder, int count, const std::string& bytes = test::png_rgb) {
  RecordWriter out(folder / "a.rec", folder / "a.idx");
  for (int k = 0; k < count; ++k) out.write(pack({.label = k, .id = static_cast<std::uint64_t>(k)}, bytes));
}
/// What a crop of them is, in planes, from row y0 and column x0 on.
Floats planes(int y0, int x0, int height, int width, bool mirrored = false) {
  Floats out;
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i < height; ++i)
      for (int j = 0; j < width; ++j) {
        const int y = y0 + i, x = x0 + (mirrored ? width - 1 - j : j);
        out.push_back(static_cast<float>(c == 0 ? 10 * y + x : c == 1 ? 100 + 10 * y + x : 200 + y + x));
      }
  return out;
}
Floats data_of(const DataBatch& batch) { return detail::as_type(batch.data[0], f32).to_vector<float>(); }
Floats row(const DataBatch& batch, std::int64_t k) {
  const Floats all = data_of(batch);
  const std::ptrdiff_t size = std::ssize(all) / batch.data[0].shape()[0];
  return {all.begin() + k * size, all.begin() + (k + 1) * size};
}
/// Data of all batches of an epoch, labels behind them.
Floats all_of(DataIter& batches) {
  Floats out, labels;
  for (const DataBatch& batch : batches) {
    for (const float value : data_of(batch)) out.push_back(value);
    for (const float value : batch.label[0].to_vector<float>()) labels.push_back(value);
  }
  out.insert(out.end(), labels.begin(), labels.end());
  return out;
}
Floats labels_of(DataIter& batches) {
  Floats out;
  for (const DataBatch& batch : batches)
    for (const float value : batch.label[0].to_vector<float>()) out.push_back(value);
  return out;
}

}  // namespace

TEST_CASE("pictures become planes, cropped in the middle" * skipped) {
  const Folder folder;
  write_pictures(folder, 3);
  ImageRecordIter batches(folder / "a.rec", {.data_shape = {3, 3, 5}, .batch_size = 2});
  CHECK(batches.provide_data() == std::vector<DataDesc>{{"data", {2, 3, 3, 5}, f32}});
  CHECK(batches.provide_label() == std::vector<DataDesc>{{"softmax_label", {2}, f32}});
  REQUIRE(batches.next());
  CHECK(batches.batch().data[0].shape() == Shape{2, 3, 3, 5});
  CHECK(row(batches.batch(), 0) == planes(1, 1, 3, 5));
  CHECK(row(batches.batch(), 1) == planes(1, 1, 3, 5));
  CHECK(batches.batch().label[0].to_vector<float>() == Floats{0, 1});
  REQUIRE(batches.next());
  CHECK(batches.batch().pad == 1);
  CHECK(batches.batch().index == std::vector<std::int64_t>{2, 0});
  CHECK(batches.batch().label[0].to_vector<float>() == Floats{2, 0});
  CHECK(!batches.next());
  CHECK(labels_of(batches) == Floats{1, 2});  // behind the one that filled the batch

  ImageRecordIter zeros(folder / "a.rec", {.data_shape = {3, 6, 8}, .batch_size = 2, .round_batch = false});
  REQUIRE(zeros.next());
  REQUIRE(zeros.next());
  CHECK(row(zeros.batch(), 0) == planes(0, 0, 6, 8));
  CHECK(row(zeros.batch(), 1) == Floats(144, 0));
  CHECK(zeros.batch().index == std::vector<std::int64_t>{2, -1});
  CHECK(zeros.batch().pad == 1);
}

TEST_CASE("mirroring, padding, normalisation and types" * skipped) {
  const Folder folder;
  write_pictures(folder, 1);
  const auto first = [&](ImageRecordParams params) {
    params.batch_size = 1;
    if (params.data_shape.ndim() == 0) params.data_shape = {3, 2, 3};
    ImageRecordIter batches(folder / "a.rec", params);
    REQUIRE(batches.next());
    return batches.batch();
  };
  CHECK(data_of(first({.mirror = true})) == planes(2, 2, 2, 3, true));
  const Floats plain = planes(2, 2, 2, 3);
  Floats normal = data_of(first({.mean_r = 20, .mean_g = 30, .mean_b = 40, .std_r = 2, .std_g = 3, .scale = 0.5F}));
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const float means[] = {20, 30, 40}, deviations[] = {2, 3, 1};
    CHECK(normal[i] == (plain[i] - means[i / 6]) * (0.5F / deviations[i / 6]));
  }
  for (const Dtype dtype : {u8, f16, bf16, f64}) {
    const DataBatch batch = first({.dtype = dtype});
    CHECK(batch.data[0].dtype() == dtype);
    CHECK(batch.label[0].dtype() == f32);
    CHECK(data_of(batch) == plain);  // whole numbers up to 256
  }
  const Floats padded = data_of(first({.data_shape = {3, 8, 10}, .fill_value = 7, .pad = 1}));
  const Floats whole = planes(0, 0, 6, 8);
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < 8; ++y)
      for (int x = 0; x < 10; ++x) {
        const bool inside = y > 0 && y < 7 && x > 0 && x < 9;
        const int at = 48 * c + 8 * (y - 1) + x - 1;
        CHECK(padded[static_cast<std::size_t>(80 * c + 10 * y + x)] ==
              (inside ? whole[static_cast<std::size_t>(at)] : 7));
      }
  const Floats gray = data_of(first({.data_shape = {1, 6, 8}, .mean_r = 1}));
  const auto decoded = image::decode(test::png_rgb, {.flag = 0}).to_vector<std::uint8_t>();
  REQUIRE(gray.size() == decoded.size());
  for (std::size_t i = 0; i < gray.size(); ++i) CHECK(gray[i] == static_cast<float>(decoded[i]) - 1);
}

TEST_CASE("the shorter edge gets its size before the crop" * skipped) {
  const Folder folder;
  write_pictures(folder, 1, test::jpeg);
  const auto first = [&](const ImageRecordParams& params) {
    ImageRecordIter batches(folder / "a.rec", params);
    REQUIRE(batches.next());
    return data_of(batches.batch());
  };
  for (const int method : {1, 3}) {
    const NDArray small = image::center_crop(image::resize_short(image::decode(test::jpeg), 12, method), 10, 11);
    const auto pixels = small.to_vector<std::uint8_t>();
    const Floats data = first(
        {.data_shape = {3, 11, 10}, .batch_size = 1, .resize = 12, .scaled_decoding = false, .inter_method = method});
    REQUIRE(pixels.size() == data.size());
    for (std::size_t i = 0; i < data.size(); ++i) CHECK(data[i] == pixels[i % 110 * 3 + i / 110]);
  }
  // A quarter of the size, as it is decoded, is nearly the mean of 16 pixels.
  const Floats scaled = first({.data_shape = {3, 4, 6}, .batch_size = 1, .resize = 4});
  const Floats area =
      first({.data_shape = {3, 4, 6}, .batch_size = 1, .resize = 4, .scaled_decoding = false, .inter_method = 3});
  for (std::size_t i = 0; i < scaled.size(); ++i) CHECK(std::abs(scaled[i] - area[i]) <= 2);
}

TEST_CASE("crops and mirroring are random, and follow from the seed and not from threads" * skipped) {
  const Folder folder;
  write_pictures(folder, 40);
  const auto make = [&](std::uint64_t seed, std::int64_t threads, std::int64_t ahead) {
    return ImageRecordIter(folder / "a.rec", {.data_shape = {3, 5, 5},
                                              .batch_size = 8,
                                              .shuffle = true,
                                              .seed = seed,
                                              .preprocess_threads = threads,
                                              .prefetch_buffer = ahead,
                                              .rand_crop = true,
                                              .rand_mirror = true});
  };
  std::set<Floats> possible, seen;
  for (int y = 0; y <= 1; ++y)
    for (int x = 0; x <= 3; ++x)
      for (const bool mirrored : {false, true}) possible.insert(planes(y, x, 5, 5, mirrored));
  ImageRecordIter batches = make(3, 0, 4);
  for (int epoch = 0; epoch < 3; ++epoch)
    for (const DataBatch& batch : batches)
      for (std::int64_t k = 0; k < 8; ++k) seen.insert(row(batch, k));
  CHECK(possible.size() == 16);
  CHECK(seen == possible);

  ImageRecordIter a = make(3, 1, 0), b = make(3, 0, 4), c = make(3, 3, 2), other = make(4, 0, 4);
  const Floats first = all_of(a);
  CHECK(all_of(b) == first);
  CHECK(all_of(c) == first);
  CHECK(all_of(other) != first);
  const Floats second = all_of(a);
  CHECK(second != first);
  CHECK(all_of(b) == second);

  ImageRecordIter stopped = make(3, 0, 4), again = make(3, 0, 4);
  for (int k = 0; k < 2; ++k) REQUIRE(stopped.next());
  again.resume(stopped.position());
  while (stopped.next()) {
    REQUIRE(again.next());
    CHECK(data_of(again.batch()) == data_of(stopped.batch()));
    CHECK(again.batch().index == stopped.batch().index);
  }
  CHECK(!again.next());
}

TEST_CASE("parts have each picture once, with an index and without one" * skipped) {
  const Folder folder;
  write_pictures(folder, 11);
  Floats sorted;
  for (int k = 0; k < 11; ++k) sorted.push_back(static_cast<float>(k));
  for (const bool shuffled : {false, true})
    for (const bool index : {false, true})
      for (const std::int64_t parts : {1, 2, 5, 13}) {
        Floats all;
        for (std::int64_t part = 0; part < parts; ++part) {
          ImageRecordIter batches(folder / "a.rec", {.path_imgidx = index ? folder / "a.idx" : "",
                                                     .data_shape = {3, 6, 8},
                                                     .batch_size = 1,
                                                     .shuffle = shuffled,
                                                     .num_parts = parts,
                                                     .part_index = part});
          const Floats some = labels_of(batches);
          all.insert(all.end(), some.begin(), some.end());
        }
        CHECK((parts > 1 || (all != sorted) == shuffled));
        std::sort(all.begin(), all.end());
        CHECK(all == sorted);
      }
  ImageRecordIter with(folder / "a.rec",
                       {.path_imgidx = folder / "a.idx", .data_shape = {3, 6, 8}, .batch_size = 11, .shuffle = true});
  ImageRecordIter without(folder / "a.rec", {.data_shape = {3, 6, 8}, .batch_size = 11, .shuffle = true});
  CHECK(labels_of(with) == labels_of(without));
  CHECK(labels_of(with) == labels_of(without));
}

TEST_CASE("labels of several numbers" * skipped) {
  const Folder folder;
  {
    RecordWriter out(folder / "a.rec");
    out.write(pack({.label = {1, 2.5}}, test::png_rgb));
    out.write(pack({.label = {3, 4}}, test::png_rgb));
    out.write(pack({.label = 5}, test::png_rgb));
  }
  ImageRecordIter batches(folder / "a.rec", {.label_width = 2, .data_shape = {3, 6, 8}, .batch_size = 2});
  CHECK(batches.provide_label()[0].shape == Shape{2, 2});
  REQUIRE(batches.next());
  CHECK(batches.batch().label[0].shape() == Shape{2, 2});
  CHECK(batches.batch().label[0].to_vector<float>() == Floats{1, 2.5F, 3, 4});
  CHECK(sentence([&] { batches.next(); }).find("record 2, byte 240: the label has 1 number, label_width is 2") !=
        std::string::npos);
}

TEST_CASE("damaged records are named, in their order, and what is before them is read" * skipped) {
  const Folder folder;
  std::int64_t damaged = 0;
  {
    RecordWriter out(folder / "a.rec");
    for (int k = 0; k < 4; ++k) out.write(pack({.label = k}, test::jpeg));
    damaged = out.tell();
    out.write(pack({.label = 4}, std::string_view(test::jpeg).substr(0, 320)));
    out.write(pack({.label = 5}, "no picture"));
    out.write("short");
    out.write(pack({.label = 7}, test::png_rgb));
  }
  ImageRecordIter batches(folder / "a.rec", {.data_shape = {3, 16, 24}, .batch_size = 4});
  const std::string place = cat("ImageRecordIter: \"", folder / "a.rec", "\", record ");
  for (int turn = 0; turn < 2; ++turn) {
    CHECK(batches.next());
    CHECK(batches.batch().label[0].to_vector<float>() == Floats{0, 1, 2, 3});
    const std::string said =
        cat(place, "4, byte ", damaged, ": the JPEG picture is damaged: Premature end of JPEG file");
    CHECK(sentence([&] { batches.next(); }) == said);
    CHECK(sentence([&] { batches.next(); }) == said);
    batches.reset();
  }
  {
    RecordWriter out(folder / "long.rec");
    out.write(pack_img({.label = 0}, zeros({1, 9000, 1}, u8), 95, ".png"));
  }
  ImageRecordIter wide(folder / "long.rec", {.data_shape = {1, 16, 24}, .batch_size = 1, .resize = 1000});
  CHECK(sentence([&] { wide.next(); }) == cat("ImageRecordIter: \"", folder / "long.rec",
                                              "\", record 0, byte 0: the picture would have 1000 rows of 9000000 "
                                              "pixels, expected at most 268435456 pixels"));
  const auto said = [&](int k) {
    ImageRecordIter one(folder / "a.rec", {.data_shape = {3, 16, 24}, .batch_size = 1, .prefetch_buffer = 2});
    one.resume(cat("0 ", k, " 0 0 0"));
    const std::string text = sentence([&] { one.next(); });
    return text.substr(std::min(text.size(), text.find(": ", place.size()) + 2));
  };
  CHECK(said(5) == "the bytes begin with 'no pictu', which no JPEG or PNG picture does");
  CHECK(said(6) == "the record has 5 bytes, expected a header of 24");
  CHECK(said(7) == "the picture has 6 rows of 8 pixels, data_shape is (3, 16, 24)");
}

TEST_CASE("parameters that cannot be are refused at once") {
  const Folder folder;
  write_pictures(folder, 1);
  const auto said = [&](ImageRecordParams params) {
    if (params.data_shape.ndim() == 0) params.data_shape = {3, 2, 2};
    if (params.batch_size == 0) params.batch_size = 1;
    return sentence([&] { ImageRecordIter(folder / "a.rec", params); });
  };
  CHECK(said({}).empty());
  CHECK(said({.data_shape = {2, 2}}) ==
        "ImageRecordIter: data_shape is (2, 2), expected (3, height, width) or (1, height, width)");
  CHECK(said({.data_shape = {4, 2, 2}}).find("ImageRecordIter: data_shape is (4, 2, 2)") == 0);
  CHECK(said({.batch_size = -1}) == "ImageRecordIter: batch_size is -1, expected 1 or more");
  CHECK(said({.label_width = 0}) == "ImageRecordIter: label_width is 0, expected 1 or more");
  CHECK(said({.preprocess_threads = -1}) == "ImageRecordIter: preprocess_threads is -1, expected 0 (all) or more");
  CHECK(said({.dtype = i32}) == "ImageRecordIter: dtype is int32, expected a floating type or uint8");
  CHECK(said({.resize = 0}) == "ImageRecordIter: resize is 0, expected -1 (none), or 1 to 65536");
  CHECK(said({.inter_method = 5}) ==
        "ImageRecordIter: inter_method is 5, expected 0 (nearest), 1 (bilinear), 2 (bicubic), 3 (area) or 4 (Lanczos)");
  CHECK(said({.pad = -1}) == "ImageRecordIter: pad is -1, expected 0 to 65536");
  CHECK(said({.fill_value = 256}) == "ImageRecordIter: fill_value is 256, expected 0 to 255");
  CHECK(said({.std_b = 0}) == "ImageRecordIter: std_b is 0, expected a finite number other than 0");
  CHECK(said({.dtype = u8, .scale = 2}) ==
        "ImageRecordIter: dtype is uint8, expected a floating type where a mean, a std or scale is given");
  CHECK(said({.num_parts = 2, .part_index = 2}) == "ImageRecordIter: part_index is 2, expected one of 0 to 1");
  CHECK(said({.path_imgidx = folder / "none"}).find("ImageRecordIter: \"") == 0);
  CHECK(sentence([&] {
          ImageRecordIter(folder / "none", {.data_shape = {3, 2, 2}, .batch_size = 1});
        }).find("none\": No such file") != std::string::npos);
}
