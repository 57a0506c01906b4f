// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the walk over the tape makes of gradients as arrays: sums, and those that are not computed by an operator.
#pragma once
#include <strop/autograd/tape.hpp>
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/engine/pool.hpp>
#include <strop/op/broadcast.hpp>
#include <strop/op/map_sparse.hpp>
#include <strop/tensor/create.hpp>
#include <strop/tensor/sparse.hpp>

namespace strop::inline v0::detail {

/// Repeats the elements of a small array to fill one that it broadcasts to, both dense, of one type, on the CPU.
STROP_IMPL void repeat_elements(const NDArray& from, const NDArray& to) {
  const StridedIterator walk = StridedIterator::of(to.shape(), from.shape());
  const std::byte* const source = from.bytes();
  const std::int64_t size = size_of(to.dtype());
  parallel_for(to.size(), map_grain, [&](std::int64_t begin, std::int64_t end) {
    std::byte* const target = to.address() + begin * size;
    switch (size) {
      case 1:
        return expand<std::uint8_t>(walk, source, target, begin, end - begin);
      case 2:
        return expand<std::uint16_t>(walk, source, target, begin, end - begin);
      case 4:
        return expand<std::uint32_t>(walk, source, target, begin, end - begin);
      default:
        return expand<std::uint64_t>(walk, source, target, begin, end - begin);
    }
  });
}

/// The gradient as a whole, where it came in a shape that broadcasts to this one.
STROP_IMPL NDArray repeated(const NDArray& gradient, const Shape& shape) {
  if (gradient.shape() == shape) return gradient;
  const NDArray whole(shape, gradient.dtype(), gradient.device());
  repeat_elements(gradient, whole);
  return whole;
}

STROP_IMPL NDArray filled_like(const NDArray& a, double value) { return full(a.shape(), value, a.dtype(), a.device()); }

/// A gradient without elements stands for zeros.
STROP_IMPL bool is_known_zero(const NDArray& gradient) {
  return gradient.defined() && gradient.storage() == dense && !gradient.allocated();
}

/// One element that broadcasts to the array.
STROP_IMPL NDArray constant_like(const NDArray& a, double value) {
  Shape shape = a.shape();
  for (std::int64_t& extent : shape) extent = 1;
  return full(shape, value, a.dtype(), a.device());
}

/// Whether nobody else holds the array or its memory.
inline bool is_sole(const NDArray& a) {
  return a.body().owners() == 1 && a.allocated() && a.body().buffer->owners() == 1 && !a.body().gradient_node &&
         !a.body().leaf && !a.body().buffer->is_foreign();
}

/// What a gradient operator is given.
struct GradientInputs {
  List<NDArray, 4> arrays;
  bool sparse = false, sparse_head = false;
  int free_head = -1;  // a head gradient that nobody else holds
  void push(NDArray a) {
    sparse = sparse || a.storage() != dense;
    arrays.push_back(std::move(a));
  }
  void push_head(NDArray head) {
    sparse_head = sparse_head || head.storage() != dense;
    if (head.storage() == dense && is_sole(head)) free_head = static_cast<int>(arrays.size());
    push(std::move(head));
  }
  /// Makes heads dense that came row-sparse for dense outputs; says whether there were any.
  bool whole_heads(const TapeNode& node, const GradientRoles& roles) {
    bool any = false;
    for (Index i = 0; i < arrays.size(); ++i)
      if (const auto& [role, at] = roles.takes[static_cast<int>(i)];
          role == Role::head && arrays[i].storage() != dense && node.outputs[at].array.storage() == dense)
        arrays[i] = dense_form(arrays[i]), any = true, sparse_head = false;
    return any;
  }
};

}  // namespace strop::inline v0::detail
