// SPDX-License-Identifier: Apache-2.0
/// \file
/// LibSVM text, `label index:value index:value …` a line, as a CSR matrix and its labels, and back.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/data/libsvm_format.hpp>

#include <string>

namespace strop::inline v0 {

/// Reads a LibSVM file, or all files of a folder in the order of their names: a line is `label[,label…] [qid:n]
/// [index[:value]…] [# comment]`, indices ascend within it, an index without a value has the value 1, but is
/// refused where the file ends behind it, without the end of the line, and so may be cut; empty lines and comments are
/// passed over. Numbers are read to the nearest float32 (float64, where `dtype` is that or an integer
/// type) and become another type from there as `to()` has it. Throws Error that names file, line and byte where the
/// text is not that, or an index is beyond `features`.
///
/// Example: of the file `1 0:0.5 2:1.5`, `load_libsvm("a.libsvm").data` has shape (1, 3).
LibSVMData load_libsvm(const std::string& path, const LibSVMFormat& format = {});

/// Writes LibSVM text: a line a row of the CSR matrix, what it stores in the order of the columns, numbers as short as
/// they read back to the same value. `labels` has shape (rows,) or (rows, labels). Of `format` only one_based counts.
/// The old file or the whole new one stands there afterwards. Throws Error where data is no CSR matrix in order, the
/// rows of the parts differ, or the file cannot be written.
void save_libsvm(const std::string& path, const LibSVMData& rows, const LibSVMFormat& format = {});

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/data/libsvm_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
