// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators of a shared library: loaded while the program runs, found by name from then on.
#pragma once
#include <strop/core/config.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

namespace detail {
struct LoadedLibrary;
}

/// A shared library whose operators were loaded. A handle: copies are the same library; it may be dropped, the
/// operators stay until close() is called.
class Library {
 public:
  /// The path that it was loaded from.
  const std::string& path() const;
  /// The names of its operators.
  std::vector<std::string_view> operators() const;
  /// Whether its operators are found by name.
  bool is_open() const;
  /// Takes its operators back: no name finds them any more. Symbols, tapes and executors that hold one go on, because
  /// the library itself stays in memory until the process ends. Loading it again brings the same operators back.
  void close() const;

  // For load_library.
  explicit Library(detail::LoadedLibrary& loaded) : loaded_(&loaded) {}

 private:
  detail::LoadedLibrary* loaded_;
};

/// Loads a shared library of operators (strop/library/export.hpp), which may be built by another compiler and with
/// another standard library of C++. From then on its operators are found by name: by invoke, compose and whatever reads
/// the registry, as operators of the program. A path without a slash is looked for beside the program's working folder
/// first, then where the system looks for libraries.
///
/// Loading what is loaded gives the same library. Throws Error, and brings no operator, where the file cannot be
/// loaded, is no library of operators, speaks another version of strop/library/layout.h, or has an operator whose name
/// the program has already.
Library load_library(const std::string& path);

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/library/load_impl.hpp>
#endif
