// SPDX-License-Identifier: Apache-2.0
/// \file
/// Small operators of the graph tests: maps, tensor operators, a loss head, a written state, several outputs.
#pragma once
#include <strop/autograd/views.hpp>
#include <strop/graph/executor.hpp>
#include <strop/tensor/allclose.hpp>
#include <strop/tensor/create.hpp>
#include <strop/tensor/sparse.hpp>
#include <unit/sentence.hpp>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

namespace graph_tests {

/// tanh of numbers, seen before strop's names: among them it is an operator.
constexpr auto squashed(auto x) { return tanh(x); }

using namespace strop;

/// a·x² + b·x + c
struct GtQuadratic {
  float a = 0, b = 0, c = 0;
  constexpr auto forward(auto x) const { return (a * x + b) * x + c; }
};
inline constexpr Op<GtQuadratic> quadratic;

/// x·y, broadcast
struct GtTimes {
  constexpr auto forward(auto lhs, auto rhs) const { return lhs * rhs; }
};
inline constexpr Op<GtTimes> times;

/// x + y, broadcast: its gradient keeps nothing
struct GtPlus {
  constexpr auto forward(auto lhs, auto rhs) const { return lhs + rhs; }
  constexpr auto grad_use_none(auto dy) const { return std::make_tuple(dy, dy); }
};
inline constexpr Op<GtPlus> plus;

/// x + y of one shape
struct GtSum {
  static constexpr bool same_shape = true;
  constexpr auto forward(auto lhs, auto rhs) const { return lhs + rhs; }
};
inline constexpr Op<GtSum> add_same;

/// y = x·wᵀ + b, after FullyConnected: y (n, h), x (n, k), w (h, k), b (h)
struct GtDense {
  static constexpr std::string_view name = "FullyConnected";
  static constexpr std::string_view inputs[] = {"data", "weight", "bias"};
  Required<int> num_hidden = {};
  bool no_bias = false;
  int input_count() const { return no_bias ? 2 : 3; }
  void infer_shape(Shapes& s) const {
    s.expect_rank(0, 2);
    s.set_in(1, {*num_hidden, s.in(0).has_rank() ? s.in(0)[1] : -1});
    if (s.in(1)[1] >= 0) s.set_in(0, {-1, s.in(1)[1]});
    if (!no_bias) s.set_in(2, {*num_hidden});
    s.set_out(0, {s.in(0).has_rank() ? s.in(0)[0] : -1, *num_hidden});
    if (s.out(0)[0] >= 0 && s.in(0).has_rank()) s.set_in(0, {s.out(0)[0], s.in(0)[1]});
  }
  template <Real E>
  void forward(Cpu&, View<const E, 2> x, View<const E, 2> w, View<const E, 1> b, View<E, 2> y) const {
    for (std::int64_t i = 0; i < y.shape()[0]; ++i)
      for (std::int64_t j = 0; j < y.shape()[1]; ++j) {
        E sum = b ? b[j] : E(0);
        for (std::int64_t k = 0; k < x.shape()[1]; ++k) sum += x(i, k) * w(j, k);
        y(i, j) = sum;
      }
  }
  template <Real E>
  void grad(Cpu&, Head<"output", View<const E, 2>> dy, In<"data", View<const E, 2>> x, In<"weight", View<const E, 2>> w,
            Grad<"data", View<E, 2>> dx, Grad<"weight", View<E, 2>> dw, Grad<"bias", View<E, 1>> db) const {
    const std::int64_t n = dy.shape()[0], h = dy.shape()[1], m = x.shape()[1];
    if (dx) ++data_gradients;
    for (std::int64_t i = 0; dx && i < n * m; ++i) dx[i] = 0;
    for (std::int64_t i = 0; dw && i < h * m; ++i) dw[i] = 0;
    for (std::int64_t j = 0; db && j < h; ++j) db[j] = 0;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < h; ++j) {
        if (db) db[j] += dy(i, j);
        for (std::int64_t k = 0; k < m; ++k) {
          if (dx) dx(i, k) += dy(i, j) * w(j, k);
          if (dw) dw(j, k) += dy(i, j) * x(i, k);
        }
      }
  }
  static inline std::atomic<int> data_gradients = 0;  // how often the gradient of data was computed
};
inline constexpr Op<GtDense> dense_layer;

/// Half the squared distance to the label as a loss head: passes x on, its gradient is scale·(x − label).
struct GtLoss {
  static constexpr std::string_view inputs[] = {"data", "label"};
  float scale = 1;
  void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(0));
    s.set_in(0, s.out(0));
    s.set_in(1, s.in(0));
  }
  template <Real E>
  void forward(Cpu&, View<const E> x, View<const E>, View<E> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i];
  }
  template <Real E>
  void grad(Cpu&, In<"label", View<const E>> label, Out<"output", View<const E>> y, Grad<"data", View<E>> dx) const {
    for (std::int64_t i = 0; i < y.size(); ++i) dx[i] = static_cast<E>(scale) * (y[i] - label[i]);
  }
};
inline constexpr Op<GtLoss> loss;

/// x − mean; in training the mean is the batch's and the written state follows it, else it is the state.
struct GtCenter {
  static constexpr std::string_view inputs[] = {"data", "moving_mean"};
  static constexpr std::string_view outputs[] = {"output", "mean"};
  static constexpr std::string_view mutates[] = {"moving_mean"};
  static constexpr int visible = 1;
  void infer_shape(Shapes& s) const {
    s.set_in(1, {1});
    s.set_out(0, s.in(0));
    s.set_out(1, {1});
  }
  template <Real E>
  void forward(Cpu& ctx, View<const E, 1> x, View<E, 1> moving, View<E, 1> y, View<E, 1> mean) const {
    E sum = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) sum += x[i];
    mean[0] = ctx.train ? sum / static_cast<E>(x.size()) : moving[0];
    if (ctx.train) moving[0] = (moving[0] + mean[0]) / 2;
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i] - mean[0];
  }
  template <Real E>
  void grad(Cpu& ctx, Head<"output", View<const E, 1>> dy, Grad<"data", View<E, 1>> dx) const {
    E sum = 0;
    for (std::int64_t i = 0; i < dy.size(); ++i) sum += dy[i];
    for (std::int64_t i = 0; i < dy.size(); ++i) dx[i] = dy[i] - (ctx.train ? sum / static_cast<E>(dy.size()) : E(0));
  }
};
inline constexpr Op<GtCenter> center;

/// (x + y, x − y)
struct GtBoth {
  constexpr auto forward(auto lhs, auto rhs) const { return std::make_tuple(lhs + rhs, lhs - rhs); }
};
inline constexpr Op<GtBoth> both;

/// x rounded down to even numbers: no gradient
struct GtEven {
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = E(2) * std::floor(x[i] / E(2));
  }
};
inline constexpr Op<GtEven> even;

/// Passes x on, but no gradient
struct GtBlock {
  static constexpr bool zero_gradient = true;
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i];
  }
};
inline constexpr Op<GtBlock> block;

/// x in reverse; the gradient is written with the operator itself
struct GtReverse {
  template <Real E>
  void forward(Cpu&, View<const E, 1> x, View<E, 1> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[x.size() - 1 - i];
  }
  auto gradient(const auto& dy) const;
};
inline constexpr Op<GtReverse> reversed;
auto GtReverse::gradient(const auto& dy) const { return reversed(dy); }

/// Any number of vectors one behind the other
struct GtChain {
  static constexpr std::string_view name = "Concat";
  void infer_shape(Shapes& s) const {
    std::int64_t n = 0;
    for (int i = 0; i < s.inputs(); ++i) {
      if (!s.in(i).known()) return;
      n += s.in(i)[0];
    }
    s.set_out(0, {n});
  }
  template <Real E>
  void forward(Cpu&, std::span<const View<const E, 1>> xs, View<E, 1> y) const {
    std::int64_t k = 0;
    for (const auto& x : xs)
      for (std::int64_t i = 0; i < x.size(); ++i) y[k++] = x[i];
  }
  template <Real E>
  void grad_use_none(Cpu&, View<const E, 1> dy, std::span<const View<E, 1>> dxs) const {
    std::int64_t k = 0;
    for (const auto& dx : dxs)
      for (std::int64_t i = 0; i < dx.size(); ++i) dx[i] = dy[k++];
  }
};
inline constexpr Op<GtChain> chain;

/// tanh(x), whose gradient reads the result
struct GtSquash {
  constexpr auto forward(auto x) const { return squashed(x); }
  constexpr auto grad_use_out(auto dy, auto y) const { return dy * (1 - y * y); }
};
inline constexpr Op<GtSquash> squash;

/// x turned round, never in place
struct GtTurn {
  template <Real E>
  void forward(Cpu&, View<const E, 1> x, View<E, 1> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[x.size() - 1 - i];
  }
  template <Real E>
  void grad_use_none(Cpu& ctx, View<const E, 1> dy, View<E, 1> dx) const {
    forward(ctx, dy, dx);
  }
};
inline constexpr Op<GtTurn> turned;

/// Two layers and a loss.
inline Symbol mlp() {
  const Symbol hidden = quadratic(dense_layer(var("data"), {.num_hidden = 8}, "fc1"), {.a = 0.5f, .b = 1}, "act");
  return loss(dense_layer(hidden, {.num_hidden = 3}, "fc2"), {}, "out");
}

/// Numbers that repeat from run to run.
inline void scatter(const NDArray& a, double seed) {
  const auto view = a.view<double>();
  for (std::int64_t i = 0; i < a.size(); ++i) view[i] = std::sin(seed + 1.7 * static_cast<double>(i));
}
inline void scatter(const NamedArrays& arrays) {
  double seed = 0;
  for (const auto& [name, array] : arrays) scatter(array, seed += 1);
}

/// Sets STROP_FUSE while it lives: with "0" graphs are bound as they are, where maps that become one node would leave
/// nothing to look at.
struct Fuse {
  explicit Fuse(const char* value) { ::setenv("STROP_FUSE", value, 1); }
  ~Fuse() { ::unsetenv("STROP_FUSE"); }
  Fuse(const Fuse&) = delete;
  Fuse& operator=(const Fuse&) = delete;
};

using Names = std::vector<std::string>;

using testing::sentence;

inline bool same(const NDArray& a, const NDArray& b) { return a.shape() == b.shape() && allclose(a, b); }

}  // namespace graph_tests
