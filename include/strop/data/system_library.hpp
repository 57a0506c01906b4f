// SPDX-License-Identifier: Apache-2.0
/// \file
/// Libraries that are opened at run time, when the first file needs them.
#pragma once
#include <dlfcn.h>
#include <strop/core/error.hpp>
#include <strop/core/text.hpp>

#include <string_view>

namespace strop::inline v0::detail {

/// A library is not there: no fault of the file that needs it.
class NoLibrary : public Error {
  using Error::Error;
};

/// A library, of which functions are asked. It stays open.
class SystemLibrary {
 public:
  /// `what` needs the library, which Debian's `package` has; `users` ends the sentence on a function that is not in it:
  /// "pictures need". Throws NoLibrary.
  SystemLibrary(const char* file, std::string_view package, std::string_view what, std::string_view users)
      : file_(file), users_(users), library_(::dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    if (library_ != nullptr) return;
    const char* const why = ::dlerror();
    throw NoLibrary(cat(what, " needs ", file, " (Debian's ", package,
                        "), which cannot be opened: ", why != nullptr ? why : "the system does not say why"));
  }
  template <class F>
  void bind(F*& f, const char* name) const {
    void* const found = ::dlsym(library_, name);
    if (found == nullptr) fail(file_, " has no ", name, ", which ", users_);
    f = reinterpret_cast<F*>(found);
  }

 private:
  std::string_view file_, users_;
  void* library_;
};

}  // namespace strop::inline v0::detail
