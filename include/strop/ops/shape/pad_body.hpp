// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/shape/pad.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/ops/shape/move_body.hpp>
#include <strop/ops/shape/pad.hpp>
#include <strop/tensor/cast.hpp>

namespace strop::inline v0 {

inline detail::List<detail::List<std::int64_t>> Pad::sources(const Shape& in) const {
  detail::List<detail::List<std::int64_t>> all(in.ndim());
  for (int k = 0; k < in.ndim(); ++k) {
    const std::int64_t before = (*pad_width)[2 * k], after = (*pad_width)[2 * k + 1], n = in[k];
    for (std::int64_t i = -before; i < n + after; ++i) {
      std::int64_t from = i;
      if (i < 0) from = *mode == constant ? -1 : *mode == edge ? 0 : -i;
      if (i >= n) from = *mode == constant ? -1 : *mode == edge ? n - 1 : 2 * (n - 1) - i;
      all[k].push_back(from);
    }
  }
  return all;
}

namespace detail {

/// Calls f(first element of a row of the padded array, of the source's row or −1) for each row of the last axis.
template <class F>
void each_padded_row(const detail::List<detail::List<std::int64_t>>& sources, const Shape& in, F f) {
  const std::int64_t rank = sources.size();
  if (rank == 0) return f(0, 0);
  const std::int64_t width = sources[rank - 1].size();
  std::int64_t rows = 1;
  for (std::int64_t k = 0; k + 1 < rank; ++k) rows *= sources[k].size();
  // Where the source's rows begin that stand under a position of the axes before the last two, or −1.
  const auto matrix_of = [&](std::int64_t rest) {
    std::int64_t from = 0, step = rank < 2 ? 1 : in[rank - 1] * in[rank - 2];
    for (std::int64_t k = rank - 2; k-- > 0; step *= in[k]) {
      const std::int64_t source = sources[k][rest % sources[k].size()];
      from = source < 0 || from < 0 ? -1 : from + source * step;
      rest /= sources[k].size();
    }
    return from;
  };
  const std::int64_t height = rank < 2 ? 1 : sources[rank - 2].size();
  parallel_for(rows, std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, width)),
               [&](std::int64_t begin, std::int64_t end) {
                 std::int64_t at = begin % height, matrix = matrix_of(begin / height);
                 for (std::int64_t r = begin; r < end; ++r) {
                   const std::int64_t source = rank < 2 ? 0 : sources[rank - 2][at];
                   f(r * width, source < 0 || matrix < 0 ? -1 : matrix + source * in[rank - 1]);
                   if (++at < height || r + 1 == end) continue;
                   at = 0;
                   matrix = matrix_of((r + 1) / height);
                 }
               });
}

}  // namespace detail

inline void Pad::forward(Cpu&, const NDArray& x, NDArray& y) const {
  const auto from = sources(x.shape());
  std::byte value[8];
  constant_value.store(y.dtype(), value);
  if (y.size() == 0) return;
  detail::visit_bits(y.dtype(), [&]<class Bits>(Bits) {
    Bits fill;
    std::memcpy(&fill, value, sizeof fill);
    const Bits* in = x.pointer<Bits>();
    Bits* out = y.pointer<Bits>();
    if (from.empty()) {
      *out = *in;
      return;
    }
    const detail::List<std::int64_t>& last = from.back();
    const auto inside = x.shape().back(), before = (*pad_width)[pad_width.value->ndim() - 2];
    detail::each_padded_row(from, x.shape(), [&](std::int64_t row, std::int64_t source) {
      Bits* to = out + row;
      if (source < 0) {
        detail::move_run(&fill, to, last.size(), 0, 1, false);
        return;
      }
      const auto put = [&](std::int64_t i) { to[i] = last[i] < 0 ? fill : in[source + last[i]]; };
      for (std::int64_t i = 0; i < before; ++i) put(i);
      detail::copy_run(to + before, in + source, inside * std::int64_t{sizeof(Bits)});
      for (auto i = before + inside; i < static_cast<std::int64_t>(last.size()); ++i) put(i);
    });
  });
}

template <Real E>
inline void PadGradient::forward(Cpu&, View<const E> dy, View<const E>, View<E> dx) const {
  const Shape shape(dx.shape());
  const auto from = Pad{.mode = mode, .pad_width = pad_width}.sources(shape);
  std::fill(dx.begin(), dx.end(), E(0));
  if (dy.size() == 0) return;
  if (from.empty()) {
    dx[0] = dy[0];
    return;
  }
  // One after the other: rows of the padded array share rows of the source.
  detail::List<std::int64_t> rows;
  const std::int64_t width = from.back().size();
  rows.resize(dy.size() / width);
  detail::each_padded_row(from, shape, [&](std::int64_t row, std::int64_t source) { rows[row / width] = source; });
  const auto add = [&](auto* sums) {
    for (std::int64_t r = 0; r < rows.size(); ++r) {
      if (rows[r] < 0) continue;
      const E* in = dy.data() + r * width;
      for (std::int64_t i = 0; i < width; ++i)
        if (const std::int64_t at = from.back()[i]; at >= 0) sums[rows[r] + at] += in[i];
    }
  };
  if (mode != Pad::edge) return add(dx.data());
  detail::List<double> sums(dx.size());  // the whole padding of an edge goes to one element
  add(sums.data());
  for (std::int64_t i = 0; i < dx.size(); ++i) dx[i] = static_cast<E>(sums[i]);
}

}  // namespace strop::inline v0
