// SPDX-License-Identifier: Apache-2.0
/// \file
/// Stated gradients that are computed in the memory of what they read: on the tape, in graphs.
#include <strop/strop.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <utility>
#include <vector>

using namespace strop;

namespace {

using Values = std::vector<double>;

/// How often a gradient ran in the memory of its head gradient, and how often apart.
struct Runs {
  int together = 0, apart = 0;
};
template <class E>
void times_three(Runs& runs, View<const E> x, View<E> y) {
  ++(x.data() == y.data() ? runs.together : runs.apart);
  for (std::int64_t i = 0; i < x.size(); ++i) y[i] = 3 * x[i];
}
Runs stated, unstated, others;

/// 3x, whose gradient says that it may run in place, and the same without a word.
struct GiStated {
  static constexpr Share gradient_inplace[] = {{0, 0}};
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y) const {
    times_three(others, x, y);
  }
  template <Real E>
  void grad_use_none(Cpu&, View<const E> dy, View<E> dx) const {
    times_three(stated, dy, dx);
  }
};
struct GiUnstated {
  template <Real E>
  void forward(Cpu&, View<const E> x, View<E> y) const {
    times_three(others, x, y);
  }
  template <Real E>
  void grad_use_none(Cpu&, View<const E> dy, View<E> dx) const {
    times_three(unstated, dy, dx);
  }
};
constexpr Op<GiStated> triple;
constexpr Op<GiUnstated> triple_apart;

/// x · w, w of one element. The tensors of its gradient stand in an order of their own.
struct GiWeighted {
  static constexpr std::string_view inputs[] = {"data", "weight"};
  static constexpr Share gradient_inplace[] = {{1, 1}, {2, 1}};
  void infer_shape(Shapes& s) const {
    s.set_out(0, s.in(0));
    s.set_in(1, {1});
  }
  template <Real E>
  void forward(Cpu&, View<const E> x, View<const E, 1> w, View<E> y) const {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = w[0] * x[i];
  }
  template <Real E>
  void grad(Cpu&, Grad<"weight", View<E, 1>> dw, In<"weight", View<const E, 1>> w, Head<"output", View<const E>> dy,
            Grad<"data", View<E>> dx, In<"data", View<const E>> x) const {
    if (dw) dw[0] = 0;
    for (std::int64_t i = 0; i < dy.size() && dw; ++i) dw[0] += dy[i] * x[i];
    if (!dx) return;
    for (std::int64_t i = 0; i < dy.size(); ++i) dx[i] = w[0] * dy[i];
  }
};
constexpr Op<GiWeighted> weighted;

}  // namespace

TEST_CASE("a gradient runs in the memory of a head gradient that nobody else holds") {
  const NDArray x = array({1, 2}), head = array({1, 10});
  x.attach_grad();
  stated = {};
  {
    record scope;
    triple(triple(triple(triple(x)))).backward(head);
  }
  CHECK(x.grad().to_vector<double>() == Values{81, 810});
  CHECK(head.to_vector<double>() == Values{1, 10});         // the caller's stays as it is
  if (std::getenv("STROP_TEST_ASYNCHRONOUS") == nullptr) {  // a call that is pending holds the head gradient
    CHECK(stated.together == 2);  // all but the caller's and that of the call next to the buffer
    CHECK(stated.apart == 2);
  }
  {
    record scope;
    triple_apart(triple_apart(triple_apart(x))).backward(head);
  }
  CHECK(x.grad().to_vector<double>() == Values{27, 270});
  CHECK(unstated.together == 0);
  // A head gradient that goes two ways is read twice.
  stated.together = 0;
  {
    record scope;
    const NDArray y = triple(x), z = y + y * y;
    (triple(triple(y)) + z).backward(head);
  }
  CHECK(x.grad().to_vector<double>() == Values{(9 + 1 + 6) * 3, (9 + 1 + 12) * 3 * 10});
}

TEST_CASE("positions are those of the signature, whatever the order of tags") {
  const std::span<const Share> shares = Op<GiWeighted>::entry().gradient.entry->inplace;
  REQUIRE(shares.size() == 2);
  // To the graph head gradients come before inputs, and what belongs to data before what belongs to weight.
  CHECK(shares[0].input == 0);
  CHECK(shares[0].output == 0);
  CHECK(shares[1].input == 1);
  CHECK(shares[1].output == 0);
  const NDArray x = array({1, 2}), w = array({3});
  x.attach_grad();
  w.attach_grad();
  {
    record scope;
    triple(weighted(triple(x), w)).backward();
  }
  CHECK(x.grad().to_vector<double>() == Values{27, 27});
  CHECK(w.grad().to_vector<double>() == Values{27});
}

TEST_CASE("graphs plan gradients into the memory of what they read") {
  const NDArray x = arange(0, 1000);
  const auto run = [&](auto f) {
    const NDArray dx = zeros({1000});
    Symbol net = var("x");
    for (int i = 0; i < 4; ++i) net = f(strop::tanh(net));
    Executor bound = net.bind(cpu(), {{"x", x}}, {{"x", dx}});
    bound.forward(true);
    bound.backward({ones({1000})});
    return std::pair(bound.plan().bytes(), dx.to_vector<double>());
  };
  stated.together = 0;
  const auto [bytes, gradient] = run(triple);
  const auto [more, other] = run(triple_apart);
  CHECK(gradient == other);
  CHECK(stated.together > 0);
  CHECK(bytes <= more);
}
