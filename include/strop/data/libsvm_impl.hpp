// SPDX-License-Identifier: Apache-2.0
/// \file
/// How files of LibSVM text are read and written.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/output.hpp>
#include <strop/core/text.hpp>
#include <strop/data/libsvm.hpp>
#include <strop/data/libsvm_reader.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/convert.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace strop::inline v0 {
namespace detail {

STROP_IMPL void check_format_of(std::string_view function, const LibSVMFormat& format) {
  if (format.features < 0) fail(function, ": features is ", format.features, ", expected 0 or more");
  if (format.labels < 1) fail(function, ": labels is ", format.labels, ", expected 1 or more");
}

}  // namespace detail

STROP_IMPL LibSVMData load_libsvm(const std::string& path, const LibSVMFormat& format) {
  detail::check_format_of("load_libsvm", format);
  return detail::LibSVMReader("load_libsvm", path, format).read_all();
}

STROP_IMPL void save_libsvm(const std::string& path, const LibSVMData& rows, const LibSVMFormat& format) {
  const auto& [data, label, qid] = rows;
  if (!data.defined() || data.storage() != csr)
    fail("save_libsvm: data is ", data.defined() ? name_of(data.storage()) : "an empty handle", ", expected csr");
  data.check_format();
  const std::int64_t count = data.shape()[0];
  if (!label.defined() || label.storage() != dense || label.ndim() < 1 || label.ndim() > 2 || label.shape()[0] != count)
    fail("save_libsvm: label has shape ", label.defined() ? label.shape() : Shape{}, ", expected (", count, ",) or (",
         count, ", labels), dense");
  if (label.size() == 0 && count > 0) fail("save_libsvm: label has shape ", label.shape(), ", which has no labels");
  if (qid.defined() && (qid.shape() != Shape{count} || qid.dtype() != i64))
    fail("save_libsvm: qid is ", name_of(qid.dtype()), " of shape ", qid.shape(), ", expected int64 of shape (", count,
         ",)");
  const NDArray stored = data.data();
  const auto values = stored.to_vector<double>(), labels = label.to_vector<double>();
  // Integers are printed from integers: doubles end at 2^53.
  const auto whole = [](const NDArray& a) {
    return is_floating(a.dtype()) ? std::vector<std::int64_t>() : a.to_vector<std::int64_t>();
  };
  const std::vector<std::int64_t> whole_values = whole(stored), whole_labels = whole(label);
  const auto columns = data.indices().to_vector<std::int64_t>(), ends = data.indptr().to_vector<std::int64_t>();
  const std::vector<std::int64_t> groups = qid.defined() ? qid.to_vector<std::int64_t>() : std::vector<std::int64_t>();
  const auto print = [](Dtype type, const std::vector<double>& reals, const std::vector<std::int64_t>& integers,
                        std::size_t k) {
    return type == f64         ? detail::print_real(reals[k])
           : is_floating(type) ? detail::print_real(static_cast<float>(reals[k]))
                               : cat(integers[k]);
  };
  detail::Output out(path, "save_libsvm");
  const std::size_t width = count == 0 ? 1 : labels.size() / static_cast<std::size_t>(count);
  std::string line;
  for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r) {
    line.clear();
    for (std::size_t k = 0; k < width; ++k)
      line += cat(k == 0 ? "" : ",", print(label.dtype(), labels, whole_labels, r * width + k));
    if (qid.defined() && groups[r] >= 0) line += cat(" qid:", groups[r]);
    for (auto k = static_cast<std::size_t>(ends[r]); k < static_cast<std::size_t>(ends[r + 1]); ++k)
      line += cat(' ', columns[k] + (format.one_based ? 1 : 0), ':', print(data.dtype(), values, whole_values, k));
    line += '\n';
    out.write(line);
  }
  out.commit();
}

}  // namespace strop::inline v0
