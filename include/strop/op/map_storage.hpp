// SPDX-License-Identifier: Apache-2.0
/// \file
/// The storage of a map's results as it follows from where its body is zero: one rule, which calls go by and
/// check::storage asks at compile time.
#pragma once
#include <strop/core/span.hpp>
#include <strop/tensor/storage.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace strop::inline v0::detail {

/// Which positions of the result can be other than zero, from where inputs store something.
enum class Pattern : std::uint8_t { full, one_input, common, united };

struct MapStorage {
  Storage storage = dense;
  Pattern pattern = Pattern::full;
  std::uint64_t carriers = 0;  // the sparse inputs that the pattern is taken from
  std::string_view why = {};   // of a fallback
  bool stated_dense = false;   // the operator says that its results are dense
};

/// `zero(inputs)`: whether all results are zero where these inputs, a bit each, are.
template <class Zero>
constexpr MapStorage derive_map_storage(Span<const Storage> in, Zero zero) {
  MapStorage result;
  Storage sparse = dense;
  std::uint64_t zeros = 0;
  for (Index i = 0; i < in.size(); ++i) {
    if (in[i] == dense) continue;
    if (sparse != dense && sparse != in[i]) {
      result.why = "the sparse inputs are stored in different ways";
      return result;
    }
    sparse = in[i];
    zeros |= std::uint64_t{1} << i;
  }
  if (sparse == dense) return result;
  if (!zero(zeros)) {
    result.why = "the result is not zero where nothing is stored";
    return result;
  }
  result.storage = sparse;
  for (Index i = 0; i < in.size(); ++i)
    if (in[i] != dense && zero(std::uint64_t{1} << i)) result.carriers |= std::uint64_t{1} << i;
  const bool several = (result.carriers & (result.carriers - 1)) != 0;
  result.pattern = result.carriers == 0 ? Pattern::united : several ? Pattern::common : Pattern::one_input;
  if (result.carriers == 0) result.carriers = zeros;
  return result;
}

}  // namespace strop::inline v0::detail
