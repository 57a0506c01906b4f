// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/init.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/ops/init.hpp>
#include <strop/ops/shape/move_body.hpp>
#include <strop/tensor/cast.hpp>
#include <strop/tensor/create.hpp>

#include <string>
#include <string_view>

namespace strop::inline v0 {

namespace detail {

/// Sets every element to one number.
inline void fill_elements(const NDArray& y, const Scalar& value) {
  std::byte one[8];
  value.store(y.dtype(), one);
  visit_bits(y.dtype(), [&]<class Bits>(Bits) {
    Bits bits;
    std::memcpy(&bits, one, sizeof bits);
    Bits* to = y.pointer<Bits>();
    parallel_for(y.size(), 1 << 16,
                 [&](std::int64_t begin, std::int64_t end) { std::fill(to + begin, to + end, bits); });
  });
}

/// y[i] = start + step · ⌊i / repeat⌋.
inline void fill_progression(const NDArray& y, const Scalar& start, const Scalar& step, std::int64_t repeat) {
  parallel_for(y.size(), 1 << 15, [&](std::int64_t begin, std::int64_t end) {
    fill_range(y.dtype(), y.bytes() + begin * size_of(y.dtype()), start, step, begin, end - begin, repeat);
  });
}

/// Where `ctx` asks for a device, it is the one that the operator runs on.
inline void check_device(const std::string& ctx, std::string_view op) {
  if (!ctx.empty() && !ctx.starts_with("cpu"))
    fail(op, ": ctx is '", ctx, "', and the operator runs on the CPU; move the result with to()");
}

}  // namespace detail

inline void ZerosOp::forward(Cpu&, NDArray& y) const {
  detail::check_device(ctx, name);
  if (y.storage() == dense)
    detail::zero_elements(y);
  else
    y.allocate_stored(0);
}

inline void ZerosWithoutDtypeOp::forward(Cpu& cpu, NDArray& y) const { ZerosOp{.ctx = ctx}.forward(cpu, y); }

inline void OnesOp::forward(Cpu&, NDArray& y) const {
  detail::check_device(ctx, name);
  detail::fill_elements(y, 1);
}

inline void FullOp::forward(Cpu&, NDArray& y) const {
  detail::check_device(ctx, name);
  detail::fill_elements(y, *value);
}

inline void ArangeOp::forward(Cpu&, NDArray& y) const {
  detail::check_device(ctx, name);
  detail::fill_progression(y, first(), step, repeat);
}

inline void EyeOp::forward(Cpu&, NDArray& y) const {
  detail::check_device(ctx, name);
  detail::zero_elements(y);
  const NDArray one({1}, dtype);
  detail::fill_elements(one, 1);
  const std::int64_t rows = y.shape()[0], columns = y.shape()[1];
  if (k >= columns || k <= -rows) return;  // the diagonal lies outside
  const std::int64_t row = k < 0 ? -k : 0, column = k > 0 ? k : 0;
  detail::Move m;
  m.axis(std::min(rows - row, columns - column), 0, columns + 1);
  m.out_start = row * columns + column;
  detail::move_elements(m, one, y);
}

inline void LinspaceOp::forward(Cpu&, NDArray& y) const {
  detail::check_device(ctx, name);
  const int gaps = endpoint ? *num - 1 : *num;
  const Scalar &first = *start, &last = *stop;
  detail::fill_progression(y, first.real, gaps > 0 ? (last.real - first.real) / gaps : 0, 1);
  if (y.size() != 0) first.store(dtype, y.bytes());  // both ends with all their digits
  if (endpoint && *num > 1) last.store(dtype, y.bytes() + (y.size() - 1) * size_of(dtype));
}

inline void ZerosLike::forward(Cpu&, const NDArray&, NDArray& y) const {
  if (y.storage() == dense)
    detail::zero_elements(y);
  else
    y.allocate_stored(0);
}

inline void OnesLike::forward(Cpu&, const NDArray&, NDArray& y) const { detail::fill_elements(y, 1); }

inline void ArangeLike::forward(Cpu&, const NDArray&, NDArray& y) const {
  detail::fill_progression(y, start, step, repeat);
}

}  // namespace strop::inline v0
