// SPDX-License-Identifier: Apache-2.0
/// \file
/// Images of idx files as batches: values, shapes, orders, parts, plain and packed files, and what is refused.
#include <strop/data/mnist_iter.hpp>
#include <strop/strop.hpp>
#include <unit/tensor/format/bytes.hpp>

#include <doctest/doctest.h>
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

using namespace strop;
using test::Folder;
using test::put_file;
using test::sentence;

namespace {

using Floats = std::vector<float>;

/// Ten images of 3 rows and 4 columns: pixel p of image i is 20 i + p.
std::string images() {
  std::string text = test::from_hex(
      "00000803"
      "0000000a"
      "00000003"
      "00000004");
  for (int i = 0; i < 10; ++i)
    for (int p = 0; p < 12; ++p) text += static_cast<char>(20 * i + p);
  return text;
}
std::string labels() {
  return test::from_hex(
      "00000801"
      "0000000a"
      "00010203040506070809");
}
/// The labels as `gzip -n` packs them.
const std::string packed_labels =
    test::from_hex("1f8b08000000000002036360e060646060e06260646266616563e7e004005e6cbae912000000");

Floats labels_of(DataIter& batches) {
  Floats out;
  for (const DataBatch& batch : batches)
    for (const float label : batch.label[0].to_vector<float>()) out.push_back(label);
  return out;
}

}  // namespace

TEST_CASE("pixels are from 0 to 1, what fills no batch is left out") {
  const Folder folder;
  put_file(folder / "images", images());
  put_file(folder / "labels", packed_labels);
  MNISTIter digits(folder / "images", folder / "labels", {.batch_size = 4, .shuffle = false});
  CHECK(digits.provide_data() == std::vector<DataDesc>{{"data", {4, 1, 3, 4}, f32}});
  CHECK(digits.provide_label() == std::vector<DataDesc>{{"softmax_label", {4}, f32}});
  for (int epoch = 0; epoch < 2; ++epoch) {
    int count = 0;
    for (const DataBatch& batch : digits) {
      CHECK(batch.data[0].shape() == Shape{4, 1, 3, 4});
      const auto pixels = batch.data[0].to_vector<float>();
      for (int k = 0; k < 48; ++k)
        CHECK(pixels[static_cast<std::size_t>(k)] ==
              static_cast<float>((20 * (4 * count + k / 12) + k % 12) & 255) / 256);
      ++count;
      CHECK(batch.pad == 0);
    }
    CHECK(count == 2);
  }
  MNISTIter half(folder / "images", folder / "labels",
                 {.batch_size = 2, .shuffle = false, .flat = true, .num_parts = 2, .part_index = 1, .dtype = f64});
  CHECK(half.provide_data()[0].shape == Shape{2, 12});
  CHECK(half.next());
  CHECK(half.batch().data[0].shape() == Shape{2, 12});
  CHECK(half.batch().data[0].to_vector<double>()[1] == 101.0 / 256);
  CHECK(half.batch().index == std::vector<std::int64_t>{5, 6});
}

TEST_CASE("parts have each image once, and a seed is an order that stays") {
  const Folder folder;
  put_file(folder / "images", images());
  put_file(folder / "labels", labels());
  const auto make = [&](const MNISTParams& params) { return MNISTIter(folder / "images", folder / "labels", params); };
  const Floats sorted{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (const std::int64_t parts : {1, 3, 4, 10, 12}) {
    Floats all;
    for (std::int64_t part = 0; part < parts; ++part) {
      MNISTIter batches = make({.batch_size = 1, .seed = 3, .num_parts = parts, .part_index = part});
      const Floats some = labels_of(batches);
      CHECK(static_cast<std::int64_t>(some.size()) == 10 * (part + 1) / parts - 10 * part / parts);
      all.insert(all.end(), some.begin(), some.end());
    }
    std::sort(all.begin(), all.end());
    CHECK(all == sorted);
  }
  MNISTIter a = make({.batch_size = 5, .seed = 3}), b = make({.batch_size = 5, .seed = 4});
  const Floats order = labels_of(a);
  CHECK(order != sorted);
  CHECK(labels_of(a) == order);
  CHECK(labels_of(b) != order);
}

TEST_CASE("files that are no images and labels are refused") {
  const Folder folder;
  put_file(folder / "images", images());
  put_file(folder / "labels", labels());
  const auto said = [&](const char* image, const char* label, const MNISTParams& params = {}) {
    return sentence([&] { MNISTIter(folder / image, folder / label, params); });
  };
  CHECK(said("labels", "labels") == cat("MNISTIter: \"", folder / "labels",
                                        "\" holds uint8 of shape (10,), expected "
                                        "uint8 of 3 axes, images, rows and columns"));
  CHECK(said("images", "images").find("expected uint8 of 1 axis, labels") != std::string::npos);
  put_file(folder / "nine", test::from_hex("00000801"
                                           "00000009"
                                           "000102030405060708"));
  CHECK(said("images", "nine") ==
        cat("MNISTIter: \"", folder / "images", "\" has 10 images and \"", folder / "nine", "\" 9 labels"));
  CHECK(said("images", "labels", {.batch_size = 0}) == "MNISTIter: batch_size is 0, expected 1 or more");
  CHECK(said("images", "labels", {.num_parts = 2, .part_index = 2}) ==
        "MNISTIter: part_index is 2, expected one of 0 to 1");
  CHECK(said("images", "labels", {.dtype = u8}) ==
        "MNISTIter: dtype is uint8, expected a floating type, as pixels are from 0 to 1");
  CHECK(said("none", "labels").find("No such file or directory") != std::string::npos);
  const std::string whole = images();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    put_file(folder / "cut", std::string_view(whole).substr(0, size));
    CHECK(said("cut", "labels").find((folder / "cut").c_str()) != std::string::npos);
  }
  for (std::size_t size = 1; size < packed_labels.size(); ++size) {
    put_file(folder / "cut", std::string_view(packed_labels).substr(0, size));
    CHECK(said("images", "cut").find((folder / "cut").c_str()) != std::string::npos);
  }
}
