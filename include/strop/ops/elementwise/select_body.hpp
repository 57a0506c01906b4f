// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/elementwise/select.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/number/lanes.hpp>
#include <strop/op/map_sparse.hpp>
#include <strop/ops/arithmetic.hpp>
#include <strop/ops/elementwise/select.hpp>
#include <strop/tensor/merged.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// to[i] = condition[i] ≠ 0 ? a[i] : b[i]. A, of the size of the elements, only carries their bits.
template <class A>
void choose_lanes(const A* condition, const A* a, const A* b, A* to, std::int64_t count) {
  using R = number::Rep<number::Vec<A>>;
  std::int64_t i = 0;
  for (; i + R::lanes <= count; i += R::lanes)
    R::store(to + i, R::select(R::load(condition + i) != R::splat(0), R::load(a + i), R::load(b + i)));
  for (; i < count; ++i) std::memcpy(to + i, (condition[i] != 0 ? a : b) + i, sizeof(A));
}

/// Elements as wide as A, with a condition of any type, converted block by block.
template <class A>
void choose_wide(const NDArray& condition, const std::byte* x, const std::byte* y, std::byte* out) {
  constexpr std::int64_t grain = 1 << 15, block = 1024;
  const Dtype type = condition.dtype();
  parallel_for(condition.size(), grain, [&](std::int64_t begin, std::int64_t end) {
    A held[block];
    bool truth[block];
    for (std::int64_t at = begin; at < end; at += block) {
      const std::int64_t count = std::min(block, end - at);
      const std::byte* from = condition.bytes() + at * size_of(type);
      const A* chosen = reinterpret_cast<const A*>(from);
      if (type == f64 && dtype_of<A> == f32) {  // a tiny double is not zero
        convert_elements(type, from, boolean, truth, count);
        convert_elements(boolean, truth, f32, held, count);
        chosen = held;
      } else if (type != dtype_of<A>) {
        convert_elements(type, from, dtype_of<A>, held, count);
        chosen = held;
      }
      const auto offset = [at](const std::byte* p) { return reinterpret_cast<const A*>(p) + at; };
      choose_lanes(chosen, offset(x), offset(y), reinterpret_cast<A*>(out) + at, count);
    }
  });
}

}  // namespace STROP_ISA

/// Runs of `bytes` bytes for each condition: narrow elements, or whole rows.
inline void choose_runs(const bool* condition, std::int64_t count, std::int64_t bytes, const std::byte* x,
                        const std::byte* y, std::byte* out) {
  constexpr std::int64_t grain = 1 << 16;
  if (bytes == 0) return;
  parallel_for(count, grain / bytes + 1, [&](std::int64_t begin, std::int64_t end) {
    if (bytes == 1)
      for (std::int64_t i = begin; i < end; ++i) out[i] = condition[i] ? x[i] : y[i];
    else
      for (std::int64_t i = begin; i < end; ++i)
        detail::copy_bytes(out + i * bytes, (condition[i] ? x : y) + i * bytes, bytes);
  });
}

/// The same for a condition in CSR of the arrays' shape: y, but where it stores a number that is not zero.
inline void choose_stored(const NDArray& given, const NDArray& x, const NDArray& y, const NDArray& out) {
  const NDArray condition = merged(given);
  const std::int64_t size = size_of(x.dtype()), stored = condition.nnz();
  if (x.size() == 0) return;
  parallel_for(y.size() * size, 1 << 18, [from = y.bytes(), to = out.bytes()](std::int64_t begin, std::int64_t end) {
    copy_bytes(to + begin, from + begin, end - begin);
  });
  const NDArray truth(Shape{stored}, boolean), chosen(Shape{stored}, x.dtype());
  convert_elements(condition.dtype(), condition.bytes(), boolean, truth.bytes(), stored);
  const StoredPattern places = pattern_of(condition);
  choose_runs(truth.pointer<const bool>(), stored, size, values_at(x, places, x.shape(), csr).bytes(),
              values_at(y, places, x.shape(), csr).bytes(), chosen.bytes());
  scatter_values(chosen, places, out);
}

}  // namespace detail

inline void Where::forward(Cpu& ctx, const NDArray& condition, const NDArray& x, const NDArray& y, NDArray& out) const {
  if (x.storage() == csr) {  // a place for what x or y stores: elsewhere both are zero
    const NDArray a = detail::merged(x, true), b = detail::merged(y, true), c = detail::merged(condition, true);
    detail::StoredPattern places = detail::merge_patterns(detail::pattern_of(a), detail::pattern_of(b), false);
    const auto laid = [&](const NDArray& from) { return detail::values_at(from, places, x.shape(), csr); };
    detail::store_pattern(out, places);
    NDArray chosen = detail::view_as(out.data(), {out.stored()});
    return forward(ctx, laid(c), laid(a), laid(b), chosen);
  }
  if (condition.storage() == csr) return detail::choose_stored(condition, x, y, out);
  const std::int64_t count = condition.size(), size = size_of(x.dtype());
  if (count == x.size() && size == 4) return detail::choose_wide<float>(condition, x.bytes(), y.bytes(), out.bytes());
  if (count == x.size() && size == 8) return detail::choose_wide<double>(condition, x.bytes(), y.bytes(), out.bytes());
  const NDArray truth = condition.dtype() == boolean ? condition : NDArray(condition.shape(), boolean);
  if (!truth.is(condition))
    detail::convert_elements(condition.dtype(), condition.bytes(), boolean, truth.bytes(), count);
  detail::choose_runs(truth.pointer<bool>(), count, count == 0 ? 0 : x.size() / count * size, x.bytes(), y.bytes(),
                      out.bytes());
}

}  // namespace strop::inline v0
