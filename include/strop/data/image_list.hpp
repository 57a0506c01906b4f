// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lists of pictures: of a folder whose folders are classes, and as MXNet's im2rec writes them.
#pragma once
#include <strop/core/push_macros.def>

#include <cstdint>
#include <string>
#include <vector>

namespace strop::inline v0 {

/// Pictures in files, with their labels.
struct ImageList {
  struct Item {
    std::int64_t id = 0;
    std::vector<float> label;
    std::string path;  // below the root
  };
  std::vector<Item> items;
  std::vector<std::string> classes;  // names of the labels 0, 1, 2, …; none of a list
};

/// The pictures (.jpg, .jpeg, .png, in letters of either case) in the folders of `root`, which are the classes, in the
/// order of their names, and in folders below these. Their labels are the numbers of the classes. Where `root` has no
/// folder, the pictures in it have the label 0. What begins with a dot is passed over. Throws Error where there is no
/// picture, or a folder cannot be read.
///
/// Example: `for (const auto& item : list_images("photos").items) use(item.path, item.label[0]);`
ImageList list_images(const std::string& root);

/// A list as im2rec writes it, a line a picture: its id, one label or several, its path, with tabs between them. Throws
/// Error that names the line where there is something else.
ImageList read_image_list(const std::string& path);
/// Writes such a list. The file is complete or, where an Error is thrown, as it was before.
void write_image_list(const std::string& path, const ImageList& list);

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/data/image_list_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
