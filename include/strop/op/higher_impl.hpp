// SPDX-License-Identifier: Apache-2.0
/// \file
/// The loop over gradients on jets.
#pragma once
#include <strop/core/config.hpp>
#include <strop/core/list.hpp>
#include <strop/op/higher.hpp>

#include <bit>
#include <cstring>
#include <vector>

namespace strop::inline v0::detail {

/// The derived gradients of one map, up to an order: those of order k are Σ over the results m of dy_m · ∂f_m/∂x_i,
/// where f is the gradient of order k − 1, run once for every input i that moves along a direction of its own.
class JetGradients {
 public:
  JetGradients(const JetMap& map, int order, const void* op) : map_(map), op_(op) {
    inputs_[0] = map.inputs;
    outputs_[0] = map.outputs;
    whole_[0] = map.whole;
    int jets = 0;
    for (int k = 0; k < order; ++k) {
      at_[k] = jets;
      jets += inputs_[k] + outputs_[k];
      inputs_[k + 1] = outputs_[k] + inputs_[k];
      outputs_[k + 1] = inputs_[k] - std::popcount(whole_[k]);
      whole_[k + 1] = whole_[k] << outputs_[k];
    }
    scratch_.resize(jets);
  }

  int inputs(int order) const { return inputs_[order]; }
  int outputs(int order) const { return outputs_[order]; }

  /// That of order k at a, whose numbers have `level` directions; of one head gradient that is 1 and the others 0 where
  /// `head` says which.
  void run(int k, int level, const number::Jet* a, number::Jet* out, int head = -1) {
    if (k == 0) return map_.run(op_, a, out);
    const int heads = outputs_[k - 1], moving = inputs_[k - 1], linear = k >= 2 ? outputs_[k - 2] : 0;
    number::Jet *x = &scratch_[at_[k - 1]], *y = x + moving;
    for (int i = 0; i < moving; ++i) x[i] = a[heads + i];
    for (int i = 0, o = 0; i < moving; ++i) {
      if ((whole_[k - 1] >> i & 1U) != 0) continue;
      const bool derived = i < linear;  // f is linear in its own head gradients: no direction is needed for these
      if (derived) {
        run(k - 1, level, x, y, i);
      } else {
        x[i] = a[heads + i].moved_along(level);
        run(k - 1, level + 1, x, y);
        x[i] = a[heads + i];
      }
      if (!derived)
        for (int m = 0; m < heads; ++m) y[m] = y[m].along(level);
      number::Jet& slope = out[o++];
      if (head >= 0) {
        slope = y[head];
        continue;
      }
      slope = a[0] * y[0];
      for (int m = 1; m < heads; ++m) slope += a[m] * y[m];
    }
  }

 private:
  const JetMap& map_;
  const void* op_;
  int inputs_[number::Jet::last_level + 1], outputs_[number::Jet::last_level + 1], at_[number::Jet::last_level];
  std::uint64_t whole_[number::Jet::last_level + 1];
  List<number::Jet> scratch_;
};

STROP_IMPL void higher_loop(const JetMap& map, int order, const void* op, const void* const* in, void* const* out,
                            std::int64_t n, bool floats) {
  using number::Jet;
  JetGradients gradients(map, order, op);
  const int inputs = gradients.inputs(order), outputs = gradients.outputs(order);
  List<Jet> a(inputs, Jet::input()), y(outputs);
  for (std::int64_t at = 0; at < n; at += Jet::lanes) {
    // The last, partial block is padded, as in lane_loop.
    const std::int64_t count = n - at < Jet::lanes ? n - at : Jet::lanes;
    for (int k = 0; k < inputs; ++k) {
      if (count < Jet::lanes) a[k] = Jet::input();
      double* const to = a[k].c[0];
      if (floats)
        for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<const float*>(in[k])[at + i];
      else
        copy_bytes(to, static_cast<const double*>(in[k]) + at, count * Index{sizeof(double)});
    }
    gradients.run(order, 0, a.data(), y.data());
    for (int k = 0; k < outputs; ++k) {
      const double* const from = y[k].c[0];
      if (out[k] == nullptr) continue;
      if (floats)
        for (std::int64_t i = 0; i < count; ++i) static_cast<float*>(out[k])[at + i] = static_cast<float>(from[i]);
      else
        copy_bytes(static_cast<double*>(out[k]) + at, from, count * Index{sizeof(double)});
    }
  }
}

}  // namespace strop::inline v0::detail
