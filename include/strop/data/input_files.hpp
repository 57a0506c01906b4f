// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a path of an iterator names: a file, the files of a folder, those that a pattern matches, several; and the text
/// of files that cannot be read in place: packed ones, pipes, standard input.
#pragma once
#include <strop/core/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strop::inline v0::detail {

/// A file, and its text where it is not read in place.
struct InputFile {
  std::string path;
  std::int64_t size = 0;  // of the text in bytes
  bool in_memory = false;
  std::string text;
};

/// The files that a path names, in the order in which they are read. `function` begins the sentences of errors.
/// - A file is itself, also where its name has one of the characters below. "-" is standard input.
/// - A folder is its files in the order of their names, but for those that begin with a dot.
/// - A pattern, with * ? or [ ], is the files and folders that it matches, in the order of their names.
/// - Several of these stand with a semicolon between them.
///
/// The text of gzip (RFC 1952) and zstd files is unpacked, whatever their names, and that of pipes is read to its end;
/// both stay in memory.
std::vector<InputFile> input_files(std::string_view function, const std::string& path);

/// The system refused a file: its sentence for `number`, an errno, which names no function.
class FileError : public Error {
 public:
  explicit FileError(int why);
  const int number;
};
/// All bytes of a file. Throws FileError.
std::string bytes_of_file(const std::string& path);

/// The bytes that gzip or zstd bytes were made of; others as they are. The sentences of errors name no function.
std::string unpacked(std::string bytes);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/data/input_files_impl.hpp>
#endif
