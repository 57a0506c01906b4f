// SPDX-License-Identifier: Apache-2.0
/// \file
/// Records as they stand in a file, in memory.
#pragma once
#include <string>
#include <string_view>

namespace strop::inline v0::detail {

/// Adds the bytes that a record takes in a file. Throws Error where a part of it has 2²⁹ bytes or more.
void append_record(std::string& to, std::string_view record);

}  // namespace strop::inline v0::detail

#if !defined(STROP_COMPILED)
#include <strop/data/record_file_impl.hpp>
#endif
