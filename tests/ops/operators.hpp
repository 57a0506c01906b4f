// SPDX-License-Identifier: Apache-2.0
/// \file
/// The public operators of the library: name, inputs, parameters with their defaults, aliases. A line that differs from
/// the registry fails the suite; a new operator is a new line.
#pragma once
#include <string_view>

namespace ops_test {

inline constexpr std::string_view operators = R"(
)";

}  // namespace ops_test
