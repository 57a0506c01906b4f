// SPDX-License-Identifier: Apache-2.0
/// \file
/// A random stream laid over an array block by block, in parallel and in the array's own type.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/memory/random.hpp>
#include <strop/tensor/convert.hpp>
#include <strop/tensor/ndarray.hpp>

#include <cstdint>

namespace strop::inline v0::random::detail {

inline constexpr std::int64_t block_elements = 512;

/// Calls fill(its part of the stream, block of Real, count) for every block of the array and converts the block to the
/// array's dtype.
template <class Real, class Fill>
void fill_blocks(const NDArray& out, const Stream& stream, const Fill& fill) {
  parallel_for(out.size(), 65536, [&](std::int64_t begin, std::int64_t end) {
    Real values[block_elements];
    for (std::int64_t at = begin; at < end; at += block_elements) {
      const std::int64_t count = end - at < block_elements ? end - at : block_elements;
      fill(stream.from(at), values, count);
      strop::detail::convert_elements(dtype_of<Real>, values, out.dtype(), out.bytes() + at * size_of(out.dtype()),
                                      count);
    }
  });
}

}  // namespace strop::inline v0::random::detail
