// SPDX-License-Identifier: Apache-2.0
/// \file
/// The library's iterators, registered: what `strop data`, open_iter() and Python find by name. C++ programs that name
/// an iterator themselves need its own header alone.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/core/params.hpp>
#include <strop/data/csv_iter.hpp>
#include <strop/data/image_folder_iter.hpp>
#include <strop/data/image_record_iter.hpp>
#include <strop/data/libsvm_iter.hpp>
#include <strop/data/mnist_iter.hpp>
#include <strop/data/ndarray_iter.hpp>
#include <strop/data/registry.hpp>
#include <strop/tensor/io.hpp>

#include <span>
#include <string>
#include <string_view>

namespace strop::inline v0::iterators {

/// CSVIter by name.
struct CSVFiles {
  static constexpr bool of_library = true;
  static constexpr std::string_view
      name = "CSVIter",
      doc =
          "Batches of a file of numbers between commas, or of all files of a folder: a line is a row. data[0] has "
          "shape (batch_size, *data_shape), label[0] (batch_size, *label_shape), or (batch_size,) of one label a row";
  using Params = CSVParams;
  static constexpr Note notes[] = {
      {"data_csv", "the file, or a folder of files"},
      {"data_shape", "of a row"},
      {"label_csv", "a file of the labels, or a folder; '' or 'NULL': every label is 0"},
      {"label_shape", "of a row's label"},
      {"batch_size", "rows of a batch"},
      {"round_batch", "the last batch is filled with rows of the beginning, else with zeros"},
      {"prefetch_buffer", "batches that are made ahead; 0: none"},
      {"dtype", "of data and labels"},
      {"num_parts", "of how many parts of the data"},
      {"part_index", "this one is read"},
  };
  Required<std::string> data_csv = {};
  DataIter batches(const CSVParams& params) const { return CSVIter(*data_csv, params); }
};
inline constexpr Iterator<CSVFiles> csv_iter;

/// LibSVMIter by name.
struct LibSVMFiles {
  static constexpr bool of_library = true;
  static constexpr std::string_view
      name = "LibSVMIter",
      doc =
          "Batches of a file of LibSVM text, or of all files of a folder: data[0] is CSR of shape (batch_size, "
          "features), label[0] dense, or CSR where labels have a file of their own";
  using Params = LibSVMParams;
  static constexpr Note notes[] = {
      {"data_libsvm", "the file, or a folder of files"},
      {"data_shape", "(features,)"},
      {"label_libsvm", "a LibSVM file of the labels, or a folder; '' or 'NULL': they stand with the data"},
      {"label_shape", "(labels,) of a row"},
      {"num_parts", "of how many parts of the data"},
      {"part_index", "this one is read"},
      {"batch_size", "rows of a batch"},
      {"round_batch", "the last batch is filled with rows of the beginning, else with empty rows"},
      {"prefetch_buffer", "batches that are made ahead; 0: none"},
      {"dtype", "of data and labels"},
      {"one_based", "the first column's index is 1, not 0"},
  };
  Required<std::string> data_libsvm = {};
  DataIter batches(const LibSVMParams& params) const { return LibSVMIter(*data_libsvm, params); }
};
inline constexpr Iterator<LibSVMFiles> libsvm_iter;

/// MNISTIter by name.
struct MNISTFiles {
  static constexpr bool of_library = true;
  static constexpr std::string_view
      name = "MNISTIter",
      doc =
          "Batches of the images of two idx files, plain or gzip: data[0] of shape (batch_size, 1, rows, columns), or "
          "(batch_size, pixels) where they are flat, each byte divided by 256; label[0] of shape (batch_size,). What "
          "does not fill a batch is left out";
  using Params = MNISTParams;
  static constexpr Note notes[] = {
      {"image", "the idx file of the images"},
      {"label", "the idx file of their labels"},
      {"batch_size", "images of a batch"},
      {"shuffle", "the images come in an order that follows from the seed, the same in every epoch"},
      {"flat", "an image is a vector"},
      {"seed", "of the order"},
      {"silent", "taken for MXNet's programs; nothing is printed"},
      {"num_parts", "of how many parts of the images"},
      {"part_index", "this one is read"},
      {"prefetch_buffer", "batches that are made ahead; 0: none"},
      {"dtype", "of data and labels, a floating type"},
  };
  Required<std::string> image = {}, label = {};
  DataIter batches(const MNISTParams& params) const { return MNISTIter(*image, *label, params); }
};
inline constexpr Iterator<MNISTFiles> mnist_iter;

/// ImageRecordIter by name.
struct ImageRecordFiles {
  static constexpr bool of_library = true;
  static constexpr std::string_view
      name = "ImageRecordIter",
      doc =
          "Batches of the pictures, JPEG or PNG, of a file of records that pack() made, or MXNet's im2rec: "
          "data[0] of shape (batch_size, *data_shape), label[0] float32 of shape (batch_size,), or (batch_size, "
          "label_width)";
  using Params = ImageRecordParams;
  static constexpr Note notes[] = {
      {"path_imgrec", "the file of records"},
      {"path_imgidx", "its index; '': none"},
      {"label_width", "numbers of a record's label"},
      {"data_shape", "of a row: (3, height, width), or (1, height, width) of luminance"},
      {"batch_size", "pictures of a batch"},
      {"shuffle", "each epoch has an order of its own, which follows from the seed"},
      {"seed", "of the order, of crops and of mirroring"},
      {"round_batch", "the last batch is filled with pictures of the beginning, else with zeros"},
      {"num_parts", "of how many parts of the records"},
      {"part_index", "this one is read"},
      {"preprocess_threads", "at most so many threads decode; 0: all"},
      {"prefetch_buffer", "batches that are made ahead; 0: none"},
      {"dtype", "of the data: a floating type, or uint8"},
      {"resize", "pixels of the shorter edge before the crop; -1: as it is"},
      {"scaled_decoding",
       "a JPEG whose shorter edge is at least twice `resize` is decoded at a half, a quarter or an "
       "eighth"},
      {"rand_crop", "the crop lies anywhere, else in the middle"},
      {"fill_value", "of the pixels that `pad` adds"},
      {"inter_method", "how `resize` computes: 0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos"},
      {"pad", "pixels that are added on each side before the crop"},
      {"mirror", "columns come in reverse order"},
      {"rand_mirror", "so do those of a half of the pictures"},
      {"mean_r", "is taken off red, or luminance"},
      {"mean_g", "is taken off green"},
      {"mean_b", "is taken off blue"},
      {"std_r", "divides red, or luminance"},
      {"std_g", "divides green"},
      {"std_b", "divides blue"},
      {"scale", "multiplies each value"},
  };
  Required<std::string> path_imgrec = {};
  DataIter batches(const ImageRecordParams& params) const { return ImageRecordIter(*path_imgrec, params); }
};
inline constexpr Iterator<ImageRecordFiles> image_record_iter;

/// ImageFolderIter by name.
struct ImageFolder {
  static constexpr bool of_library = true;
  static constexpr std::string_view
      name = "ImageFolderIter",
      doc =
          "Batches of the pictures, JPEG or PNG, in the folders of a folder, which are the classes, or of those that a "
          "list names: data[0] of shape (batch_size, *data_shape), label[0] float32 of shape (batch_size,), or "
          "(batch_size, label_width)";
  using Params = ImageRecordParams;
  static constexpr Note notes[] = {
      {"path_root", "the folder"},
      {"path_imglist",
       "a list as im2rec writes it: number, labels and path of each picture; '': the folders' names are the classes"},
  };
  static constexpr std::span<const Note> batching_notes = ImageRecordFiles::notes;
  Required<std::string> path_root = {};
  std::string path_imglist = "";
  DataIter batches(const ImageRecordParams& params) const { return ImageFolderIter(*path_root, params, path_imglist); }
};
inline constexpr Iterator<ImageFolder> image_folder_iter;

/// NDArrayIter by name, over files of arrays.
struct ArrayFiles {
  static constexpr bool of_library = true;
  static constexpr std::string_view
      name = "NDArrayIter",
      doc = "Batches of the rows of arrays, of data and of labels side by side: those of files, .npy, .npz or .params";
  using Params = NDArrayParams;
  static constexpr Note notes[] = {
      {"data", "a file of arrays"},
      {"label", "a file of arrays; '': none"},
      {"batch_size", "rows of a batch"},
      {"shuffle", "every epoch has its rows in another order"},
      {"last_batch_handle", "what becomes of rows that do not fill the last batch"},
      {"data_name", "of the only array; of several _0_data, _1_data and so on"},
      {"label_name", "of the only array of labels"},
      {"seed", "the orders follow from it and from the number of the epoch"},
  };
  Required<std::string> data = {};
  std::string label = "";
  DataIter batches(const NDArrayParams& params) const {
    return NDArrayIter(load(*data), label.empty() ? NamedArrays() : load(label), params);
  }
};
inline constexpr Iterator<ArrayFiles> ndarray_iter;

}  // namespace strop::inline v0::iterators

#include <strop/core/pop_macros.def>
