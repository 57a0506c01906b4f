// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/cast.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/cast.hpp>
#include <strop/tensor/convert.hpp>
#include <strop/tensor/merged.hpp>

#include <cstdint>

namespace strop::inline v0 {

namespace detail {

/// to = from, whatever their types and storages; `to` has its final storage.
inline void assign(const NDArray& from, const NDArray& to) {
  NDArray source = cast_storage(from, to.storage());
  if (to.storage() != dense) copy_structure(source, to);
  convert_by_all(source.dtype(), source.bytes(), to.dtype(), to.bytes(), source.stored());
}

}  // namespace detail

inline void Cast::forward(Cpu&, const NDArray& x, NDArray& y) const { detail::assign(detail::merged(x), y); }

inline void Cast::grad_use_none(Cpu&, const NDArray& dy, NDArray& dx) const { detail::assign(dy, dx); }

inline void CastStorage::forward(Cpu&, const NDArray& x, NDArray& y) const { detail::assign(x, y); }

inline void CastStorage::grad_use_none(Cpu&, const NDArray& dy, NDArray& dx) const { detail::assign(dy, dx); }

inline void CrossDeviceCopy::forward(Cpu&, const NDArray& x, NDArray& y) const { detail::assign(x, y); }

}  // namespace strop::inline v0
