// SPDX-License-Identifier: Apache-2.0
/// \file
/// What `strop info --products` says of the kernels that this file is compiled beside.
#include <strop/ops/gemm.hpp>

#include "../products.hpp"

namespace {

using Gemm = strop::detail::Gemm<float>;

std::string_view route(std::int64_t m, std::int64_t n, std::int64_t k, bool a_transposed, bool b_transposed) {
  using strop::detail::GemmRoute;
  const auto a = strop::detail::Strided<float>::of(nullptr, a_transposed ? m : k, a_transposed),
             b = strop::detail::Strided<float>::of(nullptr, b_transposed ? k : n, b_transposed);
  GemmRoute way = Gemm::route(m, n, k, a, b);
  const bool row = way == GemmRoute::vector;
  if (row) way = Gemm::route(1, m, k, b.transpose(), a.transpose());
  switch (way) {
    case GemmRoute::vector:
    case GemmRoute::combine:
      return row ? "as a row: a sum of rows of B" : "a sum of rows of B";
    case GemmRoute::dots:
      return row ? "as a row: dot products" : "dot products";
    case GemmRoute::outer:
      return row ? "as a row: multiples of the row of B" : "multiples of the row of B";
    case GemmRoute::direct:
      return row ? "as a row: tiles, B in place" : "tiles, B in place";
    default:
      return row ? "as a row: tiles, B copied" : "tiles, B copied";
  }
}

constexpr strop::detail::ProductKernels own{strop::detail::this_isa, Gemm::rows, Gemm::cols, route};
[[maybe_unused]] const bool enrolled = strop::detail::enrol(own);

}  // namespace
