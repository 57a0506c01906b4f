// SPDX-License-Identifier: Apache-2.0
/// \file
/// The suite that tests operators against what their entries claim, for a program's own: types, requests, in-place,
/// views, storages, gradients. `strop check` is the same for the library's.
///
/// ```cpp
/// const auto found = strop::verify::check(quadratic);     // or check_operators(): all that the program defines
/// fmt::print("{}\n", found);                              // "42 checks, 0 failed", and what failed
/// return found ? 0 : 1;
/// ```
///
/// Without rows the suite makes up its own inputs; `strop::verify::Row` says others. It is compiled into the file that
/// includes this, and takes as long as an operator of some size.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/verify/rows.hpp>

#include <strop/core/pop_macros.def>
