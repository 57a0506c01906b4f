// SPDX-License-Identifier: Apache-2.0
/// \file
/// How lists of pictures are made, read and written.
#pragma once
#include <dirent.h>
#include <sys/stat.h>
#include <strop/core/config.hpp>
#include <strop/core/error.hpp>
#include <strop/core/output.hpp>
#include <strop/core/text.hpp>
#include <strop/data/image_list.hpp>
#include <strop/data/lines.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::inline v0 {
namespace detail {

STROP_IMPL bool names_picture(std::string_view name) {
  for (const std::string_view ending : {".jpg", ".jpeg", ".png"}) {
    if (name.size() < ending.size()) continue;
    const std::string_view own = name.substr(name.size() - ending.size());
    if (std::equal(own.begin(), own.end(), ending.begin(),
                   [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; }))
      return true;
  }
  return false;
}

/// The folders and the pictures of a folder, by name.
struct PictureFolder {
  std::vector<std::string> folders, pictures;
  explicit PictureFolder(const std::string& path) {
    DIR* const folder = ::opendir(path.c_str());
    if (folder == nullptr) fail("list_images: \"", path, "\": ", std::strerror(errno));
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(folder))
      if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
    ::closedir(folder);
    std::sort(names.begin(), names.end());
    for (std::string& name : names) {
      struct stat info{};
      const std::string whole = cat(path, '/', name);
      if (::stat(whole.c_str(), &info) != 0) fail("list_images: \"", whole, "\": ", std::strerror(errno));
      if (S_ISDIR(info.st_mode))
        folders.push_back(std::move(name));
      else if (S_ISREG(info.st_mode) && names_picture(name))
        pictures.push_back(std::move(name));
    }
  }
};

/// Adds the pictures in root/below and in its folders. `depth`: how deep that lies; links may go round in circles.
STROP_IMPL void add_pictures(const std::string& root, const std::string& below, float label, int depth,
                             ImageList& list) {
  if (depth > 32) fail("list_images: \"", root, '/', below, "\": folders lie deeper than 32 in each other");
  const PictureFolder folder(below.empty() ? root : cat(root, '/', below));
  const std::string before = below.empty() ? below : cat(below, '/');
  for (const std::string& name : folder.pictures)
    list.items.push_back({std::ssize(list.items), {label}, cat(before, name)});
  for (const std::string& name : folder.folders) add_pictures(root, cat(before, name), label, depth + 1, list);
}

}  // namespace detail

STROP_IMPL ImageList list_images(const std::string& root) {
  ImageList list;
  list.classes = detail::PictureFolder(root).folders;
  for (std::size_t k = 0; k < list.classes.size(); ++k)
    detail::add_pictures(root, list.classes[k], static_cast<float>(k), 1, list);
  if (list.classes.empty()) detail::add_pictures(root, "", 0, 1, list);
  if (list.items.empty()) fail("list_images: \"", root, "\": there is no .jpg, .jpeg or .png file in its folders");
  return list;
}

STROP_IMPL ImageList read_image_list(const std::string& path) {
  ImageList list;
  detail::LineBlocks blocks("read_image_list", path);
  for (std::string_view lines; blocks.next(lines);)
    while (!lines.empty()) {
      const std::size_t end = lines.find('\n');
      std::string_view line = lines.substr(0, end);
      const char* const begin = line.data();
      lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.empty()) continue;
      ImageList::Item item;
      std::vector<std::string_view> words;
      std::vector<std::ptrdiff_t> places;  // where in the line they begin
      std::ptrdiff_t place = 0;
      for (std::size_t tab = line.find('\t'); tab != std::string_view::npos; tab = line.find('\t')) {
        words.push_back(line.substr(0, tab));
        places.push_back(place);
        place += static_cast<std::ptrdiff_t>(tab) + 1;
        line.remove_prefix(tab + 1);
      }
      if (words.size() < 2 || line.empty())
        blocks.refuse(begin, "a line is a number, labels and a path, with tabs between them");
      if (!detail::parse_integer(words[0], item.id) || item.id < 0)
        blocks.refuse(begin, cat("'", words[0].substr(0, 40), "' is no number of a picture"));
      for (std::size_t k = 1; k < words.size(); ++k) {
        double number = 0;
        if (!detail::parse_real(words[k], number))
          blocks.refuse(begin + places[k], cat("the label '", words[k].substr(0, 40), "' is no number"));
        item.label.push_back(static_cast<float>(number));
      }
      item.path = line;
      list.items.push_back(std::move(item));
    }
  if (list.items.empty()) fail("read_image_list: \"", path, "\": the list names no picture");
  return list;
}

STROP_IMPL void write_image_list(const std::string& path, const ImageList& list) {
  detail::Output out(path, "write_image_list");
  for (const ImageList::Item& item : list.items) {
    std::string line = cat(item.id);
    for (const float label : item.label) line += cat('\t', label);
    out.write(cat(line, '\t', item.path, '\n'));
  }
  out.commit();
}

}  // namespace strop::inline v0
