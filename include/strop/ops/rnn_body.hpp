// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of the operators of ops/rnn.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/engine/pool.hpp>
#include <strop/ops/dropout_factors.hpp>
#include <strop/ops/dropout_factors_body.hpp>
#include <strop/ops/rnn.hpp>
#include <strop/ops/rnn_kernels_body.hpp>
#include <strop/ops/shape/move.hpp>
#include <strop/ops/shape/move_body.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

namespace detail {
/// What begins `offset` elements behind the first; nothing of nothing, as the output of no steps is.
template <class E>
E* part_from(E* first, std::int64_t offset) {
  return first == nullptr ? nullptr : first + offset;
}
}  // namespace detail

inline std::vector<std::string_view> RNN::inputs() const {
  std::vector<std::string_view> names{"data", "parameters", "state"};
  if (has_cells()) names.push_back("state_cell");
  if (use_sequence_length) names.push_back("sequence_length");
  return names;
}

inline Resources RNN::resources(std::span<const Shape>) const { return {.random = drops(detail::call_mode.training)}; }

template <Real E>
inline void RNN::forward(Cpu& ctx, View<const E, 3> data, View<const E, 1> parameters, View<const E, 3> state,
                         View<const E> fourth, View<const std::int64_t, 1> fifth, View<E, 3> y, View<E, 3> last_state,
                         View<E> last_cell, View<E, 1> reserve) const {
  const detail::RnnSizes s = sizes(data);
  const detail::List<std::int64_t> lengths = lengths_of<E>(s, fourth, fifth);
  const random::Stream stream = drops(ctx.train) ? ctx.random() : random::Stream{};
  E* const room = has_cells() ? nullptr : ctx.temp<E>(detail::RnnLayer<E>::room(s)).data();
  E* const dropped = p > 0 && s.layers > 1 ? ctx.temp<E>(s.given()).data() : nullptr;
  for (std::int64_t l = 0; l < s.layers; ++l) {
    const E* x = data.data();
    if (l > 0) {
      x = given_by(s, l - 1, y.data(), reserve.data());
      if (dropped != nullptr) {
        E* const mask = mask_of(s, l, reserve.data());
        draw(drops(ctx.train), stream.from((l - 1) * s.given()), mask, s.given());
        detail::multiply_dropout(x, mask, dropped, s.given());
        x = dropped;
      }
    }
    for (std::int64_t d = 0; d < s.directions; ++d) {
      const std::int64_t at = (l * s.directions + d) * s.batch * s.units;
      const bool cells = has_cells();
      layer<E>(s, lengths, parameters, l, d)
          .forward(x, state.data() + at, cells ? fourth.data() + at : nullptr,
                   detail::part_from(given_by(s, l, y.data(), reserve.data()), d * s.units), s.directions * s.units,
                   last_state.data() + at, cells ? last_cell.data() + at : nullptr,
                   cells ? gates_of(s, l, d, reserve.data()) : room);
    }
  }
}

template <Real E>
inline void RNN::grad_use_in_out(Cpu& ctx, View<const E, 3> dy, View<const E, 3> dlast_state, View<const E> dlast_cell,
                                 View<const E, 3> data, View<const E, 1> parameters, View<const E, 3> state,
                                 View<const E> fourth, View<const std::int64_t, 1> fifth, View<const E, 3> y,
                                 View<const E, 3>, View<const E>, View<const E, 1> reserve, View<E, 3> ddata,
                                 View<E, 1> dparameters, View<E, 3> dstate, View<E> dfourth, NDArray& dfifth) const {
  const detail::RnnSizes s = sizes(data);
  const detail::List<std::int64_t> lengths = lengths_of<E>(s, fourth, fifth);
  const bool cells = has_cells();
  if (dfifth.defined()) detail::zero_elements(dfifth);
  if (!cells && dfourth) std::fill(dfourth.begin(), dfourth.end(), E(0));
  const std::int64_t inner = s.points() * s.units, sets = s.layers * s.directions * s.batch * s.units;
  const auto space = [&](bool needed, std::int64_t count) -> E* {
    return needed ? ctx.temp<E>(count).data() : nullptr;
  };
  E* const room = space(true, (detail::RnnLayer<E>::apart(s) ? 2 : 1) * detail::RnnLayer<E>::room(s));
  E* const befores = space(true, inner);
  E *const dropped = space(p > 0 && s.layers > 1, s.given()), *const unused = space(cells && !dfourth, sets);
  E *const below = space(s.layers > 1, s.given()), *const above = space(s.layers > 2, s.given());
  std::copy_n(dlast_state.data(), sets, dstate.data());
  E* const dcell = !cells ? nullptr : dfourth ? dfourth.data() : unused;
  if (cells) std::copy_n(dlast_cell.data(), sets, dcell);
  const E* head = dy.data();
  for (std::int64_t l = s.layers; l-- > 0;) {
    const E* x = data.data();
    const E* const mask = dropped != nullptr && l > 0 ? mask_of(s, l, reserve.data()) : nullptr;
    if (l > 0) x = given_by(s, l - 1, y.data(), reserve.data());
    if (mask != nullptr) detail::multiply_dropout(x, mask, dropped, s.given()), x = dropped;
    E* const dx = l == 0 ? ddata.data() : (s.layers - l) % 2 == 1 ? below : above;
    for (std::int64_t d = 0; d < s.directions; ++d) {
      const std::int64_t at = (l * s.directions + d) * s.batch * s.units;
      layer<E>(s, lengths, parameters, l, d)
          .backward({.x = x,
                     .h0 = state.data() + at,
                     .c0 = cells ? fourth.data() + at : nullptr,
                     .y = detail::part_from(given_by(s, l, y.data(), reserve.data()), d * s.units),
                     .dy = detail::part_from(head, d * s.units),
                     .y_row = s.directions * s.units,
                     .dx = l == 0 && ctx.request(0) == Request::null ? nullptr : dx,
                     .dh = dstate.data() + at,
                     .dc = cells ? dcell + at : nullptr,
                     .adds_dx = d > 0,
                     .dparameters = ctx.request(1) == Request::null ? nullptr : dparameters.data(),
                     .room = room,
                     .befores = befores,
                     .gates = cells ? gates_of(s, l, d, reserve.data()) : nullptr},
                    l, d);
    }
    if (mask != nullptr) detail::multiply_dropout(dx, mask, dx, s.given());
    head = dx;
  }
}

inline bool RNN::drops(bool train) const { return train && p > 0 && *num_layers > 1; }

template <class E>
inline detail::RnnSizes RNN::sizes(View<const E, 3> data) const {
  return sizes(data.shape()[0], data.shape()[1], data.shape()[2]);
}

template <class E>
inline detail::RnnLayer<E> RNN::layer(const detail::RnnSizes& s, const detail::List<std::int64_t>& lengths,
                                      View<const E, 1> parameters, std::int64_t l, std::int64_t d) const {
  detail::CellBounds<E> bounds;
  if (lstm_state_clip_min)
    bounds = {true, lstm_state_clip_nan, static_cast<E>(*lstm_state_clip_min), static_cast<E>(*lstm_state_clip_max)};
  return {s, bounds, use_sequence_length ? lengths.data() : nullptr, parameters.data(), l, d};
}

template <class E>
inline detail::List<std::int64_t> RNN::lengths_of(const detail::RnnSizes& s, View<const E> fourth,
                                                  View<const std::int64_t, 1> fifth) const {
  detail::List<std::int64_t> lengths;
  if (!use_sequence_length) return lengths;
  for (std::int64_t i = 0; i < s.batch; ++i) {
    const double given = has_cells() ? static_cast<double>(fifth[i]) : static_cast<double>(fourth[i]);
    if (!(given > -1 && given < static_cast<double>(s.steps + 1)))
      fail("rnn: element ", i, " of input 'sequence_length' is ", given, ", expected 0 to ", s.steps);
    lengths.push_back(static_cast<std::int64_t>(given));
  }
  return lengths;
}

template <class E>
inline E* RNN::given_by(const detail::RnnSizes& s, std::int64_t l, E* y, E* reserve) {
  return l == s.layers - 1 ? y : reserve + l * s.given();
}

template <class E>
inline E* RNN::mask_of(const detail::RnnSizes& s, std::int64_t l, E* reserve) {
  return reserve + (s.layers - 1 + l - 1) * s.given();
}

template <class E>
inline E* RNN::gates_of(const detail::RnnSizes& s, std::int64_t l, std::int64_t d, E* reserve) const {
  return detail::part_from(reserve, arrays_given() * s.given() + (l * s.directions + d) * 5 * s.points() * s.units);
}

template <class E>
inline void RNN::draw(bool drop, const random::Stream& stream, E* mask, std::int64_t n) const {
  if (!drop) return std::fill_n(mask, n, E(1)), void();
  parallel_for(n, detail::dropout_grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += detail::dropout_block)
      detail::draw_dropout(stream.from(at), p, mask + at, std::min(detail::dropout_block, end - at));
  });
}

}  // namespace strop::inline v0
