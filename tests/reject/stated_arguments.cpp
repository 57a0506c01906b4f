// SPDX-License-Identifier: Apache-2.0
// reject: strop: inputs is static constexpr std::string_view inputs[] = {...}
// reject: strop: outputs is static constexpr std::string_view outputs[] = {...}
// reject: strop: mutates is static constexpr std::string_view mutates[] = {...}
// reject: strop: visible is a static constexpr int
// reject: strop: output_count is int output_count() const
// reject: strop: visible_count is int visible_count() const
// reject: strop: visible_count is a tensor operator's: a map states visible as a static constexpr int
// reject: strop: input_count and output_count are a tensor operator's: a map's forward has its inputs and results
// reject: strop: an operator that states aux states its inputs
#include <strop/op/diagnose.hpp>

#include <tuple>
using strop::Cpu;
using strop::View;

struct Inputs {
  constexpr auto forward(auto x) const { return 2 * x; }
#if defined(CONTROL)
  static constexpr std::string_view inputs[] = {"x"};
#else
  static constexpr std::string_view inputs = "x";
#endif
};
static_assert(strop::diagnose<Inputs>());

struct Outputs {
  constexpr auto forward(auto x) const { return 2 * x; }
#if defined(CONTROL)
  static constexpr std::string_view outputs[] = {"y"};
#else
  static constexpr std::string_view outputs = "y";
#endif
};
static_assert(strop::diagnose<Outputs>());

struct Mutates {
  static constexpr std::string_view inputs[] = {"w", "m"};
  constexpr auto forward(auto w, auto m) const { return std::tuple(w - m, m); }
#if defined(CONTROL)
  static constexpr std::string_view mutates[] = {"m"};
#else
  static constexpr std::string_view mutates = "m";
#endif
};
static_assert(strop::diagnose<Mutates>());

struct Visible {
  constexpr auto forward(auto x) const { return std::tuple(2 * x, x); }
#if defined(CONTROL)
  static constexpr int visible = 1;
#else
  static constexpr double visible = 1;
#endif
};
static_assert(strop::diagnose<Visible>());

struct Counted {
  void forward(Cpu&, View<const float, 1>, std::span<const View<float, 1>>) const {}
#if defined(CONTROL)
  int output_count() const { return 2; }
  int visible_count() const { return 1; }
#else
  std::string_view output_count() const { return "2"; }
  int visible_count(int) const { return 1; }
#endif
};
static_assert(strop::diagnose<Counted>());

struct CountedMap {
  constexpr auto forward(auto x) const { return std::tuple(2 * x, x); }
#if !defined(CONTROL)
  int visible_count() const { return 1; }
  int output_count() const { return 2; }
#endif
};
static_assert(strop::diagnose<CountedMap>());

struct AuxAlone {
  static constexpr std::string_view aux[] = {"mean"};
#if defined(CONTROL)
  static constexpr std::string_view inputs[] = {"data"};
#endif
  void forward(Cpu&, View<const float, 1>, View<float, 1>, View<float, 1>) const {}
};
static_assert(strop::diagnose<AuxAlone>());
