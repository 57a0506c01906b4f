// SPDX-License-Identifier: Apache-2.0
/// \file
/// ImageFolderIter: pictures in files, in a folder for each class or as a list says, as batches.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/data/data_iter.hpp>
#include <strop/data/image_list.hpp>
#include <strop/data/image_record_iter.hpp>

#include <string>

namespace strop::inline v0 {

/// Batches of the pictures in the folders of `path_root`, which are the classes (see list_images). With a list (see
/// read_image_list): of those that it names, with its labels; their paths are below `path_root`. What becomes of a
/// picture, of the last batch and of orders ImageRecordIter says; parts are equal shares of the pictures. A file is
/// read where its batch is made, by the thread that decodes it.
///
/// Throws Error at once where a parameter is wrong, there is no picture or a label has not label_width numbers. A
/// picture that is missing, damaged or smaller than data_shape is an Error when its batch is asked for; it names the
/// file.
///
/// Example: `ImageFolderIter("photos", {.data_shape = {3, 224, 224}, .batch_size = 32, .shuffle = true})`
class ImageFolderIter : public DataIter {
 public:
  ImageFolderIter(const std::string& path_root, const ImageRecordParams& params, const std::string& path_imglist = "");
};

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/data/image_folder_iter_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
