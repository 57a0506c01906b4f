// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/sequence.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/init.hpp>
#include <strop/ops/init_body.hpp>
#include <strop/ops/sequence.hpp>
#include <strop/ops/shape/move.hpp>
#include <strop/ops/shape/move_body.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

/// Steps and sequences of an array, whichever of its first two axes is which.
struct SequencePlan {
  std::int64_t steps, batch, bytes;  // bytes of one step of one sequence
  bool steps_first;
  detail::List<std::int64_t> length;

  /// Lengths from `least` to the steps that there are; others are an Error or, with `clip`, brought inside.
  SequencePlan(const NDArray& x, const NDArray& lengths, int axis, std::int64_t least, bool clip, std::string_view op)
      : steps(x.shape()[axis]),
        batch(x.shape()[1 - axis]),
        bytes(x.shape().size(2, x.ndim()) * size_of(x.dtype())),
        steps_first(axis == 0),
        length(batch, steps) {
    if (!lengths.defined()) return;
    convert_elements(lengths.dtype(), lengths.bytes(), i64, length.data(), batch);
    for (std::int64_t b = 0; b < length.size(); ++b)
      if (clip)
        length[b] = std::clamp<std::int64_t>(length[b], 0, steps);
      else if (length[b] < least || length[b] > steps)
        fail(op, ": sequence ", b, " has length ", length[b], ", expected ", least, " to ", steps);
  }
  /// Offset of step t of sequence b, in bytes.
  std::int64_t at(std::int64_t t, std::int64_t b) const {
    return (steps_first ? t * batch + b : b * steps + t) * bytes;
  }
};

}  // namespace detail

inline void SequenceMask::forward(Cpu&, const NDArray& x, const NDArray& lengths, NDArray& y) const {
  fill(x, lengths, y, value);
}

inline void SequenceMask::grad(Cpu&, Head<"output", NDArray> dy, In<"sequence_length", NDArray> lengths,
                               Grad<"data", NDArray> dx) const {
  if (dx.defined()) fill(dy, lengths, dx, 0);
}

inline void SequenceMask::fill(const NDArray& x, const NDArray& lengths, const NDArray& y, const Scalar& behind) const {
  const detail::SequencePlan plan(x, lengths, axis, 0, true, "sequence_mask");
  detail::copy_elements(x, y);
  if (plan.bytes == 0) return;
  const NDArray step(Shape{plan.bytes / size_of(y.dtype())}, y.dtype());
  detail::fill_elements(step, behind);
  for (std::int64_t b = 0; b < plan.batch; ++b)
    for (std::int64_t t = plan.length[b]; t < plan.steps; ++t)
      detail::copy_bytes(y.bytes() + plan.at(t, b), step.bytes(), plan.bytes);
}

inline void SequenceLast::forward(Cpu&, const NDArray& x, const NDArray& lengths, NDArray& y) const {
  each(x, lengths, [&](std::int64_t whole, std::int64_t part, std::size_t bytes) {
    std::memcpy(y.bytes() + part, x.bytes() + whole, bytes);
  });
}

inline void SequenceLast::grad(Cpu&, Head<"output", NDArray> dy, In<"sequence_length", NDArray> lengths,
                               Grad<"data", NDArray> dx) const {
  if (!dx.defined()) return;
  detail::zero_elements(dx);
  each(dx, lengths, [&](std::int64_t whole, std::int64_t part, std::size_t bytes) {
    std::memcpy(dx.bytes() + whole, dy.bytes() + part, bytes);
  });
}

template <class F>
inline void SequenceLast::each(const NDArray& whole, const NDArray& lengths, F f) const {
  if (whole.size() == 0) {
    if (whole.shape()[axis] == 0) fail("sequence_last: input 'data' has shape ", whole.shape(), ", expected a step");
    return;
  }
  const detail::SequencePlan plan(whole, lengths, axis, 1, false, "sequence_last");
  for (std::int64_t b = 0; b < plan.batch; ++b)
    f(plan.at(plan.length[b] - 1, b), b * plan.bytes, static_cast<std::size_t>(plan.bytes));
}

inline void SequenceReverse::forward(Cpu&, const NDArray& x, const NDArray& lengths, NDArray& y) const {
  turn(x, lengths, y);
}

inline void SequenceReverse::grad(Cpu&, Head<"output", NDArray> dy, In<"sequence_length", NDArray> lengths,
                                  Grad<"data", NDArray> dx) const {
  if (dx.defined()) turn(dy, lengths, dx);
}

inline void SequenceReverse::turn(const NDArray& x, const NDArray& lengths, const NDArray& y) const {
  if (x.size() == 0) return;
  const detail::SequencePlan plan(x, lengths, axis, 0, false, "sequence_reverse");
  for (std::int64_t b = 0; b < plan.batch; ++b)
    for (std::int64_t t = 0; t < plan.steps; ++t) {
      const std::int64_t length = plan.length[b], from = t < length ? length - 1 - t : t;
      detail::copy_bytes(y.bytes() + plan.at(t, b), x.bytes() + plan.at(from, b), plan.bytes);
    }
}

}  // namespace strop::inline v0
