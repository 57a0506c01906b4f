// SPDX-License-Identifier: Apache-2.0
// reject: strop: grad_use_in takes (ctx, dy..., in..., din...): views of const of the visible outputs' head gradients
// reject: TensorGradWithoutDx
// reject: strop: grad_use_out takes (ctx, dy..., out..., din...): views of const of the visible outputs' head gradien
// reject: strop: grad_use_none takes (ctx, dy..., din...): views of const of the visible outputs' head gradients, the
// reject: strop: grad_use_in_out takes (ctx, dy..., in..., out..., din...): views of const of the visible outputs' he
// reject: strop: grad takes (strop::Cpu&, ...) with every argument tagged Head, In or Out, views of const, or Grad, o
// reject: strop: a stated gradient takes a std::span for each of forward's, of head gradients and of gradients as well
// reject: strop: grad takes tensors by their names, which those of a std::span have not: state grad_use_in or the like
// reject: strop: an operator that takes a std::span of inputs and writes some states gradient(dy, x...), which has a r
#include <strop/op/diagnose.hpp>
using strop::Cpu;
using strop::Real;
using strop::View;

struct TensorGradUseIn {
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
#if defined(CONTROL)
  template <Real E>
  void grad_use_in(Cpu&, View<const E, 1>, View<const E, 1>, View<E, 1>) const {}
#else
  template <Real E>
  void grad_use_in(Cpu&, View<const E, 1>, View<E, 1>) const {}
#endif
};
static_assert(strop::diagnose<TensorGradUseIn>());

struct TensorGradWithoutDx {
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
#if defined(CONTROL)
  template <Real E>
  void grad_use_in(Cpu&, View<const E, 1>, View<const E, 1>, View<E, 1>) const {}
#else
  template <Real E>
  void grad_use_in(Cpu&, View<const E, 1>, View<const E, 1>) const {}
#endif
};
static_assert(strop::diagnose<TensorGradWithoutDx>());

struct TensorGradUseOut {
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
#if defined(CONTROL)
  template <Real E>
  void grad_use_out(Cpu&, View<const E, 1>, View<const E, 1>, View<E, 1>) const {}
#else
  template <Real E>
  void grad_use_out(Cpu&, View<const E, 1>, View<const E, 1>, View<const E, 1>, View<E, 1>) const {}
#endif
};
static_assert(strop::diagnose<TensorGradUseOut>());

struct TensorGradUseNone {
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
#if defined(CONTROL)
  template <Real E>
  void grad_use_none(Cpu&, View<const E, 1>, View<E, 1>) const {}
#else
  template <Real E>
  void grad_use_none(Cpu&, View<const E, 1>, View<const E, 1>, View<E, 1>) const {}
#endif
};
static_assert(strop::diagnose<TensorGradUseNone>());

struct TensorGradUseInOut {
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
#if defined(CONTROL)
  template <Real E>
  void grad_use_in_out(Cpu&, View<const E, 1>, View<const E, 1>, View<const E, 1>, View<E, 1>) const {}
#else
  template <Real E>
  void grad_use_in_out(Cpu&, View<const E, 1>, View<const E, 1>, View<E, 1>, View<E, 1>) const {}
#endif
};
static_assert(strop::diagnose<TensorGradUseInOut>());

struct GradWithoutTags {
  template <Real E>
  void forward(Cpu&, View<const E, 1>, View<E, 1>) const {}
#if defined(CONTROL)
  template <Real E>
  void grad(Cpu&, strop::Head<"output", View<const E, 1>>, strop::Grad<"data", View<E, 1>>) const {}
#else
  template <Real E>
  void grad(Cpu&, View<const E, 1>, View<E, 1>) const {}
#endif
};
static_assert(strop::diagnose<GradWithoutTags>());

struct GradOfList {
  template <Real E>
  void forward(Cpu&, View<const E, 1>, std::span<const View<const E, 1>>, View<E, 1>) const {}
#if defined(CONTROL)
  template <Real E>
  void grad_use_none(Cpu&, View<const E, 1>, View<E, 1>, std::span<const View<E, 1>>) const {}
#else
  template <Real E>
  void grad_use_none(Cpu&, View<const E, 1>, std::span<const View<E, 1>>, View<E, 1>) const {}
#endif
};
static_assert(strop::diagnose<GradOfList>());

struct TaggedList {
  static constexpr std::string_view inputs[] = {"parts"};
  template <Real E>
  void forward(Cpu&, std::span<const View<const E, 1>>, View<E, 1>) const {}
#if defined(CONTROL)
  template <Real E>
  void grad_use_none(Cpu&, View<const E, 1>, std::span<const View<E, 1>>) const {}
#else
  template <Real E>
  void grad(Cpu&, strop::Head<"output", View<const E, 1>>, strop::Grad<"parts", View<E, 1>>) const {}
#endif
};
static_assert(strop::diagnose<TaggedList>());

struct ListAndMutated {
  static constexpr std::string_view inputs[] = {"state", "parts"}, mutates[] = {"state"};
  template <Real E>
  void forward(Cpu&, View<E, 1>, std::span<const View<const E, 1>>, View<E, 1>) const {}
#if !defined(CONTROL)
  template <Real E>
  void grad_use_none(Cpu&, View<const E, 1>, std::span<const View<E, 1>>) const {}
#endif
};
static_assert(strop::diagnose<ListAndMutated>());
