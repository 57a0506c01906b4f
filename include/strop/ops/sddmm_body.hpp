// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/sddmm.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/op/map_sparse.hpp>
#include <strop/ops/sddmm.hpp>
#include <strop/ops/sparse_dot.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

namespace strop::inline v0 {

inline double Sddmm::operations(
    std::span<const Shape> in) const {  // of a full pattern: what is stored is not in a shape
  return 2.0 * static_cast<double>(in[0].size()) * static_cast<double>(in[1][1]);
}

template <Real E>
inline void Sddmm::forward(Cpu&, const NDArray& pattern, const NDArray& lhs, const NDArray& rhs, NDArray& y) const {
  const std::int64_t m = lhs.shape()[0], n = rhs.shape()[0], k = lhs.shape()[1];
  const E *const a = lhs.pointer<const E>(), *const b = rhs.pointer<const E>();
  if (pattern.storage() == csr) return detail::product_on_pattern(pattern, a, k, 1, b, k, 1, k, y);
  const E* const there = pattern.pointer<const E>();
  E* const to = y.pointer<E>();
  parallel_for(m, detail::rows_per_share(m * n * (k + 1), m), [&](std::int64_t begin, std::int64_t end) {
    detail::List<std::int64_t> places;
    detail::List<E> values(n);
    for (std::int64_t i = begin; i < end; ++i) {
      places.clear();
      for (std::int64_t j = 0; j < n; ++j)
        if (there[i * n + j] != E(0)) places.push_back(j);
      detail::dots_of_row<E, std::int64_t>(
          a + i * k, [&](std::int64_t j) { return b + j * k; }, k, places.data(), places.size(), nullptr,
          values.data());
      std::fill(to + i * n, to + (i + 1) * n, E(0));
      for (std::int64_t p = 0; p < places.size(); ++p) to[i * n + places[p]] = values[p];
    }
  });
}

template <Real E>
inline void Sddmm::grad(Cpu& ctx, Head<"output", NDArray> dy, In<"pattern", NDArray> pattern, In<"lhs", NDArray> lhs,
                        In<"rhs", NDArray> rhs, Grad<"lhs", NDArray> da, Grad<"rhs", NDArray> db) const {
  const NDArray places = pattern.storage() == csr ? NDArray(pattern) : detail::cast_storage(pattern, csr);
  const NDArray head = detail::projected(dy, places);
  if (da.defined()) detail::csr_times_rows(head, rhs, da.template pointer<E>(), ctx.request(0) == Request::add);
  if (db.defined())
    detail::csr_transposed_times_rows(head, lhs, db.template pointer<E>(), ctx.request(1) == Request::add);
}

}  // namespace strop::inline v0
