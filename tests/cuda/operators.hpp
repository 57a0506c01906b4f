// SPDX-License-Identifier: Apache-2.0
/// \file
/// The operators of these tests but for those of smooth.hpp. kernels.cu includes this, and so brings their GPU kernels.
#pragma once
#include <strop/strop.hpp>

#include <cstdint>
#include <string_view>
#include <tuple>

namespace checks {

struct Quadratic {
  float a = 0, b = 0, c = 0;
  constexpr auto forward(auto x) const { return (a * x + b) * x + c; }
};
inline constexpr strop::Op<Quadratic> quadratic;
/// Linear in each input: its gradient reads one of the inputs, or none.
struct Weighted {
  float weight = 3;
  constexpr auto forward(auto x, auto y) const { return weight * x + y; }
};
inline constexpr strop::Op<Weighted> weighted;
/// Its gradient reads the output.
struct Squash {
  constexpr auto forward(auto x) const { return sigmoid(x); }
  constexpr auto grad_use_out(auto dy, auto y) const { return dy * y * (1 - y); }
};
inline constexpr strop::Op<Squash> squash;
/// Integers as double, where it is asked for.
struct Shifted {
  float by = 0.5f;
  bool as_double = true;
  static constexpr auto dtypes = strop::integral | strop::floating;
  constexpr bool integers_as_double() const { return as_double; }
  constexpr auto forward(auto x, auto y) const { return x + by * y; }
};
inline constexpr strop::Op<Shifted> shifted;
struct Halved {
  static constexpr auto dtypes = strop::integral | strop::floating | strop::boolean;
  constexpr auto forward(auto x) const { return x / 2; }
};
inline constexpr strop::Op<Halved> halved;
struct Scaled {
  static constexpr auto dtypes = strop::integral | strop::floating;
  constexpr auto forward(auto x) const { return 100.75 * x; }
};
inline constexpr strop::Op<Scaled> scaled;
/// Whole numbers beside floats, or beside integers.
struct Masked {
  static constexpr auto dtypes = strop::integral | strop::floating;
  constexpr auto forward(auto x, strop::Integer auto mask) const { return where(mask > 0, x * x, x + mask / 2); }
};
inline constexpr strop::Op<Masked> masked;
/// Writes its second input.
struct Decay {
  static constexpr std::string_view inputs[] = {"x", "state"}, mutates[] = {"state"};
  constexpr auto forward(auto x, auto state) const {
    const auto next = 0.5 * state + x;
    return std::make_tuple(x - next, next);
  }
};
inline constexpr strop::Op<Decay> decay;

/// Operators for the CPU alone, one with a state: naming them in a .cu file adds nothing.
struct OnHost {
  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<const E, 1> x, strop::View<E, 1> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i];
  }
  template <strop::Real E>
  void grad_use_none(strop::Cpu&, strop::View<const E, 1> dy, strop::View<E, 1> dx) const {
    for (std::int64_t i = 0; i < dy.size(); ++i) dx[i] = dy[i];
  }
};
inline constexpr strop::Op<OnHost> on_host;
struct KeptOnHost {
  int make_state(strop::Cpu&, const strop::Shape&) const { return 0; }
  void forward(strop::Cpu&, int&, strop::View<const float, 1> x, strop::View<float, 1> y) const { y[0] = x[0]; }
};
inline constexpr strop::Op<KeptOnHost> kept_on_host;

/// Probabilities along the rows, a row for each thread.
template <class E>
struct SoftmaxRows {
  strop::View<const E, 2> x;
  strop::View<E, 2> y;
  float temperature;
  constexpr std::int64_t work() const { return x.shape()[0]; }
  constexpr void operator()(std::int64_t thread, std::int64_t threads) const {
    const std::int64_t width = x.shape()[1];
    for (std::int64_t row = thread; row < work(); row += threads) {
      const E* const from = x.data() + row * width;
      E* const to = y.data() + row * width;
      E sum = 0;
      for (std::int64_t i = 0; i < width; ++i) {
        to[i] = exp(strop::number::Num<E>(from[i] / E(temperature))).v;
        sum += to[i];
      }
      for (std::int64_t i = 0; i < width; ++i) to[i] /= sum;
    }
  }
};
template <class E>
struct SoftmaxSlope {
  strop::View<const E, 2> dy, y;
  strop::View<E, 2> dx;
  float temperature;
  constexpr std::int64_t work() const { return y.shape()[0]; }
  constexpr void operator()(std::int64_t thread, std::int64_t threads) const {
    const std::int64_t width = y.shape()[1];
    for (std::int64_t row = thread; row < work(); row += threads) {
      E common = 0;
      for (std::int64_t i = row * width; i < (row + 1) * width; ++i) common += dy.data()[i] * y.data()[i];
      for (std::int64_t i = row * width; i < (row + 1) * width; ++i)
        dx.data()[i] = y.data()[i] * (dy.data()[i] - common) / E(temperature);
    }
  }
};
/// A tensor operator for both devices: what it does on a GPU is defined in kernels.cu.
struct RowSoftmax {
  float temperature = 1;
  template <strop::Real E>
  void forward(strop::Cpu&, strop::View<const E, 2> x, strop::View<E, 2> y) const {
    SoftmaxRows<E>{x, y, temperature}(0, 1);
  }
  template <strop::Real E>
  void forward(strop::Cuda& ctx, strop::View<const E, 2> x, strop::View<E, 2> y) const;
  template <strop::Real E>
  void grad_use_out(strop::Cpu&, strop::View<const E, 2> dy, strop::View<const E, 2> y, strop::View<E, 2> dx) const {
    SoftmaxSlope<E>{dy, y, dx, temperature}(0, 1);
  }
  template <strop::Real E>
  void grad_use_out(strop::Cuda& ctx, strop::View<const E, 2> dy, strop::View<const E, 2> y,
                    strop::View<E, 2> dx) const;
};
inline constexpr strop::Op<RowSoftmax> row_softmax;

}  // namespace checks
