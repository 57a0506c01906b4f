// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/index/one_hot.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/index/kernels.hpp>
#include <strop/ops/index/one_hot.hpp>

namespace strop::inline v0 {

inline void OneHot::forward(Cpu&, const NDArray& indices, NDArray& y) const {
  detail::List<std::int64_t> at(indices.size());
  convert_positions(indices, at);
  std::byte on[8], off[8];
  on_value.store(dtype, on);
  off_value.store(dtype, off);
  detail::visit_bits(dtype, [&]<class Bits>(Bits) {
    Bits hot, cold;
    std::memcpy(&hot, on, sizeof hot);
    std::memcpy(&cold, off, sizeof cold);
    Bits* to = y.pointer<Bits>();
    parallel_for(indices.size(), std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, *depth)),
                 [&](std::int64_t begin, std::int64_t end) {
                   std::fill(to + begin * *depth, to + end * *depth, cold);
                   for (std::int64_t i = begin; i < end; ++i)
                     if (const std::int64_t k = at[i]; k >= 0 && k < *depth) to[i * *depth + k] = hot;
                 });
  });
}

inline void OneHot::convert_positions(const NDArray& indices, detail::List<std::int64_t>& at) {
  detail::convert_elements(indices.dtype(), indices.bytes(), i64, at.data(), indices.size());
}

}  // namespace strop::inline v0
