// SPDX-License-Identifier: Apache-2.0
/// \file
/// How batches of images of idx files are made.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/core/config.hpp>
#include <strop/data/array_rows.hpp>
#include <strop/data/batches.hpp>
#include <strop/data/data_part.hpp>
#include <strop/data/idx.hpp>
#include <strop/data/mnist_iter.hpp>
#include <strop/data/row_order.hpp>
#include <strop/engine/pool.hpp>
#include <strop/tensor/convert.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace strop::inline v0 {
namespace detail {

STROP_IMPL NDArray load_idx_bytes(const std::string& path, int axes, std::string_view what) {
  const NDArray found = load_idx(path);
  if (found.dtype() != u8 || found.ndim() != axes)
    fail("MNISTIter: \"", path, "\" holds ", name_of(found.dtype()), " of shape ", found.shape(), ", expected ", what);
  return found;
}

/// Images and labels for Batches.
class ImageRecords {
 public:
  ImageRecords(const std::string& image, const std::string& label, const MNISTParams& params)
      : params_(params),
        images_(load_idx_bytes(image, 3, "uint8 of 3 axes, images, rows and columns")),
        labels_(load_idx_bytes(label, 1, "uint8 of 1 axis, labels")),
        order_(part()) {
    const Shape& shape = images_.shape();
    if (labels_.size() != shape[0])
      fail("MNISTIter: \"", image, "\" has ", shape[0], " images and \"", label, "\" ", labels_.size(), " labels");
    if (params.batch_size < 1) fail("MNISTIter: batch_size is ", params.batch_size, ", expected 1 or more");
    if (!is_floating(params.dtype))
      fail("MNISTIter: dtype is ", name_of(params.dtype), ", expected a floating type, as pixels are from 0 to 1");
    if (params.shuffle) order_.shuffle("MNISTIter", params.seed, 0);
    float pixels[256];
    for (int k = 0; k < 256; ++k) pixels[k] = static_cast<float>(k) / 256;
    convert_elements(f32, pixels, params.dtype, pixels_, 256);
  }

  void clear() { numbers_.clear(); }
  Index take(Index n) {
    const Index got = std::min(n, order_.size() - place_);
    append_numbers(place_, got, numbers_);
    place_ += got;
    return got;
  }
  void give(DataBatch& batch) const {
    const NDArray data(shape(numbers_.size()), params_.dtype), label = take_rows(labels_, numbers_.span());
    const std::int64_t image = images_.size() / images_.shape()[0], width = size_of(params_.dtype);
    const auto* const from = images_.pointer<const std::uint8_t>();
    std::byte* const to = data.bytes();
    parallel_for(numbers_.size(), 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        const std::uint8_t* const pixels = from + numbers_[k] * image;
        std::byte* const out = to + k * image * width;
        if (width == 4)
          look_up<4>(pixels, image, out);
        else if (width == 2)
          look_up<2>(pixels, image, out);
        else
          look_up<8>(pixels, image, out);
      }
    });
    batch.data.push_back(data);
    batch.label.push_back(as_type(label, params_.dtype));
  }
  void rewind() { place_ = 0; }
  void append_numbers(Index from, Index count, List<std::int64_t>& to) const {
    for (Index k = from; k < from + count; ++k) to.push_back(order_[k]);
  }
  std::vector<DataDesc> provide_data(Index size) const { return {{"data", shape(size), params_.dtype}}; }
  std::vector<DataDesc> provide_label(Index size) const { return {{"softmax_label", {size}, params_.dtype}}; }

 private:
  RowOrder part() const {
    check_part("MNISTIter", params_.num_parts, params_.part_index);
    const std::int64_t all = images_.shape()[0], parts = params_.num_parts;
    const auto begin = [&](std::int64_t k) {  // ⌊all · k / parts⌋
      return all / parts * k + checked_product(all % parts, k, "MNISTIter") / parts;
    };
    return {begin(params_.part_index), begin(params_.part_index + 1) - begin(params_.part_index)};
  }
  Shape shape(Index size) const {
    const Shape& images = images_.shape();
    return params_.flat ? Shape{size, images[1] * images[2]} : Shape{size, 1, images[1], images[2]};
  }
  template <int Width>
  void look_up(const std::uint8_t* from, std::int64_t count, std::byte* to) const {
    for (std::int64_t i = 0; i < count; ++i) std::memcpy(to + i * Width, pixels_ + from[i] * Width, Width);
  }

  MNISTParams params_;
  NDArray images_, labels_;
  RowOrder order_;
  Index place_ = 0;
  List<std::int64_t> numbers_;   // of the images that are gathered
  std::byte pixels_[256 * 8]{};  // what each byte becomes, of the dtype
};

}  // namespace detail

STROP_IMPL MNISTIter::MNISTIter(const std::string& image, const std::string& label, const MNISTParams& params)
    : DataIter("MNISTIter", params.prefetch_buffer,
               new detail::StageOf<detail::Batches<detail::ImageRecords>>(
                   "MNISTIter", params.batch_size, detail::Rest::discard, image, label, params)) {}

}  // namespace strop::inline v0
