// SPDX-License-Identifier: Apache-2.0
/// \file
/// Registers every operator of the library, used or not: `invoke` then finds all of them by name. A
/// program that includes this builds every kernel (minutes); the compiled library with the option `operators` has them
/// all.
#pragma once
#include <strop/core/push_macros.def>

#include <strop/linalg.hpp>
#include <strop/ops/families.hpp>
#include <strop/strop.hpp>

#if !defined(STROP_OPERATORS_COMPILED)  // the library that has them all has registered them
namespace strop::inline v0::detail {

inline const void* const all_operators_enrolled = Families::enrol();

}  // namespace strop::inline v0::detail
#endif

#include <strop/core/pop_macros.def>
