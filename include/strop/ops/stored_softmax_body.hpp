// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/stored_softmax.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/op/map_sparse.hpp>
#include <strop/ops/softmax_kernels.hpp>
#include <strop/ops/softmax_kernels_body.hpp>
#include <strop/ops/sparse_rows.hpp>
#include <strop/ops/stored_softmax.hpp>

#include <cstdint>

namespace strop::inline v0 {

template <bool Logarithm>
template <Real E>
inline void StoredSoftmaxOf<Logarithm>::forward(Cpu&, const NDArray& data, NDArray& y) const {
  const NDArray x = detail::merged(data);
  if (x.storage() == csr) detail::copy_structure(x, y);
  each_row<E, 1>({&x}, x, y, [](const E* const(&in)[1], E* to, std::int64_t n) {
    detail::softmax_row(in[0], to, n, E(1), Logarithm);
  });
}

template <bool Logarithm>
template <Real E>
inline void StoredSoftmaxOf<Logarithm>::grad(Cpu&, Head<"output", NDArray> dy, In<"data", NDArray> data,
                                             Out<"output", NDArray> y, Grad<"data", NDArray> dx) const {
  if (!dx.defined()) return;
  const NDArray x = detail::merged(data);
  const bool sparse = x.storage() == csr;
  const NDArray head = sparse ? detail::projected(dy, x) : NDArray(dy);
  if (sparse) detail::copy_structure(x, dx);
  each_row<E, 2>({&head, &y}, x, dx, [](const E* const(&in)[2], E* to, std::int64_t n) {
    detail::softmax_gradient_row(in[0], in[1], to, n, E(1), Logarithm);
  });
}

template <bool Logarithm>
template <Real E, std::size_t N, class F>
inline void StoredSoftmaxOf<Logarithm>::each_row(const NDArray* const (&from)[N], const NDArray& places,
                                                 const NDArray& to, F f) {
  const std::int64_t rows = places.shape()[0], cols = places.shape()[1];
  const bool sparse = places.storage() == csr;
  const E* in[N];
  for (std::size_t i = 0; i < N; ++i) in[i] = from[i]->template pointer<const E>();
  E* const out = to.pointer<E>();
  if (sparse) {
    const detail::IndexReader indptr(places.indptr());
    const std::int64_t stored = places.nnz();
    return parallel_for(rows, detail::rows_per_share(8 * stored, rows), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const detail::RowSpan span = detail::row_span(indptr, row, stored);
        if (span.begin == span.end) continue;
        const E* at[N];
        for (std::size_t i = 0; i < N; ++i) at[i] = in[i] + span.begin;
        f(at, out + span.begin, span.end - span.begin);
      }
    });
  }
  const E* const there = places.pointer<const E>();
  parallel_for(rows, detail::rows_per_share(8 * rows * cols, rows), [&](std::int64_t begin, std::int64_t end) {
    detail::List<E> space(cols * static_cast<std::int64_t>(N + 1));
    const E* at[N];
    for (std::size_t i = 0; i < N; ++i) at[i] = space.data() + static_cast<std::int64_t>(i) * cols;
    E* const made = space.data() + static_cast<std::int64_t>(N) * cols;
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t first = row * cols;
      std::int64_t n = 0;
      for (std::int64_t j = 0; j < cols; ++j) {
        if (there[first + j] == E(0)) continue;
        for (std::size_t i = 0; i < N; ++i) space[static_cast<std::int64_t>(i) * cols + n] = in[i][first + j];
        ++n;
      }
      if (n != 0) f(at, made, n);
      n = 0;
      for (std::int64_t j = 0; j < cols; ++j) out[first + j] = there[first + j] == E(0) ? E(0) : made[n++];
    }
  });
}

}  // namespace strop::inline v0
