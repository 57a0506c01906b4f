// SPDX-License-Identifier: Apache-2.0
/// \file
/// For a Python module of operators: one line makes every operator that the module's files name a function of Python.
///
///     #include <Python.h>
///     #include <strop/op.hpp>
///     #include <strop/python.hpp>
///
///     struct Squash {
///       float beta = 1;
///       constexpr auto forward(auto x) const { return x / (1 + beta * abs(x)); }
///     };
///     inline constexpr strop::Op<Squash> squash;
///
///     PyMODINIT_FUNC PyInit_curves() { return strop::python_module(); }
///
/// It is compiled with `-shared -fPIC -fvisibility=hidden` into `curves.so`, or by Meson or CMake as any module of
/// Python. After `import curves`, `curves.squash(x, beta=2)` takes arrays and symbols of the package `strop`, with a
/// signature and a document, and gradients follow it; `strop.nd`, `strop.sym` and symbol files find the operator by its
/// name, because the module's operators join the registry of the package. The module needs the package when it is
/// imported, and nothing of it when it is built; it is of no version of Python.
///
/// The same file is a library of operators (strop/library/export.hpp) for programs that are no Python: for
/// strop::load_library, and for the command as `strop --load curves.so`.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/library/export.hpp>
#include <strop/library/python_host.hpp>

extern "C" {
/// Of Python, which is there when the module is imported. A program that is no Python has none, and asks for none.
[[gnu::weak]] void* PyCapsule_Import(const char* name, int no_block);

/// The entry point of the library, by which the package and other programs find the operators.
[[gnu::used]] inline const strop_library* strop_operators() { return strop::export_operators(); }
}

namespace strop::inline v0 {

/// What the function PyInit_NAME of the module NAME returns. Importing the module raises ImportError, in one sentence,
/// where the package strop is not installed, where it speaks another version of strop/library/layout.h, and where the
/// program has an operator of the same name already.
[[gnu::visibility("hidden")]] inline _object* python_module() {
  const void* const host = PyCapsule_Import(detail::python_host_name, 0);
  return host == nullptr ? nullptr : static_cast<const detail::PythonHost*>(host)->define_module(&strop_operators);
}

}  // namespace strop::inline v0

#include <strop/core/pop_macros.def>
