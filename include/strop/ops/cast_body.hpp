// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/cast.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/ops/cast.hpp>
#include <strop/tensor/convert.hpp>
#include <strop/tensor/merged.hpp>

#include <cstdint>

namespace strop::inline v0 {

namespace detail {

/// Converts the stored values of `from` into `to`, which has as many.
inline void convert_stored(const NDArray& from, const NDArray& to) {
  constexpr std::int64_t grain = 1 << 16;
  const std::int64_t in = size_of(from.dtype()), out = size_of(to.dtype());
  parallel_for(from.stored(), grain, [&](std::int64_t begin, std::int64_t end) {
    convert_elements(from.dtype(), from.bytes() + begin * in, to.dtype(), to.bytes() + begin * out, end - begin);
  });
}

/// to = from, whatever their types and storages; `to` has its final storage.
inline void assign(const NDArray& from, const NDArray& to) {
  NDArray source = cast_storage(from, to.storage());
  if (to.storage() != dense) copy_structure(source, to);
  convert_stored(source, to);
}

}  // namespace detail

inline void Cast::forward(Cpu&, const NDArray& x, NDArray& y) const { detail::assign(detail::merged(x), y); }

inline void Cast::grad_use_none(Cpu&, const NDArray& dy, NDArray& dx) const { detail::assign(dy, dx); }

inline void CastStorage::forward(Cpu&, const NDArray& x, NDArray& y) const { detail::assign(x, y); }

inline void CastStorage::grad_use_none(Cpu&, const NDArray& dy, NDArray& dx) const { detail::assign(dy, dx); }

inline void CrossDeviceCopy::forward(Cpu&, const NDArray& x, NDArray& y) const { detail::assign(x, y); }

}  // namespace strop::inline v0
