// SPDX-License-Identifier: Apache-2.0
/// \file
/// RNN: layers of recurrent units, LSTM and GRU among them, over the steps of sequences.
#pragma once
#include <strop/core/checked.hpp>
#include <strop/memory/random.hpp>
#include <strop/op/op.hpp>
#include <strop/ops/list.hpp>
#include <strop/ops/rnn_kernels.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace strop::inline v0 {

/// With x the input of a step, h and c the state and the cell before it, and W, R, b, d the weights and biases of each
/// gate:
///
///  - rnn_relu, rnn_tanh: h′ = relu or tanh(W x + b + R h + d);
///  - lstm, gates i, f, g, o: c′ = σ(f) · c + σ(i) · tanh(g), h′ = σ(o) · tanh(c′), each gate being W x + b + R h + d;
///  - gru, gates r, z, n: n = tanh(Wₙ x + bₙ + σ(r) · (Rₙ h + dₙ)), h′ = (1 − σ(z)) · n + σ(z) · h.
///
/// data (steps, batch, inputs); state, and state_cell of an LSTM, (num_layers · directions, batch, state_size); output
/// (steps, batch, directions · state_size). The second direction goes from the last step to the first, its results
/// stand behind those of the first one, and both are the next layer's inputs. parameters is one vector: for each layer
/// and direction W, whose rows are the units of the gates in the order above, then R; behind all of them for each layer
/// and direction b, then d. With `state_outputs` the last states, and cells of an LSTM, are outputs as well. In
/// training an element of what one layer gives to the next is 0 with probability p, else divided by 1 − p. Floating
/// types; sparse arrays by the dense fallback.
///
/// With `use_sequence_length` there is an input sequence_length (batch,), except of an LSTM of data's type, whose
/// fractions are cut off: behind the end of its sequence the output is 0, and the states stay. That and the bounds of
/// the cells are as MXNet has them on GPUs; on the CPU it refuses or ignores them. Where a bound is reached, the
/// gradient is 0. The hidden output `reserve` keeps what the layers but the last give, and the gates and cells of an
/// LSTM; other gates are computed again for the gradient. Error: other shapes, projection_size, one bound of the cells
/// without the other, a length outside 0 … steps.
///
/// Example: `rnn(array({{{1}}, {{2}}}), array({1, 1, 0, 0}), zeros({1, 1, 1}), {.state_size = 1, .num_layers = 1, .mode
/// = RNN::rnn_relu})[0]` is [[[1]], [[3]]].
struct RNN {
  using enum RnnMode;
  Required<int> state_size = {};
  Required<int> num_layers = {};
  bool bidirectional = false;
  Required<RnnMode> mode = {};
  float p = 0;
  bool state_outputs = false;
  std::optional<int> projection_size = {};
  std::optional<double> lstm_state_clip_min = {}, lstm_state_clip_max = {};
  bool lstm_state_clip_nan = false;
  bool use_sequence_length = false;

  static constexpr std::string_view name = "RNN";
  static constexpr std::string_view aliases[] = {"_npx_rnn"};
  static constexpr std::string_view outputs[] = {"output", "state_output", "statecell_output", "reserve"};
  static constexpr const char* doc =
      "Layers of recurrent units, plain ones, LSTM or GRU, over the steps of data (steps, batch, inputs).";
  static constexpr Note notes[] = {
      {"state_size", "units of each layer in each direction"},
      {"num_layers", "layers, each on what the one before it gives"},
      {"bidirectional", "there is a second direction, from the last step to the first"},
      {"mode", "the kind of units"},
      {"p", "the probability of what a layer gives to the next to be dropped in training"},
      {"state_outputs", "the last states, and cells of an LSTM, are outputs as well"},
      {"projection_size", "is refused; MXNet has it on GPUs"},
      {"lstm_state_clip_min", "the least value of a cell, together with lstm_state_clip_max"},
      {"lstm_state_clip_max", "the largest value of a cell, together with lstm_state_clip_min"},
      {"lstm_state_clip_nan", "with these, a cell that is NaN becomes the least value"},
      {"use_sequence_length", "there is a last input, how many steps each sequence has"}};
  static constexpr Range range[] = {{"state_size", 1}, {"num_layers", 1}, {"p", 0, 1}};

  static constexpr int visible = 3;
  constexpr int visible_count() const { return !state_outputs ? 1 : has_cells() ? 3 : 2; }
  std::vector<std::string_view> inputs() const;
  constexpr int input_count() const { return 3 + (has_cells() ? 1 : 0) + (use_sequence_length ? 1 : 0); }

  template <int = 0>
  constexpr void infer_shape(Shapes& s) const {
    constexpr std::int64_t any = Shape::unknown_extent;
    if (projection_size) s.fail("projection_size is not supported");
    if (lstm_state_clip_min.has_value() != lstm_state_clip_max.has_value())
      s.fail("lstm_state_clip_min and lstm_state_clip_max come together");
    if (lstm_state_clip_min && !(*lstm_state_clip_min <= *lstm_state_clip_max))
      s.fail("lstm_state_clip_min is above lstm_state_clip_max");
    const std::int64_t sets = detail::checked_product(*num_layers, directions(), s.op()),
                       units = detail::checked_product(directions(), *state_size, s.op());
    s.set_out(0, {any, any, units});
    s.set_in(0, {s.out(0)[0], s.out(0)[1], any});
    s.set_in(2, {sets, s.in(0)[1], *state_size});
    s.set_in(0, {any, s.in(2)[1], any});
    const std::int64_t steps = s.in(0)[0], batch = s.in(0)[1];
    s.set_out(0, {steps, batch, any});
    s.set_in(2, {any, batch, any});
    s.set_out(1, {sets, batch, *state_size});
    if (has_cells()) s.set_in(3, {sets, batch, *state_size});
    s.set_out(2, has_cells() ? Shape{sets, batch, *state_size} : Shape{0});
    if (use_sequence_length) s.set_in(s.inputs() - 1, {batch});
    if (s.in(0)[2] >= 0) {
      check_sizes(s, s.in(0)[2]);
      s.set_in(1, {sizes(steps, batch, s.in(0)[2]).parameters()});
    }
    if (steps >= 0 && batch >= 0) {
      const std::int64_t given = detail::checked_product(detail::checked_product(steps, batch, s.op()), units, s.op());
      s.set_out(3, {detail::checked_product(given, kept_arrays(), s.op())});
    }
  }
  template <int = 0>
  constexpr void infer_type(Types& t) const {
    t.set_out(0, t.in(0));
    t.set_in(0, t.out(0));
    if (!t.in(0)) return;
    for (int i = 1; i < t.inputs(); ++i)
      if (!(has_cells() && i == 4) || !t.in(i)) t.set_in(i, t.in(0));
    for (int i = 1; i < 3; ++i) t.set_out(i, t.in(0));
    t.set_out(3, is_half(*t.in(0)) ? f32 : *t.in(0));
  }
  Resources resources(std::span<const Shape>) const;

  // Behind state come the cells of an LSTM and the lengths, where there are such; an argument without one is empty.
  template <Real E>
  void forward(Cpu& ctx, View<const E, 3> data, View<const E, 1> parameters, View<const E, 3> state,
               View<const E> fourth, View<const std::int64_t, 1> fifth, View<E, 3> y, View<E, 3> last_state,
               View<E> last_cell, View<E, 1> reserve) const;

  template <Real E>
  void grad_use_in_out(Cpu& ctx, View<const E, 3> dy, View<const E, 3> dlast_state, View<const E> dlast_cell,
                       View<const E, 3> data, View<const E, 1> parameters, View<const E, 3> state, View<const E> fourth,
                       View<const std::int64_t, 1> fifth, View<const E, 3> y, View<const E, 3>, View<const E>,
                       View<const E, 1> reserve, View<E, 3> ddata, View<E, 1> dparameters, View<E, 3> dstate,
                       View<E> dfourth, NDArray& dfifth) const;

 private:
  constexpr bool has_cells() const { return mode.value == RnnMode::lstm; }
  constexpr int directions() const { return bidirectional ? 2 : 1; }
  /// Arrays as large as what a layer gives in the hidden output: those of all layers but the last, and their masks;
  /// then of an LSTM the four gates and the cells of all.
  constexpr std::int64_t kept_arrays() const {
    return arrays_given() + (has_cells() ? 5 * std::int64_t{*num_layers} : 0);
  }
  constexpr std::int64_t arrays_given() const { return (std::int64_t{*num_layers} - 1) * (p > 0 ? 2 : 1); }
  bool drops(bool train) const;

  constexpr detail::RnnSizes sizes(std::int64_t steps, std::int64_t batch, std::int64_t width) const {
    return {*mode, steps, batch, width, *state_size, *num_layers, directions()};
  }
  template <class E>
  detail::RnnSizes sizes(View<const E, 3> data) const;
  /// Refuses what has more parameters than can be counted.
  template <int = 0>
  constexpr void check_sizes(Shapes& s, std::int64_t width) const {
    const std::int64_t units = *state_size, most = detail::larger(width, directions() * units) + units + 2;
    const std::int64_t rows = detail::checked_product(4 * directions(), units, s.op());
    detail::checked_product(detail::checked_product(rows, most, s.op()), *num_layers, s.op());
  }
  template <class E>
  detail::RnnLayer<E> layer(const detail::RnnSizes& s, const detail::List<std::int64_t>& lengths,
                            View<const E, 1> parameters, std::int64_t l, std::int64_t d) const;
  template <class E>
  detail::List<std::int64_t> lengths_of(const detail::RnnSizes& s, View<const E> fourth,
                                        View<const std::int64_t, 1> fifth) const;

  /// What layer l gives: the output, or a part of the hidden one.
  template <class E>
  static E* given_by(const detail::RnnSizes& s, std::int64_t l, E* y, E* reserve);
  /// The factors of what layer l is given.
  template <class E>
  static E* mask_of(const detail::RnnSizes& s, std::int64_t l, E* reserve);
  /// The gates of layer l in direction d, of an LSTM, behind which its cells are.
  template <class E>
  E* gates_of(const detail::RnnSizes& s, std::int64_t l, std::int64_t d, E* reserve) const;
  template <class E>
  void draw(bool drop, const random::Stream& stream, E* mask, std::int64_t n) const;
};
inline constexpr Op<RNN, OnUse> rnn;

using RnnOps = OpList<RNN>;

}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/rnn_body.hpp>
#endif
