// SPDX-License-Identifier: Apache-2.0
// reject: strop: gradient takes (dy) or (dy, x...), one x per input of forward, each const auto&, and is const
// reject: OfIntegers
// reject: NotConst
// reject: OfTensors
// reject: OneTooMany
// reject: strop: gradient_keeps is a static constexpr strop::Keeps, none or in
// reject: strop: gradient_keeps and gradient_reads say the same, of all inputs or of some: state one
// reject: strop: gradient_reads is static constexpr std::string_view gradient_reads[] = {...}
// reject: strop: gradient_reads names something that stands not in inputs
// reject: strop: gradient_keeps and gradient_reads say what gradient(dy, x...) looks at, and there is none
// reject: strop: gradient_again takes two std::span<const Node>, the heads and what the gradient takes, for any Node
// reject: strop: gradient_again, gradient_accumulates and infer_gradient_storage are of a tensor operator's stated
// reject: strop: zero_gradient is a static constexpr bool
// reject: strop: a map that writes its inputs has no gradient
#include <strop/op/diagnose.hpp>

#include <tuple>
#include <vector>
using strop::Cpu;
using strop::View;

struct OfIntegers {
  constexpr auto forward(auto x) const { return 2 * x; }
#if defined(CONTROL)
  auto gradient(const auto& dy) const { return dy * 2; }
#else
  int gradient(int dy, int x, int y) const { return dy + x + y; }
#endif
};
static_assert(strop::diagnose<OfIntegers>());

struct NotConst {
  constexpr auto forward(auto x) const { return 2 * x; }
#if defined(CONTROL)
  auto gradient(const auto& dy, const auto&) const { return dy * 2; }
#else
  auto gradient(const auto& dy, const auto&) { return dy * 2; }
#endif
};
static_assert(strop::diagnose<NotConst>());

struct OfTensors {
  void forward(Cpu&, View<const float, 1>, View<const float, 1>, View<float, 1>) const {}
#if defined(CONTROL)
  auto gradient(const auto& dy, const auto& x, const auto& y) const { return std::tuple(dy * y, dy * x); }
#else
  auto gradient(const auto& dy, const auto& x) const { return std::tuple(dy, dy * x); }
#endif
};
static_assert(strop::diagnose<OfTensors>());

struct OneTooMany {
  constexpr auto forward(auto x, auto y) const { return x * y; }
#if defined(CONTROL)
  template <class Node>
  auto gradient(const Node& dy, const Node& x, const Node& y) const {
    return std::tuple(dy * y, dy * x);
  }
#else
  template <class Node>
  auto gradient(const Node& dy, const Node& x, const Node& y, const Node&) const {
    return std::tuple(dy * y, dy * x);
  }
#endif
};
static_assert(strop::diagnose<OneTooMany>());

struct Keeping {
  constexpr auto forward(auto x) const { return 2 * x; }
  auto gradient(const auto& dy, const auto&) const { return dy * 2; }
#if defined(CONTROL)
  static constexpr strop::Keeps gradient_keeps = strop::Keeps::none;
#else
  static constexpr strop::Keeps gradient_keeps = strop::Keeps::out;
#endif
};
static_assert(strop::diagnose<Keeping>());

struct KeepingSome {
  static constexpr std::string_view inputs[] = {"x"};
  constexpr auto forward(auto x) const { return 2 * x; }
  auto gradient(const auto& dy, const auto&) const { return dy * 2; }
#if defined(CONTROL)
  static constexpr std::string_view gradient_reads[] = {"x"};
#else
  static constexpr std::string_view gradient_reads = "x";
#endif
};
static_assert(strop::diagnose<KeepingSome>());

struct KeepingTwice {
  static constexpr std::string_view inputs[] = {"x"};
  static constexpr std::string_view gradient_reads[] = {"x"};
#if !defined(CONTROL)
  static constexpr strop::Keeps gradient_keeps = strop::Keeps::none;
#endif
  constexpr auto forward(auto x) const { return 2 * x; }
  auto gradient(const auto& dy, const auto&) const { return dy * 2; }
};
static_assert(strop::diagnose<KeepingTwice>());

struct Reading {
  static constexpr std::string_view inputs[] = {"x"};
#if defined(CONTROL)
  static constexpr std::string_view gradient_reads[] = {"x"};
#else
  static constexpr std::string_view gradient_reads[] = {"indices"};
#endif
  constexpr auto forward(auto x) const { return 2 * x; }
  auto gradient(const auto& dy, const auto&) const { return dy * 2; }
};
static_assert(strop::diagnose<Reading>());

struct KeepingOfNone {
  static constexpr strop::Keeps gradient_keeps = strop::Keeps::none;
  constexpr auto forward(auto x) const { return 2 * x; }
#if defined(CONTROL)
  auto gradient(const auto& dy) const { return dy * 2; }
#endif
};
static_assert(strop::diagnose<KeepingOfNone>());

struct Again {
  void forward(Cpu&, View<const float, 1>, View<float, 1>) const {}
  void grad_use_none(Cpu&, View<const float, 1>, View<float, 1>) const {}
#if defined(CONTROL)
  template <class Node>
  std::vector<Node> gradient_again(std::span<const Node> heads, std::span<const Node>) const {
    return {heads[0]};
  }
#else
  int gradient_again(int heads) const { return heads; }
#endif
};
static_assert(strop::diagnose<Again>());

struct AgainOfNone {
  void forward(Cpu&, View<const float, 1>, View<float, 1>) const {}
#if defined(CONTROL)
  void grad_use_none(Cpu&, View<const float, 1>, View<float, 1>) const {}
#endif
  template <class Node>
  std::vector<Node> gradient_again(std::span<const Node> heads, std::span<const Node>) const {
    return {heads[0]};
  }
};
static_assert(strop::diagnose<AgainOfNone>());

struct Zero {
  constexpr auto forward(auto x) const { return floor(x); }
#if defined(CONTROL)
  static constexpr bool zero_gradient = true;
#else
  static constexpr int zero_gradient = 1;
#endif
};
static_assert(strop::diagnose<Zero>());

struct Writing {
  static constexpr std::string_view inputs[] = {"w", "m"}, mutates[] = {"m"};
  constexpr auto forward(auto w, auto m) const { return std::tuple(w - m, m); }
#if !defined(CONTROL)
  constexpr auto grad_use_none(auto dy, auto) const { return std::tuple(dy, dy); }
#endif
};
static_assert(strop::diagnose<Writing>());
