// SPDX-License-Identifier: Apache-2.0
/// \file
/// `strop convert`: LibSVM text as a file of arrays, and back.
#include "command.hpp"

#include <strop/data/libsvm.hpp>
#include <strop/strop.hpp>

#include <cstdio>
#include <string>
#include <string_view>

namespace strop::command {
namespace {

bool holds_arrays(std::string_view path) { return path.ends_with(".npz") || path.ends_with(".params"); }

LibSVMData read_arrays(const std::string& path) {
  LibSVMData rows;
  for (const auto& [name, array] : load(path)) {
    NDArray* const part = name == "data"    ? &rows.data
                          : name == "label" ? &rows.label
                          : name == "qid"   ? &rows.qid
                                            : nullptr;
    if (part == nullptr) fail("convert: ", path, " holds an array '", name, "', expected data, label and, if any, qid");
    *part = array;
  }
  if (!rows.data.defined() || !rows.label.defined())
    fail("convert: ", path, " holds no array '", rows.data.defined() ? "label" : "data", "'");
  if (rows.data.storage() == dense && rows.data.ndim() == 2) rows.data = rows.data.to(csr);
  return rows;
}

}  // namespace

int convert(const ConvertOptions& options) {
  const bool from_arrays = holds_arrays(options.from), to_arrays = holds_arrays(options.to);
  if (from_arrays == to_arrays)
    throw WrongCall(cat("convert: one of the two names ends in .npz or .params, the other is LibSVM text; got ",
                        options.from, " and ", options.to));
  LibSVMFormat format{.features = options.features, .labels = options.labels, .one_based = options.one_based};
  if (!detail::parse_dtype(options.dtype, format.dtype))
    throw WrongCall(cat("convert: --dtype ", options.dtype, " is no element type, expected float32 or another"));
  if (from_arrays) {
    save_libsvm(options.to, read_arrays(options.from), format);
    return 0;
  }
  const LibSVMData rows = load_libsvm(options.from, format);
  NamedArrays arrays{{"data", rows.data}, {"label", rows.label}};
  if (rows.qid.defined()) arrays.emplace_back("qid", rows.qid);
  save(options.to, arrays);
  std::printf("%lld rows, %lld features, %lld stored values\n", static_cast<long long>(rows.data.shape()[0]),
              static_cast<long long>(rows.data.shape()[1]), static_cast<long long>(rows.data.nnz()));
  return 0;
}

}  // namespace strop::command
