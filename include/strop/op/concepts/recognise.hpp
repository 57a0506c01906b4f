// SPDX-License-Identifier: Apache-2.0
/// \file
/// How a struct is recognised without instantiating its bodies: which members it names, how many arguments they take.
#pragma once
#include <strop/number/refused.hpp>
#include <strop/number/whole.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace strop::inline v0::detail {

/// The number that recognition asks with.
using Probe = number::Num<double>;
/// The one that is also taken where forward asks for whole numbers.
using WholeProbe = number::Whole<Probe>;
template <std::uint64_t Whole, std::size_t I>
std::conditional_t<(Whole >> I & 1U) != 0, WholeProbe, Probe> probe_among();
using NameList = std::span<const std::string_view>;

template <class T>
concept Plain = std::is_aggregate_v<T> && !std::is_final_v<T>;

/// Every name of the contract.
struct AnyName {
  int forward, grad, grad_use_in, grad_use_out, grad_use_none, grad_use_in_out, gradient, gradient_keeps,
      gradient_reads, spread_gradient, gradient_again, zero_gradient, infer_shape, infer_type, infer_storage,
      infer_gradient_storage, forward_sparse, sparse_tensors, same_shape, inplace, accumulates, gradient_accumulates,
      resources, mutates, inputs, outputs, aux, visible, input_count, output_count, visible_count, dtypes, name,
      aliases, doc, notes, range, param_aliases, upgrades, operations, make_state, integers_as_double,
      gradient_operations, gradient_inplace;
};
/// A member's name is ambiguous in here exactly when T has a member of that name, whatever its signature.
template <class T>
struct NamedMembers : T, AnyName {};

/// NamesInferShape<T> and its like: a member of that name is there and is no parameter, which may have any name.
#define STROP_NAMES(Concept, member)                                       \
  template <class T>                                                       \
  concept Concept = Plain<T> && !requires { &NamedMembers<T>::member; } && \
                    !requires { requires std::is_member_object_pointer_v<decltype(&T::member)>; };
STROP_NAMES(NamesForward, forward)
STROP_NAMES(NamesGrad, grad)
STROP_NAMES(NamesGradUseIn, grad_use_in)
STROP_NAMES(NamesGradUseOut, grad_use_out)
STROP_NAMES(NamesGradUseNone, grad_use_none)
STROP_NAMES(NamesGradUseInOut, grad_use_in_out)
STROP_NAMES(NamesGradient, gradient)
STROP_NAMES(NamesGradientKeeps, gradient_keeps)
STROP_NAMES(NamesGradientReads, gradient_reads)
STROP_NAMES(NamesSpreadGradient, spread_gradient)
STROP_NAMES(NamesGradientAgain, gradient_again)
STROP_NAMES(NamesZeroGradient, zero_gradient)
STROP_NAMES(NamesInferShape, infer_shape)
STROP_NAMES(NamesInferType, infer_type)
STROP_NAMES(NamesInferStorage, infer_storage)
STROP_NAMES(NamesInferGradientStorage, infer_gradient_storage)
STROP_NAMES(NamesForwardSparse, forward_sparse)
STROP_NAMES(NamesSparseTensors, sparse_tensors)
STROP_NAMES(NamesSameShape, same_shape)
STROP_NAMES(NamesInplace, inplace)
STROP_NAMES(NamesAccumulates, accumulates)
STROP_NAMES(NamesGradientAccumulates, gradient_accumulates)
STROP_NAMES(NamesResources, resources)
STROP_NAMES(NamesMutates, mutates)
STROP_NAMES(NamesInputs, inputs)
STROP_NAMES(NamesOutputs, outputs)
STROP_NAMES(NamesAux, aux)
STROP_NAMES(NamesVisible, visible)
STROP_NAMES(NamesInputCount, input_count)
STROP_NAMES(NamesOutputCount, output_count)
STROP_NAMES(NamesVisibleCount, visible_count)
STROP_NAMES(NamesDtypes, dtypes)
STROP_NAMES(NamesName, name)
STROP_NAMES(NamesAliases, aliases)
STROP_NAMES(NamesDoc, doc)
STROP_NAMES(NamesNotes, notes)
STROP_NAMES(NamesRange, range)
STROP_NAMES(NamesParamAliases, param_aliases)
STROP_NAMES(NamesUpgrades, upgrades)
STROP_NAMES(NamesOperations, operations)
STROP_NAMES(NamesMakeState, make_state)
STROP_NAMES(NamesIntegersAsDouble, integers_as_double)
STROP_NAMES(NamesGradientOperations, gradient_operations)
STROP_NAMES(NamesGradientInplace, gradient_inplace)
#undef STROP_NAMES

// A decoy whose overload ties with the user's makes a call ambiguous exactly when the user's member takes those
// arguments, and ambiguity is a soft failure. Two decoys, because one of the same signature as the user's member would
// hide it: the first ties with parameters by value, the second with references to const among them. Two more tie where
// the user's parameters are all of one template argument, which is more special than the first two.
struct Tie {};
template <class T, class I>
struct MovingForward;
template <class T, class I>
struct CopyingForward;
template <class T, class I>
struct MovingGradient;
template <class T, class I>
struct CopyingGradient;
template <class T, class I>
struct MovingOneTypeForward;
template <class T, class I>
struct CopyingOneTypeForward;
template <class T, class I>
struct MovingOneTypeGradient;
template <class T, class I>
struct CopyingOneTypeGradient;
#define STROP_DECOY_OF(Decoy, member, n, arguments, ...) \
  template <class T>                                     \
  struct Decoy<T, std::make_index_sequence<n>> : T {     \
    using T::member;                                     \
    template <__VA_ARGS__>                               \
    Tie member(arguments) const;                         \
  };
#define STROP_DECOY(n, ...)                                                         \
  STROP_DECOY_OF(MovingForward, forward, n, STROP_MOVED_##n, __VA_ARGS__)           \
  STROP_DECOY_OF(CopyingForward, forward, n, STROP_COPIED_##n, __VA_ARGS__)         \
  STROP_DECOY_OF(MovingGradient, gradient, n, STROP_MOVED_##n, __VA_ARGS__)         \
  STROP_DECOY_OF(CopyingGradient, gradient, n, STROP_COPIED_##n, __VA_ARGS__)       \
  STROP_DECOY_OF(MovingOneTypeForward, forward, n, STROP_SAME_MOVED_##n, class A)   \
  STROP_DECOY_OF(CopyingOneTypeForward, forward, n, STROP_SAME_##n, class A)        \
  STROP_DECOY_OF(MovingOneTypeGradient, gradient, n, STROP_SAME_MOVED_##n, class A) \
  STROP_DECOY_OF(CopyingOneTypeGradient, gradient, n, STROP_SAME_##n, class A)
#define STROP_MOVED_1 A&&
#define STROP_MOVED_2 STROP_MOVED_1, B&&
#define STROP_MOVED_3 STROP_MOVED_2, C&&
#define STROP_MOVED_4 STROP_MOVED_3, D&&
#define STROP_MOVED_5 STROP_MOVED_4, E&&
#define STROP_MOVED_6 STROP_MOVED_5, F&&
#define STROP_MOVED_7 STROP_MOVED_6, G&&
#define STROP_SAME_MOVED_1 A&&
#define STROP_SAME_MOVED_2 STROP_SAME_MOVED_1, A&&
#define STROP_SAME_MOVED_3 STROP_SAME_MOVED_2, A&&
#define STROP_SAME_MOVED_4 STROP_SAME_MOVED_3, A&&
#define STROP_SAME_MOVED_5 STROP_SAME_MOVED_4, A&&
#define STROP_SAME_MOVED_6 STROP_SAME_MOVED_5, A&&
#define STROP_SAME_MOVED_7 STROP_SAME_MOVED_6, A&&
#define STROP_SAME_1 A
#define STROP_SAME_2 STROP_SAME_1, A
#define STROP_SAME_3 STROP_SAME_2, A
#define STROP_SAME_4 STROP_SAME_3, A
#define STROP_SAME_5 STROP_SAME_4, A
#define STROP_SAME_6 STROP_SAME_5, A
#define STROP_SAME_7 STROP_SAME_6, A
#define STROP_COPIED_1 A
#define STROP_COPIED_2 STROP_COPIED_1, B
#define STROP_COPIED_3 STROP_COPIED_2, C
#define STROP_COPIED_4 STROP_COPIED_3, D
#define STROP_COPIED_5 STROP_COPIED_4, E
#define STROP_COPIED_6 STROP_COPIED_5, F
#define STROP_COPIED_7 STROP_COPIED_6, G
STROP_DECOY(1, class A)
STROP_DECOY(2, class A, class B)
STROP_DECOY(3, class A, class B, class C)
STROP_DECOY(4, class A, class B, class C, class D)
STROP_DECOY(5, class A, class B, class C, class D, class E)
STROP_DECOY(6, class A, class B, class C, class D, class E, class F)
STROP_DECOY(7, class A, class B, class C, class D, class E, class F, class G)
#if defined(__CUDACC__)
// To nvcc a parameter with a constraint, strop::Integer auto, is more special than one of a decoy, whatever that takes.
// A constraint of another kind makes it a tie.
template <class X>
concept AnyKind = sizeof(X) != 0;
template <class T, class I>
struct MovingKindForward;
template <class T, class I>
struct CopyingKindForward;
#define STROP_KIND(n, ...)                                                    \
  STROP_DECOY_OF(MovingKindForward, forward, n, STROP_MOVED_##n, __VA_ARGS__) \
  STROP_DECOY_OF(CopyingKindForward, forward, n, STROP_COPIED_##n, __VA_ARGS__)
STROP_KIND(1, AnyKind A)
STROP_KIND(2, AnyKind A, AnyKind B)
STROP_KIND(3, AnyKind A, AnyKind B, AnyKind C)
STROP_KIND(4, AnyKind A, AnyKind B, AnyKind C, AnyKind D)
STROP_KIND(5, AnyKind A, AnyKind B, AnyKind C, AnyKind D, AnyKind E)
STROP_KIND(6, AnyKind A, AnyKind B, AnyKind C, AnyKind D, AnyKind E, AnyKind F)
#undef STROP_KIND
#endif
#undef STROP_MOVED_1
#undef STROP_MOVED_2
#undef STROP_MOVED_3
#undef STROP_MOVED_4
#undef STROP_MOVED_5
#undef STROP_MOVED_6
#undef STROP_MOVED_7
#undef STROP_SAME_MOVED_1
#undef STROP_SAME_MOVED_2
#undef STROP_SAME_MOVED_3
#undef STROP_SAME_MOVED_4
#undef STROP_SAME_MOVED_5
#undef STROP_SAME_MOVED_6
#undef STROP_SAME_MOVED_7
#undef STROP_SAME_1
#undef STROP_SAME_2
#undef STROP_SAME_3
#undef STROP_SAME_4
#undef STROP_SAME_5
#undef STROP_SAME_6
#undef STROP_SAME_7
#undef STROP_COPIED_1
#undef STROP_COPIED_2
#undef STROP_COPIED_3
#undef STROP_COPIED_4
#undef STROP_COPIED_5
#undef STROP_COPIED_6
#undef STROP_COPIED_7
#undef STROP_DECOY
#undef STROP_DECOY_OF

/// forward takes N numbers (by value or by reference to const), whatever its body does with them; those of the set
/// Whole, a bit each, are whole.
template <class T, std::uint64_t Whole, std::size_t... I>
constexpr bool takes_numbers(std::index_sequence<I...> n) {
  using N = decltype(n);
  if constexpr (!requires(const MovingForward<T, N>& op) { op.forward(probe_among<Whole, I>()...); })
    return true;
  else if constexpr (!requires(const CopyingForward<T, N>& op) { op.forward(probe_among<Whole, I>()...); })
    return true;
#if defined(__CUDACC__)
  else if constexpr (!requires(const MovingKindForward<T, N>& op) { op.forward(probe_among<Whole, I>()...); })
    return true;
  else if constexpr (!requires(const CopyingKindForward<T, N>& op) { op.forward(probe_among<Whole, I>()...); })
    return true;
#endif
  else if constexpr (sizeof...(I) == 1 || (((Whole >> I ^ Whole) & 1U) || ...))
    return false;  // of several types one template argument takes none
  else if constexpr (!requires(const MovingOneTypeForward<T, N>& op) { op.forward(probe_among<Whole, I>()...); })
    return true;
  else
    return !requires(const CopyingOneTypeForward<T, N>& op) { op.forward(probe_among<Whole, I>()...); };
}

/// A tensor operator's member: the context of a device, then views.
template <class Ctx, class T, class... A>
std::type_identity<std::tuple<A...>> signature_on(void (T::*)(Ctx&, A...) const);

}  // namespace strop::inline v0::detail
