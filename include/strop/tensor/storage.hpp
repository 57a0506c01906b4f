// SPDX-License-Identifier: Apache-2.0
/// \file
/// How an array is stored: dense, compressed rows (CSR) or a subset of its rows.
#pragma once
#include <strop/core/config.hpp>

#include <cstdint>
#include <string_view>

namespace strop::inline v0 {

/// The storage of an array. The values are those of MXNet's files.
enum class Storage : std::uint8_t { dense = 0, row_sparse = 1, csr = 2 };

inline constexpr Storage dense = Storage::dense, row_sparse = Storage::row_sparse, csr = Storage::csr;

constexpr std::string_view name_of(Storage storage) {
  switch (storage) {
    case Storage::dense:
      return "dense";
    case Storage::row_sparse:
      return "row_sparse";
    case Storage::csr:
      return "csr";
  }
  return "unknown";
}

}  // namespace strop::inline v0
