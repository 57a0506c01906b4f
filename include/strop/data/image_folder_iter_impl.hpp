// SPDX-License-Identifier: Apache-2.0
/// \file
/// How batches of pictures in files are made.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/data/batches.hpp>
#include <strop/data/data_part.hpp>
#include <strop/data/image_folder_iter.hpp>
#include <strop/data/input_files.hpp>
#include <strop/data/picture_batches.hpp>
#include <strop/data/row_order.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

namespace strop::inline v0 {
namespace detail {

/// The pictures of a folder.
class FilePictures {
 public:
  FilePictures(const std::string& root, const ImageRecordParams& params, const std::string& list)
      : params_(params), root_(root), order_(0, 0) {
    if (!params.path_imgidx.empty())
      fail("ImageFolderIter: path_imgidx is \"", params.path_imgidx, "\", and pictures in files have no index");
    list_ = list.empty() ? list_images(root) : read_image_list(list);
    for (const ImageList::Item& item : list_.items)
      if (std::ssize(item.label) != params.label_width)
        fail("ImageFolderIter: the label of \"", item.path, "\" has ", item.label.size(),
             item.label.size() == 1 ? " number" : " numbers", ", label_width is ", params.label_width);
    const auto begin = [&](std::int64_t part) { return part_begin(std::ssize(list_.items), params.num_parts, part); };
    order_ = RowOrder(begin(params.part_index), begin(params.part_index + 1) - begin(params.part_index));
  }

  bool take(Index place, GatheredPicture& one) const {
    if (place == order_.size()) return false;
    one.number = order_[place];
    return true;
  }
  void open(const GatheredPicture& one, float* label, std::string_view& bytes, std::string& room) const {
    std::copy(item(one).label.begin(), item(one).label.end(), label);
    room = bytes_of_file(path(one));
    bytes = room;
  }
  std::string where(const GatheredPicture& one) const { return cat('"', path(one), '"'); }
  void begin_epoch(std::int64_t epoch) {
    if (params_.shuffle) order_.shuffle("ImageFolderIter", params_.seed, epoch);
  }
  void rewind() {}

 private:
  const ImageList::Item& item(const GatheredPicture& one) const { return list_.items[unsigned_size(one.number)]; }
  std::string path(const GatheredPicture& one) const {
    const std::string& below = item(one).path;
    return root_.empty() || below.starts_with('/') ? below : cat(root_, '/', below);
  }

  ImageRecordParams params_;
  std::string root_;
  ImageList list_;
  RowOrder order_;
};

}  // namespace detail

STROP_IMPL ImageFolderIter::ImageFolderIter(const std::string& path_root, const ImageRecordParams& params,
                                            const std::string& path_imglist)
    : DataIter(
          "ImageFolderIter", params.prefetch_buffer,
          new detail::StageOf<detail::Batches<detail::PictureBatches<detail::FilePictures>>>(
              "ImageFolderIter", params.batch_size, params.round_batch ? detail::Rest::rounded : detail::Rest::empty,
              "ImageFolderIter", params, path_root, params, path_imglist)) {}

}  // namespace strop::inline v0
