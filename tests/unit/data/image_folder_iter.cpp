// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lists of pictures, and pictures in files as batches: classes, lists with labels, what is refused.
#include <strop/data/image_folder_iter.hpp>
#include <strop/strop.hpp>
#include <unit/data/pictures.hpp>

#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <vector>

using namespace strop;
using test::Folder;
using test::put_file;
using test::sentence;

namespace {

std::string below(const Folder& folder, const std::string& path) { return folder / path.c_str(); }
void put(const Folder& folder, const std::string& path, const std::string& bytes) {
  std::filesystem::create_directories(std::filesystem::path(below(folder, path)).parent_path());
  put_file(below(folder, path), bytes);
}
std::vector<std::string> paths_of(const ImageList& list) {
  std::vector<std::string> paths;
  for (const ImageList::Item& item : list.items) paths.push_back(cat(item.label[0], ' ', item.path));
  return paths;
}
std::string refusal(const std::string& root, const ImageRecordParams& params, const std::string& list = "") {
  return sentence([&] {
    for (const DataBatch& batch : ImageFolderIter(root, params, list)) (void)batch;
  });
}

}  // namespace

TEST_CASE("the folders of a folder are classes, and files of other kinds are passed over") {
  const Folder folder;
  put(folder, "dogs/b.png", "");
  put(folder, "dogs/a.JPG", "");
  put(folder, "dogs/notes.txt", "");
  put(folder, "dogs/.a.png", "");
  put(folder, "cats/old/z.jpeg", "");
  put(folder, "cats/y.png", "");
  put(folder, ".cache/x.png", "");
  put(folder, "top.png", "");
  const ImageList list = list_images(folder / ".");
  CHECK(list.classes == std::vector<std::string>{"cats", "dogs"});
  CHECK(paths_of(list) ==
        std::vector<std::string>{"0 cats/y.png", "0 cats/old/z.jpeg", "1 dogs/a.JPG", "1 dogs/b.png"});
  CHECK(paths_of(list_images(folder / "cats/old")) == std::vector<std::string>{"0 z.jpeg"});
  std::filesystem::create_directory(folder / "none");
  CHECK(
      sentence([&] { list_images(folder / "none"); }).ends_with("there is no .jpg, .jpeg or .png file in its folders"));
  CHECK(sentence([] { list_images("/nowhere"); }) == "list_images: \"/nowhere\": No such file or directory");
  std::filesystem::create_directory_symlink(".", folder / "none/again");
  CHECK(sentence([&] { list_images(folder / "none"); }) != "");
}

TEST_CASE("lists are read as they are written, and a line that is none is refused where it stands") {
  const Folder folder;
  const ImageList list{{{3, {1, 0.5F}, "a b.jpg"}, {7, {-2}, "c/d.png"}}, {}};
  write_image_list(folder / "a.lst", list);
  CHECK(test::content_of(folder / "a.lst") == "3\t1\t0.5\ta b.jpg\n7\t-2\tc/d.png\n");
  const ImageList again = read_image_list(folder / "a.lst");
  REQUIRE(again.items.size() == 2);
  CHECK(again.items[0].id == 3);
  CHECK(again.items[0].label == std::vector<float>{1, 0.5F});
  CHECK(again.items[0].path == "a b.jpg");
  CHECK(again.items[1].path == "c/d.png");
  put_file(folder / "b.lst", "0\t1.000000\tx.jpg\r\n\n1\t2\ty.jpg");  // as im2rec writes labels
  CHECK(read_image_list(folder / "b.lst").items[0].path == "x.jpg");
  CHECK(read_image_list(folder / "b.lst").items.size() == 2);
  for (const auto& [text, why] :
       {std::pair{"0\t1\ta\n1 2 b\n", "line 2, byte 1: a line is a number, labels and a path"},
        std::pair{"x\t1\ta\n", "line 1, byte 1: 'x' is no number of a picture"},
        std::pair{"0\tcat\ta\n", "line 1, byte 3: the label 'cat' is no number"},
        std::pair{"0\t1\t\n", "line 1, byte 1: a line is"}}) {
    put_file(folder / "c.lst", text);
    CHECK(sentence([&] { read_image_list(folder / "c.lst"); }).find(why) != std::string::npos);
  }
  put_file(folder / "c.lst", "");
  CHECK(sentence([&] { read_image_list(folder / "c.lst"); }).ends_with("the list names no picture"));
}

TEST_CASE("pictures in files become the rows that those in records do") {
  if (!test::decodes_pictures()) return;
  const Folder folder;
  put(folder, "a/1.png", test::png_rgb);
  put(folder, "b/1.png", test::png_gray);
  put(folder, "b/2.jpg", test::jpeg);
  {
    RecordWriter out(folder / "x.rec");
    for (const auto& [label, bytes] : {std::pair{0, &test::png_rgb}, {1, &test::png_gray}, {1, &test::jpeg}})
      out.write(pack({.label = label}, *bytes));
  }
  const ImageRecordParams params{
      .data_shape = {3, 4, 5}, .batch_size = 2, .seed = 3, .rand_crop = true, .rand_mirror = true};
  ImageFolderIter files(folder / ".", params);
  ImageRecordIter records(folder / "x.rec", params);
  for (int k = 0; k < 3; ++k) {
    const bool there = files.next();
    CHECK(there == records.next());
    if (!there) break;
    CHECK(files.batch().data[0].to_vector<float>() == records.batch().data[0].to_vector<float>());
    CHECK(files.batch().label[0].to_vector<float>() == records.batch().label[0].to_vector<float>());
    CHECK(files.batch().pad == records.batch().pad);
  }
  put_file(folder / "a.lst", "9\t4\t5\tb/2.jpg\n");
  ImageFolderIter listed(folder / ".", {.label_width = 2, .data_shape = {1, 4, 4}, .batch_size = 1}, folder / "a.lst");
  REQUIRE(listed.next());
  CHECK(listed.batch().label[0].to_vector<float>() == std::vector<float>{4, 5});
}

TEST_CASE("what is wrong with a picture in a file names the file") {
  if (!test::decodes_pictures()) return;
  const Folder folder;
  const ImageRecordParams params{.data_shape = {3, 4, 5}, .batch_size = 1};
  put(folder, "a/1.png", test::png_rgb.substr(0, 60));
  CHECK(refusal(folder / ".", params).starts_with(cat("ImageFolderIter: \"", folder / "./a/1.png", "\": ")));
  put(folder, "a/1.png", "");
  CHECK(refusal(folder / ".", params).starts_with(cat("ImageFolderIter: \"", folder / "./a/1.png", "\": ")));
  put_file(folder / "a.lst", "0\t1\tnothing.png\n");
  CHECK(refusal(folder / ".", params, folder / "a.lst") ==
        cat("ImageFolderIter: \"", folder / "./nothing.png", "\": No such file or directory"));
  CHECK(refusal(folder / ".", {.label_width = 2, .data_shape = {3, 4, 5}, .batch_size = 1}, folder / "a.lst") ==
        "ImageFolderIter: the label of \"nothing.png\" has 1 number, label_width is 2");
  CHECK(refusal(folder / ".", {.path_imgidx = "x", .data_shape = {3, 4, 5}, .batch_size = 1}).find("path_imgidx") !=
        std::string::npos);
  CHECK(
      refusal(folder / ".", {.data_shape = {2, 4, 5}, .batch_size = 1}).starts_with("ImageFolderIter: data_shape is"));
}
