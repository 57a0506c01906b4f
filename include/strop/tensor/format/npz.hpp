// SPDX-License-Identifier: Apache-2.0
/// \file
/// NumPy's `.npz` archives of named arrays; sparse arrays as SciPy writes them, below their name.
#pragma once
#include <strop/tensor/format/npy.hpp>
#include <strop/tensor/format/zip.hpp>
#include <strop/tensor/sparse.hpp>
#include <strop/tensor/structure.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strop::inline v0::detail {

// A dense array "w" is the entry w.npy. A sparse one is several: w/format.npy (a byte string: csr or row_sparse),
// w/shape.npy, w/data.npy, w/indices.npy and, of csr, w/indptr.npy; without a name there is no "w/" in front, which is
// how SciPy's save_npz writes one matrix.

inline void add_npz_array(ZipWriter& zip, const std::string& name, const NDArray& a) {
  zip.add(name + ".npy", npy_header(npy_descr(a.dtype()), a.shape()), a.bytes(), a.size() * size_of(a.dtype()));
}

inline void write_npz(Output& out, const NamedArrays& arrays) {
  ZipWriter zip(out);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const auto& [name, given] = arrays[i];
    check_dimensions(out, given.shape());
    const NDArray a = on_device(given, cpu());
    a.wait();
    check_filled(a);
    if (a.storage() == dense) {
      add_npz_array(zip, name.empty() ? cat("arr_", i) : name, a);
      continue;
    }
    const std::string below = name.empty() ? "" : name + "/";
    const std::string_view format = name_of(a.storage());
    zip.add(below + "format.npy", npy_header(cat("|S", format.size()), {}), format.data(),
            static_cast<std::int64_t>(format.size()));
    NDArray shape({a.ndim()}, i64);
    for (int axis = 0; axis < a.ndim(); ++axis) shape.pointer<std::int64_t>()[axis] = a.shape()[axis];
    add_npz_array(zip, below + "shape", shape);
    add_npz_array(zip, below + "data", a.data());
    add_npz_array(zip, below + "indices", a.indices());
    if (a.storage() == csr) add_npz_array(zip, below + "indptr", a.indptr());
  }
  zip.finish();
}

/// Assembles the arrays of an archive from its entries.
class NpzReader {
 public:
  explicit NpzReader(Input& file) : file_(file), entries_(read_zip_directory(file)), taken_(entries_.size()) {
    for (ZipEntry& entry : entries_) {
      if (!entry.name.ends_with(".npy")) file_.refuse(cat("entry '", excerpt(entry.name), "' is not a .npy file"));
      entry.name.resize(entry.name.size() - 4);
    }
  }

  NamedArrays read() {
    NamedArrays arrays;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const std::string& name = entries_[i].name;
      if (name != "format" && !name.ends_with("/format")) continue;
      const std::string format = string(entries_[i]);
      if (format.empty()) continue;
      taken_[i] = true;
      const std::string below = name.substr(0, name.size() - 6);
      arrays.emplace_back(below.substr(0, below.empty() ? 0 : below.size() - 1), sparse(format, below));
      order_.push_back(i);
    }
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (taken_[i]) continue;
      arrays.emplace_back(entries_[i].name, array(entries_[i]));
      order_.push_back(i);
    }
    return in_order(std::move(arrays));
  }

 private:
  NDArray array(const ZipEntry& entry) {
    return read_zip_entry(file_, entry, [](Input& in) { return read_npy(in); });
  }
  /// The text of an entry that holds one byte string; empty for any other.
  std::string string(const ZipEntry& entry) {
    return read_zip_entry(file_, entry, [](Input& in) {
      const NpyHeader header = read_npy_header(in);
      std::string text = header.kind == 'S' && header.shape.ndim() == 0 ? in.text(header.width, "the string") : "";
      while (!text.empty() && text.back() == '\0') text.pop_back();
      return text;
    });
  }
  NDArray part(const std::string& below, std::string_view what) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (taken_[i] || entries_[i].name != below + std::string(what)) continue;
      taken_[i] = true;
      return array(entries_[i]);
    }
    file_.refuse(cat(called(below), " lacks '", what, "'"));
  }
  /// A sparse array in a sentence: by its name, where it is not the only one of the file.
  static std::string called(std::string_view below) {
    if (below.empty()) return "the sparse array";
    return cat("the sparse array '", excerpt(below.substr(0, below.size() - 1)), "'");
  }

  NDArray sparse(const std::string& format, const std::string& below) {
    if (format != "csr" && format != "coo" && format != "row_sparse")
      file_.refuse(cat(called(below), " has the format '", excerpt(format), "'; csr, coo and row_sparse are read"));
    const NDArray extents = part(below, "shape"), data = part(below, "data");
    for (std::size_t i = 0; i < entries_.size(); ++i)  // SciPy's mark of a sparse array that is not a matrix
      if (entries_[i].name == below + "_is_array") taken_[i] = true;
    if (extents.dtype() != i64 && extents.dtype() != i32)
      file_.refuse(cat("the shape of ", called(below), " is not made of integers"));
    if (extents.ndim() != 1 || extents.size() > most_dimensions)
      file_.refuse(cat("the shape of ", called(below), " is not a short vector"));
    const Shape shape(extents.to_vector<std::int64_t>());
    if (format == "coo" && !shape.empty()) claim_rows(file_, shape[0]);
    try {
      const NDArray a = format == "csr" ? csr_matrix(data, part(below, "indices"), part(below, "indptr"), shape)
                        : format == "coo"
                            ? csr_matrix(data, {.row = part(below, "row"), .col = part(below, "col")}, shape)
                            : row_sparse_array(data, part(below, "indices"), shape);
      check_parts(a, true);
      return a;
    } catch (const Error& error) {
      const std::string_view why = error.what();
      if (why.find("load(\"") != std::string_view::npos) throw;
      file_.refuse(cat(called(below), " is broken: ", why));
    }
  }

  /// Sparse arrays are read first; the result has the order of the archive.
  NamedArrays in_order(NamedArrays arrays) {
    std::vector<std::size_t> ranks(arrays.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = i;
    std::sort(ranks.begin(), ranks.end(), [&](std::size_t a, std::size_t b) { return order_[a] < order_[b]; });
    NamedArrays out;
    for (std::size_t i : ranks) out.push_back(std::move(arrays[i]));
    return out;
  }

  Input& file_;
  std::vector<ZipEntry> entries_;
  std::vector<bool> taken_;
  std::vector<std::size_t> order_;
};

inline NamedArrays read_npz(Input& file) { return NpzReader(file).read(); }

}  // namespace strop::inline v0::detail
