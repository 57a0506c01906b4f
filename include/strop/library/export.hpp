// SPDX-License-Identifier: Apache-2.0
/// \file
/// For a shared library of operators: one function hands all that it registers to the program that loads it.
///
/// The library names its operators as any program does, and has in one of its files
///
///     #include <strop/library/export.hpp>
///     const strop_library* strop_operators() { return strop::export_operators(); }
///
/// It is compiled with `-shared -fPIC -fvisibility=hidden`, by whatever compiler and standard library; the program
/// finds its operators after strop::load_library("libmine.so"). They run on the CPU; on threads and temporary memory of
/// the library, with the random numbers of the program. A map arrives as a map, with its storages, its loops and its
/// gradients of every order; of a gradient that is written with operators the first order arrives.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/library/layout.h>
#include <strop/op/registry.hpp>

extern "C" {
/// Defined by the library, in one line.
[[gnu::visibility("default")]] const strop_library* strop_operators();
}

namespace strop::inline v0 {
namespace detail {

/// Of which every library has its own: what lies in the same file as this is the library's.
[[gnu::visibility("hidden")]] inline constinit char export_anchor = 0;

/// All operators from `head` on that lie in the same file as `anchor`, made once.
const strop_library* export_from(const void* anchor, const Slot* head);

}  // namespace detail

/// All operators that this library registers, for the program that loads it. They live as long as the process.
[[gnu::visibility("hidden")]] inline const strop_library* export_operators() {
  // The library's own registry: with hidden symbols it is another than that of a runtime in a library beside it.
  return detail::export_from(&detail::export_anchor, detail::registry_head.load());
}

}  // namespace strop::inline v0

#if !defined(STROP_COMPILED)
#include <strop/library/export_impl.hpp>
#endif

#include <strop/core/pop_macros.def>
