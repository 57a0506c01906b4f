// SPDX-License-Identifier: Apache-2.0
/// \file
/// Bodies of what is declared in ops/rnn_kernels.hpp, which only what builds their kernels reads.
#pragma once
#include <strop/core/list.hpp>
#include <strop/core/span.hpp>
#include <strop/engine/pool.hpp>
#include <strop/number/lanes.hpp>
#include <strop/ops/gemm.hpp>
#include <strop/ops/rnn_kernels.hpp>
#include <strop/ops/softmax_kernels.hpp>
#include <strop/ops/softmax_kernels_body.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace strop::inline v0 {

namespace detail {

inline namespace STROP_ISA {

/// f(i, count) for registers of lanes along n numbers: `count` is how many lanes there are, but a plain number of the
/// last ones.
template <class E, class F>
[[gnu::always_inline]] inline void each_part(std::int64_t n, F f) {
  using R = number::Rep<number::Vec<E>>;
  std::int64_t i = 0;
  for (; i + R::lanes <= n; i += R::lanes) f(i, std::integral_constant<int, R::lanes>{});
  if (i < n) f(i, static_cast<int>(n - i));
}

template <class E, class Count>
[[gnu::always_inline]] inline number::Vec<E> load_part(const E* from, Count count) {
  using R = number::Rep<number::Vec<E>>;
  if constexpr (!std::is_same_v<Count, int>) {
    return R::load(from);
  } else {
    E part[R::lanes] = {};
    for (int j = 0; j < count; ++j) part[j] = from[j];
    return R::load(part);
  }
}

/// The factor B of many products, copied once into the order in which tiles read it: blocks of columns, of each of
/// several groups of `n` columns.
template <class E>
class Panels {
 public:
  using Tile = Tiles<E>;
  static constexpr std::int64_t cols = Tile::cols;

  Panels(Strided<E> b, std::int64_t k, std::int64_t n, std::int64_t groups)
      : b_(b), k_(k), n_(n), blocks_((n + cols - 1) / cols), space_(groups * blocks_ * k * cols + Tile::side) {}
  std::int64_t blocks() const { return blocks_; }
  /// How many columns a block has.
  std::int64_t width(std::int64_t block) const { return std::min(cols, n_ - block * cols); }
  void pack(std::int64_t group, std::int64_t block) {
    Tile::pack_panels(b_.at(0, group * n_ + block * cols), k_, width(block), panel(group, block));
  }
  /// c = or += a · the block. Of a, rows of `a_row` elements, up to excess() behind the last are read.
  void multiply(std::int64_t group, std::int64_t block, std::int64_t m, const E* a, std::int64_t a_row, E* c,
                std::int64_t c_row, bool add) {
    const std::int64_t n = width(block);
    for (std::int64_t p = 0; p < k_; p += Gemm<E>::depth) {
      const std::int64_t steps = std::min(Gemm<E>::depth, k_ - p);
      for (std::int64_t i = 0, height; i < m; i += height) {
        height = Tile::height(m - i);
        Tile::kernel_of(static_cast<int>(height), n > Tile::lanes)(
            {a + i * a_row + p, a_row, 1}, {panel(group, block) + p * cols, cols}, steps, c + i * c_row, c_row,
            std::min(height, m - i), n, add || p > 0);
      }
    }
  }
  static constexpr std::int64_t excess() { return Tile::rows; }

 private:
  E* panel(std::int64_t group, std::int64_t block) { return space_.data + (group * blocks_ + block) * k_ * cols; }

  Strided<E> b_;
  std::int64_t k_, n_, blocks_;
  typename Gemm<E>::Space space_;
};

/// What the cells of an LSTM are kept within.
template <class E>
struct CellBounds {
  bool given = false, replaces_nan = false;
  E low = 0, high = 0;
};

/// The gates of some units of one sequence at one step. Units of a gate are `units` behind those of the gate before.
template <class E>
struct Gates {
  using R = number::Rep<number::Vec<E>>;
  using V = number::Vec<E>;

  RnnMode mode = {};
  std::int64_t units = 0;
  CellBounds<E> bounds = {};

  /// Before the gates: x, to which their biases `bias` are added; of a GRU `state`, what the state gives to the new
  /// one, with its own bias behind the others. Gives the state h and the cell c. Of an LSTM x becomes its gates, which
  /// the gradient is made of, and with `keeps` x and `state` of a GRU.
  template <bool keeps>
  void forward(std::int64_t n, E* x, E* state, const E* bias, const E* h_before, E* h, const E* c_before, E* c) const {
    if (mode == RnnMode::lstm)
      each_part<E>(n, [&](std::int64_t i, auto count) {
        const auto gate = [&](std::int64_t k) {
          return load_part<E>(x + k * units + i, count) + load_part<E>(bias + k * units + i, count);
        };
        const V in = R::sigmoid(gate(0)), forget = R::sigmoid(gate(1)), fresh = R::tanh(gate(2)),
                out = R::sigmoid(gate(3));
        const V cell = bounded(forget * load_part<E>(c_before + i, count) + in * fresh);
        store_part<E>(c + i, cell, count);
        store_part<E>(h + i, out * R::tanh(cell), count);
        const V all[] = {in, forget, fresh, out};
        for (std::int64_t k = 0; k < 4; ++k) store_part<E>(x + k * units + i, all[k], count);
      });
    else if (mode == RnnMode::gru)
      each_part<E>(n, [&](std::int64_t i, auto count) {
        const auto gate = [&](std::int64_t k) {
          return load_part<E>(x + k * units + i, count) + load_part<E>(bias + k * units + i, count);
        };
        const V reset = R::sigmoid(gate(0)), update = R::sigmoid(gate(1)),
                old = load_part<E>(state + i, count) + load_part<E>(bias + 3 * units + i, count),
                fresh = R::tanh(gate(2) + reset * old);
        if constexpr (keeps) {
          const V all[] = {reset, update, fresh};
          for (std::int64_t k = 0; k < 3; ++k) store_part<E>(x + k * units + i, all[k], count);
          store_part<E>(state + i, old, count);
        } else {
          store_part<E>(h + i, fresh + update * (load_part<E>(h_before + i, count) - fresh), count);
        }
      });
    else if constexpr (!keeps)
      each_part<E>(n, [&](std::int64_t i, auto count) {
        const V sum = load_part<E>(x + i, count) + load_part<E>(bias + i, count);
        store_part<E>(h + i, mode == RnnMode::rnn_tanh ? R::tanh(sum) : R::select(sum < E(0), V{}, sum), count);
      });
  }

  /// Takes the gradient dh of the state and dc of the cell back through the gates. The gradient of what stood before
  /// the gates is written to x, where the gates may be. Of a GRU the part that the state gives is written over `state`.
  /// dh and dc become the gradients of the state and the cell before, but for the weights.
  void backward(std::int64_t n, const E* gates, E* x, E* state, E* dh, E* dc, const E* h_before, const E* h,
                const E* c_before, const E* c) const {
    if (mode == RnnMode::lstm)
      each_part<E>(n, [&](std::int64_t i, auto count) {
        const V in = load_part<E>(gates + i, count), forget = load_part<E>(gates + units + i, count),
                fresh = load_part<E>(gates + 2 * units + i, count), out = load_part<E>(gates + 3 * units + i, count),
                cell = load_part<E>(c + i, count), bent = R::tanh(cell), head = load_part<E>(dh + i, count);
        V slope = load_part<E>(dc + i, count) + head * out * (E(1) - bent * bent);
        if (bounds.given) slope = R::select(cell > bounds.low, R::select(cell < bounds.high, slope, V{}), V{});
        store_part<E>(x + i, slope * fresh * in * (E(1) - in), count);
        store_part<E>(x + units + i, slope * load_part<E>(c_before + i, count) * forget * (E(1) - forget), count);
        store_part<E>(x + 2 * units + i, slope * in * (E(1) - fresh * fresh), count);
        store_part<E>(x + 3 * units + i, head * bent * out * (E(1) - out), count);
        store_part<E>(dc + i, slope * forget, count);
        store_part<E>(dh + i, V{}, count);
      });
    else if (mode == RnnMode::gru)
      each_part<E>(n, [&](std::int64_t i, auto count) {
        const V reset = load_part<E>(gates + i, count), update = load_part<E>(gates + units + i, count),
                fresh = load_part<E>(gates + 2 * units + i, count), old = load_part<E>(state + 2 * units + i, count),
                head = load_part<E>(dh + i, count);
        const V to_fresh = head * (E(1) - update) * (E(1) - fresh * fresh),
                to_reset = to_fresh * old * reset * (E(1) - reset),
                to_update = head * (load_part<E>(h_before + i, count) - fresh) * update * (E(1) - update);
        const V all[] = {to_reset, to_update, to_fresh};
        for (std::int64_t k = 0; k < 3; ++k) {
          store_part<E>(x + k * units + i, all[k], count);
          store_part<E>(state + k * units + i, k < 2 ? all[k] : to_fresh * reset, count);
        }
        store_part<E>(dh + i, head * update, count);
      });
    else
      each_part<E>(n, [&](std::int64_t i, auto count) {
        const V given = load_part<E>(h + i, count), head = load_part<E>(dh + i, count);
        store_part<E>(x + i,
                      mode == RnnMode::rnn_tanh ? head * (E(1) - given * given) : R::select(given > E(0), head, V{}),
                      count);
        store_part<E>(dh + i, V{}, count);
      });
  }

 private:
  [[gnu::always_inline]] V bounded(V cell) const {
    if (!bounds.given) return cell;
    if (bounds.replaces_nan) cell = R::select(cell == cell, cell, R::splat(bounds.low));
    const V low = R::splat(bounds.low), high = R::splat(bounds.high);
    return R::select(cell < low, low, R::select(cell > high, high, cell));
  }
};

/// One direction of one layer.
template <class E>
class RnnLayer {
 public:
  RnnLayer(const RnnSizes& sizes, const CellBounds<E>& bounds, const std::int64_t* lengths, const E* parameters,
           std::int64_t layer, std::int64_t direction)
      : s_(sizes),
        gates_{sizes.mode, sizes.units, bounds},
        lengths_(lengths),
        width_(sizes.width(layer)),
        turned_(direction == 1),
        of_inputs_(parameters + sizes.weights(layer, direction)),
        of_state_(of_inputs_ + sizes.rows() * width_),
        bias_(sizes.rows() + sizes.units) {
    const E *const x = parameters + sizes.biases(layer, direction), *const h = x + sizes.rows();
    const std::int64_t both = sizes.mode == RnnMode::gru ? 2 * sizes.units : sizes.rows();
    for (std::int64_t i = 0; i < sizes.rows(); ++i) bias_[i] = i < both ? x[i] + h[i] : x[i];
    for (std::int64_t i = both; i < sizes.rows(); ++i) bias_[sizes.units + i] = h[i];
  }
  /// Elements of memory for forward and for backward; of the latter twice as many where `apart()`.
  static std::int64_t room(const RnnSizes& s) { return (s.points() + Panels<E>::excess()) * s.rows(); }
  /// Whether what comes from the state is kept apart from what comes from the inputs.
  static bool apart(const RnnSizes& s) { return s.mode == RnnMode::gru; }

  /// From data x, (steps · batch, width), and the first state and cell: all states, y, whose rows are `y_row` apart,
  /// and the last state and cell. Of an LSTM `room` becomes the gates of all steps, and behind them the cells.
  void forward(const E* x, const E* h0, const E* c0, E* y, std::int64_t y_row, E* h1, E* c1, E* room) const {
    const std::int64_t H = s_.units, N = s_.batch, rows = s_.rows();
    gemm(s_.points(), rows, width_, x, false, of_inputs_, true, room);
    const std::int64_t state = (N + Panels<E>::excess()) * H;
    List<E> states(2 * state, E(0)), fresh(apart(s_) ? N * H : 0);
    std::copy_n(h0, N * H, states.data());
    E* const cells = room + s_.points() * rows;
    const std::int64_t steps = N == 0 ? 0 : s_.steps;
    Panels<E> weights(Strided<E>::of(of_state_, H, true), H, H, s_.gates());
    for (std::int64_t step = 0; step < steps; ++step) {
      const E* const before = states.data() + step % 2 * state;
      E* const after = states.data() + (step + 1) % 2 * state;
      const std::int64_t t = at(step);
      Gemm<E>::share_out(weights.blocks(), Gemm<E>::product(N, rows, H), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t block = begin; block < end; ++block) {
          const std::int64_t j = block * Panels<E>::cols, n = weights.width(block);
          for (std::int64_t g = 0; g < s_.gates(); ++g) {
            if (step == 0) weights.pack(g, block);
            const bool alone = apart(s_) && g == 2;
            weights.multiply(g, block, N, before, H, alone ? fresh.data() + j : room + t * N * rows + g * H + j,
                             alone ? H : rows, !alone);
          }
          for (std::int64_t i = 0; i < N; ++i) {
            E *const to = y + (t * N + i) * y_row + j, *const h = after + i * H + j;
            if (ended(t, i)) {
              std::copy_n(before + i * H + j, n, h);
              std::fill_n(to, n, E(0));
              if (c0 != nullptr) std::copy_n(cells_before(c0, cells, step) + i * H + j, n, cells + (t * N + i) * H + j);
              continue;
            }
            const E* const c_before = c0 != nullptr ? cells_before(c0, cells, step) + i * H + j : nullptr;
            E* const c = c0 != nullptr ? cells + (t * N + i) * H + j : nullptr;
            E* const of_state = apart(s_) ? fresh.data() + i * H + j : nullptr;
            gates_.template forward<false>(n, room + (t * N + i) * rows + j, of_state, bias_.data() + j,
                                           before + i * H + j, h, c_before, c);
            std::copy_n(h, n, to);
          }
        }
      });
    }
    std::copy_n(states.data() + steps % 2 * state, N * H, h1);
    if (c0 != nullptr) std::copy_n(cells_before(c0, cells, steps), N * H, c1);
  }

  /// What backward needs besides what forward took and gave, and where it puts the gradients; null where nobody asks.
  struct Back {
    const E *x, *h0, *c0, *y, *dy;
    std::int64_t y_row;  // of y and dy
    E *dx, *dh, *dc;     // dh, dc: the gradients of the last ones, which become those of the first ones
    bool adds_dx;        // for the second direction
    E* dparameters;      // of the network
    E *room, *befores;   // befores: points × units elements
    const E* gates;      // of an LSTM, and its cells behind them
  };
  void backward(const Back& b, std::int64_t layer, std::int64_t direction) const {
    const std::int64_t H = s_.units, N = s_.batch, rows = s_.rows(), points = s_.points();
    E *const room = b.room, *const of_state = apart(s_) ? room + RnnLayer::room(s_) : room;
    each_point([&](std::int64_t step, std::int64_t i) {
      const std::int64_t p = at(step) * N + i;
      const E* const from = step == 0 || ended(at(step - 1), i) ? b.h0 + i * H : b.y + (at(step - 1) * N + i) * b.y_row;
      std::copy_n(from, H, b.befores + p * H);
    });
    if (s_.mode == RnnMode::gru) again(b, of_state);
    Panels<E> weights(Strided<E>::of(of_state_, H, false), rows, H, 1);
    const std::int64_t steps = N == 0 ? 0 : s_.steps;
    for (std::int64_t step = steps; step >= 0; --step) {  // after the gates of the first step its products are left
      const std::int64_t t = step < steps ? at(step) : 0;
      Gemm<E>::share_out(weights.blocks(), Gemm<E>::product(N, rows, H), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t block = begin; block < end; ++block) {
          const std::int64_t j = block * Panels<E>::cols, n = weights.width(block);
          if (step == steps)
            weights.pack(0, block);
          else
            weights.multiply(0, block, N, of_state + t * N * rows, rows, b.dh + j, H, true);
          if (step > 0) back_through(b, of_state, step - 1, j, n);
        }
      });
    }
    if (b.dx != nullptr) gemm(points, width_, rows, room, false, of_inputs_, false, b.dx, b.adds_dx);
    if (b.dparameters == nullptr) return;
    E* const to = b.dparameters + s_.weights(layer, direction);
    gemm(rows, width_, points, room, true, b.x, false, to);
    gemm(rows, H, points, of_state, true, b.befores, false, to + rows * width_);
    E* const biases = b.dparameters + s_.biases(layer, direction);
    const E one = 1;
    gemm<E>(1, rows, points, Strided<E>{&one, 0, 0}, Strided<E>::of(room, rows, false), biases);
    gemm<E>(1, rows, points, Strided<E>{&one, 0, 0}, Strided<E>::of(of_state, rows, false), biases + rows);
  }

 private:
  /// The number of the step that comes as number `step` in this direction.
  std::int64_t at(std::int64_t step) const { return turned_ ? s_.steps - 1 - step : step; }
  /// Whether sequence i has ended before step t: its state stays as it is.
  bool ended(std::int64_t t, std::int64_t i) const { return lengths_ != nullptr && t >= lengths_[i]; }
  /// The cells before the step that comes as number `step`, from the first ones and those of all steps.
  const E* cells_before(const E* c0, const E* cells, std::int64_t step) const {
    return step == 0 ? c0 : cells + at(step - 1) * s_.batch * s_.units;
  }
  /// f(step, i) for all steps of all sequences, by several threads.
  template <class F>
  void each_point(F f) const {
    parallel_for(s_.points(), std::max<std::int64_t>(1, (1 << 13) / s_.rows()), [&](std::int64_t p, std::int64_t end) {
      for (; p < end; ++p) f(p / s_.batch, p % s_.batch);
    });
  }

  /// The gates of all steps of a GRU, computed again: here with the states of all steps at once.
  void again(const Back& b, E* of_state) const {
    const std::int64_t H = s_.units, N = s_.batch, rows = s_.rows(), points = s_.points();
    gemm(points, rows, width_, b.x, false, of_inputs_, true, b.room);
    gemm(points, rows, H, b.befores, false, of_state_, true, of_state);
    each_point([&](std::int64_t step, std::int64_t i) {
      E *const x = b.room + (step * N + i) * rows, *const h = of_state + (step * N + i) * rows;
      for (std::int64_t j = 0; j < 2 * H; ++j) x[j] += h[j];
      gates_.template forward<true>(H, x, h + 2 * H, bias_.data(), nullptr, nullptr, nullptr, nullptr);
    });
  }
  /// Of units [j, j + n), through the gates of a step.
  void back_through(const Back& b, E* of_state, std::int64_t step, std::int64_t j, std::int64_t n) const {
    const std::int64_t H = s_.units, N = s_.batch, rows = s_.rows(), t = at(step);
    for (std::int64_t i = 0; i < N; ++i) {
      const std::int64_t p = t * N + i;
      E *const x = b.room + p * rows + j, *const h = of_state + p * rows + j, *const dh = b.dh + i * H + j;
      if (ended(t, i)) {
        for (std::int64_t g = 0; g < s_.gates(); ++g) std::fill_n(x + g * H, n, E(0)), std::fill_n(h + g * H, n, E(0));
        continue;
      }
      const E* const dy = b.dy + p * b.y_row + j;
      for (std::int64_t k = 0; k < n; ++k) dh[k] += dy[k];
      if (s_.mode == RnnMode::lstm) {
        const E *const cells = b.gates + s_.points() * rows, *const before = cells_before(b.c0, cells, step) + i * H;
        gates_.backward(n, b.gates + p * rows + j, x, nullptr, dh, b.dc + i * H + j, nullptr, nullptr, before + j,
                        cells + p * H + j);
      } else {
        gates_.backward(n, x, x, h, dh, nullptr, b.befores + p * H + j, b.y + p * b.y_row + j, nullptr, nullptr);
      }
    }
  }

  const RnnSizes& s_;
  Gates<E> gates_;
  const std::int64_t* lengths_;
  std::int64_t width_;
  bool turned_;
  const E *of_inputs_, *of_state_;
  List<E> bias_;  // added to all gates; behind them, of a GRU, what is added to the state's part of the new one
};

}  // namespace STROP_ISA

}  // namespace detail

}  // namespace strop::inline v0
