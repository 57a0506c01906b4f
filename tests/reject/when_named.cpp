// SPDX-License-Identifier: Apache-2.0
// What is refused when an operator is named or called.
// reject: strop: gradient takes (dy, x...) or (dy), one x per input and each const auto&, arrays or symbols; of an
// reject: strop: gradient of an operator with any number of inputs takes (dy, std::span<const Node> x), for any Node
// reject: strop: a gradient returns a std::tuple of one number per input of forward
// reject: strop: check::gradient takes a number for each input of forward
// reject: strop: jvp takes an operator with one output
// reject: strop: the operator takes another number of inputs
// reject: strop: every argument of grad after ctx is tagged with a name that stands in `inputs` or `outputs`
// reject: strop: make_state takes a shape for each input
// reject: strop: forward takes (ctx, strop::View<const E, N> in..., strop::View<E, N> out...), std::span of such
// reject: strop: a parameter is a bool, a number, a string, an enumeration, a Scalar, a Shape, Axes, Numbers, a Dtype, or
// reject: strop: an operator has at most 32 parameters
#include <strop/strop.hpp>

#include <tuple>
#include <vector>
using strop::Cpu;
using strop::View;

struct Halves {
  constexpr auto forward(auto x) const { return std::tuple(x / 2, x / 2); }
#if defined(CONTROL)
  template <class Node>
  auto gradient(std::span<const Node> dy) const {
    return (dy[0] + dy[1]) / 2;
  }
#else
  auto gradient(int dy) const { return dy; }
#endif
};
inline constexpr strop::Op<Halves> halves;

struct Total {
  void forward(Cpu&, std::span<const View<const float, 1>>, View<float, 1>) const {}
#if defined(CONTROL)
  template <class Node>
  auto gradient(const Node& dy, std::span<const Node> x) const {
    return std::vector<Node>(x.size(), dy);
  }
#else
  auto gradient(int dy) const { return dy; }
#endif
};
inline constexpr strop::Op<Total> total;

struct Product {
  constexpr auto forward(auto x, auto y) const { return x * y; }
#if defined(CONTROL)
  constexpr auto grad_use_in(auto dy, auto x, auto y) const { return std::tuple(dy * y, dy * x); }
#else
  constexpr auto grad_use_in(auto dy, auto, auto y) const { return dy * y; }
#endif
};
static_assert(strop::check::gradient(Product{}, 1, 2)[0] == 2);

struct Twin {
  constexpr auto forward(auto x) const { return std::tuple(x, x); }
};
#if defined(CONTROL)
inline auto forward_mode() { return strop::jvp(strop::exp, {strop::array({1})}, {strop::array({1})}); }
inline void call(const strop::NDArray& x) { (void)strop::Op<Twin>{}(x); }
#else
static_assert(strop::check::gradient(Product{}, 1, 2, 3) == 0);
inline auto forward_mode() { return strop::jvp(strop::Op<Twin>{}, {strop::array({1})}, {strop::array({1})}); }
inline void call(const strop::NDArray& x) { strop::Op<Twin>{}(x, x); }
#endif

struct Tagged {
  static constexpr std::string_view inputs[] = {"data"};
  void forward(Cpu&, View<const float, 1>, View<float, 1>) const {}
#if defined(CONTROL)
  void grad(Cpu&, strop::Head<"output", View<const float, 1>>, strop::Grad<"data", View<float, 1>>) const {}
#else
  void grad(Cpu&, strop::Head<"output", View<const float, 1>>, strop::Grad<"weight", View<float, 1>>) const {}
#endif
};
inline constexpr strop::Op<Tagged> tagged;

struct Stateful {
  int make_state(Cpu&, const strop::Shape&) const { return 0; }
#if defined(CONTROL)
  void forward(Cpu&, int&, View<const float, 1>, View<float, 1>) const {}
#else
  void forward(Cpu&, int&, View<const float, 1>, View<const float, 1>, View<float, 1>) const {}
#endif
};
inline constexpr strop::Op<Stateful> stateful;

struct Argument {
#if defined(CONTROL)
  void forward(Cpu&, View<const float, 1>, View<float, 1>) const {}
#else
  void forward(Cpu&, const float*, View<float, 1>) const {}
#endif
};
inline constexpr strop::Op<Argument> argument;

struct Parameter {
#if defined(CONTROL)
  int of = 0;
#else
  const void* of = nullptr;
#endif
  constexpr auto forward(auto x) const { return 2 * x; }
};
inline constexpr strop::Op<Parameter> parameter;

struct Many {
  int a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0, j = 0, k = 0, l = 0, m = 0, n = 0, o = 0, p = 0,
      q = 0, r = 0, s = 0, t = 0, u = 0, v = 0, w = 0, x = 0, y = 0, z = 0, aa = 0, bb = 0, cc = 0, dd = 0, ee = 0,
      ff = 0;
#if !defined(CONTROL)
  int gg = 0;
#endif
  constexpr auto forward(auto number) const { return 2 * number; }
};
inline constexpr strop::Op<Many> many;
