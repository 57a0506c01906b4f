// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lists of arrays with names.
#pragma once
#include <strop/tensor/ndarray.hpp>

#include <string>
#include <utility>
#include <vector>

namespace strop::inline v0 {

/// What a file of arrays holds, in its order. Names are empty where the file has none.
using NamedArrays = std::vector<std::pair<std::string, NDArray>>;

}  // namespace strop::inline v0
