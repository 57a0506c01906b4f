// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/index/gather.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/ops/index/gather.hpp>
#include <strop/ops/index/kernels_body.hpp>
#include <strop/ops/shape/move_body.hpp>

#include <string_view>

namespace strop::inline v0 {

namespace detail {

/// Coordinates as positions of blocks, counted in row-major order of the axes that they name.
inline detail::List<std::int64_t> block_positions(const NDArray& indices, const Shape& of, std::string_view op) {
  const auto axes = static_cast<int>(indices.shape()[0]);
  const std::int64_t count = indices.size() / axes;
  detail::List<std::int64_t> at(count, 0), one(at.size());
  for (int m = 0; m < axes; ++m) {
    convert_elements(indices.dtype(), indices.bytes() + m * count * size_of(indices.dtype()), i64, one.data(), count);
    bring_inside(one, of[m], Outside::from_end, op);
    for (std::int64_t i = 0; i < at.size(); ++i) at[i] = at[i] * of[m] + one[i];
  }
  return at;
}

/// to[at[i]] = from[i] for blocks; the last of equal positions stays.
inline void place_blocks(const NDArray& from, const detail::List<std::int64_t>& at, const NDArray& to,
                         std::int64_t inner) {
  const std::int64_t bytes = inner * size_of(to.dtype());
  if (bytes == 0) return;
  for (std::int64_t i = 0; i < at.size(); ++i)
    detail::copy_bytes(to.bytes() + at[i] * bytes, from.bytes() + i * bytes, bytes);
}

}  // namespace detail

inline void GatherNd::forward(Cpu&, const NDArray& x, const NDArray& indices, NDArray& y) const {
  const auto axes = static_cast<int>(indices.shape()[0]);
  detail::take_blocks(x, detail::block_positions(indices, x.shape(), name), y, 1, x.shape().size(0, axes),
                      x.shape().size(axes, x.ndim()));
}

template <detail::Addable E>
inline void GatherNdGradient::forward(Cpu&, const NDArray& dy, const NDArray& indices, const NDArray&,
                                      NDArray& dx) const {
  const auto axes = static_cast<int>(indices.shape()[0]);
  const Shape& shape = dx.shape();
  detail::add_blocks(dy.pointer<E>(), detail::block_positions(indices, shape, name), dx.pointer<E>(), 1,
                     shape.size(0, axes), shape.size(axes, shape.ndim()));
}

inline void ScatterNd::forward(Cpu&, const NDArray& x, const NDArray& indices, NDArray& y) const {
  detail::zero_elements(y);
  detail::place_blocks(x, detail::block_positions(indices, y.shape(), name), y,
                       y.shape().size(static_cast<int>(indices.shape()[0]), y.ndim()));
}

inline void ScatterSetNd::forward(Cpu&, const NDArray& lhs, const NDArray& rhs, const NDArray& indices,
                                  NDArray& y) const {
  const detail::List<std::int64_t> at = detail::block_positions(indices, y.shape(), name);
  detail::copy_elements(lhs, y);
  detail::place_blocks(rhs, at, y, y.shape().size(static_cast<int>(indices.shape()[0]), y.ndim()));
}

inline void RavelMultiIndex::forward(Cpu&, const NDArray& x, NDArray& y) const {
  const std::int64_t count = y.size();
  detail::List<std::int64_t> at(count, 0), one(at.size());
  for (int m = 0; m < shape.ndim(); ++m) {
    detail::convert_elements(x.dtype(), x.bytes() + m * count * size_of(x.dtype()), i64, one.data(), count);
    for (std::int64_t i = 0; i < at.size(); ++i)
      at[i] = m == 0 ? one[i] : detail::checked_sum(detail::checked_product(at[i], shape[m], name), one[i], name);
  }
  detail::convert_elements(i64, at.data(), y.dtype(), y.bytes(), count);
  detail::convert_elements(y.dtype(), y.bytes(), i64, one.data(), count);
  for (std::int64_t i = 0; i < count; ++i)
    if (one[i] != at[i])
      fail(name, ": ", name_of(y.dtype()), " does not hold the position ", at[i],
           " exactly; give coordinates of a wider type");
}

inline void UnravelIndex::forward(Cpu&, const NDArray& x, NDArray& y) const {
  const std::int64_t count = x.size();
  detail::List<std::int64_t> at(count), one(at.size());
  detail::convert_elements(x.dtype(), x.bytes(), i64, at.data(), count);
  for (int m = shape.ndim(); m-- > 0;) {
    const std::int64_t extent = shape[m];
    for (std::int64_t i = 0; i < at.size(); ++i) {
      one[i] = m == 0 ? at[i] : at[i] % extent;
      if (m > 0) at[i] /= extent;
    }
    detail::convert_elements(i64, one.data(), y.dtype(), y.bytes() + m * count * size_of(y.dtype()), count);
  }
}

}  // namespace strop::inline v0
