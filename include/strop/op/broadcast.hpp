// SPDX-License-Identifier: Apache-2.0
/// \file
/// Broadcasting: the common shape of operands, and walking an operand's elements in the order of the common shape.
#pragma once
#include <strop/core/error.hpp>
#include <strop/core/shape.hpp>
#include <strop/core/span.hpp>

#include <array>
#include <cstdint>
#include <cstring>

namespace strop::inline v0::detail {

/// Takes one more operand into the common shape, aligned at the last axis; false where two extents differ and none
/// is 1. An unknown extent is 1 or the one that it meets.
constexpr bool broadcast_into(Shape& common, const Shape& operand) {
  if (common == operand) return true;
  while (common.ndim() < operand.ndim()) common.insert(0, 1);
  const int lead = common.ndim() - operand.ndim();
  for (int i = 0; i < operand.ndim(); ++i) {
    std::int64_t& extent = common[lead + i];
    if (extent == operand[i] || operand[i] == 1 || (operand[i] < 0 && extent != 1)) continue;
    if (extent != 1 && extent >= 0) return false;
    extent = operand[i];
  }
  return true;
}

/// How an operand lies in the common shape: axes that can be walked as one are merged.
struct StridedIterator {
  static constexpr int most = 16;
  int rank = 0;
  std::int64_t extents[most], strides[most];  // of `rank` axes; strides in elements, 0 where broadcast

  StridedIterator() noexcept {}  // NOLINT(modernize-use-equals-default): the axes that are not there stay unset

  /// Whether the operand is the common shape itself, element by element.
  bool whole() const { return rank == 0 || (rank == 1 && strides[0] == 1); }

  static StridedIterator of(const Shape& common, const Shape& operand) {
    StridedIterator w;
    const int lead = common.ndim() - operand.ndim();
    std::int64_t stride[64];
    if (common.ndim() > 64) fail("strop: broadcasting takes at most 64 dimensions");
    std::int64_t step = 1;
    for (int i = common.ndim() - 1; i >= 0; --i) {
      const std::int64_t extent = i >= lead ? operand[i - lead] : 1;
      stride[i] = extent == 1 ? 0 : step;
      step *= extent;
    }
    for (int i = 0; i < common.ndim(); ++i) {
      const std::int64_t extent = common[i], s = stride[i];
      if (extent == 1) continue;
      if (w.rank > 0) {
        auto& last = w.strides[w.rank - 1];
        if (last == s * extent && (s != 0) == (last != 0)) {
          w.extents[w.rank - 1] *= extent;
          last = s;
          continue;
        }
      }
      if (w.rank == most) fail("strop: broadcasting alternates over more than ", most, " axes");
      w.extents[w.rank] = extent;
      w.strides[w.rank++] = s;
    }
    return w;
  }

  /// Calls run(offset, stride, position, length) for stretches of the elements [begin, begin + count).
  template <class F>
  void runs(std::int64_t begin, std::int64_t count, F run) const {
    if (count == 0) return;  // an axis may be empty: no remainder of it
    if (rank == 0) {
      run(std::int64_t{0}, std::int64_t{0}, std::int64_t{0}, count);
      return;
    }
    std::int64_t at[most];
    std::int64_t offset = 0, rest = begin;
    for (int i = rank - 1; i >= 0; --i) {
      at[i] = rest % extents[i];
      rest /= extents[i];
      offset += at[i] * strides[i];
    }
    const int last = rank - 1;
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t length = count - done < extents[last] - at[last] ? count - done : extents[last] - at[last];
      run(offset, strides[last], done, length);
      done += length;
      at[last] += length;
      offset += length * strides[last];
      for (int k = last; k > 0 && at[k] == extents[k]; --k) {
        offset += strides[k - 1] - at[k] * strides[k];
        at[k] = 0;
        ++at[k - 1];
      }
    }
  }
};

/// Copies the operand's elements [begin, begin + count) of the common shape to `to`; E stands for any type of its size.
template <class E>
void expand(const StridedIterator& walk, const void* from, void* to, std::int64_t begin, std::int64_t count) {
  const E* source = static_cast<const E*>(from);
  E* target = static_cast<E*>(to);
  walk.runs(begin, count, [&](std::int64_t offset, std::int64_t stride, std::int64_t at, std::int64_t length) {
    if (stride == 1) {
      detail::copy_bytes(target + at, source + offset, length * std::int64_t{sizeof(E)});
    } else if (stride == 0) {
      const E value = source[offset];
      for (std::int64_t i = 0; i < length; ++i) target[at + i] = value;
    } else {
      for (std::int64_t i = 0; i < length; ++i) target[at + i] = source[offset + i * stride];
    }
  });
}

/// Adds values of the common shape to the smaller operand that they belong to.
template <class V>
void reduce_into(const StridedIterator& walk, const V* values, double* sums, std::int64_t begin, std::int64_t count) {
  walk.runs(begin, count, [&](std::int64_t offset, std::int64_t stride, std::int64_t at, std::int64_t length) {
    if (stride == 0) {
      double total = 0;
      for (std::int64_t i = 0; i < length; ++i) total += static_cast<double>(values[at + i]);
      sums[offset] += total;
    } else {
      for (std::int64_t i = 0; i < length; ++i) sums[offset + i * stride] += static_cast<double>(values[at + i]);
    }
  });
}

}  // namespace strop::inline v0::detail
