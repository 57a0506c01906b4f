// SPDX-License-Identifier: Apache-2.0
// reject: strop: visible is from 1 to the number of outputs
// reject: VisibleNone
// reject: VisibleOfMap
// reject: strop: forward has an output: a strop::View<E, N> that it writes and that is no mutated input
// reject: strop: forward takes (ctx, in..., out...): every strop::View<const E, N> stands before the views that it wr
// reject: strop: outputs names as many tensors as forward has results
// reject: strop: inputs names as many tensors as forward reads or mutates
// reject: strop: forward of a map returns its outputs, one at least, and then the inputs that mutates names
// reject: strop: mutates and aux name the inputs that forward takes as views to write, no others
// reject: strop: aux is static constexpr std::string_view aux[] = {...}
// reject: strop: input_count is int input_count() const
// reject: strop: forward takes one std::span of inputs and one of outputs at most
// reject: strop: forward takes inputs of different ranks, which only an operator with infer_shape may: without it they
// reject: RanksOfState
#include <strop/op/diagnose.hpp>
using strop::Cpu;
using strop::Real;
using strop::View;

struct VisibleTooMany {
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
#if defined(CONTROL)
  static constexpr int visible = 1;
#else
  static constexpr int visible = 9;
#endif
};
static_assert(strop::diagnose<VisibleTooMany>());

struct VisibleNone {
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
#if defined(CONTROL)
  static constexpr int visible = 1;
#else
  static constexpr int visible = 0;
#endif
};
static_assert(strop::diagnose<VisibleNone>());

struct VisibleOfMap {
  constexpr auto forward(auto x) const { return std::tuple(x * x, 2 * x); }
#if defined(CONTROL)
  static constexpr int visible = 1;
#else
  static constexpr int visible = 3;
#endif
};
static_assert(strop::diagnose<VisibleOfMap>());

struct ForwardWithoutOutput {
#if defined(CONTROL)
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
#else
  template <Real E>
  void forward(Cpu&, View<const E, 1>) const {}
#endif
};
static_assert(strop::diagnose<ForwardWithoutOutput>());

struct OutputBeforeInput {
#if defined(CONTROL)
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
#else
  template <Real E>
  void forward(Cpu&, View<E, 1>, View<const E, 1>) const {}
#endif
};
static_assert(strop::diagnose<OutputBeforeInput>());

struct OutputsCount {
  constexpr auto forward(auto x) const { return 2 * x; }
#if defined(CONTROL)
  static constexpr std::string_view outputs[] = {"a"};
#else
  static constexpr std::string_view outputs[] = {"a", "b"};
#endif
};
static_assert(strop::diagnose<OutputsCount>());

struct TensorInputsCount {
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
#if defined(CONTROL)
  static constexpr std::string_view inputs[] = {"p"};
#else
  static constexpr std::string_view inputs[] = {"p", "q", "r"};
#endif
};
static_assert(strop::diagnose<TensorInputsCount>());

struct MutatesEveryResult {
  static constexpr std::string_view inputs[] = {"a", "b"}, mutates[] = {"b"};
#if defined(CONTROL)
  constexpr auto forward(auto x, auto y) const { return std::tuple(x, y); }
#else
  constexpr auto forward(auto x, auto y) const { return x + y; }
#endif
};
static_assert(strop::diagnose<MutatesEveryResult>());

struct MutatesNotWritten {
  static constexpr std::string_view inputs[] = {"a", "b"}, mutates[] = {"b"};
#if defined(CONTROL)
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>, View<E, 1>) const {}
#else
  template <Real E>
  void forward(Cpu&, View<E, 1>, View<const E, 1>, View<E, 1>) const {}
#endif
};
static_assert(strop::diagnose<MutatesNotWritten>());

struct AuxNumber {
  static constexpr std::string_view inputs[] = {"a"};
#if defined(CONTROL)
  static constexpr std::string_view aux[] = {"b"};
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>, View<E, 1>) const {}
#else
  static constexpr int aux = 1;
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
#endif
};
static_assert(strop::diagnose<AuxNumber>());

struct InputCountNotConst {
  static constexpr std::string_view inputs[] = {"p"};
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
#if defined(CONTROL)
  int input_count() const { return 1; }
#else
  int input_count() { return 1; }
#endif
};
static_assert(strop::diagnose<InputCountNotConst>());

struct TwoLists {
  template <Real E>
#if defined(CONTROL)
  void forward(Cpu&, std::span<const View<const E, 1>>, View<const E, 1>, View<E, 1>) const {
  }
#else
  void forward(Cpu&, std::span<const View<const E, 1>>, std::span<const View<const E, 1>>, View<E, 1>) const {
  }
#endif
};
static_assert(strop::diagnose<TwoLists>());

struct RanksWithoutRule {
#if defined(CONTROL)
  void infer_shape(strop::Shapes& s) const { s.set_out(0, s.in(0)); }
#endif
  template <Real E>
  void forward(Cpu&, View<const E, 2>, View<const E, 1>, View<E, 2>) const {}
};
static_assert(strop::diagnose<RanksWithoutRule>());

struct RanksOfState {
  static constexpr std::string_view inputs[] = {"data", "state"}, mutates[] = {"state"};
#if defined(CONTROL)
  void infer_shape(strop::Shapes& s) const { s.set_out(0, s.in(0)); }
#endif
  template <Real E>
  void forward(Cpu&, View<const E, 2>, View<E, 1>, View<E, 2>) const {}
};
static_assert(strop::diagnose<RanksOfState>());

// Results, and views of any rank, are left to the call.
struct RanksOfResults {
  void forward(Cpu&, View<float, 1>, View<float, 2>) const {}
};
static_assert(strop::diagnose<RanksOfResults>());
struct AnyRank {
  template <Real E>
  void forward(Cpu&, View<const E>, View<const E, 1>, View<E>) const {}
};
static_assert(strop::diagnose<AnyRank>());
