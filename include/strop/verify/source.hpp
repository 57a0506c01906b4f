// SPDX-License-Identifier: Apache-2.0
/// \file
/// The code of verify/, once per program whose files are compiled with STROP_VERIFY_COMPILED.
#pragma once
#if !defined(STROP_VERIFY_COMPILED)
#define STROP_VERIFY_COMPILED
#endif
#include <strop/core/push_macros.def>

#include <strop/verify/rows.hpp>

#include <strop/verify/checks_impl.hpp>
#include <strop/verify/gradients_impl.hpp>
#include <strop/verify/random_rows_impl.hpp>
#include <strop/verify/rows_impl.hpp>
#include <strop/verify/sparse_impl.hpp>

#include <strop/core/pop_macros.def>
