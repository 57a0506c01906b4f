// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the Python package has for modules of operators (strop/python.hpp): one function, which a capsule holds.
#pragma once
#include <strop/library/layout.h>

#include <cstdint>

struct _object;  // NOLINT(bugprone-reserved-identifier): PyObject, as Python declares it

namespace strop::inline v0::detail {

/// The path of the capsule, which is its name as well.
inline constexpr char python_host_name[] = "strop._strop.operators_host";

/// What it holds. It grows at its end only; what changes otherwise gets a name of its own.
struct PythonHost {
  std::uint64_t size;
  /// What the PyInit function of a module gives Python, whose operators `give` hands over. Null, and an exception of
  /// Python is set, where that fails.
  _object* (*define_module)(const strop_library* (*give)());
};

}  // namespace strop::inline v0::detail
