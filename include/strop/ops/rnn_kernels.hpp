// SPDX-License-Identifier: Apache-2.0
/// \file
/// One layer of a recurrent network in one direction, through all steps and back.
///
/// What comes from the inputs is one matrix product for all steps. What comes from the step before is one product a
/// step, with weights that were copied once; whoever has computed some units of it goes on to the gates of these, so
/// that threads meet once a step.
#pragma once
#include <cstdint>

namespace strop::inline v0 {

enum class RnnMode : int { rnn_relu, rnn_tanh, lstm, gru };

namespace detail {

/// The sizes of a network, and where its parameters lie: of all layers and directions the weights of the inputs and
/// those of the state, a row for each unit of each gate; then of all the biases of either.
struct RnnSizes {
  RnnMode mode;
  std::int64_t steps, batch, inputs, units, layers, directions;

  constexpr std::int64_t gates() const { return mode == RnnMode::lstm ? 4 : mode == RnnMode::gru ? 3 : 1; }
  constexpr std::int64_t rows() const { return gates() * units; }  // of weights
  constexpr std::int64_t width(std::int64_t layer) const { return layer == 0 ? inputs : directions * units; }
  constexpr std::int64_t points() const { return steps * batch; }
  /// Elements of what a layer gives.
  constexpr std::int64_t given() const { return points() * directions * units; }
  constexpr std::int64_t weights(std::int64_t layer, std::int64_t direction) const {
    const std::int64_t first = directions * rows() * (inputs + units), each = rows() * (width(1) + units);
    return layer == 0 ? direction * rows() * (inputs + units) : first + ((layer - 1) * directions + direction) * each;
  }
  constexpr std::int64_t biases(std::int64_t layer, std::int64_t direction) const {
    return weights(layers, 0) + (layer * directions + direction) * 2 * rows();
  }
  constexpr std::int64_t parameters() const { return biases(layers, 0); }
};

inline namespace STROP_ISA {

template <class E>
class RnnLayer;

}  // namespace STROP_ISA
}  // namespace detail
}  // namespace strop::inline v0

#if !defined(STROP_OPERATORS_COMPILED) || defined(__CUDACC__)
#include <strop/ops/rnn_kernels_body.hpp>
#endif
